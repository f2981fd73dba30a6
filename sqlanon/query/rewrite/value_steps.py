"""Divides the values of an exact column into steps, so that a search sorts one step and not all values.

Sorting all values takes several times longer than adding the rows of each step and sorting the values of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.engines.rows import read_integer
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.rewrite.ordered_aggregates import FOUND
from sqlanon.query.sql.sqltree import Tree, column, every, named, number, select, some, sql, table_of
from sqlanon.sqltext.trees import port_tree

FEWEST_ROWS = 20_000
"""Rows of a release from which it takes less time to search among steps first."""
_BITS = 8
"""There are at most two to this power steps."""


@dataclass(frozen=True)
class Steps:
    """Steps of the values of a column of whole numbers.

    Attributes:
        first: the least value.
        bits: the size of a step is two to this power.
    """

    first: int
    bits: int

    def step_of(self, value: Tree) -> Tree:
        """The number of the step that a value is in, from 0."""
        return sql("(CAST(:v AS BIGINT) - :a) >> :s", v=value, a=number(self.first), s=number(self.bits))

    def least_of(self, step: Tree) -> Tree:
        """The least value of a step."""
        return sql("CAST(:a + (:b << :s) AS DECIMAL(38, 0))", a=number(self.first), b=step, s=number(self.bits))

    def most_of(self, step: Tree) -> Tree:
        """The greatest value of a step."""
        last = self.first + (1 << self.bits) - 1
        return sql("CAST(:a + (:b << :s) AS DECIMAL(38, 0))", a=number(last), b=step, s=number(self.bits))


def steps_of(view: ReleasedView, value: exp.Column) -> Steps | None:
    """The steps of a column of the release, by a fact about the version; None: it has few rows, or few values."""
    ends = [sql("MIN(:x)", x=value), sql("MAX(:x)", x=value), sql("COUNT(*)")]
    query = port_tree(select(ends, table_of(view.released.view.ref, value.table)), view.engine.dialect)
    text = query.sql(dialect=view.engine.dialect)
    first, last, rows = view.released.once(text, lambda: view.engine.fetch(Statement("query/ends", text))[0])
    if first is None or read_integer(rows) < FEWEST_ROWS:
        return None
    bits = ((read_integer(last) - read_integer(first)) >> _BITS).bit_length()
    return Steps(read_integer(first), bits) if bits else None


def select_near(
    summed: str,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    steps: Steps,
    chosen: Mapping[str, Tree],
    columns: Sequence[str],
) -> exp.Select:
    """The values of the steps that are searched, a row for each value of a group in a step.

    Args:
        summed: a table with a row for each step ``b`` of a group.
        row: the contribution of a row of `FOUND`.
        keys: the groups.
        steps: steps of the values.
        chosen: aggregates for each value, over `FOUND` and, named ``s``, the step.
        columns: columns of the step: it is searched if one of them is its number.
    """
    value, step = row["low"], column("b", "s")
    same = [sql(":a = :b", a=steps.step_of(value), b=step)]
    same += [
        sql("(:a = :b OR (:a IS NULL AND :b IS NULL))", a=column(key.name, "f"), b=column(key.name, "s"))
        for key in keys
    ]
    same.append(some(sql(":b = :w", b=step, w=column(name, "s")) for name in columns))
    shown = [column(key.name, "f") for key in keys]
    listed = [*shown, step, named(value, "v"), *(named(tree, name) for name, tree in chosen.items())]
    listed += [named(sql("MIN(:w)", w=column(name, "s")), name) for name in columns]
    query = select(listed, exp.to_table(FOUND).as_("f"), where=[row["possible"]], group=[*shown, step, value])
    query.set("joins", [exp.Join(this=exp.to_table(summed).as_("s"), on=every(same))])
    return query


def partition(keys: Sequence[Tree], *more: str) -> str:
    """PARTITION BY the groups and further columns; nothing where there are none."""
    names = [*(key.sql(dialect="duckdb") for key in keys), *more]
    return f"PARTITION BY {', '.join(names)}" if names else ""
