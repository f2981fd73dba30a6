"""Several tables as one reader has them: one system over all possible combinations, or linked systems of each table.

Readers of tables without all columns do not know which combinations of all columns occur. They know the finest cells of
each table, and so the combinations with parts in all tables. If the columns of tables form a tree (Graham 1979, "On the
universal relation": the tables are ears one after the other), a smaller system is enough: tables of whole numbers with
equal sums over their common columns are always margins of one table (Vorob'ev 1962, "Consistent families of measures
and their extensions"). Then each table has atoms of its own, with equal sums over the columns that it shares with
another. This holds for numbers of rows alone, not for rows with sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.links import Links
from sqlanon.statistics.reader_cells import SeenCells, list_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_JOINED = 50_000
"""Combinations of all tables, at most; beyond, tables are pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Combinations of some columns, with the cells that are sums of them.

    Attributes:
        columns: the places of the columns, in ascending order.
        codes: int64[columns, n], the finest codes.
        of: int64[margins, n], the cell of each in each margin.
    """

    columns: tuple[int, ...]
    codes: Longs
    of: Longs

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def groups(self, columns: Sequence[int], other: Piece) -> tuple[Longs, Longs]:
        """Numbers of the combinations of some columns that both have: int64[n] and int64[the other's]."""
        mine, others = (piece.codes[[piece.columns.index(column) for column in columns]] for piece in (self, other))
        if not len(columns):
            return np.zeros(len(self), np.int64), np.zeros(len(other), np.int64)
        both = np.unique(np.concatenate([mine, others], axis=1), axis=1, return_inverse=True)[1].reshape(-1)
        return both[: len(self)].astype(np.int64), both[len(self) :].astype(np.int64)


@dataclass(frozen=True, slots=True)
class LinkedSystem:
    """The system of all tables.

    Attributes:
        seen: the cells over the atoms of all pieces; a cell of several pieces is several.
        cell: int64[cells of ``seen``], the published cell of each.
        pieces: the pieces, in the order of their atoms.
        complete: for each table of ``seen`` there is one over the combinations of all columns with the same numbers.
    """

    seen: SeenCells
    cell: Longs
    pieces: tuple[Piece, ...]
    complete: bool

    def sets(self) -> dict[int, Longs]:
        """The atoms of each published cell, in one of the pieces."""
        atoms_of: dict[int, Longs] = {}
        for cell, atoms in list_atoms(self.seen.of):
            if cell < len(self.cell):
                atoms_of.setdefault(int(self.cell[cell]), atoms)
        return atoms_of

    def values(self, published: Longs) -> Longs:
        """Numbers of published cells, as those of the cells of ``seen``."""
        return published[self.cell]


def link_tables(tables: Sequence[Piece], value: Longs, *, whole: bool) -> LinkedSystem:
    """The system of some tables.

    Args:
        tables: each over the finest cells of the table, all of which are listed; every margin of its columns is.
        value: int64[cells], `HIDDEN` where a cell is not shown.
        whole: combinations of all columns are needed, as there are sums or classes as well.

    Cost: tables are joined in this process, up to `MOST_JOINED` combinations.
    """
    tables = [
        table
        for place, table in enumerate(tables)
        if not any(
            set(table.columns) < set(other.columns) or (table.columns == other.columns and rank < place)
            for rank, other in enumerate(tables)
        )
    ]
    joined = _join(tables) if whole or len(tables) == 1 else None
    if joined is not None:
        return _assemble([joined], [], value, complete=True)
    pieces, ears = _find_ears(tables)
    core = [place for place in range(len(pieces)) if place not in {ear for ear, _, _ in ears}]
    merged = _join([pieces[place] for place in core])
    if merged is None:  # each pair agrees, which not every combination needs to
        pairs = [(a, b, _find_common_columns(tables, a, b)) for a in range(len(tables)) for b in range(a)]
        return _assemble(tables, pairs, value, complete=False)
    place_of = dict.fromkeys(core, 0) | {ear: 1 + number for number, (ear, _, _) in enumerate(ears)}
    parts = [merged, *(pieces[ear] for ear, _, _ in ears)]
    links = [(place_of[ear], place_of[holder], columns) for ear, holder, columns in ears]
    return _assemble(parts, links, value, complete=not whole)


def _find_common_columns(pieces: Sequence[Piece], a: int, b: int) -> tuple[int, ...]:
    return tuple(column for column in pieces[a].columns if column in pieces[b].columns)


def _find_ears(tables: Sequence[Piece]) -> tuple[list[Piece], list[tuple[int, int, tuple[int, ...]]]]:
    """The tables that hang on one other by their common columns: each with that table and the columns."""
    pieces, left = list(tables), set(range(len(tables)))
    ears: list[tuple[int, int, tuple[int, ...]]] = []
    while len(left) > 1:
        for place in sorted(left):
            others = sorted(left - {place})
            common = {column for other in others for column in _find_common_columns(pieces, place, other)}
            on = next((other for other in others if common <= set(pieces[other].columns)), None)
            if on is not None:
                ears.append((place, on, tuple(sorted(common))))
                left.remove(place)
                break
        else:
            break
    return pieces, ears


def _join(pieces: Sequence[Piece]) -> Piece | None:
    """The combinations that all pieces allow; None: they are too many."""
    have = pieces[0]
    for piece in pieces[1:]:
        shared = [column for column in have.columns if column in piece.columns]
        mine, others = have.groups(shared, piece)
        order = np.argsort(others, kind="stable")
        first = np.searchsorted(others[order], mine)
        many = np.searchsorted(others[order], mine, side="right") - first
        if int(many.sum()) > MOST_JOINED:
            return None
        left = np.repeat(np.arange(len(have)), many)
        right = order[np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)]
        columns = tuple(sorted({*have.columns, *piece.columns}))
        codes = np.stack(
            [
                have.codes[have.columns.index(column)][left]
                if column in have.columns
                else piece.codes[piece.columns.index(column)][right]
                for column in columns
            ]
        )
        of = np.unique(np.concatenate([have.of[:, left], piece.of[:, right]]), axis=0)
        have = Piece(columns, codes, of)
    return have


def _assemble(
    pieces: Sequence[Piece], ears: Sequence[tuple[int, int, tuple[int, ...]]], value: Longs, *, complete: bool
) -> LinkedSystem:
    """The system of pieces, some of which have equal sums over common columns."""
    starts = np.cumsum([0, *(len(piece) for piece in pieces)])
    margins = max(len(piece.of) for piece in pieces)
    of, cells, total = [], [], 0
    for piece in pieces:
        used, number = np.unique(piece.of, return_inverse=True)
        numbered = number.reshape(piece.of.shape) + total
        if len(used) and used[0] < 0:
            used, numbered = used[1:], numbered - 1
            numbered = np.where(piece.of < 0, -1, numbered)
        of.append(np.concatenate([numbered, np.full((margins - len(piece.of), len(piece)), -1, np.int64)]))
        cells.append(used)
        total += len(used)
    cell = np.concatenate(cells)
    many = int(starts[-1])
    links = _link(pieces, ears, starts)
    # In a join a finest cell has several combinations, any of which may be empty.
    least = np.zeros(many, np.int64) if len(pieces) == 1 else np.concatenate([_least(piece) for piece in pieces])
    seen = SeenCells(np.concatenate(of, axis=1), value[cell], least, (), {}, 1, links=links)
    return LinkedSystem(seen, cell, tuple(pieces), complete)


def _least(piece: Piece) -> Longs:
    """1 where a cell has the combination alone."""
    alone = np.zeros(len(piece), np.int64)
    for row in piece.of:
        listed = row >= 0
        _, number, many = np.unique(row[listed], return_inverse=True, return_counts=True)
        alone[listed] |= many[number.reshape(-1)] == 1
    return alone


def _link(pieces: Sequence[Piece], ears: Sequence[tuple[int, int, tuple[int, ...]]], starts: Longs) -> Links | None:
    """Conditions that two pieces have equal sums over their common columns."""
    rows, atoms, factors, total = [], [], [], 0
    for ear, holder, columns in ears:
        mine, others = pieces[ear].groups(columns, pieces[holder])
        groups = int(max(mine.max(), others.max())) + 1
        rows += [mine + total, others + total]
        atoms += [starts[ear] + np.arange(len(mine)), starts[holder] + np.arange(len(others))]
        factors += [np.ones(len(mine), np.int64), np.full(len(others), -1, np.int64)]
        total += groups
    if not rows:
        return None
    row, atom, factor = (np.concatenate(some) for some in (rows, atoms, factors))
    zeros, unit = np.zeros(total, np.int64), np.ones(int(starts[-1]), np.int64)
    return Links(row, atom, factor, zeros, zeros.copy(), unit)
