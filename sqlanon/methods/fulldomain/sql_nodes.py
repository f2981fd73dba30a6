"""The classes of nodes, in SQL: each node from the smallest roll-up that was kept of a finer node, a scratch table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.methods.base import Context
from sqlanon.methods.fulldomain.cells import columns_of
from sqlanon.methods.fulldomain.checker import NodeClasses, SuppressedClasses, least_of, stars_rows
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.methods.fulldomain.population import PeopleInTables
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.base import Grouped
from sqlanon.privacy.population import of_population, of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    Node = tuple[int, ...]


def load_levels(context: Context, lattice: Lattice) -> list[TableRef]:
    """One scratch table for each column.

    The columns are the level, the code, the first code of the node, and the added cost of a suppressed row.
    """
    tables = []
    for column in lattice.columns:
        table = context.scratch.table(f"{column.code}_levels")
        levels, codes = column.node.shape
        context.scratch.engine.load_arrays(
            table,
            {
                "level": np.repeat(np.arange(levels, dtype=np.int32), codes),
                "code": np.tile(np.arange(codes, dtype=np.int32), levels),
                "node": np.ascontiguousarray(column.node.ravel()),
                "extra": np.ascontiguousarray(column.extra.ravel()),
            },
        )
        tables.append(table)
    return tables


class PushdownChecker:
    """See `Checker`."""

    execution = "pushdown"

    def __init__(self, context: Context, lattice: Lattice, metric: str) -> None:
        self._counts_classes = metric == "c_avg"
        self._context, self._scratch, self._lattice = context, context.scratch, lattice
        self._levels = load_levels(context, lattice)
        self._codes = [column.code for column in lattice.columns]
        self._counted = [domain.code for domain in columns_of(context)[len(self._codes) :]]
        self._least = least_of(context)
        self._whole = kernel_input.whole_table(context)
        population = context.encoded.population
        self._people = PeopleInTables(context, lattice, population) if population else None
        self._matched: list[TableRef] = []
        self._cells = self._scratch.table("cells")
        self._scratch.execute(
            "fulldomain/count", work=context.encoded.work, columns=self._codes + self._counted, cells=self._cells
        )
        self._size = self._count(self._cells)
        self._kept: list[tuple[Node, TableRef, int]] = [((0,) * len(self._codes), self._cells, self._size)]
        self._made = 0
        self._node: Node = ()
        self._open: list[TableRef] = []

    def _count(self, table: TableRef) -> int:
        return self._scratch.count("table/count", source=table)

    def _columns(self, node: Node) -> list[dict[str, object]]:
        return [
            {"code": code, "levels": table, "level": level}
            for code, table, level in zip(self._codes, self._levels, node, strict=True)
        ]

    def check(self, node: Node) -> NodeClasses:
        """See `Checker.check`. Cost: a GROUP BY of the roll-up, and another for each requirement."""
        scratch, columns = self._scratch, self._columns(node)
        for table in self._open:
            scratch.drop(table)
        _, source, size = min(
            (entry for entry in self._kept if all(map(int.__le__, entry[0], node))), key=lambda node: node[2]
        )
        self._made += 1
        rolled, classes = scratch.table(f"rolled_{self._made}"), scratch.table("classes")
        scratch.execute("fulldomain/rolled", rolled=rolled, cells=source, columns=columns, kept=self._counted)
        below = self._find_failing(rolled, self._codes) + self._find_outnumbered(node, rolled)
        scratch.execute("fulldomain/classes", classes=classes, rolled=rolled, columns=columns, below=below)
        for table in below:
            scratch.drop(table)
        self._node, self._open = node, [classes, *self._matched]
        count = self._count(rolled)
        if 2 * count <= size:
            self._kept.append((node, rolled, count))
        else:
            self._open.append(rolled)
        self._classes, self._rolled = classes, rolled
        few, of_classes, *gone = self._fetch_numbers(0)
        return NodeClasses(few, of_classes, SuppressedClasses(*gone))

    def _fetch_numbers(self, joined: int) -> list[int]:
        row = self._scratch.fetch(
            "fulldomain/checked",
            classes=self._classes,
            least=self._least,
            joined=joined,
            counts_classes=self._counts_classes,
        )[0]
        return list(read_integers(row))

    def _find_failing(self, table: TableRef, groups: Sequence[str]) -> list[TableRef]:
        """The groups that do not meet a requirement, a table for each."""
        sensitive = [domain.code for domain in self._context.encoded.sensitive]
        persons = [domain.code for domain in self._context.encoded.persons]
        rows = Grouped(
            table,
            groups,
            sensitive,
            "n",
            self._context.encoded.work,
            sensitive,
            persons,
            self._whole.rows,
            self._whole.values,
        )
        classes_found = []
        # What any row meets counts values, which the cells need not have.
        row_bounds = [row for row in of_rows(self._context.requirements) if not row.shape.trivial]
        for number, requirement in enumerate(row_bounds):
            classes_found.append(self._scratch.table(f"below_{number}"))
            requirement.below(self._scratch, classes_found[-1], rows)
        return classes_found

    def _find_outnumbered(self, node: Node, rolled: TableRef) -> list[TableRef]:
        """The classes that do not meet a requirement over the population, a table for each."""
        if self._people is None:
            return []
        scratch, failing = self._scratch, []
        matched = self._people.match_people(node, rolled)
        self._matched = [matched]
        work = self._context.encoded.work
        for number, requirement in enumerate(of_population(self._context.requirements)):
            failing.append(scratch.table(f"outnumbered_{number}"))
            requirement.below(scratch, failing[-1], Grouped(matched, self._codes, (), "n", work, ()))
        return failing

    def meets(self, joined: int) -> bool:
        if self._matched:
            left_out, outside = read_integers(
                self._scratch.fetch(
                    "fulldomain/outside",
                    classes=self._classes,
                    matched=self._matched[0],
                    columns=self._codes,
                    joined=joined,
                )[0]
            )
            compared = of_population(self._context.requirements)
            allowed = all(requirement.allows_outside(left_out, outside) for requirement in compared)
            if not (allowed and stars_rows(self._context)):
                return allowed
        starred = self._scratch.table("starred")
        self._scratch.execute(
            "fulldomain/starred",
            starred=starred,
            rolled=self._rolled,
            classes=self._classes,
            columns=self._codes,
            kept=self._counted,
            joined=joined,
        )
        below = self._find_failing(starred, ["one"])
        failing = sum(self._count(table) for table in below)
        for table in (starred, *below):
            self._scratch.drop(table)
        return failing == 0

    def joinable(self, most: int) -> int:
        return self._scratch.count("fulldomain/joinable", {"most": most}, classes=self._classes)

    def count_suppressed(self, joined: int) -> SuppressedClasses:
        return SuppressedClasses(*self._fetch_numbers(joined)[2:])

    def assign(self, joined: int, starred: bool) -> tuple[TableRef, int | None, int]:
        scratch, pieces, assign = self._scratch, self._scratch.table("pieces"), self._scratch.table("assign")
        kept_nodes, gone = (
            read_integer(cell) for cell in scratch.fetch("fulldomain/numbered", classes=self._classes, joined=joined)[0]
        )
        scratch.execute(
            "fulldomain/pieces",
            pieces=pieces,
            cells=self._cells,
            classes=self._classes,
            columns=self._columns(self._node),
            joined=joined,
            starred=starred,
        )
        scratch.execute(
            "fulldomain/assign",
            assign=assign,
            work=self._context.encoded.work,
            pieces=pieces,
            columns=self._codes,
            divided=False,
        )
        star = kept_nodes if starred and gone else None
        return assign, star, kept_nodes + (star is not None)
