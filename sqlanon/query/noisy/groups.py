"""The published groups of a table, and sums of them with the deviation of their noise.

Values of all levels agree, so that every sum of groups is a sum of the finest groups. These are not independent: least
squares made them of several noisy numbers each. The variance of a sum with weights w is w' C w, where C is their
covariance. By the normal equations C w is the least squares result for zeros at all levels but the finest, and there
for w times the variance of the noise: so no matrix is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Engine, Statement
from sqlanon.engines.rows import number, read_integer
from sqlanon.errors import PolicyError
from sqlanon.noisy.consistent import make_consistent
from sqlanon.noisy.levels import Dimension, Level, levels_of
from sqlanon.noisy.split import deviation_of
from sqlanon.query.noisy.release import NoisyTableRead, ReleasedNoisy
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.noisy.accounting import Law


MOST_ROWS = 2_000_000
"""Rows of a view that are read, at most."""


@dataclass(frozen=True)
class Groups:
    """A table of groups.

    Attributes:
        table: as the metadata have it.
        dimensions: the columns.
        levels: from the coarsest to the finest.
        values: for each level and column of the view, float64[groups]; NaN: the group is not identified in the view.
        places: the place of each finest group by texts.
        sizes: for each level, int64[groups], the number of finest groups in each.
    """

    table: NoisyTableRead
    dimensions: tuple[Dimension, ...]
    levels: tuple[Level, ...]
    values: tuple[dict[str, Doubles], ...]
    places: dict[tuple[str | None, ...], int]
    sizes: tuple[Longs, ...]

    def node_of(self, leaves: Longs) -> tuple[int, int] | None:
        """The level and the place of the published group that has exactly these finest groups; None: there is none."""
        for place, level in enumerate(self.levels):
            nodes = level.node[leaves]
            if (nodes == nodes[0]).all() and self.sizes[place][nodes[0]] == len(leaves):
                return place, int(nodes[0])
        return None

    def deviations(self, measured: str, of: str, law: Law) -> list[float]:
        """Of the noise of each level, in units."""
        scales = [self.table.scales[level, measured, of] for level in range(len(self.levels))]
        return [deviation_of(law, float(scale)) for scale in scales]

    def deviation(self, deviations: Sequence[float], weights: Doubles) -> float:
        """The standard deviation of a weighted sum of the finest groups, in units.

        Args:
            deviations: standard deviation of the noise of each level.
            weights: float64[finest groups].

        Cost: linear in the number of groups.
        """
        finest = deviations[-1] ** 2
        numbers = [np.zeros(level.size) for level in self.levels[:-1]] + [finest * weights]
        consistent, _ = make_consistent(self.levels, numbers, deviations)
        return math.sqrt(max(float(consistent[-1] @ weights), 0.0))


def table_of_columns(released: ReleasedNoisy, used: Sequence[str]) -> NoisyTableRead | None:
    """The published table of the fewest columns that has all of those; None: no table has.

    Of equal ones it is that of the fewest groups, as sums of few numbers have little noise, and then the first.
    """
    names = {name.lower() for name in used}
    able = [table for table in released.tables if names <= {name.lower() for name in table.by}]
    leaves = {dimension.name.lower(): len(dimension.leaves) for dimension in released.dimensions}

    def size(table: NoisyTableRead) -> tuple[int, int]:
        return len(table.by), math.prod(leaves[name.lower()] for name in table.by)

    return min(able, key=size, default=None)


def read_groups(engine: Engine, released: ReleasedNoisy, table: NoisyTableRead) -> Groups:
    """The groups of a table, read once for each version.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the rows of the table are read.
    """

    def read() -> Groups:
        by_name = {dimension.name.lower(): dimension for dimension in released.dimensions}
        dimensions = tuple(by_name[name.lower()] for name in table.by)
        levels = levels_of(dimensions, totals=table.totals)
        published_names = [name for measure in released.measures for name, _ in measure.published]
        columns = [f"{name}{end}" for name in published_names for end in ("", "_low", "_high")]
        rows = engine.fetch(_select(engine, released, table, dimensions, columns), max_rows=MOST_ROWS)
        values_by_level = [{name: np.full(level.size, math.nan) for name in columns} for level in levels]
        times_seen = [np.zeros(level.size, np.int64) for level in levels]
        places = [_places(dimensions, level) for level in levels]
        for depth, *rest in rows:
            labels = tuple(None if label is None else str(label) for label in rest[: len(dimensions)])
            integer = read_integer(depth)
            place = places[integer].get(labels)
            if place is None:
                continue
            times_seen[integer][place] += 1
            for name, value in zip(columns, rest[len(dimensions) :], strict=True):
                values_by_level[integer][name][place] = number(value)
        if not (times_seen[-1] == 1).all():
            raise PolicyError(f"{released.view.ref} lacks groups of its table {table.name}: it is not as published")
        sizes = tuple(np.bincount(level.node, minlength=level.size) for level in levels)
        return Groups(table, dimensions, levels, tuple(values_by_level), places[-1], sizes)

    return released.once(("groups", table.name), read)


def _select(
    engine: Engine,
    released: ReleasedNoisy,
    table: NoisyTableRead,
    dimensions: Sequence[Dimension],
    columns: Sequence[str],
) -> Statement:
    return statement(
        "query/noisy_groups",
        engine.dialect,
        {"name": table.name},
        view=released.view.ref,
        night=released.night,
        columns=[*(dimension.name for dimension in dimensions), *columns],
    )


def _places(dimensions: Sequence[Dimension], level: Level) -> dict[tuple[str | None, ...], int]:
    """The place of each group of a level by texts; groups of the same texts have none."""
    texts: list[tuple[str | None, ...]] = [()]
    for dimension, depth in zip(dimensions, level.depth, strict=True):
        names: tuple[str | None, ...] = (None,) if depth is None else dimension.nodes[depth][1]
        texts = [(*text, name) for text in texts for name in names]
    places: dict[tuple[str | None, ...], int] = {}
    twice = set()
    for place, text in enumerate(texts):
        if text in places:
            twice.add(text)
        places[text] = place
    return {labels: place for labels, place in places.items() if labels not in twice}
