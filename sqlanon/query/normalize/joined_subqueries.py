"""Joined subqueries: a row beside each row, a list of groups, or the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlglot import exp

from sqlanon.query.functions.comparisons import is_equality
from sqlanon.query.normalize.expression_subqueries import ListedValues, Scalar, Subquery
from sqlanon.query.normalize.kinds import is_grouped
from sqlanon.query.normalize.names import name_alone
from sqlanon.query.normalize.scopes import scope_nodes
from sqlanon.query.refusal import refuse

_PLAIN = {"expressions", "from_", "where"}


class Flattener(Protocol):
    """A text while it is made flat."""

    text: str
    asked: list[Subquery]

    def subquery(self, read: exp.Expr, ctes: Mapping[str, exp.Select], depth: int) -> exp.Select | None:
        """The flat SELECT of a CTE's name or a subquery; None: it is a table."""


def join_subqueries(statement: Flattener, select: exp.Select, ctes: Mapping[str, exp.Select], depth: int) -> None:
    """Write the joined subqueries of a SELECT without a join, or as a join with a table.

    A single row of aggregates is joined to each row: its columns are constants. The join with groups, on their only
    key, keeps the rows with a key among them, once each: it is IN. Rows of a table are joined as the table is.

    Raises:
        RefusedQueryError: another join with a subquery.
    """
    remaining_joins: list[exp.Join] = []
    for join in list(select.args.get("joins") or ()):
        inner = statement.subquery(join.this, ctes, depth)
        if inner is None:
            remaining_joins.append(join)
            continue
        join.pop()
        if _is_one_row(inner) and _is_cross(join):
            _take_values(statement, select, inner, join)
        elif is_grouped(inner) or inner.args.get("limit") or inner.args.get("offset"):
            _take_keys(statement, select, inner, join)
        else:
            remaining_joins.append(_take_table(statement.text, select, inner, join))
    select.set("joins", remaining_joins or None)


def _is_one_row(inner: exp.Select) -> bool:
    grouped = inner.args.get("group") is not None and inner.meta.get("regroup") is None
    again = bool(inner.meta.get("regroup"))
    cut = any(inner.args.get(name) for name in ("having", "limit", "offset", "qualify"))
    return is_grouped(inner) and not grouped and not again and not cut


def _is_cross(join: exp.Join) -> bool:
    on = join.args.get("on")
    always = isinstance(on, exp.Boolean) and bool(on.this)
    return not join.args.get("using") and (on is None or always) and (join.kind or "").upper() in ("", "CROSS", "INNER")


def _take_values(statement: Flattener, select: exp.Select, inner: exp.Select, join: exp.Join) -> None:
    """Put the number of the subquery in place of the subquery's columns."""
    numbers: dict[str, exp.Expr] = {}
    for node, index in _references(statement.text, select, inner, join.this.alias_or_name):
        name = inner.expressions[index].alias_or_name
        if name not in numbers:
            numbers[name] = exp.Literal.number(len(statement.asked))
            statement.asked.append(Subquery(inner.copy(), node.copy(), column=index))
        scalar: exp.Expr = Scalar(this=numbers[name].copy())
        node.replace(exp.alias_(scalar, name, quoted=True) if node.parent is select else scalar)
    group = select.args.get("group")
    if group is not None:  # the same in every row
        terms = [term for term in group.expressions if not isinstance(term, Scalar)]
        if group.expressions and not terms:
            refuse(statement.text, join, "the groups of one row have no other columns; leave GROUP BY out")
        group.set("expressions", terms)


def _take_keys(statement: Flattener, select: exp.Select, inner: exp.Select, join: exp.Join) -> None:
    """Keep the rows with a key among the groups of a subquery."""
    text, name = statement.text, join.this.alias_or_name
    reason = "a subquery of groups is joined on its only key, with =, and none of its other columns is read"
    pairs = _equal(text, select, join, inner, name, reason)
    group = inner.args.get("group")
    terms = inner.meta.get("regroup") or (group.expressions if group is not None else [])
    if len(pairs) != 1 or len(terms) != 1 or (join.side or "") or (join.kind or "").upper() not in ("", "INNER"):
        refuse(text, join, reason)
    mine, index = pairs[0]
    key = inner.expressions[index]
    if key.unalias() != terms[0]:
        if not isinstance(terms[0], exp.Column) or terms[0].table or terms[0].name.lower() != key.alias.lower():
            refuse(text, join, reason)
        name_alone(inner, key)
    for node, place in _references(text, select, inner, name):
        if place != index:
            refuse(text, node, reason)
        node.replace(exp.alias_(mine.copy(), node.name, quoted=True) if node.parent is select else mine.copy())
    number = exp.Literal.number(len(statement.asked))
    statement.asked.append(Subquery(inner, join.this, column=index, several=True, top=True))
    select.where(exp.In(this=mine.copy(), expressions=[ListedValues(this=number)]), copy=False)


def _equal(
    text: str, select: exp.Select, join: exp.Join, inner: exp.Select, name: str, reason: str
) -> list[tuple[exp.Expr, int]]:
    """The pairs that a join compares: an expression of the query, and the number of a column of the subquery."""
    names = [item.alias_or_name.lower() for item in inner.expressions]
    if join.args.get("using"):
        source = select.args["from_"].this.alias_or_name
        return [
            (exp.column(argument.name, table=source), names.index(argument.name.lower()))
            for argument in join.args["using"]
            if argument.name.lower() in names
        ]
    on = join.args.get("on")
    if on is None:
        refuse(text, join, reason)
    pairs = []
    for part in on.unnest().flatten() if isinstance(on.unnest(), exp.And) else [on.unnest()]:
        equal = part.unnest()
        if not is_equality(equal):
            refuse(text, part, reason)
        sides = [equal.left.unnest(), equal.right.unnest()]
        theirs = [s for s in sides if _is_of(s, name, names)]
        mine = [s for s in sides if not _is_of(s, name, names)]
        if len(theirs) != 1 or len(mine) != 1:
            refuse(text, part, reason)
        pairs.append((mine[0], names.index(theirs[0].name.lower())))
    return pairs


def _is_of(node: exp.Expr, name: str, names: list[str]) -> bool:
    if not isinstance(node, exp.Column):
        return False
    return node.table.lower() == name.lower() or (not node.table and node.name.lower() in names)


def _references(text: str, select: exp.Select, inner: exp.Select, name: str) -> list[tuple[exp.Column, int]]:
    """The columns of a SELECT that are those of a subquery, and their numbers.

    A name without a table that another table has as well is refused by the engine.
    """
    names = [item.alias_or_name.lower() for item in inner.expressions]
    aliases = {item.alias.lower() for item in select.expressions if item.alias}
    order = select.args.get("order")
    references = []
    for node in [n for n in scope_nodes(select) if isinstance(n, exp.Column)]:
        if isinstance(node.this, exp.Star):
            if node.table.lower() in ("", name.lower()):
                refuse(text, node, "write the columns out in place of the star")
            continue
        if (
            not node.table
            and node.name.lower() in aliases
            and node.find_ancestor(exp.Order) is order
            and order is not None
        ):
            continue
        if node.table.lower() == name.lower() and node.name.lower() not in names:
            refuse(text, node, f"the subquery has no column {node.name}")
        if _is_of(node, name, names):
            references.append((node, names.index(node.name.lower())))
    if any(isinstance(item, exp.Star) for item in select.expressions):
        refuse(text, select.expressions[0], "write the columns out in place of the star")
    return references


def _take_table(text: str, select: exp.Select, inner: exp.Select, join: exp.Join) -> exp.Join:
    """The join with the table of which a subquery passes columns, under the name of the subquery."""
    name, reason = join.this.alias_or_name, "a joined subquery over a table names columns of it, and filters at most"
    source = inner.args.get("from_")
    if {key for key, value in inner.args.items() if value} - _PLAIN or source is None:
        refuse(text, join, reason)
    table = source.this
    passed: dict[str, exp.Column] = {}
    everything = False
    for item in inner.expressions:
        column = item.unalias()
        everything = everything or item.is_star
        if not item.is_star and not isinstance(column, exp.Column):
            refuse(text, item, reason)
        if item.alias_or_name.lower() in passed or (everything and len(inner.expressions) > 1):
            refuse(text, item, f"{reason}; each under a name of its own")
        if not item.is_star:
            passed[item.alias_or_name.lower()] = column
    columns = [n for n in scope_nodes(select) if isinstance(n, exp.Column)]
    columns += join.args["on"].find_all(exp.Column) if join.args.get("on") else ()
    for node in columns:
        if node.table.lower() not in ("", name.lower()) or isinstance(node.this, exp.Star):
            continue
        passed_column = passed.get(node.name.lower())
        if passed_column is not None:
            renamed = passed_column.copy()
            renamed.set("table", exp.to_identifier(name, quoted=True))
            node.replace(exp.alias_(renamed, node.name, quoted=True) if node.parent is select else renamed)
        elif node.table and not everything:
            refuse(text, node, f"the subquery has no column {node.name}")
    for identifier in join.args.get("using") or ():
        if (
            identifier.name.lower() in passed
            and passed[identifier.name.lower()].name.lower() != identifier.name.lower()
        ):
            refuse(text, join, "USING needs the table's own names; write ON")
    where = inner.args.get("where")
    if where is not None:
        if join.side:
            refuse(text, where, "rows of an outer join are filtered in the query around it, or by the table itself")
        condition = where.this.copy()
        for node in condition.find_all(exp.Column):
            node.set("table", exp.to_identifier(name, quoted=True))
        select.where(condition, copy=False)
    called = table.copy()
    called.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    join.set("this", called)
    return join
