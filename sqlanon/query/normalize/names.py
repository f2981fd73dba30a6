"""Names of items: of one that has none, and of one that a term of GROUP BY may mean."""

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


def name_alone(select: exp.Select, item: exp.Expr) -> None:
    """Note that a term of GROUP BY was read as the name of an item: no table may have a column of that name.

    A column with the name of the item and of the column that the item is, is the item.
    """
    column = item.unalias()
    if not (isinstance(column, exp.Column) and column.name.lower() == item.alias.lower()):
        select.meta["new"] = [*select.meta.get("new", ()), item.copy()]
