"""Composed values: mappings with known keys, and mappings of names to values.

Records such as ``{c: 3, l: 2}`` are values of requirements, for all sensitive columns or by column. On the command line
they are written ``c=3,l=2``, or as number and words: ``0.2 ordered``. The parts of a policy file are records as well
(`sqlanon.policy.models`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlanon.declared.kinds import NAMES, TEXT
from sqlanon.declared.values import REQUIRED, OneOf, Value, WrongValue
from sqlanon.declared.words import join_words, near, wrong_kind

Path = tuple[str | int, ...]
"""The place of a value in a policy, such as ``("releases", 0, "columns", "age", "weight")``."""

Note = Callable[[Path, str, str], None]
"""Takes a problem: place, description, allowed values."""

MISSING: Final = "is missing"

BROKEN: Final = object()
"""The result of reading a wrong value without a substitute."""


def read_at(kind: Value, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - of the kind
    """The value, or `BROKEN`; every problem is noted at the place."""
    if isinstance(kind, Record | ByName | Names):
        return kind.read_at(value, path, note)
    return read_whole(kind, value, path, note)


def read_whole(kind: Value, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - of the kind
    """The same, with a single problem at most, at the place of the value."""
    try:
        return kind.read(value)
    except ValueError as wrong:
        note(path, str(wrong), getattr(wrong, "allowed", "") or kind.allowed)
    return BROKEN


def _first(kind: Record | ByName | Names, value: object) -> Any:  # noqa: ANN401 - of the kind
    """The value.

    Raises:
        ValueError: with the first problem. Missing keys come last: they may be there, misspelled.
    """
    problems: list[ValueError] = []
    missing: list[ValueError] = []

    def note(path: Path, what: str, _: str) -> None:
        if what == MISSING:
            missing.append(WrongValue(f"{path[-1]} {what}"))
        else:
            problems.append(WrongValue(what))

    record = kind.read_at(value, (), note)
    for wrong in (*problems, *missing):
        raise wrong
    return record


@dataclass(frozen=True, slots=True)
class Part:
    """A field of a record.

    Attributes:
        value: the kind of value that it takes.
        default: value where none is given.
        at_most: a smaller number asks for more.
        text: the meaning.
        field: of the dataclass, if it is not called as the key.
        null: an empty value is the same as none.
        instead: substitute for a wrong value or a missing required value, so that reading can go on.
    """

    value: Value
    default: Any = REQUIRED
    at_most: bool = False
    text: str = ""
    field: str = ""
    null: bool = True
    instead: Any = BROKEN

    @property
    def assumed(self) -> Any:  # noqa: ANN401 - of the field's own kind
        """The value where nothing is given."""
        if isinstance(self.value, Record) and self.default is not None:
            return _first(self.value, self.default)
        return self.default

    @property
    def replaced(self) -> Any:  # noqa: ANN401 - of the field's own kind
        """The substitute for a wrong value."""
        return self.instead if self.instead is not BROKEN or self.default is REQUIRED else self.assumed

    def weaker(self, old: Any, new: Any) -> bool:  # noqa: ANN401 - of the field's own kind
        """Whether ``new`` may ask for less."""
        if old is None or new is None:
            return old is not None
        weaker = getattr(self.value, "weaker", None)
        return bool(weaker(old, new) if weaker else new > old if self.at_most else new < old)


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys.

    Attributes:
        make: a frozen dataclass with these fields.
        parts: the part of each key.
        main: the field that a number alone sets; empty: none.
    """

    make: Callable[..., Any]
    parts: Mapping[str, Part]
    main: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """Every key that it takes."""
        return frozenset(self.parts)

    @property
    def allowed(self) -> str:
        inner = ", ".join(f"{name}: {part.value.allowed}" for name, part in self.parts.items())
        alone = f"{self.parts[self.main].value.allowed}; or " if self.main else ""
        return f"{alone}{{{inner}}}"

    @property
    def schema(self) -> Mapping[str, Any]:
        needed = [name for name, part in self.parts.items() if part.default is REQUIRED]
        mapping = {
            "type": "object",
            "properties": {name: part.value.schema for name, part in self.parts.items()},
            "required": needed,
            "additionalProperties": False,
        }
        alone = list(self.parts[self.main].value.schema["anyOf"]) if self.main else [{"type": "string"}]
        return {"anyOf": [*alone, mapping]}

    def read(self, value: object) -> Any:  # noqa: ANN401 - result of ``make``
        """See `Value.read`; of several problems it is the first."""
        parts = value if isinstance(value, Mapping) else self._split_text(value)
        return _first(self, {str(key): item for key, item in parts.items()})

    def read_at(self, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - result of ``make``
        """See the function `read_at`."""
        if not isinstance(value, Mapping):
            note(path, "not a mapping", "key: value pairs")
            return BROKEN
        fields: dict[str, Any] = {}
        given_keys = set()
        for key, part in self.parts.items():
            item = BROKEN
            if key in value and not (value[key] is None and part.null):
                item = read_at(part.value, value[key], (*path, key), note)
                given_keys |= {key} if item is not BROKEN or part.instead is not BROKEN else set()
            elif part.default is REQUIRED:
                note((*path, key), MISSING, part.text)
            else:
                item = part.assumed
            fields[part.field or key] = part.replaced if item is BROKEN else item
        for key in value:
            if key not in self.parts:
                self.read_other(key, value[key], fields, (*path, key), note)
        if BROKEN in fields.values():
            return BROKEN
        try:
            return self.build(fields, given_keys)
        except ValueError as wrong:
            note(path, str(wrong), self.allowed)
        return BROKEN

    def build(self, fields: Mapping[str, Any], keys: Collection[str]) -> Any:  # noqa: ANN401 - result of ``make``
        """The record of these fields; ``keys``: the keys that were given and could be read."""
        return self.make(**fields)

    def read_other(self, key: str, value: object, fields: dict[str, Any], path: Path, note: Note) -> None:
        """Handle a key that is no part: note it."""
        note(path, f"unknown key{near(key, self.parts)}", f"the keys here are {join_words(self.parts)}")

    def _split_text(self, value: object) -> Mapping[str, object]:
        """The fields of a number, or of a text."""
        if isinstance(value, str) and "=" in value:
            return read_pairs(value)
        if not self.main:
            raise ValueError("not a mapping")
        if not isinstance(value, str):
            return {self.main: value}
        number, *words = value.split() or [""]
        values: dict[str, object] = {self.main: number}
        for word in words:
            fields = [
                name for name, part in self.parts.items() if isinstance(part.value, OneOf) and word in part.value.words
            ]
            if not fields or fields[0] in values:
                raise ValueError("not a number and words that are known")
            values[fields[0]] = word
        return values

    def weaker(self, old: Any, new: Any) -> bool:  # noqa: ANN401 - result of ``make``
        """Whether ``new`` may ask for less."""
        return any(part.weaker(getattr(old, name), getattr(new, name)) for name, part in self.parts.items())


@dataclass(frozen=True, slots=True)
class ByColumn:
    """A value for every sensitive column, or a mapping of sensitive columns to values.

    Other columns are then not asked about.

    A mapping with fields of the record as all its keys is the record itself.
    """

    inner: Value

    @property
    def fields(self) -> frozenset[str]:
        """Keys of the record itself."""
        return self.inner.keys if isinstance(self.inner, Record) else frozenset()

    @property
    def allowed(self) -> str:
        return f"{self.inner.allowed}; or sensitive columns, each with such a value"

    @property
    def schema(self) -> Mapping[str, Any]:
        inner = self.inner.schema
        return {"anyOf": [*inner["anyOf"], {"type": "object", "additionalProperties": inner}]}

    def read(self, value: object) -> Any:  # noqa: ANN401 - a value, or a mapping of columns to values
        if isinstance(value, str) and "=" in value:
            value = read_pairs(value)
        if not isinstance(value, Mapping) or (value and self.fields.issuperset(map(str, value))):
            return self.inner.read(value)
        if not value:
            raise ValueError("the mapping is empty")
        return {str(column): self.inner.read(item) for column, item in value.items()}

    def weaker(self, old: Any, new: Any, at_most: bool) -> bool:  # noqa: ANN401 - as `read` returns them
        """Whether ``new`` may ask for less of some column."""
        if not isinstance(old, Mapping) and not isinstance(new, Mapping):
            return self._less(old, new, at_most)
        if not isinstance(new, Mapping):
            return any(self._less(limit, new, at_most) for limit in old.values())
        if not isinstance(old, Mapping):
            return True  # which columns there are is not known here
        return any(name not in new or self._less(limit, new[name], at_most) for name, limit in old.items())

    def _less(self, old: Any, new: Any, at_most: bool) -> bool:  # noqa: ANN401
        if isinstance(self.inner, Record):
            return self.inner.weaker(old, new)
        return bool(new > old if at_most else new < old)

    def of(self, value: object, columns: Sequence[str]) -> list[tuple[int, Any]]:
        """Of so many sensitive columns those that are asked about: their places and values."""
        if not isinstance(value, Mapping):
            return [(i, value) for i in range(len(columns))]
        by_name = {name.lower(): item for name, item in value.items()}
        return [(i, by_name[name.lower()]) for i, name in enumerate(columns) if name.lower() in by_name]


@dataclass(frozen=True, slots=True)
class ByName:
    """A mapping of names, of columns or groups, to values of a single kind.

    Attributes:
        value: the kind.
        example: an example, for messages.
    """

    value: Value
    example: str = ""

    @property
    def allowed(self) -> str:
        return f"key: value pairs{f', such as {{{self.example}}}' if self.example else ''}"

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"additionalProperties": self.value.schema or True, "type": "object"}

    def read(self, value: object) -> Any:  # noqa: ANN401 - a mapping of names to values
        """See `Value.read`; of several problems it is the first."""
        return _first(self, value)

    def read_at(self, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - a mapping of names to values
        """See the function `read_at`."""
        if not isinstance(value, Mapping):
            note(path, wrong_kind(value, "not a mapping") if self.example else "not a mapping", self.allowed)
            return BROKEN
        items = {name: read_at(self.value, item, (*path, name), note) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not BROKEN}


@dataclass(frozen=True, slots=True)
class Names:
    """One name or several different ones, each of a kind."""

    inner: Value = TEXT

    @property
    def allowed(self) -> str:
        return NAMES.allowed

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"anyOf": [self.inner.schema, {"items": self.inner.schema, "type": "array"}]}

    def read(self, value: object) -> tuple[str, ...]:
        """See `Value.read`; of several problems it is the first."""
        return cast("tuple[str, ...]", _first(self, value))

    def read_at(self, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - names
        """See the function `read_at`."""
        names = read_whole(NAMES, value, path, note)
        if names is BROKEN:
            return BROKEN
        items = [read_at(self.inner, name, (*path, index), note) for index, name in enumerate(names)]
        return BROKEN if BROKEN in items else tuple(items)


def read_pairs(text: str) -> dict[str, str]:
    """``a=1,b=2`` as a mapping.

    Raises:
        ValueError: it is not in this form, or a key comes twice.
    """
    pairs: dict[str, str] = {}
    for pair in text.split(","):
        key, equal, value = (part.strip() for part in pair.partition("="))
        if not key or not equal or key in pairs:
            raise ValueError("not key=value,key=value")
        pairs[key] = value
    return pairs
