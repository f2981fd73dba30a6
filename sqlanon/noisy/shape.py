"""The shape of noisy statistics: tables, levels, measurements, and the change that a person can make.

Everything here follows from the declarations; nothing depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlanon.column_spec import Hierarchy
from sqlanon.errors import PolicyError
from sqlanon.noisy.levels import Dimension, Level, dimension_of_ends, dimension_of_paths, levels_of
from sqlanon.noisy.nights import Factor, factor_of
from sqlanon.noisy.pairs import GAP_CHANGE, list_pairs
from sqlanon.noisy_spec import NoisyMeasure, NoisySpec
from sqlanon.spec import ReleaseSpec

if TYPE_CHECKING:
    pass


MOST_GROUPS = 2_000_000
"""Groups of all levels of a release, at most."""
KEPT_STEPS = 1024
"""The share of a person's rows that is counted is measured in whole parts of this."""

WEIGHT_STEPS = 1024
"""Weighed numbers are measured in whole parts of this."""

Part = Literal["rows", "persons", "sum", "values", "centered", "gaps"]
"""Summands: rows, persons, values, numbers of values, distances of values from the middle (doubled); or the scores of
pairs of columns (`sqlanon.noisy.pairs`)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; bounds on a person's rows are separate for each table.

    Attributes:
        name: the published name, or a name for messages.
        columns: the dimensions.
        levels: from the coarsest to the finest.
        steps_of: a published table and a measure; then this table counts the rows of each step of the measure's range
            to find the measure's quantiles, and is not published. The first column has the steps; the levels are those
            of the published table. None: this table is published.
    """

    name: str
    columns: tuple[int, ...]
    levels: tuple[Level, ...]
    steps_of: tuple[int, int] | None = None

    @property
    def leaves(self) -> int:
        """How many finest groups it has."""
        return self.levels[-1].size


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of the same kind for all groups of a level.

    Attributes:
        table, level: which.
        part: the summands.
        measure: the measure; None: the series belongs to the bounding.
        most: a person's rows of a finest group add up to this in absolute value, at most; for `persons`, 1.
        l1: the most that a person changes, as the sum of absolute changes.
        l2: the same as the sum of squared changes.
        steps: numbers are measured in whole parts of this.
    """

    table: int
    level: int
    part: Part
    measure: int | None
    most: int
    l1: int
    l2: int
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """All measurements of a release.

    Attributes:
        release: name of the release, for messages.
        spec: the request of the policy.
        dimensions: the columns of groups, and behind them the steps of quantiles.
        tables: the published tables, and behind them those of steps.
        series: the measurements of the tables, in the order in which noise is drawn.
    """

    release: str
    spec: NoisySpec
    dimensions: tuple[Dimension, ...]
    tables: tuple[Table, ...]
    series: tuple[Series, ...]

    @property
    def published(self) -> tuple[Table, ...]:
        """The published tables."""
        return tuple(table for table in self.tables if table.steps_of is None)

    @property
    def groups(self) -> tuple[Dimension, ...]:
        """The columns of groups that are published."""
        return tuple(dimension for dimension in self.dimensions if not dimension.clipped)

    def steps(self, table: int, measure: int) -> int:
        """The place of the table that has the steps of a measure."""
        return next(index for index, steps_table in enumerate(self.tables) if steps_table.steps_of == (table, measure))

    @property
    def factor(self) -> Factor | None:
        """Of running counts: what is measured each night; None: each version is a measurement by itself."""
        return factor_of(self.spec.nights) if self.spec.nights is not None else None

    @property
    def changed(self) -> int:
        """How many numbers a person can change, at most."""
        if self.spec.weight is None:
            # Of each series a person changes a number for each counted group, and of the scores all.
            return self.spec.groups * len(self.series) + (self.series[0].l1 // GAP_CHANGE if self.chooses else 0)
        return sum(1 if series.measure is None else self.tables[series.table].leaves for series in self.series)

    @property
    def additive_persons(self) -> bool:
        """Whether numbers of persons add up: each is counted in one finest group."""
        return self.spec.groups == 1

    @property
    def complete(self) -> tuple[int, ...]:
        """The dimensions that a counted row has all of; synthetic rows are complete, and so are those they describe."""
        return tuple(range(len(self.groups))) if self.spec.of_rows is not None else ()

    @property
    def others(self) -> tuple[int, ...]:
        """With synthetic rows: the dimensions but the target."""
        assert self.spec.of_rows is not None
        target = self.spec.of_rows.target
        return tuple(place for place, group in enumerate(self.groups) if group.name != target)

    @property
    def chooses(self) -> bool:
        """Whether the first series are the scores by which pairs of columns are chosen."""
        return self.spec.of_rows is not None and self.spec.of_rows.chosen

    def find_series(self, table: int, level: int, measure: int, part: Part) -> int:
        """The place of a series."""
        key = (table, level, measure, part)
        return next(
            index
            for index, series in enumerate(self.series)
            if (series.table, series.level, series.measure, series.part) == key
        )


def shape_of(spec: ReleaseSpec, pairs: Sequence[tuple[str, str]] | None = None) -> Shape:
    """The shape of a release.

    Args:
        spec: the release.
        pairs: the pairs of columns of synthetic rows, where they are known; the noise does not depend on them.

    Raises:
        PolicyError: there are too many groups.
    """
    noisy = spec.noisy
    assert noisy is not None
    if pairs is not None:
        noisy = noisy.with_pairs(pairs)
    names = [column.name for column in spec.columns if column.role == "quasi"]
    dimensions = [_dimension(spec, name) for name in names]
    places = {name.lower(): place for place, name in enumerate(names)}
    tables = []
    for table in noisy.tables:
        columns = tuple(places[name.lower()] for name in table.by)
        levels = _list_bounded_levels(spec, table.name, [dimensions[column] for column in columns], totals=table.totals)
        tables.append(Table(table.name, columns, levels))
    for measure, what in enumerate(noisy.measures):
        if what.quantity == "quantiles":
            dimensions.append(replace(dimension_of_ends(what.column, what.ends), clipped=True))
            for place, table in enumerate(noisy.tables):
                tables.append(_steps_table(spec, tables[place], dimensions, (place, measure), totals=table.totals))
    total = sum(level.size for table in tables for level in table.levels)
    if total > MOST_GROUPS:
        raise PolicyError(
            f"{spec.name}: the tables have {total} groups with all totals and steps; at most {MOST_GROUPS}"
        )
    if noisy.nights is not None and total * noisy.nights > MOST_GROUPS:
        raise PolicyError(
            f"{spec.name}: the tables have {total} groups with all totals, and that for {noisy.nights} nights; at most "
            f"{MOST_GROUPS} together"
        )
    shape = Shape(spec.name, noisy, tuple(dimensions), tuple(tables), ())
    series = _scores(shape)
    series += [
        series
        for place, table in enumerate(tables)
        for measure in _measures_of(noisy, table)
        for level in range(len(table.levels))
        for series in _series(noisy, table, (place, level, measure), noisy.measures[measure])
    ]
    if noisy.kept:
        series.append(Series(0, 0, "sum", None, KEPT_STEPS, KEPT_STEPS, KEPT_STEPS**2))
        series.append(Series(0, 0, "persons", None, 1, 1, 1))
    return replace(shape, series=tuple(series))


def _scores(shape: Shape) -> list[Series]:
    """The scores of pairs of columns, where they choose the tables of synthetic rows.

    Raises:
        PolicyError: tables of other pairs than the assumed ones could have too many groups.
    """
    if not shape.chooses:
        return []
    sizes = [len(shape.dimensions[place].leaves) for place in shape.others]
    widest = math.prod(sorted(sizes)[-2:]) * math.prod(
        len(group.leaves) for place, group in enumerate(shape.groups) if place not in shape.others
    )
    if widest * (len(sizes) - 1) > MOST_GROUPS:
        raise PolicyError(
            f"{shape.release}: the tables of synthetic rows may have {widest * (len(sizes) - 1)} groups; at most "
            f"{MOST_GROUPS}: fewer values, or declare pairs"
        )
    pairs = len(list_pairs(len(sizes)))
    return [Series(-1, 0, "gaps", None, GAP_CHANGE, pairs * GAP_CHANGE, pairs * GAP_CHANGE**2)]


def _measures_of(spec: NoisySpec, table: Table) -> list[int]:
    """The measures of a table; a table of steps has the measure of the steps."""
    if table.steps_of is not None:
        return [table.steps_of[1]]
    return [place for place, measure in enumerate(spec.measures) if measure.quantity != "quantiles"]


def _list_bounded_levels(
    spec: ReleaseSpec, name: str, dimensions: Sequence[Dimension], *, totals: bool
) -> tuple[Level, ...]:
    leaves = math.prod(len(dimension.leaves) for dimension in dimensions)
    if leaves > MOST_GROUPS:
        raise PolicyError(f"{spec.name}: table {name} has {leaves} groups; at most {MOST_GROUPS}")
    return levels_of(dimensions, totals=totals)


def _steps_table(
    spec: ReleaseSpec, table: Table, dimensions: Sequence[Dimension], of: tuple[int, int], *, totals: bool
) -> Table:
    """The table of the steps of a measure, the last of the dimensions, in the groups of a published table."""
    noisy = spec.noisy
    assert noisy is not None
    columns = (len(dimensions) - 1, *table.columns)
    name = f"{table.name}, steps of {noisy.measures[of[1]].name}"
    levels = _list_bounded_levels(spec, name, [dimensions[column] for column in columns], totals=totals)
    # Without the total of the steps, which has no steps.
    return Table(name, columns, levels[-len(table.levels) :], of)


def _dimension(spec: ReleaseSpec, name: str) -> Dimension:
    noisy = spec.noisy
    assert noisy is not None
    values, bins = dict(noisy.values), dict(noisy.bins)
    if name in bins:
        return dimension_of_ends(name, bins[name])
    if name in values:
        return dimension_of_paths(name, [(value,) for value in values[name]])
    hierarchy = next(column.hierarchy for column in spec.columns if column.name == name)
    if not isinstance(hierarchy, Hierarchy):
        raise PolicyError(f"{spec.name}: the groups of {name} are not declared")
    return dimension_of_paths(name, [path[: hierarchy.height] for path in hierarchy.levels])


def _series(spec: NoisySpec, table: Table, place: tuple[int, int, int], measure: NoisyMeasure) -> list[Series]:
    number, depth, which = place
    level = table.levels[depth]
    if spec.weight is not None:
        return _weigh(spec.weight, level.size, place, measure)
    groups = min(spec.groups, table.leaves)
    if measure.quantity in ("persons", "arrivals"):
        most = min(groups, level.size)
        return [Series(number, depth, "persons", which, 1, most, most)]
    series = []
    for part, size in _parts(measure).items():
        most = spec.rows * size
        # The squares are the largest where the groups of a person are together in as few coarse groups as can be.
        whole, rest = divmod(groups, level.widest)
        l2 = whole * (level.widest * most) ** 2 + (rest * most) ** 2
        series.append(Series(number, depth, part, which, most, groups * most, l2))
    return series


def _parts(measure: NoisyMeasure) -> dict[Part, int]:
    """The parts of a measure, each with the most that one row adds in absolute value."""
    low, high = int(measure.low / measure.unit), int(measure.high / measure.unit)
    parts: dict[str, dict[Part, int]] = {
        "rows": {"rows": 1},
        "persons": {"persons": 1},
        "quantiles": {"rows": 1},
        "sum": {"sum": max(abs(low), abs(high))},
        "mean": {"values": 1, "centered": high - low},
    }
    return parts[measure.quantity]


def _weigh(weight: int, leaves: int, place: tuple[int, int, int], measure: NoisyMeasure) -> list[Series]:
    """Series of which a person's part is scaled to a norm; see noisy/weighted."""
    number, depth, which = place
    series = []
    for part, size in _parts(measure).items():
        most = weight * size * WEIGHT_STEPS
        # The sum of so many absolute values is at most the norm times the root of their number.
        l1 = math.isqrt(leaves * most**2) + 1
        series.append(Series(number, depth, part, which, most, l1, most**2, WEIGHT_STEPS))
    return series
