"""The system of all that a release of counts publishes, for the queries over one of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.query.counts.release import ReleasedCounts
from sqlanon.query.counts.shown_cells import list_keys, read_seen, read_sums
from sqlanon.statistics.joint import Joint, join_sums
from sqlanon.statistics.linked_systems import LinkedSystem, Piece, link_tables
from sqlanon.statistics.reach import End, Reach
from sqlanon.statistics.reader_cells import Label, SeenColumn

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.engines.base import Engine


@dataclass(frozen=True, slots=True)
class QuerySystem:
    """The system.

    Attributes:
        joint: rows and sums.
        reach: programs over them.
        of: int64[atoms of rows], the finest cell of the queried table that each is part of; -1: it is of other tables.
        tight: tables of whole numbers at both ends make bounds tight: nothing else is published of these numbers.
    """

    joint: Joint
    reach: Reach
    of: Longs
    tight: bool

    def spread(self, weight: Longs) -> Longs:
        """Weights of the finest cells of the queried table, as those of atoms."""
        return np.where(self.of >= 0, weight[self.of], 0)

    def rows(self, weight: Longs) -> tuple[End, End]:
        """The least and the greatest number of rows of the finest cells with such weights."""
        return self.reach.bound(self.joint.rows(self.spread(weight)))

    def sums(self, column: int, weight: Longs) -> tuple[End, End]:
        """The same of a column's sums, in units."""
        return self.joint.bound(self.reach, column, self.spread(weight))


def read_system(engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn]) -> QuerySystem:
    """The system for the queries over a table.

    Args:
        engine: the database.
        released: the release.
        columns: those of the table.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once for each number and table; and again for each version.
    """

    def read() -> QuerySystem:
        seen = read_seen(engine, released, columns)
        of, complete = np.arange(len(seen.least)), released.whole
        if len(columns) == len(released.columns) or not complete:
            sums = [(read_sums(engine, released, columns, summed), summed.of) for summed in released.sums]
            joint = join_sums(seen, sums)
            complete = complete and len(columns) == len(released.columns)
        else:
            linked, of, values = _link(engine, released, columns)
            sums = [(linked.values(value), summed.of) for value, summed in zip(values, released.sums, strict=True)]
            joint, complete = join_sums(linked.seen, sums), linked.complete
        # Persons who have several rows, and the rows of another release, say more.
        alone = not (released.patterns or released.together)
        return QuerySystem(joint, Reach(joint.seen), of, complete and alone)

    return released.once(("system", tuple(column.name for column in columns)), read)


def _link(
    engine: Engine, released: ReleasedCounts, columns: Sequence[SeenColumn]
) -> tuple[LinkedSystem, Longs, list[Longs]]:
    """All tables; of each atom the finest cell of one of them; and of each column of sums those of the cells."""
    tables, cells = _list_tables(released), _Cells(released)
    pieces = []
    for table in tables:
        seen = read_seen(engine, released, table)
        sums = [read_sums(engine, released, table, summed) for summed in released.sums]
        number = cells.add(table, list_keys(engine, released, table), [seen.value, *sums])
        pieces.append(Piece(cells.places(table), cells.code(table, seen.atoms), number[seen.of]))
    value, *sums = cells.list()
    linked = link_tables(pieces, value, whole=bool(released.sums))
    return linked, _find_cells(linked, pieces[tables.index(tuple(columns))]), sums


def _list_tables(released: ReleasedCounts) -> list[tuple[SeenColumn, ...]]:
    """The columns of the tables that are no part of another one, in the order of the release's columns."""
    names = [frozenset(name.lower() for name in table) for table in released.tables]
    largest = [table for table in dict.fromkeys(names) if not any(table < other for other in names)]
    return [tuple(column for column in released.columns if column.name.lower() in table) for table in largest]


class _Cells:
    """The cells of all tables, each once, and numbers of the labels of each column."""

    def __init__(self, released: ReleasedCounts) -> None:
        self._columns = released.columns
        self._places: dict[tuple[object, ...], int] = {}
        self._numbers: list[dict[int, int]] = [{} for _ in range(1 + len(released.sums))]
        self._codes: list[dict[Label, int]] = [{} for _ in released.columns]

    def places(self, table: Sequence[SeenColumn]) -> tuple[int, ...]:
        return tuple(self._columns.index(column) for column in table)

    def add(self, table: Sequence[SeenColumn], keys: Sequence[tuple[object, ...]], values: Sequence[Longs]) -> Longs:
        """int64[cells], the places of the cells of a table with levels and labels, and numbers of each measure."""
        inside, many = self.places(table), len(table)
        totals = [column.levels for column in self._columns]
        places = []
        for key in keys:
            levels: list[object] = list(totals)
            labels: list[object] = [None] * len(totals)
            for index, place in enumerate(inside):
                levels[place], labels[place] = key[index], key[many + index]
            places.append(self._places.setdefault((*levels, *labels), len(self._places)))
        for numbers, value in zip(self._numbers, values, strict=True):
            numbers |= dict(zip(places, value.tolist(), strict=True))
        return np.array(places, np.int64)

    def code(self, table: Sequence[SeenColumn], atoms: Sequence[Sequence[Label]]) -> Longs:
        """int64[columns, atoms], the numbers of the labels."""
        rows = []
        for index, place in enumerate(self.places(table)):
            codes = self._codes[place]
            rows.append([codes.setdefault(atom[index], len(codes)) for atom in atoms])
        return np.array(rows, np.int64).reshape(len(table), -1)

    def list(self) -> list[Longs]:
        """Of each measure int64[cells]."""
        many = range(len(self._places))
        return [np.array([numbers[cell] for cell in many], np.int64) for numbers in self._numbers]


def _find_cells(linked: LinkedSystem, queried: Piece) -> Longs:
    """int64[atoms], the combination of a table that each atom is part of, in the first piece that has all columns."""
    of, start = np.full(len(linked.seen.least), -1, np.int64), 0
    for piece in linked.pieces:
        if set(queried.columns) <= set(piece.columns):
            mine, others = piece.groups(queried.columns, queried)
            place = np.full(int(max(mine.max(), others.max())) + 1, -1, np.int64)
            place[others] = np.arange(len(queried))
            of[start : start + len(piece)] = place[mine]
            break
        start += len(piece)
    return of
