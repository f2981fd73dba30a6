"""Quasi and sensitive columns of a small table: codes and positions of their values."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from tests.oracle.trees import Tree

SCALE = 2**20
"""Positions and extents run from 0 to this."""

Kind = Literal["number", "text", "nominal", "hierarchy"]


def as_fraction(value: Any) -> Fraction:
    """A finite number, boolean, date or timestamp as an exact number."""
    if isinstance(value, dt.datetime):
        delta = value - dt.datetime(1970, 1, 1)
        return Fraction(((delta.days * 86400) + delta.seconds) * 10**6 + delta.microseconds)
    if isinstance(value, dt.date):
        return Fraction(value.toordinal())
    return Fraction(value)


def is_finite(value: Any) -> bool:
    """False for NaN and the infinities."""
    return math.isfinite(value) if isinstance(value, float | Decimal) else True


def number_key(value: Any) -> tuple[int, Fraction]:
    """Sorts -inf, finite values, +inf, NaN; -0.0 equals 0.0."""
    if is_finite(value):
        return (1, as_fraction(value))
    if math.isnan(value):
        return (3, Fraction(0))
    return (0, Fraction(0)) if value < 0 else (2, Fraction(0))


def by_frequency(values: Sequence[Any], key: Any) -> list[Any]:
    """The distinct non-null values, most frequent first, ties by ``key``."""
    counts = Counter(key(value) for value in values if value is not None)
    first = {key(value): value for value in reversed(values) if value is not None}
    return [first[k] for k in sorted(counts, key=lambda k: (-counts[k], k))]


@dataclass(frozen=True)
class Quasi:
    """A quasi column: all its values in row order, and how they are to be read.

    Args:
        order: for ``text``: the values in order; None: by bytes.
        levels: for ``hierarchy``: the rows of the file, in the file's order.
    """

    name: str
    values: tuple[Any, ...]
    kind: Kind = "number"
    weight: int = 1
    order: tuple[str, ...] | None = None
    levels: tuple[tuple[str, ...], ...] = field(default=())

    @cached_property
    def has_null(self) -> bool:
        return any(value is None for value in self.values)

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.levels)

    def key(self, value: Any) -> Any:
        """What makes two non-null values of this column equal, and (but for nominal ones) sorts them."""
        if self.kind == "number":
            return number_key(value)
        if self.kind == "hierarchy":
            return self.tree.leaves.index(value)
        if self.kind == "text" and self.order is not None:
            return self.order.index(value)
        return value.encode()

    @cached_property
    def domain(self) -> list[Any]:
        """The distinct non-null values in the order of their codes (those present in the column)."""
        if self.kind == "nominal":
            return by_frequency(self.values, self.key)
        return list({self.key(v): v for v in sorted((v for v in self.values if v is not None), key=self.key)}.values())

    @cached_property
    def codes(self) -> list[int]:
        """The code of every row; NULL is 0 and the values follow in the order of the domain."""
        number = {self.key(value): i + 1 for i, value in enumerate(self.domain)}
        return [0 if value is None else number[self.key(value)] for value in self.values]

    @cached_property
    def keys(self) -> list[Any]:
        """What makes the value of every row equal to others; None is NULL."""
        return [None if value is None else self.key(value) for value in self.values]

    @cached_property
    def domain_keys(self) -> list[Any]:
        """The keys of the domain, in its order."""
        return [self.key(value) for value in self.domain]

    @cached_property
    def positions(self) -> list[int]:
        """The positions of the domain, in its order."""
        return [self.position(value) for value in self.domain]

    @cached_property
    def known_extents(self) -> dict[frozenset[int], int]:
        """Extents of sets of codes that were asked for: brute force asks for the same ones again and again."""
        return {}

    @cached_property
    def size(self) -> int:
        """|A|: leaves of the hierarchy's file, or distinct non-null values."""
        return len(self.tree.leaves) if self.kind == "hierarchy" else len(self.domain)

    @cached_property
    def finite_range(self) -> tuple[Fraction, Fraction] | None:
        """Smallest and largest finite value of a number column."""
        finite = [as_fraction(v) for v in self.domain if is_finite(v)]
        return (min(finite), max(finite)) if finite else None

    def position(self, value: Any) -> int:
        """Where a non-null value of an ordered column lies on the scale from 0 to `SCALE`."""
        if self.kind == "text":
            rank = [self.key(v) for v in self.domain].index(self.key(value))
            return rank * SCALE // (len(self.domain) - 1) if len(self.domain) > 1 else 0
        if not is_finite(value):
            return 0 if value < 0 else SCALE  # NaN < 0 is False: NaN is at the end
        assert self.finite_range is not None
        low, high = self.finite_range
        return 0 if low == high else math.floor((as_fraction(value) - low) * SCALE / (high - low))


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: all its values in row order; NULL is a value like any other."""

    name: str
    values: tuple[Any, ...]

    @cached_property
    def codes(self) -> list[int]:
        def key(value: Any) -> Any:
            return value.encode() if isinstance(value, str) else number_key(value)

        number = {key(value): i + 1 for i, value in enumerate(by_frequency(self.values, key))}
        return [0 if value is None else number[key(value)] for value in self.values]


@dataclass(frozen=True)
class Table:
    """Quasi and sensitive columns of the same length."""

    quasi: tuple[Quasi, ...]
    sensitive: tuple[Sensitive, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.quasi[0].values)

    @cached_property
    def codes(self) -> list[tuple[int, ...]]:
        """Per row: its QI codes in column order."""
        return list(zip(*(column.codes for column in self.quasi), strict=True))

    @cached_property
    def sa_codes(self) -> list[tuple[int, ...]]:
        """Per row: its SA codes."""
        return list(zip(*(s.codes for s in self.sensitive), strict=True)) if self.sensitive else [()] * self.rows

    @cached_property
    def occurrence(self) -> list[int]:
        """Per row: 1, 2, ... within equal (QI codes, SA codes), in row order."""
        seen: Counter[Any] = Counter()
        numbers = []
        for cell in zip(self.codes, self.sa_codes, strict=True):
            seen[cell] += 1
            numbers.append(seen[cell])
        return numbers
