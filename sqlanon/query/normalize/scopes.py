"""Names within a SELECT: tables in full, columns that repeat them, windows with names, numbers of items."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.query.refusal import refuse


def scope_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    """The nodes of a SELECT, those of subqueries in it left out."""
    waiting: list[exp.Expr] = [select]
    while waiting:
        node = waiting.pop()
        yield node
        for value in node.args.values():
            parts = value if isinstance(value, list) else [value]
            waiting += [part for part in parts if isinstance(part, exp.Expr) and not isinstance(part, exp.Query)]


def read_tables(select: exp.Select) -> list[exp.Table]:
    """The tables that a statement reads, wherever it does: names of WITH are none."""
    tables = []
    names = {cte.alias.lower() for cte in select.find_all(exp.CTE)}
    for table in select.find_all(exp.Table):
        name = table.name.lower()
        above = table.find_ancestor(exp.CTE)
        while above is not None and above.alias.lower() != name:
            above = above.find_ancestor(exp.CTE)
        if table.args.get("db") or name not in names or above is not None:
            tables.append(table)
    return tables


def shorten_columns(text: str, select: exp.Select) -> set[int]:
    """Write columns that name schema and table by their table alone; returns where the names left out begin.

    A column ``schema.table.column`` means the table of that name in FROM, if it has no other name there.

    Raises:
        RefusedQueryError: no table, or several ones, of FROM have that name.
    """
    dropped: set[int] = set()
    for inner in select.find_all(exp.Select):
        joins = [join.this for join in inner.args.get("joins") or ()]
        source = inner.args.get("from_")
        tables = [t for t in [source.this if source else None, *joins] if isinstance(t, exp.Table)]
        for node in [n for n in scope_nodes(inner) if isinstance(n, exp.Column) and n.args.get("db")]:
            called = [t for t in tables if not t.alias and _same(t.this, node.args["table"])]
            fits = [t for t in called if _fits(t, node)]
            if len(called) != 1 or len(fits) != 1:
                refuse(text, node, "write columns as column or alias.column, with the name that FROM gives the table")
            for part in ("db", "catalog"):
                argument = node.args.get(part)
                if argument is not None and "start" in argument.meta:
                    dropped.add(argument.meta["start"])
                node.set(part, None)
    return dropped


def _fits(table: exp.Table, node: exp.Column) -> bool:
    pairs = [(table.args.get(part), node.args.get(part)) for part in ("db", "catalog")]
    return all(first is None or second is None or _same(first, second) for first, second in pairs)


def _same(first: exp.Expr, other: exp.Expr) -> bool:
    return first.name.lower() == other.name.lower()


def name_windows(text: str, select: exp.Select) -> None:
    """Put the windows of a WINDOW clause in place of their names.

    Raises:
        RefusedQueryError: an unknown name, or a window that adds to another.
    """
    definitions = {definition.name.lower(): definition for definition in select.args.get("windows") or ()}
    for window in [n for n in scope_nodes(select) if isinstance(n, exp.Window) and n.args.get("alias")]:
        if any(window is definition for definition in definitions.values()):
            continue
        definition = definitions.get(window.args["alias"].name.lower())
        has_clauses = any(window.args.get(part) for part in ("partition_by", "order", "spec"))
        if definition is None or has_clauses or definition.args.get("alias"):
            refuse(text, window, "a window is written out after OVER, or has one name of the WINDOW clause")
        for part in ("partition_by", "order", "spec"):
            value = definition.args.get(part)
            copied = [item.copy() for item in value] if isinstance(value, list) else value.copy() if value else None
            window.set(part, copied)
        window.set("alias", None)
    select.set("windows", None)


def number_groups(text: str, select: exp.Select) -> None:
    """Write GROUP BY ALL, GROUP BY 1 and ORDER BY ALL out.

    GROUP BY ALL takes the items without an aggregate, ORDER BY ALL every item from left to right.

    Raises:
        RefusedQueryError: a number that no item has, or a star among the items.
    """
    group, order, items = select.args.get("group"), select.args.get("order"), select.expressions
    if group is not None and group.args.get("all"):
        if any(item.is_star for item in items):
            refuse(text, group, "GROUP BY ALL takes the columns of the SELECT; write them out in place of the star")
        free = [item.unalias() for item in items if not item.find(exp.AggFunc, exp.Window)]
        group.set("all", None)
        group.set("expressions", [term.copy() for term in free if term.find(exp.Column) is not None])
        if not group.expressions:
            select.set("group", None)
    elif group is not None:
        for holder in [group, *group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets)]:
            parts = list(holder.expressions)
            holder.set("expressions", [_resolve_number(text, part, items) for part in parts])
    for term in list(order.expressions) if order is not None else []:
        assert order is not None
        if isinstance(term.this, exp.Var) and term.this.name.upper() == "ALL":
            if any(item.is_star for item in items) or len(order.expressions) > 1:
                refuse(text, order, "write the columns of ORDER BY out")
            same = {name: value for name, value in term.args.items() if name != "this"}
            terms = [exp.Ordered(this=exp.Literal.number(i), **same) for i in range(1, len(items) + 1)]
            order.set("expressions", terms)


def _resolve_number(text: str, node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    if isinstance(node, exp.Tuple):
        node.set("expressions", [_resolve_number(text, part, items) for part in node.expressions])
        return node
    if isinstance(node, exp.Paren) and isinstance(node.this, exp.Literal):
        return exp.Paren(this=_resolve_number(text, node.this, items))
    if not isinstance(node, exp.Literal) or node.is_string:
        return node
    position = int(node.this) if node.this.isdigit() else 0
    if not 1 <= position <= len(items):
        refuse(text, node, f"GROUP BY {node.this}: the query has {len(items)} columns")
    return items[position - 1].unalias().copy()
