"""Tables after commas: ``FROM a, b WHERE a.k = b.k`` as ``FROM a JOIN b ON a.k = b.k``."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.comparisons import is_equality


def join_by_where(select: exp.Select) -> None:
    """Move equalities of WHERE to joins without a condition, if they compare columns of the join with others.

    Such a join has a row for each pair of rows; WHERE leaves the same pairs as a condition of the join would.
    """
    where, source = select.args.get("where"), select.args.get("from_")
    joins = select.args.get("joins") or ()
    if where is None or source is None or not any(map(_is_open, joins)):
        return
    before = {source.this.alias_or_name.lower()}
    parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    for join in joins:
        name = join.this.alias_or_name.lower()
        join_parts = [part for part in parts if _is_open(join) and _joins(part.unnest(), name, before)]
        before.add(name)
        if not join_parts:
            continue
        join.set("on", exp.and_(*(part.copy() for part in join_parts)))
        join.set("kind", None)
        parts = [part for part in parts if part not in join_parts]
    select.set("where", exp.Where(this=exp.and_(*(part.copy() for part in parts))) if parts else None)


def _is_open(join: exp.Join) -> bool:
    plain = not any(join.args.get(name) for name in ("on", "using", "side", "method"))
    return isinstance(join.this, exp.Table) and plain and (join.kind or "").upper() in ("", "CROSS")


def _joins(node: exp.Expr, name: str, before: set[str]) -> bool:
    """Whether it is an equality of a table's column with a column of a table before it."""
    if not is_equality(node):
        return False
    sides = [side.unnest() for side in (node.this, node.expression)]
    tables = [side.table.lower() if isinstance(side, exp.Column) else "" for side in sides]
    return tables.count(name) == 1 and (tables[0] in before or tables[1] in before)
