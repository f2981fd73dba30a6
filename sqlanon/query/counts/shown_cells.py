"""The published cells of a release of counts, read from the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError
from sqlanon.query.counts.released import ReleasedCounts
from sqlanon.sqltext import statement
from sqlanon.statistics.seen import HIDDEN, Cells, Label, Seen, SeenColumn, build_seen

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.engines.base import Engine

MOST_CELLS = 1_000_000
"""Cells that are read, at most."""


def choose_table(released: ReleasedCounts, used: Sequence[str]) -> tuple[SeenColumn, ...] | None:
    """The columns of the table of most columns that has all of those; None: no table has."""
    asked = {name.lower() for name in used}
    able = [table for table in released.tables if asked <= {name.lower() for name in table}]
    if not able:
        return None
    best = {name.lower() for name in max(able, key=len)}
    return tuple(column for column in released.columns if column.name.lower() in best)


@dataclass(frozen=True, slots=True)
class ReadCells:
    """The cells of a table.

    Attributes:
        seen: as sums over the finest cells.
        finest: float64[atoms], the published number of each finest cell, where numbers are changed and add up.
    """

    seen: Seen
    finest: npt.NDArray[np.float64] | None


def read_seen(engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn]) -> ReadCells:
    """The cells of a table, over the finest cells, all of which are listed and have at least one row.

    Args:
        engine: the database.
        released: the release.
        columns: those of the table.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once; and again for each version.
    """

    def read() -> ReadCells:
        inside = {column.name for column in columns}
        rows = engine.fetch(
            statement(
                "query/cells",
                engine.dialect,
                view=released.view.ref,
                columns=[{"name": one.name, "level": f"level_{one.name}"} for one in columns],
                totals=[
                    {"level": f"level_{one.name}", "levels": one.levels}
                    for one in released.columns
                    if one.name not in inside
                ],
                measure=released.measures[0][0],
                ends=list(released.ends),
            ),
            max_rows=MOST_CELLS,
        )
        many = len(columns)
        levels = np.array([[read_integer(row[at]) for row in rows] for at in range(many)], np.int64)
        labels: tuple[list[Label], ...] = tuple([_label(row[many + at]) for row in rows] for at in range(many))
        if released.changed:
            value = np.full(len(rows), HIDDEN, np.int64)
        else:
            value = np.array([HIDDEN if row[-1] is None else read_integer(row[-1]) for row in rows], np.int64)
        atoms = [tuple(own[at] for own in labels) for at in range(len(rows)) if not any(levels[:, at])]
        seen = build_seen(columns, Cells(levels.reshape(many, -1), labels, value), atoms, 1)
        if not len(rows) or (seen.of < 0).any():
            raise PolicyError(f"{released.view.ref} lacks cells that its finest ones are in: it is not as published")
        if not released.changed:
            return ReadCells(seen, None)
        low, high = (np.array([read_integer(row[at]) for row in rows], np.int64) for at in (-3, -2))
        finest = [float(str(row[-1])) for at, row in enumerate(rows) if not any(levels[:, at])]
        return ReadCells(replace(seen, ends=(low, high)), np.array(finest) if released.added else None)

    return released.once(("seen", tuple(column.name for column in columns)), read)


def _label(cell: object) -> Label:
    return None if cell is None else str(cell)
