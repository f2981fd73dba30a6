"""CTEs and subqueries after FROM, merged into the query that reads them, so that it reads a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.normalize.comma_joins import join_by_where
from sqlanon.query.normalize.distinct import group_distinct
from sqlanon.query.normalize.exists import write_in
from sqlanon.query.normalize.expression_subqueries import ListedValues, Scalar, Subquery
from sqlanon.query.normalize.joined_subqueries import join_subqueries
from sqlanon.query.normalize.kinds import is_grouped
from sqlanon.query.normalize.merge import merge_groups, merge_rows
from sqlanon.query.normalize.names import name_items
from sqlanon.query.normalize.scopes import name_windows, number_groups, scope_nodes
from sqlanon.query.normalize.side_by_side import put_together
from sqlanon.query.refusal import refuse

Known = Mapping[str, exp.Select]
DEEPEST = 40
"""Subqueries within one another."""
MOST_SUBQUERIES = 200
"""Most subqueries of a text, a CTE as often as it is read: CTEs that read others twice grow without bound."""


@dataclass
class Statement:
    """A text while it is made flat.

    Attributes:
        text: as it was written, for messages.
        dialect: the engine's.
        asked: the subqueries inside expressions, by their numbers.
        read: number of SELECTs that were made flat.
    """

    text: str
    dialect: str
    asked: list[Subquery] = field(default_factory=list)
    read: int = 0

    def flatten(self, select: exp.Select, tables: Known | None = None, depth: int = 0) -> exp.Select:
        """A SELECT that reads tables alone, of a SELECT over CTEs and subqueries.

        Args:
            select: the query; it is changed.
            tables: CTEs that it may read.
            depth: depth of nesting.

        Raises:
            RefusedQueryError: a CTE or subquery that cannot be merged.
        """
        text = self.text
        self.read += 1
        if depth > DEEPEST or self.read > MOST_SUBQUERIES:
            refuse(text, None, f"{MOST_SUBQUERIES} subqueries are answered in one query, {DEEPEST} deep")
        ctes = self._ctes(select, tables)
        name_windows(text, select)
        number_groups(text, select)
        self._ask_subqueries(select, ctes, depth)
        join_by_where(select)
        put_together(self, select, ctes, depth)
        join_subqueries(self, select, ctes, depth)
        source = select.args.get("from_")
        table = source.this if source is not None else None
        inner = self.subquery(table, ctes, depth) if table is not None else None
        if inner is not None and table is not None:
            if is_grouped(inner) or inner.args.get("limit") or inner.args.get("offset"):
                merge_groups(text, select, inner, table)
            else:
                merge_rows(text, select, inner, table)
        group_distinct(text, select)
        return select

    def subquery(self, read: exp.Expr, ctes: Known, depth: int) -> exp.Select | None:
        """The flat SELECT of a CTE's name or a subquery; None: it is a table."""
        inner: exp.Expr | None = None
        alias = read.args.get("alias")
        names = list(alias.args.get("columns") or ()) if alias is not None else []
        if isinstance(read, exp.Subquery):
            inner = read.this
        elif isinstance(read, exp.Table) and not read.args.get("db") and read.name.lower() in ctes:
            name = read.name.lower()
            inner = ctes[name].copy()
            ctes = {key: value for key, value in ctes.items() if key != name}  # a CTE does not see itself
        if inner is None:
            return None
        if not isinstance(inner, exp.Select):
            refuse(self.text, read, "a subquery over a release is one SELECT; ask each SELECT of a set by itself")
        if names:
            _rename(self.text, inner, names)
        flattened = self.flatten(inner, ctes, depth + 1)
        name_items(flattened, self.dialect)
        return flattened

    def _ctes(self, select: exp.Select, tables: Known | None) -> dict[str, exp.Select]:
        ctes = dict(tables or {})
        clause = select.args.get("with_")
        if clause is not None and clause.args.get("recursive"):
            refuse(self.text, clause, "WITH RECURSIVE is not answered over a release")
        for cte in select.ctes:
            if not isinstance(cte.this, exp.Select):
                refuse(self.text, cte, "a CTE over a release is one SELECT; ask each SELECT of a set by itself")
            names = cte.args["alias"].args.get("columns") or []
            if names:
                _rename(self.text, cte.this, names)
            ctes[cte.alias.lower()] = cte.this
        select.set("with_", None)
        return ctes

    def _ask_subqueries(self, select: exp.Select, ctes: Known, depth: int) -> None:
        """Replace subqueries by their numbers, in every expression of a SELECT."""
        for exists in [node for node in scope_nodes(select) if isinstance(node, exp.Exists)]:
            exists.replace(write_in(self.text, exists))
        outside = {select.args.get("from_"), *(select.args.get("joins") or ())}
        for node in list(_queries(select)):
            above = node.parent
            if isinstance(above, exp.From | exp.Join) or node in outside:
                continue
            inner = node.this if isinstance(node, exp.Subquery) else node
            place = node
            several = False
            if isinstance(above, exp.In) and above.args.get("query") is node:
                several = True
            elif isinstance(above, exp.Any | exp.All):
                refuse(self.text, above, "ANY and ALL of a subquery are not answered; write IN, or min and max of it")
            if not isinstance(inner, exp.Select):
                refuse(self.text, node, "a subquery inside an expression is one SELECT")
            whole = inner.copy()
            flat = self.flatten(inner.copy(), ctes, depth + 1)
            number = exp.Literal.number(len(self.asked))
            self.asked.append(Subquery(flat, whole, several=several))
            if several:
                assert isinstance(above, exp.In)
                above.set("query", None)
                above.set("expressions", [ListedValues(this=number)])
            else:
                place.replace(Scalar(this=number))


def _queries(select: exp.Select) -> list[exp.Expr]:
    """The subqueries in the expressions of a SELECT, each as it is in parentheses."""
    queries: list[exp.Expr] = []
    for node in scope_nodes(select):
        for name, value in node.args.items():
            if name in ("from_", "joins", "with_"):
                continue
            parts = value if isinstance(value, list) else [value]
            if not isinstance(node, exp.From | exp.Join):
                queries += [part for part in parts if isinstance(part, exp.Query)]
    return queries


def _rename(text: str, select: exp.Select, names: list[exp.Expr]) -> None:
    """Give the items of a SELECT the names that are listed after the name of the table."""
    items = select.expressions
    if len(names) > len(items) or any(item.is_star for item in items):
        refuse(text, names[0], "a list of columns names columns that the subquery writes out, from the first one on")
    for i, name in enumerate(names):
        items[i] = exp.alias_(items[i].unalias(), name.name, quoted=True)
    select.set("expressions", items)
