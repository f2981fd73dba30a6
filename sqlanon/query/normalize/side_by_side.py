"""Subqueries of groups of a table, joined on all grouping terms: a single subquery, with FILTER in aggregates.

``a JOIN b`` has the groups that have rows in both, ``a LEFT JOIN b`` those that have rows in a, where aggregates of b
are NULL in groups without rows of b. NULL is equal to nothing, so that the group of NULL is joined with none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.functions.aggregates import count_filtered, counts_rows, is_count, null_for_zero
from sqlanon.query.functions.comparisons import is_equality
from sqlanon.query.normalize.joined_subqueries import Flattener
from sqlanon.query.normalize.scopes import scope_nodes

_PLAIN = {"expressions", "from_", "where", "group"}


@dataclass(frozen=True)
class _Side:
    """A joined subquery: name, SELECT over the table's own column names, and whether rows may be missing."""

    name: str
    select: exp.Select
    outer: bool

    @property
    def keys(self) -> list[exp.Expr]:
        """The terms of GROUP BY."""
        return list(self.select.args["group"].expressions)

    def places(self) -> dict[str, int]:
        """The items by their names."""
        return {item.alias_or_name.lower(): i for i, item in enumerate(self.select.expressions)}


def put_together(statement: Flattener, select: exp.Select, ctes: Mapping[str, exp.Select], depth: int) -> None:
    """Write joined subqueries of groups as a single subquery, where they are groups of a table by the same terms.

    Args:
        statement: the text.
        select: the query that reads them; others are left as they are.
        ctes: CTEs that it may read.
        depth: depth of nesting.
    """
    source, joins = select.args.get("from_"), select.args.get("joins") or []
    if source is None or not joins or any(item.is_star for item in select.expressions):
        return
    reads = [source.this, *(join.this for join in joins)]
    if not all(isinstance(table, exp.Subquery) or table.name.lower() in ctes for table in reads):
        return
    sides = []
    for table, join in zip(reads, [None, *joins], strict=True):
        inner = statement.subquery(table.copy(), ctes, depth)
        side = None if inner is None else _side(table.alias_or_name, inner, join)
        if side is None:
            return
        sides.append(side)
    first = sides[0]
    if any(_path(side) != _path(first) for side in sides) or len({side.name.lower() for side in sides}) < len(sides):
        return
    if not all(_is_on_keys(first, side, join) for side, join in zip(sides[1:], joins, strict=True)):
        return
    references = _references(select, sides, joins)
    if references is None:
        return
    for node, number, index in references:
        replacement = exp.column(exp.to_identifier(f"_side_{number}_{index}", quoted=True))
        node.replace(exp.alias_(replacement, node.name, quoted=True) if node.parent is select else replacement)
    alias = exp.TableAlias(this=exp.to_identifier("_sides", quoted=True))
    select.set("from_", exp.From(this=exp.Subquery(this=_merge(sides), alias=alias)))
    select.set("joins", None)


def _side(name: str, inner: exp.Select, join: exp.Join | None) -> _Side | None:
    kind = ("", "") if join is None else ((join.side or "").upper(), (join.kind or "").upper())
    plain = {key for key, value in inner.args.items() if value} <= {*_PLAIN, "order"}
    source = inner.args.get("from_")
    if kind not in {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")} or not plain or source is None:
        return None
    if inner.args.get("group") is None or inner.meta.get("regroup") is not None:
        return None
    if inner.find(exp.Window) or len(list(inner.find_all(exp.Query))) > 1:
        return None
    items = {item.alias.lower(): item.unalias() for item in inner.expressions if item.alias}
    group = inner.args["group"]
    if any(value for key, value in group.args.items() if key != "expressions"):
        return None
    for term in group.expressions:
        meant = items.get(term.name.lower()) if isinstance(term, exp.Column) and not term.table else None
        if meant is not None and not (isinstance(meant, exp.Column) and meant.name.lower() == term.name.lower()):
            return None  # the item or a column of the table
    inner.set("order", None)
    for node in inner.find_all(exp.Column):
        node.set("table", None)
    return _Side(name, inner, kind[0] == "LEFT")


def _path(side: _Side) -> list[str]:
    return [part.name.lower() for part in side.select.args["from_"].this.parts]


def _is_on_keys(first: _Side, side: _Side, join: exp.Join) -> bool:
    """Whether a join compares every term of GROUP BY of a side with the same term of the first side."""
    pairs = []
    if join.args.get("using"):
        names = [argument.name.lower() for argument in join.args["using"]]
        if not all(name in first.places() and name in side.places() for name in names):
            return False
        pairs = [(first.places()[name], side.places()[name]) for name in names]
    else:
        on = join.args.get("on")
        parts = [] if on is None else on.unnest().flatten() if isinstance(on.unnest(), exp.And) else [on.unnest()]
        for part in parts:
            equal = part.unnest()
            ends = [equal.left, equal.right] if is_equality(equal) else []
            places: dict[str, int] = {}
            for end in ends:
                for joined_side in (first, side):
                    side_places = joined_side.places()
                    is_of_side = isinstance(end, exp.Column) and end.table.lower() == joined_side.name.lower()
                    if is_of_side and end.name.lower() in side_places:
                        places[joined_side.name] = side_places[end.name.lower()]
            if len(places) != 2:
                return False
            pairs.append((places[first.name], places[side.name]))
    mine = [first.select.expressions[i].unalias() for i, _ in pairs]
    theirs = [side.select.expressions[j].unalias() for _, j in pairs]
    same = mine == theirs and all(key in mine for key in first.keys) and all(key in first.keys for key in mine)
    return same and all(key in first.keys for key in side.keys) and len(side.keys) == len(first.keys) == len(pairs)


def _references(
    select: exp.Select, sides: list[_Side], joins: list[exp.Join]
) -> list[tuple[exp.Column, int, int]] | None:
    """The columns of a query that are those of the sides; None: a column is ambiguous, or has no form here."""
    using = {identifier.name.lower() for join in joins for identifier in join.args.get("using") or ()}
    on = {id(node) for join in joins for node in join.walk()}
    aliases = {item.alias.lower() for item in select.expressions if item.alias}
    order = select.args.get("order")
    references = []
    for node in [n for n in scope_nodes(select) if isinstance(n, exp.Column) and id(n) not in on]:
        name = node.name.lower()
        if not node.table and name in aliases and order is not None and node.find_ancestor(exp.Order) is order:
            continue
        candidates = [i for i, side in enumerate(sides) if node.table.lower() in ("", side.name.lower())]
        fits = [i for i in candidates if name in sides[i].places()]
        if not node.table and name in using:
            fits = [0]
        if len(fits) != 1:
            return None
        side = sides[fits[0]]
        index = side.places()[name]
        item = side.select.expressions[index].unalias()
        if side.outer and (not isinstance(item, exp.AggFunc) or (is_count(item) and not counts_rows(item))):
            return None  # it may have a value of no rows
        references.append((node, fits[0], index))
    return references


def _merge(sides: list[_Side]) -> exp.Select:
    """The merged subquery: the items of each side under the side's condition."""
    first = sides[0]
    not_null = [exp.Not(this=exp.Is(this=exp.Paren(this=key.copy()), expression=exp.null())) for key in first.keys]
    conditions: list[exp.Expr | None] = []
    for number, side in enumerate(sides):
        where = side.select.args.get("where")
        parts: list[exp.Expr] = [exp.Paren(this=where.this.copy())] if where is not None else []
        if number:
            parts += [condition.copy() for condition in not_null]
        conditions.append(exp.and_(*parts) if parts else None)
    select = exp.Select(from_=exp.From(this=first.select.args["from_"].this.copy()))
    select.args["from_"].this.set("alias", None)
    listed = []
    for number, (side, condition) in enumerate(zip(sides, conditions, strict=True)):
        for index, item in enumerate(side.select.expressions):
            tree = _under(item.unalias(), condition, missing=side.outer)
            listed.append(exp.alias_(tree, f"_side_{number}_{index}", quoted=True))
    select.set("expressions", listed)
    if all(condition is not None for condition in conditions):
        select.set(
            "where", exp.Where(this=exp.or_(*(condition.copy() for condition in conditions if condition is not None)))
        )
    select.set("group", exp.Group(expressions=[key.copy() for key in first.keys]))
    needed = [c for c, side in zip(conditions, sides, strict=True) if not side.outer and c is not None]
    present = [exp.GT(this=count_filtered(c.copy()), expression=exp.Literal.number(0)) for c in needed]
    if present:
        select.set("having", exp.Having(this=exp.and_(*present)))
    return select


def _under(item: exp.Expr, condition: exp.Expr | None, *, missing: bool) -> exp.Expr:
    """An item with aggregates over the rows that meet a condition; ``missing``: NULL where there are none."""
    if condition is None:
        return item.copy()
    whole = exp.Paren(this=item.copy())
    for node in list(whole.find_all(exp.AggFunc)):
        above = node.parent
        if isinstance(above, exp.Filter):
            both = exp.and_(condition.copy(), exp.Paren(this=above.expression.this.copy()))
            above.set("expression", exp.Where(this=both))
            continue
        filtered: exp.Expr = exp.Filter(this=node.copy(), expression=exp.Where(this=condition.copy()))
        node.replace(null_for_zero(filtered) if missing and counts_rows(node) else filtered)
    plain: exp.Expr = whole.this
    return plain.pop()
