"""Kinds of values with parameters: numbers and words.

`kinds` has those that are a function alone, `records` those that are made of several values. Every key of a policy and
of a workload is read by these kinds, and the values that the catalog keeps of a requirement as well. Values of a file
arrive as the text that was written, those of Python arguments as objects; both are accepted. No message has the value.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol, SupportsIndex

from sqlanon.declared.words import join_words, near, wrong_kind

REQUIRED: Final = object()
"""The default of a key that has none."""

LARGEST = 2**63 - 1
"""The largest whole number that a policy may have: every engine's BIGINT holds it."""
LARGEST_PART = 10**9
"""Numerators and denominators, at most: rows x a bound fits 64 bits."""
_WHOLE = re.compile("(-?)0*([0-9]+)")
_EXACT = re.compile(
    r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})(e[+-]?[0-9]{1,3})?|[+-]?[0-9]{1,400}/0*[1-9][0-9]{0,400}",
    re.IGNORECASE,
)


class WrongValue(ValueError):
    """A wrong value: the problem, and the allowed values where the kind does not say them as exactly."""

    def __init__(self, what: str, allowed: str = "") -> None:
        super().__init__(what)
        self.allowed = allowed


def read_exact(value: object) -> Fraction:
    """A number, or the text of a number or fraction, exactly as it is written, never by the binary value.

    Raises:
        ValueError: it is neither; the message does not repeat it.

    Example:
        >>> read_exact(2.1), read_exact("5/2"), read_exact("1e-3")
        (Fraction(21, 10), Fraction(5, 2), Fraction(1, 1000))
    """
    text = "" if isinstance(value, bool) else str(value).strip()
    if not _EXACT.fullmatch(text):
        raise ValueError(wrong_kind(value, "not a number or fraction"))
    return Fraction(text)


def read_integer(value: object, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``, or the text of such a number.

    Raises:
        ValueError: it is none; the message does not repeat it.
    """
    if isinstance(value, str) and (match := _WHOLE.fullmatch(value)):
        number = int(match[1] + match[2][:20])  # long enough to be out of bounds, short enough for int()
    elif isinstance(value, str | bool) or not isinstance(value, SupportsIndex):
        raise ValueError(wrong_kind(value, "not a whole number"))
    else:
        number = operator.index(value)
    if not low <= number <= high:
        raise ValueError("too small" if number < low else "too large")
    return number


def _plain(number: Fraction) -> int | float:
    """The number as JSON has it."""
    return int(number) if number.denominator == 1 else float(number)


class Value(Protocol):
    """The kind of value of a key."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The allowed values as JSON Schema."""

    def read(self, value: object) -> Any:  # noqa: ANN401 - a requirement's own kind of value
        """The value, of a policy or of the catalog's JSON, in a form that does not change and that can be compared.

        Raises:
            ValueError: not an allowed value; the message does not repeat it.
        """


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number from ``low`` to ``high``, or the text of such a number."""

    low: int
    high: int = LARGEST

    @property
    def allowed(self) -> str:
        if self.high == self.low:
            return str(self.low)
        if self.high == LARGEST:
            return f"a whole number of at least {self.low}"
        return f"a whole number from {self.low} to {self.high}"

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"maximum": self.high, "minimum": self.low, "type": "integer"}

    def read(self, value: object) -> int:
        return read_integer(value, self.low, self.high)


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
        high = "" if self.high is None or self.high > LARGEST else f" and at most {self.high}"
        kind = f"{'above' if self.above else 'of at least'} {self.low}{high}"
        if self.whole:
            return f"a whole number {kind}"
        return f"a number {kind}, such as {'0.3 or 3/10' if self.low < 1 else '2.5 or 5/2'}"

    @property
    def schema(self) -> Mapping[str, Any]:
        high = self.high if self.high is not None else Fraction(LARGEST_PART)
        if self.whole:
            return {"maximum": int(high), "minimum": int(self.low), "type": "integer"}
        least = "exclusiveMinimum" if self.above else "minimum"
        number = dict(sorted({"maximum": _plain(high), least: _plain(self.low), "type": "number"}.items()))
        return {"anyOf": [number, {"type": "string"}]}

    def read(self, value: object) -> int | Fraction:
        number = read_exact(value)
        if self.whole and number.denominator != 1:
            raise ValueError("not a whole number")
        if number < self.low or (self.above and number == self.low):
            raise ValueError("too small")
        if self.high is not None and number > self.high:
            raise ValueError("too large")
        if number.denominator > LARGEST_PART:
            raise WrongValue("too precise", f"{self.allowed}, its denominator at most {LARGEST_PART}")
        if number.numerator > max(LARGEST_PART, self.high or 0):
            raise WrongValue("too large or too precise", f"{self.allowed}, both of its parts at most {LARGEST_PART}")
        return int(number) if self.whole else number


SHARE = Number(Fraction(0), Fraction(1))
"""A share of something."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A word of a few, of which the first asks for the most; those of a registry are looked up when asked for."""

    words: Collection[str]

    @property
    def allowed(self) -> str:
        return (
            f"one of {join_words(self.words)}" if len(self.words) > 1 else f"only {join_words(self.words)} is allowed"
        )

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"enum": list(self.words), "type": "string"}

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(wrong_kind(value, "not a word known here") + near(value, self.words))
        return value

    def weaker(self, old: str, new: str) -> bool:
        """Whether ``new`` may ask for less."""
        return new not in (old, next(iter(self.words)))
