"""Kinds of values that need no parameters: text, names, tables, flags, sizes, time spans.

See `values` for their common rules.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sqlanon.declared.values import LARGEST, WrongValue
from sqlanon.declared.words import wrong_kind
from sqlanon.lake_names import lake_of
from sqlanon.target_url import check_target

_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SIGNER = re.compile(r'(?:"[^"]+"|[^\s"#]+) +(?:[^\s"]\S* +)?(?:ssh|sk|ecdsa)-[\w@.-]+ +[A-Za-z0-9+/]+=*(?: .*)?')
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([a-z]*)", re.IGNORECASE)
_DURATION = re.compile(r"([0-9]{1,6})\s*([mhdw])", re.IGNORECASE)
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_UNITS = {
    unit: base**power
    for power, letter in enumerate(("", "k", "m", "g", "t"))
    for unit, base in ((f"{letter}b", 1000), (f"{letter}ib" if letter else "", 1024))
}
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Kind:
    """A `Value` that is a function; see `Part.weaker` for the other kind."""

    allowed: str
    schema: Mapping[str, Any]
    read: Callable[[object], Any]
    weaker: Callable[[Any, Any], bool] | None = None


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in _FLAGS:
        return _FLAGS[value.casefold()]
    raise ValueError(wrong_kind(value, "neither true nor false"))


def text(value: object) -> str:
    """Text that is not empty and holds no NUL."""
    if not isinstance(value, str):
        raise WrongValue(wrong_kind(value, "not text"), "text; put it in quotes")
    if not value or "\0" in value:
        raise WrongValue("empty text" if not value else "text with a NUL character", "text")
    return value


def _signer(value: object) -> str:
    """A line of a file of allowed signers: a name, options, and a public key."""
    match = _SIGNER.fullmatch(value) if isinstance(value, str) and value.isprintable() else None
    if match is None:
        raise ValueError(wrong_kind(value, "not a line of a file of allowed signers"))
    return match[0]


def _variable(value: object) -> str:
    """The name of the variable: the content is not read here."""
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(wrong_kind(value, "not the name of an environment variable"))
    return match[1]


def name_parts(value: str) -> tuple[str, ...] | None:
    """The parts of ``table``, ``schema.table`` or ``catalog.schema.table`` without their quotes.

    None if it is none of them, such as the name of a lake table.

    Example:
        >>> name_parts('main."my ""own"" table"')
        ('main', 'my "own" table')
    """
    if lake_of(value):
        return None
    parts: list[str] = []
    place = 0
    while match := _NAME_PART.match(value, place):
        parts.append(match[1].replace('""', '"') if match[1] else match[2])
        place = match.end()
        if place == len(value):
            return tuple(parts) if len(parts) <= 3 else None
        if value[place] != ".":
            return None
        place += 1
    return None


def _table(value: object) -> str:
    if not isinstance(value, str):
        raise WrongValue(wrong_kind(value, "not text"), "text; put it in quotes")
    if not value.strip() or "\0" in value or name_parts(value) is None:
        raise ValueError("not the name of a table or view")
    return value


def _source(value: object) -> str:
    return value if isinstance(value, str) and lake_of(value) else _table(value)


def _database(value: object) -> str:
    if not isinstance(value, str):
        raise WrongValue(wrong_kind(value, "not text"), "text; put it in quotes")
    return check_target(value)


def source_name(source: str) -> str | None:
    """The name of a source by itself: the last part of the full name; None: it is no name."""
    lake, parts = lake_of(source), name_parts(source)
    return lake.table if lake else parts[-1] if parts else None


def _names(value: object) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or isinstance(names, bytes | bytearray):
        raise WrongValue(wrong_kind(value, "not a list of names"))
    checked = [text(name) for name in names]
    if len(set(checked)) < len(checked):
        raise ValueError("a name is listed twice")
    return checked


def _order(value: object) -> str | list[str]:
    """``alphabetical``, ``declared``, the path of a file, or the values in order."""
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, Sequence) or isinstance(value, bytes | bytearray):
        raise WrongValue(wrong_kind(value, "not an order"))
    values = [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    if not all(isinstance(item, str) for item in values):
        raise WrongValue("a value of the list is not text", f"{ORDER.allowed}; put values in quotes")
    if not values or len(set(values)) < len(values):
        raise ValueError("a value is listed twice" if values else "the list is empty")
    return values


def _list_values(value: object) -> tuple[str, ...] | str:
    """Values of a column; the catalog has a hash of them, which is the text that it is."""
    if isinstance(value, Mapping) and isinstance(value.get("sha256"), str):
        return str(value["sha256"])
    if not isinstance(value, list | tuple) or not all(isinstance(item, str | int) for item in value):
        raise WrongValue("not a list of values")
    if len({*map(str, value)}) < len(value):
        raise ValueError("a value is listed twice")
    return tuple(sorted(map(str, value)))


def _lists_less(old: tuple[str, ...] | str, new: tuple[str, ...] | str) -> bool:
    """Whether ``new`` may list less; nothing listed means every value."""
    return bool(new) and old != new and not (bool(old) and set(old) <= set(new) and isinstance(new, tuple))


def _one_word(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Fraction | Decimal | date) or value == "":
        raise WrongValue(wrong_kind(value, "not a number or text"), "a number, a date or text")
    return str(value)


def _words(value: object) -> list[str]:
    """Numbers or words, as text; text alone is a comma list."""
    words = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int | float) else value
    if not isinstance(words, Sequence) or isinstance(words, bytes | bytearray) or not words:
        raise ValueError(wrong_kind(value, "not a list"))
    return [_one_word(word.strip() if isinstance(word, str) else word) for word in words]


def _word(value: object) -> str:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise ValueError(wrong_kind(value, "not a name of letters, digits and _"))
    return value


def _option(value: object) -> str:
    """The value of a method's option, as text; the method checks it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float | Fraction | Decimal) or value == "":
        raise ValueError(wrong_kind(value, "not a text or number"))
    return str(value)


def _size(value: object) -> int:
    """A number of bytes, with a decimal (GB) or binary (GiB) unit."""
    match = _SIZE.fullmatch("" if isinstance(value, bool) else str(value))
    if match is None or match[2].casefold() not in _UNITS:
        raise ValueError(wrong_kind(value, "not a size"))
    number = int(Decimal(match[1]) * _UNITS[match[2].casefold()])
    if not 1 <= number <= LARGEST:
        raise ValueError("too small" if number < 1 else "too large")
    return number


def _duration(value: object) -> int:
    """A time span in seconds."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(wrong_kind(value, "not a time span"))
    seconds = int(match[1]) * _SECONDS[match[2].lower()]
    if not seconds:
        raise ValueError("too small")
    return seconds


_TEXT: Final = {"type": "string"}
_TEXT_OR_NUMBER: Final = [_TEXT, {"type": "number"}]
_TEXTS_OR_NUMBERS: Final = {"items": {"anyOf": _TEXT_OR_NUMBER}, "type": "array"}

FLAG: Final = Kind("true or false", {"type": "boolean"}, _flag)
TEXT: Final = Kind("text", _TEXT, text)
SIGNER: Final = Kind(
    "a name and a public SSH key, '\"A. Officer\" ssh-ed25519 AAAA..': a line of a file of allowed signers",
    _TEXT,
    _signer,
)
VARIABLE: Final = Kind("${NAME}: a policy holds no secret itself", _TEXT, _variable)
"""An environment variable, written ``${NAME}``."""
A_TABLE: Final = Kind(
    "table or schema.table, on Spark catalog.schema.table too; a part that holds a dot or a quote is double-quoted: "
    'schema."my.table"',
    {"minLength": 1, "type": "string"},
    _table,
    operator.ne,  # of another table nothing is known
)
A_SOURCE: Final = Kind(
    f"{A_TABLE.allowed}; or delta:PATH, iceberg:CATALOG/namespace.table, parquet:GLOB",
    A_TABLE.schema,
    _source,
    operator.ne,
)
A_PLACE: Final = Kind(
    f"{A_TABLE.allowed}; or delta:PATH, iceberg:CATALOG/namespace.table", A_TABLE.schema, _source, operator.ne
)
ANOTHER_PLACE: Final = Kind(
    "duckdb:///path, postgresql://user@host/database, ${NAME}, delta:PATH or iceberg:CATALOG/namespace.table; a "
    "password is in a variable "
    "(postgresql://user:${NAME}@host/database), in PGPASSWORD or in ~/.pgpass",
    _TEXT,
    _database,
    operator.ne,
)
"""A place that rows are sent to: the URL of a database, or the name of a lake table."""
LIST: Final = Kind("a list", {"items": {"type": ["string", "number"]}, "type": "array"}, lambda value: value)
"""A list whose reader has own places in messages."""
LISTING: Final = Kind(
    "a list of values", {"items": {"type": ["string", "number"]}, "type": "array"}, _list_values, _lists_less
)
"""Values of a column, as text; the catalog keeps a hash of them (`sqlanon.release.catalog.redacted_policy`)."""
ORDER: Final = Kind(
    "alphabetical, declared, a list of different values, or a file with one value per line",
    {"anyOf": [_TEXT, _TEXTS_OR_NUMBERS]},
    _order,
)
ONE_WORD: Final = Kind("a number, a date or text", {"anyOf": _TEXT_OR_NUMBER}, _one_word)
"""A number, a date or a word, as text."""
WORDS: Final = Kind("a list of numbers or words", {"anyOf": [*_TEXT_OR_NUMBER, _TEXTS_OR_NUMBERS]}, _words)
METHOD_NAME: Final = Kind("a name, name:option=value,option=value, or a mapping with name and options", _TEXT, _word)
OPTION: Final = Kind("one text, number, true or false", {"anyOf": [*_TEXT_OR_NUMBER, {"type": "boolean"}]}, _option)
SIZE: Final = Kind("a size such as 4GB or 512MiB, or a number of bytes", {"anyOf": [{"type": "integer"}, _TEXT]}, _size)
DURATION: Final = Kind("a number with its unit: 30m, 24h, 7d or 2w", _TEXT, _duration)
NAMES: Final = Kind(
    "a name or a list of different names", {"anyOf": [_TEXT, {"items": _TEXT, "type": "array"}]}, _names
)
"""One name or several; `sqlanon.declared.records.Names` also reads each of them."""
ANYTHING: Final = Kind("anything", {}, lambda value: value)
"""A value that is read elsewhere."""
