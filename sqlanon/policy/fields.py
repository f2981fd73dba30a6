"""Checks of one value: what a number, word, size, name or list of the policy may look like.

Each function makes a pydantic validator or is one. Values of a file arrive as the text that was written (see
`document`), values of Python arguments as Python objects; both are accepted. Checks that need two values belong in
`checks`. No message repeats the value.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sqlanon.declared import METHODS, Several
from sqlanon.policy.problems import listed, near

T = TypeVar("T")

LARGEST = 2**63 - 1
"""The largest whole number a policy may hold: every engine's BIGINT holds it."""

LARGEST_AMOUNT = 10**39
"""The largest number that is not whole, such as an extent: every engine's widest integers and decimals are below it."""

LARGEST_PART = 10**9
"""Numerator and denominator of l are at most this, so that rows x l fits 64 bits; so are other denominators."""

_WHOLE = re.compile(r"-?[0-9]+")
_DIGITS = 20
_FRACTION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}|/[0-9]{1,9})?")
_NUMBER = re.compile(
    r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,3})?|-?[0-9]{1,400}/[0-9]{1,400}", re.IGNORECASE
)
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([a-z]*)", re.IGNORECASE)
_DURATION = re.compile(r"([0-9]{1,6})\s*([mhdw])", re.IGNORECASE)
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_UNITS = {
    unit: base**power
    for power, letter in enumerate(("", "k", "m", "g", "t"))
    for unit, base in ((f"{letter}b", 1000), (f"{letter}ib" if letter else "", 1024))
}
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

A_FRACTION = "a number such as 3 or 2.5, or a fraction such as 5/2, at least 1"
A_DURATION = "a number with its unit: 30m, 24h, 7d or 2w"
A_SIZE = "a size such as 4GB or 512MiB, or a number of bytes"
A_TABLE = 'table or schema.table; a part that holds a dot or a quote is double-quoted: schema."my.table"'
AN_ORDER = "alphabetical, declared, a list of different values, or a file with one value per line"
A_METHOD = "a name, name:option=value,option=value, or a mapping with name and options"


def wrong(what: str, allowed: str) -> PydanticCustomError:
    """The error of one value: what is wrong with it and what is allowed."""
    return PydanticCustomError("policy", "{what}; {allowed}", {"what": what, "allowed": allowed})


def whole(low: int, high: int = LARGEST) -> BeforeValidator:
    """A whole number from ``low`` to ``high``."""
    allowed = f"a whole number from {low} to {high}"
    if high in (low, LARGEST):
        allowed = str(low) if high == low else f"a whole number of at least {low}"

    def check(value: object) -> int:
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            number = int(value[:_DIGITS])  # long enough to be out of bounds, short enough for int()
        elif isinstance(value, str | bool) or not hasattr(value, "__index__"):
            raise wrong(_kind(value, "not a whole number"), allowed)
        else:
            number = operator.index(value)
        if number < low:
            raise wrong("too small", allowed)
        if number > high:
            raise wrong("too large", allowed)
        return number

    return BeforeValidator(check, json_schema_input_type=Annotated[int, Field(ge=low, le=high)])


def one_of(*choices: str) -> BeforeValidator:
    """One word of a few."""
    allowed = f"one of {listed(choices)}" if len(choices) > 1 else choices[0]

    def check(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise wrong(_kind(value, "not a word known here") + near(value, choices), allowed)

    # The schema lists these choices, not those of the annotated type, which may know more words.
    schema = Annotated[str, Field(json_schema_extra={"enum": list(choices)})]
    return BeforeValidator(check, json_schema_input_type=schema)


def declared_in(
    registry: Mapping[str, T], *more: str, which: Callable[[T], bool] = lambda _: True
) -> BeforeValidator:
    """One word that is declared in a registry, extensions included.

    Args:
        registry: the declarations by name.
        more: further words.
        which: declarations that are allowed here.
    """

    def words() -> list[str]:
        return [*(name for name, one in registry.items() if which(one)), *more]

    def check(value: object) -> str:
        if isinstance(value, str) and value in words():
            return value
        raise wrong(_kind(value, "not a word known here") + near(value, words()), f"one of {listed(words())}")

    def choices(schema: dict[str, object]) -> None:
        schema["enum"] = words()

    schema = Annotated[str, Field(json_schema_extra=choices)]
    return BeforeValidator(check, json_schema_input_type=schema)


def flag(value: object) -> bool:
    """``true`` or ``false``."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in _FLAGS:
        return _FLAGS[value.casefold()]
    raise wrong(_kind(value, "neither true nor false"), "true or false")


def text(value: object) -> str:
    """Text that is not empty and holds no NUL."""
    if not isinstance(value, str):
        raise wrong(_kind(value, "not text"), "text; put it in quotes")
    if not value or "\0" in value:
        raise wrong("empty text" if not value else "text with a NUL character", "text")
    return value


def fraction(value: object) -> Fraction:
    """A number of at least 1, exactly: ``2.5`` is 5/2 by its decimal text, never by its binary value.

    Example:
        >>> fraction(2.1), fraction("5/2")
        (Fraction(21, 10), Fraction(5, 2))
    """
    written = "" if isinstance(value, bool) else str(value)
    if not _FRACTION.fullmatch(written) or re.fullmatch(r".*/0+", written):
        raise wrong(_kind(value, "not a number or fraction"), A_FRACTION)
    number = Fraction(written)
    if number < 1:
        raise wrong("too small", A_FRACTION)
    if max(number.numerator, number.denominator) > LARGEST_PART:
        raise wrong("too large or too precise", f"{A_FRACTION}, both parts at most {LARGEST_PART}")
    return number


def amount(high: int = LARGEST_AMOUNT) -> BeforeValidator:
    """A number or fraction from 0 to ``high``, exactly, by its decimal text as `fraction`."""
    allowed = f"a number of at least 0{'' if high == LARGEST_AMOUNT else f' and at most {high}'}, such as 0.3 or 3/10"

    def check(value: object) -> Fraction:
        written = "" if isinstance(value, bool) else str(value)
        if not _NUMBER.fullmatch(written) or re.fullmatch(r".*/0+", written):
            raise wrong(_kind(value, "not a number or fraction"), allowed)
        exact = Fraction(written)
        if exact < 0:
            raise wrong("too small", allowed)
        if exact > high:
            raise wrong("too large", f"{allowed}, at most 10^39" if high == LARGEST_AMOUNT else allowed)
        if exact.denominator > LARGEST_PART:
            raise wrong("too precise", f"{allowed}, its denominator at most {LARGEST_PART}")
        return exact

    return BeforeValidator(check, json_schema_input_type=Annotated[float, Field(ge=0, le=high)] | str)


def size(value: object) -> int:
    """A number of bytes, with a decimal (GB) or binary (GiB) unit.

    Example:
        >>> size("4GB"), size("512MiB")
        (4000000000, 536870912)
    """
    written = "" if isinstance(value, bool) else str(value)
    found = _SIZE.fullmatch(written)
    if found is None or found[2].casefold() not in _UNITS:
        raise wrong(_kind(value, "not a size"), A_SIZE)
    number = int(Decimal(found[1]) * _UNITS[found[2].casefold()])
    if not 1 <= number <= LARGEST:
        raise wrong("too small" if number < 1 else "too large", A_SIZE)
    return number


def name_parts(value: str) -> tuple[str, ...] | None:
    """The parts of ``table`` or ``schema.table`` without their quotes; None if it is neither.

    Example:
        >>> name_parts('main."my ""own"" table"')
        ('main', 'my "own" table')
    """
    parts: list[str] = []
    at = 0
    while found := _NAME_PART.match(value, at):
        parts.append(found[1].replace('""', '"') if found[1] else found[2])
        at = found.end()
        if at == len(value):
            return tuple(parts) if len(parts) <= 2 else None
        if value[at] != ".":
            return None
        at += 1
    return None


def table_name(value: object) -> str:
    """The name of a table or view."""
    name = text(value)
    if name_parts(name) is None:
        raise wrong("not the name of a table or view", A_TABLE)
    return name


def names(value: object) -> list[str]:
    """One name or several different ones."""
    listed_names = [value] if isinstance(value, str) else value
    allowed = "a name or a list of different names"
    if not isinstance(listed_names, Sequence) or isinstance(listed_names, bytes | bytearray):
        raise wrong(_kind(value, "not a list of names"), allowed)
    checked = [text(name) for name in listed_names]
    if len(set(checked)) < len(checked):
        raise wrong("a name is listed twice", allowed)
    return checked


def order(value: object) -> str | list[str]:
    """``alphabetical``, ``declared``, the path of a file, or the values in order."""
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, Sequence) or isinstance(value, bytes | bytearray):
        raise wrong(_kind(value, "not an order"), AN_ORDER)
    values = [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    if not all(isinstance(item, str) for item in values):
        raise wrong("a value of the list is not text", f"{AN_ORDER}; put values in quotes")
    if not values or len(set(values)) < len(values):
        raise wrong("a value is listed twice" if values else "the list is empty", AN_ORDER)
    return values


def method(value: object) -> object:
    """The text form ``name:option=value,option=value`` as the mapping it means; a list of methods as one text, apart by ``;``."""
    if isinstance(value, Mapping):
        declared = METHODS.get(str(value.get("name")))
        several = [one.name for one in declared.options if isinstance(one, Several)] if declared else []
        return {key: _joined(one) if key in several else one for key, one in value.items()}
    if not isinstance(value, str):
        return value
    name, colon, rest = value.partition(":")
    options: dict[str, object] = {"name": name}
    for item in rest.split(",") if colon else ():
        key, equals, option = item.partition("=")
        if not equals or not key.strip() or not option or key.strip() in options:
            raise wrong("its options cannot be read", A_METHOD)
        options[key.strip()] = option.strip()
    return options


def _joined(value: object) -> object:
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) and one for one in value):
        return "; ".join(value)
    return value


def word(value: object) -> str:
    """A name of letters, digits and underscores, as methods have."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise wrong(_kind(value, "not a name of letters, digits and _"), A_METHOD)
    return value


def duration(value: object) -> int:
    """A time span in seconds, written as ``30m``, ``24h``, ``7d`` or ``2w``.

    Example:
        >>> duration("24h")
        86400
    """
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not found:
        raise wrong(_kind(value, "not a time span"), A_DURATION)
    seconds = int(found[1]) * _SECONDS[found[2].lower()]
    if not seconds:
        raise wrong("too small", A_DURATION)
    return seconds


def option(value: object) -> str:
    """The value of a method's option, as text; the method checks it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float | Fraction | Decimal) or value == "":
        raise wrong(_kind(value, "not a text or number"), "one text, number, true or false")
    return str(value)


def kind_only(value: object) -> object:
    """The text form of a format: its kind."""
    return {"kind": value} if isinstance(value, str) else value


def mapping(example: str) -> BeforeValidator:
    """A mapping, or nothing; what it holds is checked elsewhere."""

    def check(value: object) -> object:
        if value is None or isinstance(value, Mapping):
            return value
        raise wrong(_kind(value, "not a mapping"), f"key: value pairs, such as {{{example}}}")

    return BeforeValidator(check)


def switch(value: object) -> object:
    """``true`` as the mapping with every default, ``false`` as none; a mapping as it is."""
    if value is None or isinstance(value, Mapping):
        return value
    try:
        return {} if flag(value) else None
    except PydanticCustomError:
        raise wrong(_kind(value, "neither true nor false"), "true, false or key: value pairs") from None


def role_only(value: object) -> object:
    """The text form of a column: its role."""
    return {"role": value} if isinstance(value, str) else value


def _kind(value: object, otherwise: str) -> str:
    """What to call a value that has the wrong shape, without showing it."""
    if value is None:
        return "is empty"
    if isinstance(value, Mapping):
        return "a mapping is not allowed"
    if isinstance(value, list | tuple):
        return "a list is not allowed"
    return otherwise
