"""A SELECT over a subquery as a single SELECT: names are replaced by their definitions.

Rows: the conditions of both are joined by AND. Groups: a condition on them is HAVING, or QUALIFY where the subquery has
window functions, which are calculated before it; an aggregate of them groups the groups again (`regroup`).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.functions.aggregates import among_first
from sqlanon.query.normalize.kinds import clauses, has_groupings, has_window, is_grouped
from sqlanon.query.normalize.scopes import scope_nodes
from sqlanon.query.refusal import refuse


def merge_rows(text: str, outer: exp.Select, inner: exp.Select, read: exp.Expr) -> None:
    """Merge a subquery of rows: it renames, calculates and filters.

    Raises:
        RefusedQueryError: it has window functions, or a name is not clear.
    """
    for item in inner.expressions:
        if item.find(exp.Window):
            refuse(text, item, "a release has no rows of persons to number or add up; group them in the subquery")
    if inner.args.get("qualify"):
        refuse(text, inner.args["qualify"], "QUALIFY is answered over the groups of a GROUP BY")
    source = inner.args.get("from_")
    if outer.args.get("joins") and not inner.args.get("joins") and source is not None:
        _qualify(text, outer, inner, source.this.alias_or_name)
    if not outer.args.get("joins"):
        _write_star(outer, inner, read.alias_or_name)
    _replace_names(text, outer, inner, read.alias_or_name)
    outer.set("from_", source)
    outer.set("joins", [*(inner.args.get("joins") or ()), *(outer.args.get("joins") or ())])
    where = inner.args.get("where")
    if where is not None:
        outer.where(where.this, copy=False)


def _qualify(text: str, outer: exp.Select, inner: exp.Select, name: str) -> None:
    """Write the columns of a subquery with their table, beside which there are other tables now."""
    for join in outer.args["joins"]:
        if join.this.alias_or_name.lower() == name.lower():
            refuse(text, join, f"two tables are called {name}; give one of them another name")
    for node in scope_nodes(inner):
        if isinstance(node, exp.Column) and not node.table and not isinstance(node.this, exp.Star):
            node.set("table", exp.to_identifier(name, quoted=True))


def merge_groups(text: str, outer: exp.Select, inner: exp.Select, read: exp.Expr) -> None:
    """Merge a subquery of groups, or of the single row of an aggregate.

    Raises:
        RefusedQueryError: the outer query asks for more than can be merged.
    """
    if outer.args.get("joins"):
        refuse(text, read, "a subquery of groups cannot be joined; join the table inside it")
    if not is_grouped(inner):
        refuse(text, read, "a release has no first rows; leave LIMIT and OFFSET out of the subquery")
    _settle_names(inner)
    limited = inner.args.get("limit") is not None or inner.args.get("offset") is not None
    _write_star(outer, inner, read.alias_or_name)
    again = is_grouped(outer)
    if limited and (again or outer.args.get("where") or has_window(outer) or outer.args.get("distinct")):
        _rank_groups(text, inner, inner)
        limited = False
    if again:
        _group_again(text, outer, inner, read)
        return
    if has_window(outer) and (inner.args.get("qualify") or has_window(inner)):
        refuse(text, read, "window functions over others, or over what QUALIFY leaves, are not answered")
    _replace_names(text, outer, inner, read.alias_or_name)
    where = outer.args.get("where")
    outer.set("where", None)
    for name in ("from_", "joins", "where", "group", "having", "qualify"):
        if name != "qualify" or outer.args.get("qualify") is None:
            outer.set(name, inner.args.get(name))
    if where is not None:
        _keep(outer, where.this, "qualify" if has_window(inner) else "having")
    if not outer.args.get("order"):
        outer.set("order", inner.args.get("order"))
    elif limited and outer.args["order"] != inner.args.get("order"):
        _rank_groups(text, outer, inner)
    _limit(text, outer, inner)
    for name in ("regroup", "inner_having"):
        if name in inner.meta:
            outer.meta[name] = inner.meta[name]


def _write_star(outer: exp.Select, inner: exp.Select, name: str) -> None:
    """Write the items of a subquery in place of a star; stars of the subquery stay."""
    items: list[exp.Expr] = []
    for item in outer.expressions:
        if item.is_star and (isinstance(item, exp.Star) or item.table.lower() == name.lower()):
            names = [
                (expression.is_star, exp.to_identifier(expression.alias_or_name, quoted=True))
                for expression in inner.expressions
            ]
            items += [exp.Star() if star else exp.column(name) for star, name in names]
        else:
            items.append(item)
    outer.set("expressions", items)


def _group_again(text: str, outer: exp.Select, inner: exp.Select, read: exp.Expr) -> None:
    """Aggregates of groups: the terms of the outer GROUP BY become ``regroup``."""
    if inner.meta.get("regroup") is not None:
        refuse(text, read, "aggregates of aggregates of aggregates are not answered; ask the two inner ones")
    if has_window(outer) or outer.args.get("qualify"):
        refuse(text, read, "aggregates of groups are answered without window functions and QUALIFY around them")
    if inner.args.get("group") is None:
        refuse(text, read, "the subquery gives one row; take its aggregates as they are")
    if has_groupings(inner):
        refuse(
            text, read, "groups of ROLLUP, CUBE and GROUPING SETS are not aggregated; ask one query for each grouping"
        )
    _replace_names(text, outer, inner, read.alias_or_name)
    group, where = outer.args.get("group"), outer.args.get("where")
    for part in (*clauses(outer), *([group] if group is not None else [])):
        if part.find(exp.Window):
            refuse(text, read, "window functions of a subquery are not aggregated; compare them in WHERE")
    conditions, ranked = ([inner.args[name].this] if inner.args.get(name) else [] for name in ("having", "qualify"))
    if where is not None:  # it comes after the window functions of the groups
        late = ranked or where.find(exp.Window)
        (ranked if late else conditions).append(where.this)
    if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
        refuse(text, group, "groups are grouped again by columns alone; ask one query for each grouping")
    outer.meta["regroup"] = [] if group is None else list(group.expressions)
    outer.meta["inner_having"] = exp.and_(*(condition.copy() for condition in conditions)) if conditions else None
    for name in ("from_", "joins", "where", "group"):
        outer.set(name, inner.args.get(name))
    for condition in ranked:
        _keep(outer, condition, "qualify")


def _rank_groups(text: str, select: exp.Select, inner: exp.Select) -> None:
    """Write LIMIT and OFFSET of a subquery of groups as a condition on their places.

    Without an order, and of groups that are equal in it, any may be among the first.

    Args:
        text: the whole query, for messages.
        select: gets the condition.
        inner: has the clauses, and loses them.
    """
    order = inner.args.get("order")
    terms = [term.copy() for term in order.expressions] if order is not None else [exp.Ordered(this=exp.true())]
    limit, offset = (inner.args.get(name) for name in ("limit", "offset"))
    count, skipped = (None if clause is None else _number(clause) for clause in (limit, offset))
    if (limit is not None and count is None) or (offset is not None and skipped is None):
        refuse(text, limit, "LIMIT and OFFSET take a whole number")
    for condition in among_first(terms, count, skipped or 0):
        _keep(select, condition, "qualify")
    for name in ("limit", "offset", "order"):
        inner.set(name, None)


def _keep(outer: exp.Select, condition: exp.Expr, name: str) -> None:
    """Add a condition to HAVING or QUALIFY."""
    before = outer.args.get(name)
    kind = exp.Having if name == "having" else exp.Qualify
    parts = [before.this] if before is not None else []
    outer.set(name, kind(this=exp.and_(*(part.copy() for part in [*parts, condition]), copy=False)))


def _limit(text: str, outer: exp.Select, inner: exp.Select) -> None:
    """The first rows of the first rows of the subquery."""
    own_limit, theirs = outer.args.get("limit"), inner.args.get("limit")
    if theirs is None and not inner.args.get("offset"):
        return
    if outer.args.get("offset"):
        refuse(text, outer.args["offset"], "OFFSET around LIMIT is not answered")
    outer.set("offset", inner.args.get("offset"))
    if own_limit is None or theirs is None:
        outer.set("limit", theirs if own_limit is None else own_limit)
        return
    numbers = [_number(limit) for limit in (own_limit, theirs)]
    if None in numbers:
        refuse(text, own_limit, "LIMIT and OFFSET take a whole number")
    outer.set("limit", own_limit if (numbers[0] or 0) <= (numbers[1] or 0) else theirs)


def _number(clause: exp.Expr) -> int | None:
    value = clause.expression if isinstance(clause, exp.Limit | exp.Offset) else clause.args.get("count")
    return int(value.this) if isinstance(value, exp.Literal) and value.this.isdigit() else None


def _settle_names(inner: exp.Select) -> None:
    """Put expressions in place of the names that ORDER BY, HAVING and QUALIFY of a subquery have for items.

    ORDER BY means an item first. HAVING and QUALIFY mean a column first; but a column that is neither grouped by nor
    aggregated is none there, so that a name of an aggregate means the item.
    """
    items = {item.alias.lower(): item.this for item in inner.expressions if isinstance(item, exp.Alias)}
    order = inner.args.get("order")
    for term in order.expressions if order is not None else ():
        node = term.this
        if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
            position = int(node.this)
            if 1 <= position <= len(inner.expressions):
                term.set("this", inner.expressions[position - 1].unalias().copy())
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() in items:
            term.set("this", items[node.name.lower()].copy())
    group = inner.args.get("group")
    grouped = {part.name.lower() for part in group.find_all(exp.Column)} if group is not None else set()
    for name in ("having", "qualify"):
        for node in list(inner.args[name].find_all(exp.Column)) if inner.args.get(name) is not None else []:
            item = items.get(node.name.lower()) if not node.table else None
            if item is not None and node.name.lower() not in grouped and item.find(exp.AggFunc, exp.Window):
                node.replace(exp.Paren(this=item.copy()))
    # A name in GROUP BY may be a column or an item, which only the table decides.
    inner.meta["aliases"] = [
        *inner.meta.get("aliases", ()),
        *((name, item.copy()) for name, item in items.items() if name in grouped),
    ]


def _replace_names(text: str, outer: exp.Select, inner: exp.Select, alias: str) -> None:
    """Put the items of a subquery in place of their names."""
    named_items = [item for item in inner.expressions if not item.is_star]
    everything = len(named_items) < len(inner.expressions)
    names = {item.alias_or_name.lower(): item.unalias() for item in named_items}
    for item in named_items:
        # Together with a star, the name of a column would occur twice; engines differ in which of the two they take.
        twice = sum(candidate.alias_or_name.lower() == item.alias_or_name.lower() for candidate in named_items) > 1
        if twice and item.alias_or_name:
            refuse(text, item, f"the subquery has two columns {item.alias_or_name}")
    outer.meta.setdefault("new", []).extend(inner.meta.get("new", ()))
    outer.meta["aliases"] = [*outer.meta.get("aliases", ()), *inner.meta.get("aliases", ())]
    if everything:
        outer.meta["new"].extend(item for item in named_items if item.alias)
    aliases = {item.alias.lower() for item in outer.expressions if item.alias}
    order = outer.args.get("order")
    outer.set("from_", None)
    for node in _columns(outer, alias):
        if (
            order is not None
            and not node.table
            and node.name.lower() in aliases
            and node.find_ancestor(exp.Order) is order
        ):
            continue  # ORDER BY means the output first
        if isinstance(node.this, exp.Star):
            continue
        name = names.get(node.name.lower())
        if name is None:
            if not everything:
                if not node.table and (outer.args.get("joins") or node.name.lower() in aliases):
                    continue
                refuse(text, node, f"the subquery has no column {node.name}")
            node.set("table", None)
        elif node.parent is outer:
            node.replace(exp.alias_(name.copy(), node.name, quoted=True))
        else:
            node.replace(name.copy() if isinstance(name, exp.Column | exp.Literal) else exp.Paren(this=name.copy()))


def _columns(outer: exp.Select, alias: str) -> Sequence[exp.Column]:
    return [n for n in scope_nodes(outer) if isinstance(n, exp.Column) and n.table.lower() in ("", alias.lower())]
