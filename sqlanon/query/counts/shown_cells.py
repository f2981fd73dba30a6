"""The published cells of a release of counts, read from the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError
from sqlanon.query.counts.release import ReleasedCounts, ReleasedSum
from sqlanon.sqltext import statement
from sqlanon.statistics.of_versions import divide_by_version, with_ends
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, Cells, Label, SeenCells, SeenColumn, build_seen

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Longs
    from sqlanon.engines.base import Engine


_Read = tuple["Longs", "tuple[list[Label], ...]", "list[object]", "tuple[Longs, ...]"]
MOST_CELLS = 1_000_000
"""Cells that are read, at most."""


def choose_table(released: ReleasedCounts, used: Sequence[str]) -> tuple[SeenColumn, ...] | None:
    """The columns of the table of most columns that has all of those; None: no table has."""
    names = {name.lower() for name in used}
    able = [table for table in released.tables if names <= {name.lower() for name in table}]
    if not able:
        return None
    best = {name.lower() for name in max(able, key=len)}
    return tuple(column for column in released.columns if column.name.lower() in best)


def read_seen(engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn]) -> SeenCells:
    """The cells of a table, over the finest cells, all of which are listed and have at least one row.

    Numbers of several versions are of rows up to each: see `divide_by_version`.

    Args:
        engine: the database.
        released: the release.
        columns: those of the table.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once; and again for each version.
    """
    assert released.summed is not None
    measure = released.summed

    def read() -> SeenCells:
        levels, labels, values, beside = _read_cells(engine, released, columns, measure)
        shown = [None] * len(values) if released.changed else values
        value = np.array([HIDDEN if cell is None else read_integer(cell) for cell in shown], np.int64)
        atoms = [tuple(label[index] for label in labels) for index in range(len(values)) if not any(levels[:, index])]
        seen = build_seen(columns, Cells(levels, labels, value), atoms, 1)
        if not len(values) or (seen.of < 0).any():
            raise PolicyError(f"{released.view.ref} lacks cells that its finest ones are in: it is not as published")
        if released.changed:
            return replace(seen, ends=(beside[0], beside[1]))
        if released.several:
            divided, older = divide_by_version(seen, beside[-1], released.versions[-1])
            return with_ends(divided, older, beside[0], beside[1]) if released.bounded else divided
        if released.together and released.bounded:
            return replace(seen, ends=(beside[0], beside[1]))
        return seen

    return released.once(("seen", tuple(column.name for column in columns)), read)


def read_persons(
    engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn], measure: str
) -> tuple[SeenCells, Longs]:
    """The cells of a table with numbers that do not add up, over the finest cells, and the levels of the cells.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once.
    """
    levels, labels, values, _ = _read_cells(engine, released, columns, measure)
    value = np.array([HIDDEN if cell is None else read_integer(cell) for cell in values], np.int64)
    atoms = [tuple(label[index] for label in labels) for index in range(len(values)) if not any(levels[:, index])]
    seen = build_seen(columns, Cells(levels, labels, value), atoms, 1)
    if not len(values) or (seen.of < 0).any():
        raise PolicyError(f"{released.view.ref} lacks cells that its finest ones are in: it is not as published")
    return seen, levels


def read_finest(
    engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn]
) -> npt.NDArray[np.float64] | None:
    """The published number of each finest cell of `read_seen`, where numbers are changed and add up; else None."""
    if not released.changed or not released.added:
        return None
    assert released.summed is not None
    levels, _, values, _ = _read_cells(engine, released, columns, released.summed)
    return np.array([float(str(value)) for index, value in enumerate(values) if not any(levels[:, index])])


def read_sums(engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn], total: ReleasedSum) -> Longs:
    """int64[cells], the sums of a column in the cells of a table that `read_seen` has first, in units; 0: it is hidden.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once.
    """

    def read() -> Longs:
        seen, count_keys = read_seen(engine, released, columns), list_keys(engine, released, columns)
        _, _, values, _ = _read_cells(engine, released, columns, total.name)
        by_key = dict(zip(list_keys(engine, released, columns, total.name), values, strict=True))
        units = [by_key[key] for key in count_keys]
        hidden = np.array([value is None for value in units])
        if not np.array_equal(hidden, seen.value[: len(units)] == HIDDEN):
            raise PolicyError(f"{released.view.ref} hides a cell in one number alone: it is not as published")
        return np.array(
            [0 if unit is None else int(Decimal(str(unit)).scaleb(total.scale)) for unit in units], np.int64
        )

    return released.once(("sums", total.name, tuple(column.name for column in columns)), read)


def list_keys(
    engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn], measure: str | None = None
) -> list[tuple[object, ...]]:
    """The levels and the labels of the cells of a table, in the order of a measure; None: in that of `read_seen`."""
    levels, labels, values, _ = _read_cells(engine, released, columns, measure or released.summed or "")
    return [(*levels[:, index].tolist(), *(label[index] for label in labels)) for index in range(len(values))]


def _read_cells(engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn], measure: str) -> _Read:
    """Levels and labels of each cell of a table, and the number; None: it is hidden. The columns beside."""

    def read() -> _Read:
        inside = {column.name for column in columns}
        rows = engine.fetch(
            statement(
                "query/cells",
                engine.dialect,
                view=released.view.ref,
                columns=[{"name": column.name, "level": f"level_{column.name}"} for column in columns],
                totals=[
                    {"level": f"level_{column.name}", "levels": column.levels}
                    for column in released.columns
                    if column.name not in inside
                ],
                measure=measure,
                beside=list(released.beside),
            ),
            max_rows=MOST_CELLS,
        )
        many = len(columns)
        levels = np.array([[read_integer(row[index]) for row in rows] for index in range(many)], np.int64)
        labels: tuple[list[Label], ...] = tuple([_label(row[many + index]) for row in rows] for index in range(many))
        places = range(2 * many, 2 * many + len(released.beside))
        beside = tuple(np.array([_read_end(row[place]) for row in rows], np.int64) for place in places)
        return levels.reshape(many, -1), labels, [row[-1] for row in rows], beside

    return released.once(("cells", measure, tuple(column.name for column in columns)), read)


def _read_end(cell: object) -> int:
    """A bound or a version; NULL: nothing bounds the number."""
    return UNBOUNDED if cell is None else read_integer(cell)


def _label(cell: object) -> Label:
    return None if cell is None else str(cell)
