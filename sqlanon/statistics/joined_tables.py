"""Joins several published tables into one system: equal cells once, over the combinations that all tables allow."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sqlanon.errors import UnsupportedError
from sqlanon.statistics.of_versions import divide_by_version
from sqlanon.statistics.reader_cells import (
    HIDDEN,
    MOST_VALUE,
    UNBOUNDED,
    Cells,
    Label,
    SeenCells,
    SeenColumn,
    build_seen,
)

MOST_ATOMS = 500_000
"""Combinations of leaves, at most."""
Node = tuple[int, Label]
"""A level of a column, and a label at it."""
Key = tuple[Node, ...]
"""Of each column a node."""


@dataclass(frozen=True, slots=True)
class JointTable:
    """A published table.

    Attributes:
        name: for reports.
        columns: the places of the columns; the table has the total of all other columns.
        cells: for each cell the nodes in the columns, and the number; `HIDDEN` where it is not shown.
        whole: combinations that it does not list are empty; else nothing is known of them.
        ends: of cells that are not shown the least and the greatest number, where these are published.
        older: of cells with a number of an earlier version that version.
        newest: the version of the table, where cells have several.
        status: of cells without their true number: hidden, rounded or perturbed.
    """

    name: str
    columns: tuple[int, ...]
    cells: Mapping[Key, int]
    whole: bool = True
    ends: Mapping[Key, tuple[int, int]] = field(default_factory=dict)
    older: Mapping[Key, int] = field(default_factory=dict)
    newest: int = 0
    status: str = "hidden"


@dataclass(frozen=True, slots=True)
class JoinedSystem:
    """The system.

    Attributes:
        seen: the published cells over atoms.
        keys: the nodes of each cell in all columns.
        tables: for each cell the tables that list it, by place.
        hidden: for each cell the tables that hide it.
        clashes: cells that two tables show with unlike numbers.
        older: the cells with a number of an earlier version, and that version. After ``keys``, ``seen`` has each of
            them once more, with the rows that came since.
    """

    seen: SeenCells
    keys: tuple[Key, ...]
    tables: tuple[tuple[int, ...], ...]
    hidden: tuple[tuple[int, ...], ...]
    clashes: tuple[int, ...]
    older: tuple[tuple[int, int], ...] = ()


def join_tables(columns: Sequence[SeenColumn], tables: Sequence[JointTable], least: int) -> JoinedSystem:
    """The system of some tables.

    Args:
        columns: all columns, each with the nodes above the leaves.
        tables: the tables.
        least: the least number of a hidden cell.

    Raises:
        PolicyError: a number is negative.
        UnsupportedError: there are too many combinations, or a number is too large.

    Cost: the tables are joined in this process by the columns that they share.
    """
    totals: Key = tuple((column.levels, None) for column in columns)
    places: dict[Key, int] = {}
    value: list[int] = []
    listed: list[list[int]] = []
    hidden: list[list[int]] = []
    clashes: list[int] = []
    ends: list[tuple[int, int]] = []
    older: dict[int, tuple[int, int]] = {}
    for number, table in enumerate(tables):
        for nodes, cell_number in table.cells.items():
            key = _widen(totals, table.columns, nodes)
            place, cell_value = places.setdefault(key, len(places)), cell_number
            if nodes in table.older:  # of the number of now nothing is said
                older[place], cell_value = (table.older[nodes], cell_number), HIDDEN
            if place == len(value):
                value.append(cell_value)
                listed.append([])
                hidden.append([])
                ends.append((least, UNBOUNDED))
            elif HIDDEN not in (cell_value, value[place]) and cell_value != value[place]:
                clashes.append(place)
            value[place] = max(value[place], cell_value)
            low, high = table.ends.get(nodes, (least, UNBOUNDED))
            ends[place] = max(ends[place][0], low), min(ends[place][1], high)
            shown = value[place]
            if ends[place][0] > ends[place][1] or (shown != HIDDEN and not ends[place][0] <= shown <= ends[place][1]):
                clashes.append(place)
            listed[place].append(number)
            if cell_number == HIDDEN:
                hidden[place].append(number)
    if max([*value, *(old for _, old in older.values())], default=0) > MOST_VALUE:
        raise UnsupportedError(f"numbers of cells are at most {MOST_VALUE}")
    levels = np.array([[level for level, _ in key] for key in places], np.int64).T.reshape(len(columns), -1)
    labels = tuple([key[index][1] for key in places] for index in range(len(columns)))
    atoms = _Atoms(columns, tables).join()
    seen = build_seen(columns, Cells(levels, labels, np.array(value, np.int64)), atoms, 0)
    if older:
        seen, wrong = _divide(seen, older, max(table.newest for table in tables))
        clashes += wrong
        for place, (_, before) in sorted(older.items()):  # the bounds are of now
            low, high = ends[place]
            ends.append((max(low - before, least), high if high == UNBOUNDED else high - before))
    return JoinedSystem(
        replace(seen, hidden=least, ends=_ends(ends) if any(table.ends for table in tables) else None),
        tuple(places),
        tuple(map(tuple, listed)),
        tuple(map(tuple, hidden)),
        tuple(dict.fromkeys(clashes)),
        tuple((place, older[place][0]) for place in sorted(older)),
    )


def _divide(seen: SeenCells, older: Mapping[int, tuple[int, int]], newest: int) -> tuple[SeenCells, list[int]]:
    """The system with the numbers of earlier versions, and the cells that have less now than they had."""
    now, before, as_of = seen.value, seen.value.copy(), np.full(len(seen.value), newest, np.int64)
    for place, (version, number) in older.items():
        before[place], as_of[place] = number, version
    if len(np.unique(as_of)) * seen.of.shape[1] > MOST_ATOMS:
        raise UnsupportedError(f"the versions have more than {MOST_ATOMS:,} combinations of values together")
    divided, places = divide_by_version(replace(seen, value=before), as_of, newest)
    is_known = now[places] != HIDDEN
    value = divided.value.copy()
    value[len(now) :][is_known] = np.maximum(now[places] - before[places], 0)[is_known]
    return replace(divided, value=value), places[is_known & (now[places] <= before[places])].tolist()


def _ends(ranges: Sequence[tuple[int, int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.array([low for low, _ in ranges], np.int64), np.array([high for _, high in ranges], np.int64)


def _widen(totals: Key, columns: Sequence[int], nodes: Key) -> Key:
    with_node = list(totals)
    for place, node in zip(columns, nodes, strict=True):
        with_node[place] = node
    return tuple(with_node)


class _Atoms:
    """The combinations of leaves that no table rules out."""

    def __init__(self, columns: Sequence[SeenColumn], tables: Sequence[JointTable]) -> None:
        self._columns, self._tables = columns, tables
        self._below: list[dict[Node, dict[Label, None]]] = []
        for index, column in enumerate(columns):
            below: dict[Node, dict[Label, None]] = {}
            for leaf in self._leaves(index, column):
                for level in range(column.levels):
                    below.setdefault((level, column.node(leaf, level)), {})[leaf] = None
                below.setdefault((column.levels, None), {})[leaf] = None
            self._below.append(below)

    def join(self) -> list[tuple[Label, ...]]:
        """Combinations of all columns."""
        have: tuple[int, ...] = ()
        rows: list[tuple[Label, ...]] = [()]
        for table in self._tables:
            table_atoms = self._list_allowed(table)
            shared = [place for place in have if place in table.columns]
            new = [place for place in table.columns if place not in have]
            inside = [table.columns.index(place) for place in shared]
            added = [table.columns.index(place) for place in new]
            index: dict[tuple[Label, ...], list[tuple[Label, ...]]] = {}
            for atom in table_atoms:
                index.setdefault(tuple(atom[index] for index in inside), []).append(
                    tuple(atom[index] for index in added)
                )
            keys = [tuple(row[have.index(place)] for place in shared) for row in rows]
            self._check(sum(len(index.get(key, ())) for key in keys))
            rows = [(*row, *more) for row, key in zip(rows, keys, strict=True) for more in index.get(key, ())]
            have = (*have, *new)
        order = [have.index(place) for place in range(len(self._columns))]
        return [tuple(row[index] for index in order) for row in rows]

    def _leaves(self, place: int, column: SeenColumn) -> list[Label]:
        leaves: dict[Label, None] = dict.fromkeys(column.above)
        for table in self._tables:
            if place in table.columns:
                inside = table.columns.index(place)
                leaves |= dict.fromkeys(key[inside][1] for key in table.cells if key[inside][0] == 0)
        return list(leaves)

    def _list_allowed(self, table: JointTable) -> list[tuple[Label, ...]]:
        """Combinations of leaves that a table does not say are empty."""
        finest = tuple(min((key[index][0] for key in table.cells), default=0) for index in range(len(table.columns)))
        cells = [key for key in table.cells if tuple(level for level, _ in key) == finest]
        zeros = {key for key in cells if table.cells[key] == 0}
        if not table.whole or not cells:
            nodes = [self._nodes(place, level) for place, level in zip(table.columns, finest, strict=True)]
            self._check(int(np.prod([len(some) for some in nodes], dtype=object)))
            cells = list(itertools.product(*nodes))
        parts = [
            [list(self._below[place].get(node, ())) for place, node in zip(table.columns, key, strict=True)]
            for key in cells
            if key not in zeros
        ]
        self._check(sum(int(np.prod([len(some) for some in part], dtype=object)) for part in parts))
        return [atom for part in parts for atom in itertools.product(*part)]

    def _nodes(self, place: int, level: int) -> list[Node]:
        return [node for node in self._below[place] if node[0] == level]

    def _check(self, many: int) -> None:
        if many > MOST_ATOMS:
            names = ", ".join(table.name for table in self._tables)
            raise UnsupportedError(
                f"{names} allow {many:,} combinations of values together, and at most {MOST_ATOMS:,} are looked at: "
                "name fewer tables, or such with fewer columns"
            )
