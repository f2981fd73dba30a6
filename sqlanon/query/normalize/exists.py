"""EXISTS with a single equality between the rows inside and outside, as IN."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.comparisons import is_equality
from sqlanon.query.normalize.kinds import is_grouped
from sqlanon.query.refusal import refuse

_PLAIN = {"expressions", "from_", "where"}
_REASON = (
    "EXISTS is answered over one table, with one equality between its column and the query around it, each column with "
    "its table's name: write column IN (SELECT column FROM table)"
)


def write_in(text: str, node: exp.Exists) -> exp.Expr:
    """``x IN (SELECT k FROM t WHERE ..)`` for ``EXISTS (SELECT .. FROM t WHERE t.k = x AND ..)``.

    EXISTS is never NULL: IN is, where x is NULL or a key is. So NULL keys are left out, and NULL is FALSE.

    Raises:
        RefusedQueryError: another form.
    """
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    source = inner.args.get("from_") if isinstance(inner, exp.Select) else None
    where = inner.args.get("where")
    if {name for name, value in inner.args.items() if value} - _PLAIN or source is None or where is None:
        refuse(text, node, _REASON)
    if is_grouped(inner):  # an aggregate of no rows is a row
        refuse(text, node, "EXISTS of an aggregate is TRUE, whatever the table holds: write EXISTS (SELECT 1 FROM ..)")
    name = source.this.alias_or_name.lower()
    parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    pair, rest = None, []
    for part in (part.unnest() for part in parts):
        columns = list(part.find_all(exp.Column))
        if any(not column.table for column in columns):
            refuse(text, part, _REASON)
        outside = [column for column in columns if column.table.lower() != name]
        if not outside:
            rest.append(part)
            continue
        sides = [part.left.unnest(), part.right.unnest()] if is_equality(part) else []
        inner_sides = [side for side in sides if isinstance(side, exp.Column) and side.table.lower() == name]
        outer_sides = [
            side
            for side in sides
            if side not in inner_sides and not any(_is_of(c, name) for c in side.find_all(exp.Column))
        ]
        if pair is not None or len(inner_sides) != 1 or len(outer_sides) != 1:
            refuse(text, part, _REASON)
        pair = inner_sides[0], outer_sides[0]
    if pair is None or not isinstance(source.this, exp.Table):
        refuse(text, node, _REASON)
    key, outer = pair
    not_null = exp.Not(this=exp.Is(this=key.copy(), expression=exp.null()))
    listed = exp.Select(expressions=[key.copy()], from_=source.copy(), where=exp.Where(this=exp.and_(*rest, not_null)))
    condition = exp.In(this=outer.copy(), query=exp.Subquery(this=listed))
    return exp.Paren(this=exp.Is(this=exp.Paren(this=condition), expression=exp.true()))


def _is_of(column: exp.Column, name: str) -> bool:
    return column.table.lower() == name
