"""SELECT DISTINCT: the groups of its items."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.normalize.kinds import has_aggregate, is_grouped
from sqlanon.query.refusal import refuse


def group_distinct(text: str, select: exp.Select) -> None:
    """Write SELECT DISTINCT with GROUP BY.

    Of rows, the different values of the items are the groups of a GROUP BY of all items: NULL is one group, and is one
    value. Of groups nothing is left out where every term of GROUP BY is an item, and of a single row nothing is.

    Raises:
        Refused: DISTINCT ON, a star, a window over rows, or groups that DISTINCT puts together.
    """
    distinct = select.args.get("distinct")
    if distinct is None:
        return
    if distinct.args.get("on"):
        refuse(text, None, "DISTINCT ON is not answered; write GROUP BY with min or max of the other columns")
    select.set("distinct", None)
    items = [item.unalias() for item in select.expressions]
    if any(item.is_star for item in items):
        refuse(text, items[0], "a release has no rows of persons to show: name the columns of DISTINCT")
    if not is_grouped(select):
        for item in items:
            if item.find(exp.Window):
                refuse(text, item, "DISTINCT with a window over rows is not answered; write GROUP BY and an aggregate")
        keys = [item.copy() for item in items if item.find(exp.Column) is not None]
        if not keys:
            refuse(text, items[0] if items else None, "DISTINCT of constants is not answered; leave DISTINCT out")
        select.set("group", exp.Group(expressions=keys))
        return
    group = select.args.get("group")
    if group is None or select.meta.get("regroup") is not None:
        kept = group is None or all(key in items for key in select.meta["regroup"])
    else:
        terms = [part for term in group.expressions for part in _parts(term)]
        named = {item.alias.lower(): item.unalias() for item in select.expressions if item.alias}
        kept = all(term in items or (isinstance(term, exp.Column) and term.name.lower() in named) for term in terms)
        merged = not any(has_aggregate(item) or item.find(exp.Window) for item in items)
        merged = merged and select.args.get("limit") is None and select.args.get("qualify") is None
        if not kept and merged:  # groups of groups: the items put several together
            having = select.args.get("having")
            if having is None:  # every group has a row
                select.set("group", exp.Group(expressions=[item.copy() for item in items]))
                return
            select.meta["regroup"] = [item.copy() for item in items]
            select.meta["inner_having"] = having.this.copy()
            select.set("having", None)
            return
    if not kept:
        refuse(text, items[0], "DISTINCT of groups is answered where every term of GROUP BY is a column; name them all")


def _parts(term: exp.Expr) -> list[exp.Expr]:
    return list(term.expressions) if isinstance(term, exp.Tuple) else [term]
