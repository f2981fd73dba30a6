"""The name of an item that has none."""

from __future__ import annotations

from sqlglot import ErrorLevel, exp


def output_name(node: exp.Expr, dialect: str) -> str:
    """The name of an item of a SELECT: its alias or column; else ``count``, ``avg_cost``, or the text of the item."""
    if node.alias:
        return node.alias
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.AggFunc):
        inner = node.this
        if isinstance(inner, exp.Distinct):
            return f"{node.sql_name().lower()}_distinct_{'_'.join(part.name for part in inner.expressions)}".rstrip("_")
        return (
            f"{node.sql_name().lower()}_{inner.name}".rstrip("_")
            if isinstance(inner, exp.Column)
            else node.sql_name().lower()
        )
    return node.sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE)


def name_items(select: exp.Select, dialect: str) -> None:
    """Give every item of a subquery the name that it has outside, so that a star can be written out."""
    items = [
        item
        if item.is_star or (item.alias_or_name and isinstance(item, exp.Alias | exp.Column))
        else exp.alias_(item, output_name(item, dialect), quoted=True)
        for item in select.expressions
    ]
    select.set("expressions", items)
