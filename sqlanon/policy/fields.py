"""Checks of one value: what a word, name, list or mapping of the policy may look like; numbers are in `quantities`.

Each function makes a pydantic validator or is one. Values of a file arrive as the text that was written (see
`document`), values of Python arguments as Python objects; both are accepted. Checks that need two values belong in
`checks`. No message repeats the value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sqlanon.declared import METHODS, Several
from sqlanon.policy.problems import listed, near

T = TypeVar("T")

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

A_TABLE = (
    "table or schema.table, on Spark catalog.schema.table too; a part that holds a dot or a quote is double-quoted: "
    'schema."my.table"'
)
AN_ORDER = "alphabetical, declared, a list of different values, or a file with one value per line"
BUILDERS = ("steps", "calendar", "prefix", "mask", "table")
"""What builds a hierarchy and can be written as text: `steps:5,10`."""
A_HIERARCHY = "a CSV file, or a mapping such as {steps: [5, 10]}, {prefix: [3, 2, 1]} or {groups: {young: [18, 19]}}"
A_METHOD = "a name, name:option=value,option=value, or a mapping with name and options"


def wrong(what: str, allowed: str) -> PydanticCustomError:
    """The error of one value: what is wrong with it and what is allowed."""
    return PydanticCustomError("policy", "{what}; {allowed}", {"what": what, "allowed": allowed})


def one_of(*choices: str) -> BeforeValidator:
    """One word of a few."""
    allowed = f"one of {listed(choices)}" if len(choices) > 1 else f"only {choices[0]} is allowed"

    def check(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise wrong(wrong_kind(value, "not a word known here") + near(value, choices), allowed)

    # The schema lists these choices, not those of the annotated type, which may know more words.
    schema = Annotated[str, Field(json_schema_extra={"enum": list(choices)})]
    return BeforeValidator(check, json_schema_input_type=schema)


def declared_in(registry: Mapping[str, T], *more: str, which: Callable[[T], bool] = lambda _: True) -> BeforeValidator:
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
        raise wrong(wrong_kind(value, "not a word known here") + near(value, words()), f"one of {listed(words())}")

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
    raise wrong(wrong_kind(value, "neither true nor false"), "true or false")


def text(value: object) -> str:
    """Text that is not empty and holds no NUL."""
    if not isinstance(value, str):
        raise wrong(wrong_kind(value, "not text"), "text; put it in quotes")
    if not value or "\0" in value:
        raise wrong("empty text" if not value else "text with a NUL character", "text")
    return value


def variable(value: object) -> str:
    """The name of an environment variable, written ``${NAME}``: what it holds is not read here."""
    found = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise wrong(
            wrong_kind(value, "not the name of an environment variable"),
            "${NAME}: a policy holds no secret itself",
        )
    return found[1]


def name_parts(value: str) -> tuple[str, ...] | None:
    """The parts of ``table``, ``schema.table`` or ``catalog.schema.table`` without their quotes.

    None if it is none of them.

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
            return tuple(parts) if len(parts) <= 3 else None
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
        raise wrong(wrong_kind(value, "not a list of names"), allowed)
    checked = [text(name) for name in listed_names]
    if len(set(checked)) < len(checked):
        raise wrong("a name is listed twice", allowed)
    return checked


def order(value: object) -> str | list[str]:
    """``alphabetical``, ``declared``, the path of a file, or the values in order."""
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, Sequence) or isinstance(value, bytes | bytearray):
        raise wrong(wrong_kind(value, "not an order"), AN_ORDER)
    values = [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    if not all(isinstance(item, str) for item in values):
        raise wrong("a value of the list is not text", f"{AN_ORDER}; put values in quotes")
    if not values or len(set(values)) < len(values):
        raise wrong("a value is listed twice" if values else "the list is empty", AN_ORDER)
    return values


def one_word(value: object) -> str:
    """A number, a date or a word, as text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Fraction | Decimal | date) or value == "":
        raise wrong(wrong_kind(value, "not a number or text"), "a number, a date or text")
    return str(value)


def words(value: object) -> list[str]:
    """Numbers or words, as text; text alone is a comma list."""
    listed_words = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value
    if not isinstance(listed_words, Sequence) or isinstance(listed_words, bytes | bytearray) or not listed_words:
        raise wrong(wrong_kind(value, "not a list"), "a list of numbers or words")
    return [one_word(one.strip() if isinstance(one, str) else one) for one in listed_words]


def hierarchy(value: object) -> object:
    """The text forms of a hierarchy, a file or ``steps:5,10 from 0``, as the mapping that they mean."""
    if not isinstance(value, str):
        if isinstance(value, Mapping):
            return {key: os.fspath(one) if isinstance(one, os.PathLike) else one for key, one in value.items()}
        if value is None:
            return value
        raise wrong(wrong_kind(value, "not a hierarchy"), A_HIERARCHY)
    builder, colon, rest = text(value).partition(":")
    if not colon or builder not in BUILDERS:
        return {"file": value}
    if builder == "steps" and " from " in rest:
        rest, _, origin = rest.partition(" from ")
        return {"steps": rest.strip(), "from": origin.strip()}
    return {builder: rest.strip()}


def method(value: object) -> object:
    """The mapping of the text form ``name:option=value,option=value``.

    A list of methods is one text, separated by ``;``.
    """
    if isinstance(value, Mapping):
        declared = METHODS.get(str(value.get("name")))
        several = [one.name for one in declared.options if isinstance(one, Several)] if declared else []
        return {key: _joined(key, one) if key in several else one for key, one in value.items()}
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


def _joined(option: object, value: object) -> object:
    if not isinstance(value, list | tuple):
        return value
    if not value or not all(isinstance(one, str) and one for one in value):
        raise wrong(f"{option} names no methods", "a list of methods, each as name:option=value")
    return "; ".join(value)


def word(value: object) -> str:
    """A name of letters, digits and underscores, as methods have."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise wrong(wrong_kind(value, "not a name of letters, digits and _"), A_METHOD)
    return value


def option(value: object) -> str:
    """The value of a method's option, as text; the method checks it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float | Fraction | Decimal) or value == "":
        raise wrong(wrong_kind(value, "not a text or number"), "one text, number, true or false")
    return str(value)


def kind_only(value: object) -> object:
    """The text form of a format: its kind."""
    return {"kind": value} if isinstance(value, str) else value


def mapping(example: str) -> BeforeValidator:
    """A mapping, or nothing; what it holds is checked elsewhere."""

    def check(value: object) -> object:
        if value is None or isinstance(value, Mapping):
            return value
        raise wrong(wrong_kind(value, "not a mapping"), f"key: value pairs, such as {{{example}}}")

    return BeforeValidator(check)


def switch(value: object) -> object:
    """``true`` as the mapping with every default, ``false`` as none; a mapping as it is."""
    if value is None or isinstance(value, Mapping):
        return value
    try:
        return {} if flag(value) else None
    except PydanticCustomError:
        raise wrong(wrong_kind(value, "neither true nor false"), "true, false or key: value pairs") from None


def role_only(value: object) -> object:
    """The text form of a column: its role."""
    return {"role": value} if isinstance(value, str) else value


def wrong_kind(value: object, otherwise: str) -> str:
    """What to call a value that has the wrong shape, without showing it."""
    if value is None:
        return "is empty"
    if isinstance(value, Mapping):
        return "a mapping is not allowed"
    if isinstance(value, list | tuple):
        return "a list is not allowed"
    return otherwise
