"""SELECT DISTINCT: the groups of the items."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.aggregates import AGGREGATES, aggregate_of
from sqlanon.query.normalize.kinds import has_aggregate, has_groupings, is_grouped
from sqlanon.query.normalize.names import name_alone
from sqlanon.query.refusal import refuse


def group_distinct(text: str, select: exp.Select) -> None:
    """Write SELECT DISTINCT with GROUP BY.

    Of rows, the different values of the items are the groups of a GROUP BY of all items: NULL is a single group, and a
    single value. Of groups nothing is left out where every term of GROUP BY is an item, and of a single row nothing is.

    Raises:
        RefusedQueryError: DISTINCT ON, a star, a window over rows, or groups that DISTINCT puts together.
    """
    distinct = select.args.get("distinct")
    if distinct is None:
        return
    if distinct.args.get("on"):
        refuse(text, None, "DISTINCT ON is not answered; write GROUP BY with min or max of the other columns")
    if has_groupings(select):  # rows of several groupings may be equal
        refuse(
            text, None, "DISTINCT is not answered over ROLLUP, CUBE and GROUPING SETS; ask one query for each grouping"
        )
    select.set("distinct", None)
    items = [item.unalias() for item in select.expressions]
    if any(item.is_star for item in items):
        refuse(text, items[0], "a release has no rows of persons to show: name the columns of DISTINCT")
    if not is_grouped(select) and _over_itself(select):
        return
    if not is_grouped(select):
        for item in (*items, *filter(None, map(select.args.get, ("qualify", "order")))):
            if item.find(exp.Window):
                refuse(text, item, "DISTINCT with a window over rows is not answered; write GROUP BY and an aggregate")
        keys = [item.copy() for item in items if item.find(exp.Column) is not None]
        if not keys:
            refuse(text, items[0] if items else None, "DISTINCT of constants is not answered; leave DISTINCT out")
        select.set("group", exp.Group(expressions=keys))
        return
    group = select.args.get("group")
    if group is None or select.meta.get("regroup") is not None:
        are_listed = group is None or all(key in items for key in select.meta["regroup"])
    else:
        terms = [part for term in group.expressions for part in _parts(term)]
        by_alias = {item.alias.lower(): item for item in select.expressions if item.alias}
        meant = [by_alias.get(t.name.lower()) if isinstance(t, exp.Column) and not t.table else None for t in terms]
        are_listed = all(term in items or item is not None for term, item in zip(terms, meant, strict=True))
        for term, item in zip(terms, meant, strict=True):
            if are_listed and term not in items and item is not None:
                name_alone(select, item)
        merged = not any(has_aggregate(item) or item.find(exp.Window) for item in items)
        merged = merged and select.args.get("limit") is None and select.args.get("qualify") is None
        if not are_listed and merged:  # groups of groups: the items put several together
            having = select.args.get("having")
            if having is None:  # every group has a row
                select.set("group", exp.Group(expressions=[item.copy() for item in items]))
                return
            select.meta["regroup"] = [item.copy() for item in items]
            select.meta["inner_having"] = having.this.copy()
            select.set("having", None)
            return
    if not are_listed:
        refuse(text, items[0], "DISTINCT of groups is answered where every term of GROUP BY is a column; name them all")


def group_values(text: str, select: exp.Select) -> None:
    """Group a SELECT of rows by the items, where equal rows are merged.

    Raises:
        RefusedQueryError: see `group_distinct`.
    """
    if not is_grouped(select):
        select.set("distinct", exp.Distinct())
        group_distinct(text, select)


def group_list(text: str, select: exp.Select) -> None:
    """Group the rows of a list after IN, of which equal ones are as good as one.

    Raises:
        RefusedQueryError: see `group_distinct`.
    """
    first = any(select.args.get(name) for name in ("limit", "offset"))
    if not first and any(item.find(exp.Column) is not None for item in select.expressions):
        select.set("order", None)
        group_values(text, select)


def _parts(term: exp.Expr) -> list[exp.Expr]:
    return list(term.expressions) if isinstance(term, exp.Tuple) else [term]


def _over_itself(select: exp.Select) -> bool:
    """Write aggregates OVER (PARTITION BY the other items) as those of groups; whether all windows are of this kind.

    They are constant over all rows that agree in the other items, of which DISTINCT leaves a single row.
    """
    items = [item.unalias() for item in select.expressions]
    windows = [item for item in items if item.find(exp.Window)]
    keys = [item for item in items if item not in windows]
    for item in windows:
        plain = isinstance(item, exp.Window) and not any(item.args.get(name) for name in ("order", "spec", "alias"))
        inner = item.this.this if isinstance(item.this, exp.Filter) else item.this
        if not plain or aggregate_of(inner) not in AGGREGATES or not _same(item.args.get("partition_by") or [], keys):
            return False
    if not windows or not keys or select.args.get("qualify"):
        return False
    for item in windows:
        item.replace(item.this.copy())
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return True


def _same(first: list[exp.Expr], other: list[exp.Expr]) -> bool:
    return all(part in other for part in first) and all(part in first for part in other)
