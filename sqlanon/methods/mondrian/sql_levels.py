"""Mondrian as set-oriented SQL: one level of the tree at a time, all open partitions in one statement an attribute.

State lives in scratch tables; Python sees counts and a stop flag (the shape of MADlib's and Splink's loops).
"""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.kernels.extent import MASK_LIMIT
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.base import Grouped, beyond_rows, least_rows
from sqlanon.table.domain import Domain
from sqlanon.table.tree import load_nodes


class Pushdown:
    """The tree of cuts, grown level by level in the database.

    Args:
        context: the run; the work table has ``tie`` when ``relaxed``.
        relaxed: rows with equal values may be divided.
        median: the paper's cut instead of the least loss.
    """

    def __init__(self, context: Context, *, relaxed: bool, median: bool) -> None:
        self._context = context
        self._scratch = context.scratch
        self._relaxed = relaxed
        self._median = median
        self._k = least_rows(context.requirements)
        names = [domain.code for domain in context.encoded.sensitive]
        beyond = beyond_rows(context.requirements)
        # Windows count two known shapes as a partition is swept; whatever else is asked is asked of both halves of
        # every cut.
        self._checks = [
            {
                "kind": shape.kind,
                "p": shape.p,
                "q": shape.q,
                "value": names[shape.value],
                "within": [names[i] for i in shape.within],
            }
            for shape in (requirement.shape for requirement in beyond)
            if shape.kind in ("frequency", "distinct")
        ]
        self._others = [requirement for requirement in beyond if requirement.shape.kind == "other"]
        self._whole = kernel_input.whole_table(context)
        self._values = names
        self._persons = [domain.code for domain in context.encoded.persons]
        self._sensitive = [*names, *self._persons] if beyond else []
        self._attributes = [self._attribute(j, domain) for j, domain in enumerate(context.encoded.quasi)]
        self._keys = ["rid"] if relaxed else [domain.code for domain in context.encoded.quasi]
        self._level = 0
        self._items = self._scratch.table("items_0")
        self._done = self._scratch.table("done")

    def _attribute(self, j: int, domain: Domain) -> dict[str, object]:
        treatment = domain.reading.treatment
        kind = (
            "ordered"
            if treatment == "ordered"
            else "tree"
            if treatment == "hierarchy"
            else ("set" if domain.size <= MASK_LIMIT else "span")
        )
        return {
            "code": domain.code,
            "dim": j,
            "domain": domain.table,
            "ordered": kind == "ordered",
            "kind": kind,
            "size": max(domain.size, 1),
            "nulls": domain.has_null,
            "weight": domain.reading.spec.weight,
            "tree": load_nodes(self._scratch, domain) if kind == "tree" else None,
        }

    def run(self, fits: int) -> None:
        """Cut until nothing can be cut, or, with ``fits`` > 0, until no open partition has more rows than that."""
        scratch = self._scratch
        scratch.execute(
            "mondrian/items",
            items=self._items,
            work=self._context.encoded.work,
            attributes=self._attributes,
            sensitive=self._sensitive,
            relaxed=self._relaxed,
        )
        scratch.execute("mondrian/done", done=self._done, items=self._items, keys=self._keys)
        while True:
            parts, largest = scratch.numbers("mondrian/sizes", items=self._items)
            self._context.progress.update(self._level, 0, f"levels, {parts} open partitions")
            if parts == 0 or (fits and largest <= fits):
                return
            self._cut_level()

    def _cut_level(self) -> None:
        scratch = self._scratch
        tables = []
        for attribute in self._attributes:
            table = scratch.table(f"cand_{attribute['dim']}")
            scratch.execute(
                "mondrian/candidates",
                candidates=table,
                items=self._items,
                attribute=attribute,
                attributes=self._attributes,
                sensitive=self._sensitive,
                checks=self._checks,
                k=self._k,
                relaxed=self._relaxed,
                median=self._median,
            )
            tables.append(self._select_lawful(table, attribute) if self._others else table)
        cuts = scratch.table("cuts")
        scratch.execute("mondrian/choose", cuts=cuts, candidates=tables)
        scratch.execute(
            "mondrian/finished",
            done=self._done,
            items=self._items,
            cuts=cuts,
            keys=self._keys,
            distinct=not self._relaxed,
        )
        self._level += 1
        divided = scratch.table(f"items_{self._level % 2}")
        scratch.execute(
            "mondrian/divide",
            divided=divided,
            items=self._items,
            cuts=cuts,
            attributes=self._attributes,
            sensitive=self._sensitive,
            relaxed=self._relaxed,
        )
        for table in [*tables, cuts, self._items]:
            scratch.drop(table)
        self._items = divided

    def _select_lawful(self, candidates: TableRef, attribute: dict[str, object]) -> TableRef:
        """The candidates with two halves that meet the requirements that no window counts.

        Cost: rows x candidates of a partition.
        """
        scratch, dim = self._scratch, attribute["dim"]
        halves, lawful = scratch.table(f"halves_{dim}"), scratch.table(f"lawful_{dim}")
        scratch.execute(
            "mondrian/halves",
            halves=halves,
            candidates=candidates,
            items=self._items,
            attribute=attribute,
            sensitive=self._sensitive,
            relaxed=self._relaxed,
        )
        rows = Grouped(
            halves,
            ("part", "cut", "side"),
            self._values,
            "n",
            self._context.encoded.work,
            self._values,
            self._persons,
            self._whole.rows,
            self._whole.values,
        )
        below = [scratch.table(f"below_{dim}_{i}") for i in range(len(self._others))]
        for requirement, table in zip(self._others, below, strict=True):
            requirement.below(scratch, table, rows)
        scratch.execute("mondrian/lawful", lawful=lawful, candidates=candidates, below=below)
        for table in (halves, candidates, *below):
            scratch.drop(table)
        return lawful

    def rows(self, table: TableRef, name: str) -> None:
        """Make ``table`` (rid, ``name``) of the rows of finished partitions."""
        self._rows(table, self._done, name)

    def open_rows(self, table: TableRef, name: str) -> None:
        """Make ``table`` (rid, ``name``) of the rows of open partitions."""
        self._rows(table, self._items, name)

    def _rows(self, table: TableRef, items: TableRef, name: str) -> None:
        self._scratch.execute(
            "mondrian/rows", rows=table, work=self._context.encoded.work, items=items, keys=self._keys, part_name=name
        )

    def open_parts(self) -> list[tuple[int, int]]:
        """Partitions still open, and their rows, from left to right."""
        statement = self._scratch.sql("mondrian/parts", items=self._items)
        rows = self._scratch.engine.fetch(statement, max_rows=10_000_000)
        return [(read_integer(part), read_integer(n)) for part, n in rows]
