"""Values of requirements that are more than one number.

They are records such as ``{c: 3, l: 2}``, for all sensitive columns or by column.

On the command line a record is written ``c=3,l=2``, or its number and words: ``0.2 ordered``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.declared.values import Listing, Number, OneOf, TableName, Value


@dataclass(frozen=True, slots=True)
class Part:
    """A field of a record.

    Attributes:
        value: the kind of value that it takes.
        default: its value where none is given; None: one must be given.
        at_most: a smaller number asks for more.
    """

    value: Number | OneOf | Listing | TableName
    default: Any = None
    at_most: bool = False

    def weaker(self, old: Any, new: Any) -> bool:  # noqa: ANN401 - of the field's own kind
        """Whether ``new`` may ask for less."""
        if old is None or new is None:
            return old is not None
        if not isinstance(self.value, Number):
            return self.value.weaker(old, new)
        return bool(new > old if self.at_most else new < old)


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys.

    Attributes:
        make: a frozen dataclass with these fields.
        parts: what each takes.
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
        """See `Value.allowed`."""
        inner = ", ".join(f"{name}: {part.value.allowed}" for name, part in self.parts.items())
        alone = f"{self.parts[self.main].value.allowed}; or " if self.main else ""
        return f"{alone}{{{inner}}}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        needed = [name for name, part in self.parts.items() if part.default is None]
        mapping = {
            "type": "object",
            "properties": {name: part.value.schema for name, part in self.parts.items()},
            "required": needed,
            "additionalProperties": False,
        }
        alone = list(self.parts[self.main].value.schema["anyOf"]) if self.main else [{"type": "string"}]
        return {"anyOf": [*alone, mapping]}

    def read(self, value: object) -> Any:  # noqa: ANN401 - what ``make`` makes
        """See `Value.read`."""
        found = value if isinstance(value, Mapping) else self._spelled(value)
        given = {str(key): item for key, item in found.items() if item is not None}
        if set(given) - set(self.parts):
            raise ValueError("unknown key")
        read = {}
        for name, part in self.parts.items():
            if name in given:
                read[name] = part.value.read(given[name])
            elif part.default is None:
                raise ValueError(f"{name} is missing")
            else:
                read[name] = part.default
        return self.make(**read)

    def _spelled(self, value: object) -> Mapping[str, object]:
        """The fields of a number, or of a text."""
        if isinstance(value, str) and "=" in value:
            return pairs(value)
        if not self.main:
            raise ValueError("not a mapping")
        if not isinstance(value, str):
            return {self.main: value}
        number, *words = value.split() or [""]
        named: dict[str, object] = {self.main: number}
        for word in words:
            fields = [
                name for name, part in self.parts.items() if isinstance(part.value, OneOf) and word in part.value.words
            ]
            if not fields or fields[0] in named:
                raise ValueError("not a number and words that are known")
            named[fields[0]] = word
        return named

    def weaker(self, old: Any, new: Any) -> bool:  # noqa: ANN401 - what ``make`` makes
        """Whether ``new`` may ask for less."""
        return any(part.weaker(getattr(old, name), getattr(new, name)) for name, part in self.parts.items())


@dataclass(frozen=True, slots=True)
class ByColumn:
    """A value for every sensitive column, or a mapping of sensitive columns to values.

    Other columns are then not asked about.

    A mapping whose keys are all fields of the record is the record itself.
    """

    inner: Value

    @property
    def fields(self) -> frozenset[str]:
        """Keys of the record itself."""
        return self.inner.keys if isinstance(self.inner, Record) else frozenset()

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        return f"{self.inner.allowed}; or sensitive columns, each with such a value"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        inner = self.inner.schema
        return {"anyOf": [*inner["anyOf"], {"type": "object", "additionalProperties": inner}]}

    def read(self, value: object) -> Any:  # noqa: ANN401 - a value, or a mapping of columns to values
        """See `Value.read`."""
        if isinstance(value, str) and "=" in value:
            value = pairs(value)
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
            return any(self._less(one, new, at_most) for one in old.values())
        if not isinstance(old, Mapping):
            return True  # which columns there are is not known here
        return any(name not in new or self._less(one, new[name], at_most) for name, one in old.items())

    def _less(self, old: Any, new: Any, at_most: bool) -> bool:  # noqa: ANN401
        if isinstance(self.inner, Record):
            return self.inner.weaker(old, new)
        return bool(new > old if at_most else new < old)

    def of(self, value: object, columns: Sequence[str]) -> list[tuple[int, Any]]:
        """Of so many sensitive columns those that are asked about: their places and values."""
        if not isinstance(value, Mapping):
            return [(i, value) for i in range(len(columns))]
        known = {name.lower(): item for name, item in value.items()}
        return [(i, known[name.lower()]) for i, name in enumerate(columns) if name.lower() in known]


def pairs(text: str) -> dict[str, str]:
    """``a=1,b=2`` as a mapping.

    Raises:
        ValueError: it is not in this form, or a key comes twice.
    """
    found: dict[str, str] = {}
    for one in text.split(","):
        key, equal, value = (part.strip() for part in one.partition("="))
        if not key or not equal or key in found:
            raise ValueError("not key=value,key=value")
        found[key] = value
    return found
