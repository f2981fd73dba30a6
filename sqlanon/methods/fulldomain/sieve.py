"""The filter of large lattices: made anew whenever half of the rest has found a class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.fulldomain.kernels.lattice import Maps, room_of
from sqlanon.methods.fulldomain.kernels.lattice_local import Filter
from sqlanon.methods.fulldomain.kernels.lattice_part import IN_USE, ROWS, ClassRequirements, RemainingRows
from sqlanon.methods.fulldomain.kernels.lattice_sieve import find_places, project
from sqlanon.methods.fulldomain.levels import Lattice

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints

LARGE = 2_000_000_000
"""Nodes x cells from which on the filter costs less than it saves."""

MOST_TABLES = 6_000
"""Projections to the same set of columns, at most."""


class Sieve:
    """Projections of the lattice to a few sets of columns, each about half of them."""

    def __init__(
        self,
        lattice: Lattice,
        codes: Ints,
        maps: Maps,
        requirements: ClassRequirements,
        rest: RemainingRows,
        threads: int,
    ) -> None:
        self._codes, self._maps, self._rest = codes, maps, rest
        self._least = max(requirements.k, -(-requirements.p // requirements.q))
        self._levels = [len(column.node) for column in lattice.columns]
        self._sets = _sets(self._levels)
        self._room = room_of(codes.shape[1], maps.words)
        self._place = np.zeros(codes.shape[1], np.int32)
        self._bits = np.zeros((0, 0), np.uint64)
        self._made_for = 0

    @staticmethod
    def pays(nodes: int, rest: RemainingRows) -> bool:
        """Whether the filter is worth the cost."""
        return nodes * int(rest.facts[IN_USE]) > LARGE

    def of(self, nodes: npt.NDArray[np.int16]) -> Filter:
        """The filter of some nodes."""
        rows = int(self._rest.facts[ROWS])
        if 2 * rows <= self._made_for or not self._made_for:
            self._make()
            self._made_for = rows
        which, base = np.empty((len(nodes), len(self._sets)), np.int32), 0
        for s, columns in enumerate(self._sets):
            levels = [self._levels[j] for j in columns]
            which[:, s] = base + np.ravel_multi_index(tuple(nodes[:, j] for j in columns), levels)
            base += math.prod(levels)
        return Filter(self._bits, which)

    def _make(self) -> None:
        find_places(self._rest, self._place)
        words = -(-int(self._rest.facts[IN_USE]) // 64)
        parts = []
        for columns in self._sets:
            levels = [self._levels[j] for j in columns]
            tables = math.prod(levels)
            # The coarsest is the last: from there back every projection comes after those above it.
            combined = np.indices(levels, np.int16).reshape(len(levels), -1).T[::-1]
            nodes = np.full((tables, len(self._levels)), -1, np.int16)
            nodes[:, columns] = combined
            above = np.full((tables, len(levels)), -1, np.int32)
            for a, level in enumerate(levels):
                stride = math.prod(levels[a + 1 :])
                inside = combined[:, a] + 1 < level
                above[inside, a] = np.flatnonzero(inside) - stride
            bits = np.empty((tables, words), np.uint64)
            project(self._codes, self._maps, nodes, above, self._least, self._rest, self._place, self._room, bits)
            parts.append(bits[::-1])
        self._bits = np.ascontiguousarray(np.concatenate(parts))


def _sets(levels: list[int]) -> list[tuple[int, ...]]:
    """A few sets of about half of the columns, so that every column is in several of them."""
    d = len(levels)
    tables_found = []
    for start, step in ((0, 1), (d // 2, 1), (0, 2), (1, 2)):
        columns = list(dict.fromkeys((start + step * i) % d for i in range(d)))[: d // 2 + 1]
        while math.prod(levels[j] for j in columns) > MOST_TABLES:
            columns.pop()
        tables_found.append(tuple(sorted(columns)))
    return list(dict.fromkeys(tables_found))
