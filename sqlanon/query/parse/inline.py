"""CTEs and subqueries that only rename, calculate and filter rows, merged into the query that reads them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.query.refusal import refuse

_ROW_BY_ROW = {"expressions", "from_", "where", "joins", "with_"}


def flatten(text: str, select: exp.Select, known: Mapping[str, exp.Select] | None = None) -> exp.Select:
    """The query with the CTEs and subqueries of its FROM merged into it, so that it reads a table.

    Args:
        text: the whole query, for messages.
        select: the query; it is changed.
        known: CTEs that it may read.

    Raises:
        Refused: a CTE or subquery that does more than rename, calculate and filter.
    """
    ctes = dict(known or {})
    for cte in select.ctes:
        if not isinstance(cte.this, exp.Select) or cte.args["alias"].args.get("columns"):
            refuse(text, cte, "a CTE over a release is a SELECT, without a list of columns")
        ctes[cte.alias.lower()] = cte.this
    select.set("with_", None)
    for join in select.args.get("joins") or ():
        if isinstance(join.this, exp.Table) and join.this.name.lower() in ctes and not join.this.args.get("db"):
            refuse(text, join, "tables can be joined, CTEs cannot; put it into a view")
    source = select.args.get("from_")
    read = source.this if source is not None else None
    inner: exp.Expr | None = None
    if isinstance(read, exp.Subquery):
        inner = read.this
    elif isinstance(read, exp.Table) and not read.args.get("db") and read.name.lower() in ctes:
        name = read.name.lower()
        inner = ctes[name].copy()
        ctes = {key: value for key, value in ctes.items() if key != name}  # a CTE does not see itself
    if inner is None:
        return select
    assert read is not None
    if not isinstance(inner, exp.Select) or (
        isinstance(read, exp.Subquery) and read.args.get("alias") and read.args["alias"].args.get("columns")
    ):
        refuse(text, read, "a subquery over a release is a SELECT, without a list of columns")
    inner = flatten(text, inner, ctes)
    extra = [key for key, value in inner.args.items() if value and key not in _ROW_BY_ROW]
    if extra or any(item.find(exp.AggFunc, exp.Window) for item in inner.expressions):
        refuse(
            text,
            read,
            "a CTE or subquery over a release may rename, calculate and filter; aggregate in the outer query",
        )
    _merge(text, select, inner, read.alias_or_name)
    return select


def _merge(text: str, outer: exp.Select, inner: exp.Select, alias: str) -> None:
    named = [item for item in inner.expressions if not item.is_star]
    everything = len(named) < len(inner.expressions)
    names = {item.alias_or_name.lower(): item.unalias() for item in named}
    for item in named:
        # Together with a star, the name of a column would occur twice; engines differ in which of the two they take.
        twice = sum(other.alias_or_name.lower() == item.alias_or_name.lower() for other in named) > 1
        if twice:
            refuse(text, item, f"the subquery has two columns {item.alias_or_name}")
    if everything:
        outer.meta.setdefault("new", []).extend(item for item in named if item.alias)
    own = {item.alias.lower() for item in outer.expressions if item.alias}
    order = outer.args.get("order")
    outer.set("from_", None)
    for node in [n for n in outer.find_all(exp.Column) if n.table.lower() in ("", alias.lower())]:
        if order is not None and not node.table and node.name.lower() in own and node.find_ancestor(exp.Order) is order:
            continue  # ORDER BY means the output first
        if isinstance(node.this, exp.Star):
            continue
        found = names.get(node.name.lower())
        if found is None:
            if not everything:
                if not node.table and (outer.args.get("joins") or node.name.lower() in own):
                    continue
                refuse(text, node, f"the subquery has no column {node.name}")
            node.set("table", None)
        elif node.parent is outer:
            node.replace(exp.alias_(found.copy(), node.name, quoted=True))
        else:
            node.replace(found.copy() if isinstance(found, exp.Column | exp.Literal) else exp.Paren(this=found.copy()))
    outer.set("from_", inner.args["from_"])
    outer.set("joins", [*(inner.args.get("joins") or ()), *(outer.args.get("joins") or ())])
    where = inner.args.get("where")
    if where is not None:
        outer.where(where.this, copy=False)
