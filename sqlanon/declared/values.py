"""Kinds of values that keys of requirements take: a number, one of a few words, a list of values, the name of a table.

How several of them make one value is in `records`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, SupportsIndex

LARGEST_PART = 10**9
"""Numerators and denominators, at most: rows x a bound fits 64 bits."""
_WHOLE = re.compile("(-?)0*([0-9]+)")
_EXACT = re.compile(
    r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})(e[+-]?[0-9]{1,3})?|[+-]?[0-9]{1,400}/0*[1-9][0-9]{0,400}",
    re.IGNORECASE,
)


def exact(value: object) -> Fraction:
    """A number, or the text of a number or fraction, exactly as it is written, never by its binary value.

    Raises:
        ValueError: it is neither; the message does not repeat it.

    Example:
        >>> exact(2.1), exact("5/2"), exact("1e-3")
        (Fraction(21, 10), Fraction(5, 2), Fraction(1, 1000))
    """
    written = "" if isinstance(value, bool) else str(value).strip()
    if not _EXACT.fullmatch(written):
        raise ValueError("not a number")
    return Fraction(written)


def whole(value: object, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``, or its text.

    Raises:
        ValueError: it is none; the message does not repeat it.
    """
    if isinstance(value, str) and (written := _WHOLE.fullmatch(value)):
        number = int(written[1] + written[2][:20])  # long enough to be out of bounds, short enough for int()
    elif isinstance(value, str | bool) or not isinstance(value, SupportsIndex):
        raise ValueError("not a whole number")
    else:
        number = operator.index(value)
    if not low <= number <= high:
        raise ValueError("too small" if number < low else "too large")
    return number


class Value(Protocol):
    """What a key takes."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The allowed values as JSON Schema."""

    def read(self, value: object) -> Any:  # noqa: ANN401 - a requirement's own kind of value
        """The value, of a policy or of the catalog's JSON, in a form that does not change and that can be compared.

        Raises:
            ValueError: not an allowed one; the message does not repeat it.
        """


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``low`` to ``high``, taken exactly as it is written; as text it may be a fraction, ``5/2``.

    With ``above`` it is larger than ``low``.
    """

    low: Fraction
    high: Fraction | None = None
    whole: bool = False
    above: bool = False

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        small = self.high is not None and self.high <= 1
        number, fraction = ("0.25", "1/4") if small else ("2.5", "5/2")
        kind = "a whole number" if self.whole else f"a number such as {number}, or a fraction such as {fraction},"
        if self.above:
            return f"{kind} above {self.low}{f', at most {self.high}' if self.high is not None else ''}"
        return f"{kind} {f'from {self.low} to {self.high}' if self.high is not None else f'of at least {self.low}'}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        high = self.high if self.high is not None else Fraction(LARGEST_PART)
        if self.whole:
            return {"type": "integer", "minimum": int(self.low), "maximum": int(high)}
        least = "exclusiveMinimum" if self.above else "minimum"
        number = {"type": "number", least: float(self.low), "maximum": float(high)}
        return {"anyOf": [number, {"type": "string"}]}

    def read(self, value: object) -> int | Fraction:
        """See `Value.read`."""
        number = exact(value)
        if self.whole and number.denominator != 1:
            raise ValueError("not a whole number")
        if number < self.low or (self.above and number == self.low):
            raise ValueError("too small")
        if self.high is not None and number > self.high:
            raise ValueError("too large")
        if max(number.numerator, number.denominator) > LARGEST_PART:
            raise ValueError("too large or too precise")
        return int(number) if self.whole else number


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words, of which the first asks for the most."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        return " or ".join(self.words)

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: object) -> str:
        """See `Value.read`."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError("not one of the words")
        return value

    def weaker(self, old: str, new: str) -> bool:
        """Whether ``new`` may ask for less."""
        return new not in (old, self.words[0])


@dataclass(frozen=True, slots=True)
class Listing:
    """Values of a column, as text; the catalog keeps a hash of them (`sqlanon.release.catalog.redacted_policy`)."""

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        return "a list of values"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        return {"type": "array", "items": {"type": ["string", "number"]}}

    def read(self, value: object) -> tuple[str, ...] | str:
        """See `Value.read`; a hash is the text that it is."""
        if isinstance(value, Mapping) and isinstance(value.get("sha256"), str):
            return str(value["sha256"])
        if not isinstance(value, list | tuple) or not all(isinstance(one, str | int) for one in value):
            raise ValueError("not a list of values")
        if len({*map(str, value)}) < len(value):
            raise ValueError("a value is listed twice")
        return tuple(sorted(map(str, value)))

    def weaker(self, old: tuple[str, ...] | str, new: tuple[str, ...] | str) -> bool:
        """Whether ``new`` may list less; nothing listed means every value."""
        return bool(new) and old != new and not (bool(old) and set(old) <= set(new) and isinstance(new, tuple))


@dataclass(frozen=True, slots=True)
class TableName:
    """A table or view of the source's database, as text."""

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        return "a table or view, such as public.register"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        return {"type": "string", "minLength": 1}

    def read(self, value: object) -> str:
        """See `Value.read`."""
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise ValueError("not the name of a table")
        return value.strip()

    def weaker(self, old: str, new: str) -> bool:
        """Whether ``new`` may ask for less: of another table nothing is known."""
        return new != old
