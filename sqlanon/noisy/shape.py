"""The shape of noisy statistics: tables, their levels, what is measured of each, and what one person can change.

Everything here follows from what is declared; nothing depends on the data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from sqlanon.budgeted import NoisyMeasure, NoisySpec
from sqlanon.errors import PolicyError
from sqlanon.spec import Hierarchy, ReleaseSpec

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

MOST_GROUPS = 2_000_000
"""Groups of all levels of a release, at most."""
KEPT_STEPS = 1024
"""The share of a person's rows that is counted is measured in whole parts of this."""

Part = Literal["rows", "persons", "sum", "values", "centered"]
"""What is added up: rows, persons, values, numbers of values, distances of values from the middle (doubled)."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column of groups.

    Attributes:
        name: the column.
        leaves: texts that name the groups.
        values: the values of each group as text; None: the groups are `ends`.
        ends: ends of the intervals.
        nodes: per level below the total the number of the node of each leaf, and the texts that name the nodes; level 0
            has the leaves themselves.
    """

    name: str
    leaves: tuple[str, ...]
    values: tuple[str, ...] | None
    ends: tuple[Fraction, ...]
    nodes: tuple[tuple[Longs, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a table.

    Attributes:
        depth: per column of the table the level of its hierarchy; None: the total.
        size: how many groups it has.
        node: int64[leaves], the group of each of the finest groups.
        widest: of the finest groups so many are in one group, at most.
    """

    depth: tuple[int | None, ...]
    size: int
    node: Longs
    widest: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its levels from the coarsest to the finest; a person's rows of its groups are bounded by themselves."""

    name: str
    columns: tuple[int, ...]
    levels: tuple[Level, ...]

    @property
    def leaves(self) -> int:
        """How many finest groups it has."""
        return self.levels[-1].size


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one kind, of all groups of a level.

    Attributes:
        table, level: which.
        part: what is added up.
        measure: of which measure; None: of the bounding itself.
        most: a person's rows of one finest group add up to this in absolute value, at most; of `persons`, 1.
        l1: what one person changes, as the sum of absolute changes, at most.
        l2: the same as the sum of squared changes.
    """

    table: int
    level: int
    part: Part
    measure: int | None
    most: int
    l1: int
    l2: int


@dataclass(frozen=True, slots=True)
class Shape:
    """All that is measured.

    Attributes:
        release: its name, for messages.
        spec: what is asked.
        dimensions: the columns of groups.
        tables: the tables.
        series: what is measured of them, in the order in which it is drawn.
    """

    release: str
    spec: NoisySpec
    dimensions: tuple[Dimension, ...]
    tables: tuple[Table, ...]
    series: tuple[Series, ...]

    @property
    def additive_persons(self) -> bool:
        """Whether numbers of persons add up: each is counted in one finest group."""
        return self.spec.groups == 1

    def measured(self, table: int, level: int, measure: int, part: Part) -> int:
        """The place of a series."""
        wanted = (table, level, measure, part)
        return next(at for at, one in enumerate(self.series) if (one.table, one.level, one.measure, one.part) == wanted)


def shape_of(spec: ReleaseSpec) -> Shape:
    """The shape of a release.

    Raises:
        PolicyError: there are too many groups.
    """
    asked = spec.noisy
    assert asked is not None
    names = [column.name for column in spec.columns if column.role == "quasi"]
    dimensions = tuple(_dimension(spec, name) for name in names)
    places = {name.lower(): place for place, name in enumerate(names)}
    tables, total = [], 0
    for table in asked.tables:
        columns = tuple(places[name.lower()] for name in table.by)
        leaves = math.prod(len(dimensions[column].leaves) for column in columns)
        if leaves > MOST_GROUPS:
            raise PolicyError(f"{spec.name}: table {table.name} has {leaves} groups; at most {MOST_GROUPS}")
        made = Table(table.name, columns, levels_of([dimensions[column] for column in columns], totals=table.totals))
        total += sum(level.size for level in made.levels)
        tables.append(made)
    if total > MOST_GROUPS:
        raise PolicyError(f"{spec.name}: the tables have {total} groups with all totals; at most {MOST_GROUPS}")
    series = [
        one
        for place, table in enumerate(tables)
        for measure, what in enumerate(asked.measures)
        for level in range(len(table.levels))
        for one in _series(asked, table, (place, level, measure), what)
    ]
    if asked.kept:
        series.append(Series(0, 0, "sum", None, KEPT_STEPS, KEPT_STEPS, KEPT_STEPS**2))
        series.append(Series(0, 0, "persons", None, 1, 1, 1))
    return Shape(spec.name, asked, dimensions, tuple(tables), tuple(series))


def _dimension(spec: ReleaseSpec, name: str) -> Dimension:
    asked = spec.noisy
    assert asked is not None
    values, bins = dict(asked.values), dict(asked.bins)
    if name in bins:
        return dimension_of_ends(name, bins[name])
    if name in values:
        return dimension_of_paths(name, [(value,) for value in values[name]])
    hierarchy = next(column.hierarchy for column in spec.columns if column.name == name)
    if not isinstance(hierarchy, Hierarchy):
        raise PolicyError(f"{spec.name}: the groups of {name} are not declared")
    return dimension_of_paths(name, [path[: hierarchy.height] for path in hierarchy.levels])


def dimension_of_paths(name: str, paths: Sequence[tuple[str, ...]]) -> Dimension:
    """A column whose groups are values: of each the nodes that it is in, from the value itself up."""
    leaves = tuple(path[0] for path in paths)
    nodes = []
    for level in range(len(paths[0])):
        # A node is its path to the root: nodes of one name below different ones are different.
        numbers: dict[tuple[str, ...], int] = {}
        of_leaf = np.array([numbers.setdefault(path[level:], len(numbers)) for path in paths], np.int64)
        nodes.append((of_leaf, tuple(path[0] for path in numbers)))
    return Dimension(name, leaves, leaves, (), tuple(nodes))


def dimension_of_ends(name: str, ends: tuple[Fraction, ...]) -> Dimension:
    """A column whose groups are intervals of numbers."""
    leaves = tuple(f"[{low}, {high})" for low, high in itertools.pairwise(decimal_text(end) for end in ends))
    return Dimension(name, leaves, None, ends, ((np.arange(len(leaves)), leaves),))


def levels_of(dimensions: Sequence[Dimension], *, totals: bool) -> tuple[Level, ...]:
    """The levels of a table as GROUP BY ROLLUP has them, hierarchies one level after the other."""
    depths: list[tuple[int | None, ...]] = [(None,) * len(dimensions)]
    for place, dimension in enumerate(dimensions):
        after = (None,) * (len(dimensions) - place - 1)
        depths += [(*(0,) * place, level, *after) for level in reversed(range(len(dimension.nodes)))]
    made: list[Level] = []
    for depth in depths if totals else depths[-1:]:
        node = np.zeros(1, np.int64)
        size = 1
        for dimension, at in zip(dimensions, depth, strict=True):
            of_leaf, many = np.zeros(len(dimension.leaves), np.int64), 1
            if at is not None:
                of_leaf, many = dimension.nodes[at][0], len(dimension.nodes[at][1])
            node = (node[:, None] * many + of_leaf[None, :]).reshape(-1)
            size *= many
        widest = int(np.bincount(node, minlength=size).max())
        if not made or size > made[-1].size:  # a level that divides nothing further is the one before it
            made.append(Level(depth, size, node, widest))
        else:
            made[-1] = Level(depth, size, node, widest)
    return tuple(made)


def _series(asked: NoisySpec, table: Table, place: tuple[int, int, int], measure: NoisyMeasure) -> list[Series]:
    number, depth, which = place
    level = table.levels[depth]
    groups = min(asked.groups, table.leaves)
    if measure.quantity == "persons":
        most = min(groups, level.size)
        return [Series(number, depth, "persons", which, 1, most, most)]
    low, high = int(measure.low / measure.unit), int(measure.high / measure.unit)
    parts: dict[Part, int] = {
        "rows": {"rows": 1},
        "sum": {"sum": max(abs(low), abs(high))},
        "mean": {"values": 1, "centered": high - low},
    }[measure.quantity]  # type: ignore[assignment]
    made = []
    for part, size in parts.items():
        most = asked.rows * size
        # The squares are the largest where the groups of a person are together in as few coarse groups as can be.
        whole, rest = divmod(groups, level.widest)
        l2 = whole * (level.widest * most) ** 2 + (rest * most) ** 2
        made.append(Series(number, depth, part, which, most, groups * most, l2))
    return made


def decimal_text(number: Fraction) -> str:
    """A decimal number in full, as SQL and people write it.

    >>> decimal_text(Fraction(-121, 200)), decimal_text(Fraction(20))
    ('-0.605', '20')
    """
    if number.denominator == 1:
        return str(number.numerator)
    digits = 1
    while 10**digits % number.denominator:
        digits += 1
    whole = abs(number.numerator) * 10**digits // number.denominator
    text = f"{whole:0{digits + 1}d}"
    return f"{'-' if number < 0 else ''}{text[:-digits]}.{text[-digits:]}"
