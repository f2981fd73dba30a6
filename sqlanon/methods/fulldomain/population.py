"""Rows of a population in the classes of a node.

The cells of the population are rolled up beside those of the source, in memory or in SQL.

A column has two codes more than in the source: a value that only the last level covers, and a value that no level
covers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.fulldomain.cells import arrange_cells
from sqlanon.methods.fulldomain.kernels.lattice import group, make_maps, room_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.methods.base import Context
    from sqlanon.methods.fulldomain.levels import Lattice
    from sqlanon.table.population import Population


def extend_nodes(node: Ints) -> Ints:
    """`Column.node` with the two codes: int32[levels, codes + 2]; a code outside a level is a node of its own."""
    levels, codes = node.shape
    bounds = np.empty((levels, codes + 2), np.int32)
    bounds[:, :codes] = node
    bounds[:, codes:] = codes, codes + 1
    bounds[-1, codes] = node[-1, 0]
    return bounds


class PeopleInMemory:
    """The population's cells as arrays."""

    def __init__(self, context: Context, lattice: Lattice, population: Population) -> None:
        codes = [column.code for column in lattice.columns]
        statement = context.scratch.sql("fulldomain/counted", cells=population.cells, columns=codes)
        *arrays, rows = context.scratch.fetch_arrays(statement, ["int32"] * len(codes) + ["int64"])
        self._cells = arrange_cells(arrays, rows, len(codes))
        self._maps = make_maps([extend_nodes(table) for table in lattice.tables()])
        self.rows = population.rows

    def of(self, levels: npt.NDArray[np.int16], classes: Ints) -> Longs:
        """Rows of the population in each class of a node, int64[classes].

        ``classes``: codes of one row of each class, int32[d, classes].

        Cost: a grouping of the population's cells.
        """
        width = classes.shape[1]
        codes = np.concatenate([classes, self._cells.codes], axis=1)
        n = codes.shape[1]
        room = room_of(n, self._maps.words)
        room.rows[:] = np.arange(n, dtype=np.int32)
        groups = group(codes, n, self._maps, levels, room)
        counts = np.zeros(groups, np.int64)
        np.add.at(counts, room.group[width:n], self._cells.rows)
        # Classes come first, and no two are one group: the group of a class has its number.
        return counts[:width]


class PeopleInTables:
    """The population's cells in scratch tables."""

    def __init__(self, context: Context, lattice: Lattice, population: Population) -> None:
        self._scratch, self._cells = context.scratch, population.cells
        self._levels = []
        for column in lattice.columns:
            node = extend_nodes(column.node)
            levels, codes = node.shape
            self._levels.append(context.scratch.table(f"{column.code}_reach"))
            context.scratch.engine.load_arrays(
                self._levels[-1],
                {
                    "level": np.repeat(np.arange(levels, dtype=np.int32), codes),
                    "code": np.tile(np.arange(codes, dtype=np.int32), levels),
                    "node": np.ascontiguousarray(node.ravel()),
                },
            )
        self._codes = [column.code for column in lattice.columns]

    def match_people(self, node: Sequence[int], rolled: TableRef) -> TableRef:
        """A table of a node's classes with their rows, those of the population, and the node's rows in no class.

        See the template.
        """
        scratch = self._scratch
        people, matched = scratch.table("people"), scratch.table("matched")
        columns = [
            {"code": code, "levels": table, "level": level}
            for code, table, level in zip(self._codes, self._levels, node, strict=True)
        ]
        scratch.execute("fulldomain/rolled", rolled=people, cells=self._cells, columns=columns, kept=[])
        scratch.execute("fulldomain/population", matched=matched, rolled=rolled, people=people, columns=self._codes)
        scratch.drop(people)
        return matched
