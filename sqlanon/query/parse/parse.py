"""From the analyst's text to the parts of one SELECT, in the engine's own dialect.

Queries without an answer are refused here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import ErrorLevel, TokenType, exp

from sqlanon.query.functions.comparisons import is_inequality
from sqlanon.query.functions.quantile_forms import unwrap_within_group
from sqlanon.query.parse.allowed import admit, aggregates
from sqlanon.query.parse.inline import flatten
from sqlanon.query.parse.text_lengths import check_lengths
from sqlanon.query.refusal import Refused, refuse, underline
from sqlanon.sqltext import identifier

_CLAUSES = {
    "expressions",
    "from_",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "joins",
    "kind",
    "hint",
    "with_",
}
_INSTEAD = {
    "distinct": "; name its columns in GROUP BY, with a count(*)",
    "qualify": "; write ORDER BY and LIMIT, or filter the rows of the answer",
}


@dataclass(frozen=True)
class Query:
    """One SELECT.

    Attributes:
        text: as it was written, for messages.
        items: output name and expression, in order.
        source: the table after FROM.
        joins: the others.
        where, having: predicates or None.
        groups: the expressions of GROUP BY, numbers resolved, aliases left.
        order: the terms of ORDER BY, aliases and numbers left.
        limit, offset: row counts or None.
        new: columns that subqueries name in addition to a star, so that no table may have them.
    """

    text: str
    items: tuple[tuple[str, exp.Expr], ...]
    source: exp.Table
    joins: tuple[exp.Join, ...]
    where: exp.Expr | None
    groups: tuple[exp.Expr, ...]
    having: exp.Expr | None
    order: tuple[exp.Ordered, ...]
    limit: int | None
    offset: int | None
    new: tuple[exp.Expr, ...] = ()

    @property
    def table_name(self) -> str:
        """The table after FROM, as a person writes it."""
        return ".".join(identifier(part.name) if part.args.get("quoted") else part.name for part in self.source.parts)


def parse(text: str, dialect: str) -> Query:
    """Parse one query.

    Raises:
        Refused: it is no single SELECT, or has a clause that is not answered over a release.
    """
    select = _select(text, dialect)
    for name, value in select.args.items():
        if value and name not in _CLAUSES:
            piece = value[0] if isinstance(value, list) else value
            refuse(
                text,
                piece if isinstance(piece, exp.Expr) else None,
                f"{name.strip('_').upper()} is not answered over a release{_INSTEAD.get(name, '')}",
            )
    source = select.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table) or not source.this.name:
        refuse(text, source, "the query needs a released table after FROM")
    items: list[tuple[str, exp.Expr]] = []
    for node in select.expressions:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            refuse(text, node, "a release has no rows of persons to show: ask for aggregates, such as count(*)")
        items.append((_name(node, dialect, [name for name, _ in items]), node.unalias()))
    where = select.args.get("where")
    having = select.args.get("having")
    group = select.args.get("group")
    groups: list[exp.Expr] = []
    if group is not None:
        for name, value in group.args.items():
            if value and name != "expressions":
                refuse(
                    text,
                    group,
                    "GROUP BY with ALL, ROLLUP, CUBE or GROUPING SETS is not answered; name the columns",
                )
        groups = [term for node in group.expressions for term in _read_groups(text, node, items)]
    order = select.args.get("order")
    for term in order.expressions if order is not None else ():
        if isinstance(term.this, exp.Var):
            refuse(text, order, "write the columns of ORDER BY out")
    return Query(
        text,
        tuple(items),
        source.this,
        tuple(select.args.get("joins") or ()),
        where.this if where else None,
        tuple(groups),
        having.this if having else None,
        tuple(order.expressions) if order else (),
        _count(text, select.args.get("limit")),
        _count(text, select.args.get("offset")),
        tuple(select.meta.get("new", ())),
    )


def _select(text: str, dialect: str) -> exp.Select:
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
        trees = sqlglot.parse(text, read=dialect)
    except sqlglot.errors.SqlglotError as error:
        problems = getattr(error, "errors", None) or [{}]
        line, place = problems[0].get("line"), problems[0].get("col")
        where = f" near line {line}, column {place}" if line else ""
        raise Refused([f"the query does not parse{where}", *underline(text, None)]) from error
    # Spark reads 'it''s' as one text with a quote in it, sqlglot as two.
    for one, other in pairwise(tokens):
        if one.token_type is other.token_type is TokenType.STRING and one.end + 1 == other.start:
            refuse(text, None, r"write a quote within a text as \'")
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1 or not isinstance(found[0], exp.Select):
        refuse(
            text,
            None,
            "write one SELECT, or several with UNION ALL between them; other set operations and statements are not "
            "answered over a release",
        )
    select = found[0]
    for call in list(select.find_all(exp.Anonymous)):
        # <> ALL (...), which is read as a function
        if (
            call.name.lower() == "all"
            and len(call.expressions) == 1
            and call.parent is not None
            and is_inequality(call.parent)
        ):
            call.replace(exp.All(this=exp.Paren(this=call.expressions[0])))
    admit(text, select)
    for node in select.walk():
        node.comments = None  # what is generated holds nothing that was not read
    # Some dialects read IS NOT as one predicate with a flag; here a negation is a NOT.
    for node in list(select.find_all(exp.Is)):
        if node.args.get("negate"):
            node.set("negate", None)
            node.replace(exp.Not(this=node.copy()))
    unwrap_within_group(select)
    select = flatten(text, select)
    aggregates(text, select)
    check_lengths(text, select)
    return select


def _name(node: exp.Expr, dialect: str, taken: list[str]) -> str:
    name = node.alias or (node.name if isinstance(node, exp.Column) else _plain(node, dialect))
    count = 1
    while name in taken:
        count += 1
        name = f"{name.rsplit('_', 1)[0] if count > 2 else name}_{count}"
    return name


def _plain(node: exp.Expr, dialect: str) -> str:
    """The name of an expression without an alias: ``count``, ``avg_cost``, else its own text."""
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


def _read_groups(text: str, node: exp.Expr, items: list[tuple[str, exp.Expr]]) -> list[exp.Expr]:
    """The terms of one part of GROUP BY: a number is an item of the SELECT, parentheses hold several."""
    if isinstance(node, exp.Tuple):
        return [found for part in node.expressions for found in _read_groups(text, part, items)]
    if isinstance(node, exp.Literal) and not node.is_string:
        at = int(node.this) if node.this.isdigit() else 0
        if not 1 <= at <= len(items):
            refuse(text, node, f"GROUP BY {node.this}: the query has {len(items)} columns")
        node = items[at - 1][1]
    if node.find(exp.AggFunc, exp.Window):
        refuse(text, node, "GROUP BY cannot hold an aggregate")
    return [node]


def _count(text: str, clause: exp.Expr | None) -> int | None:
    if clause is None:
        return None
    value = clause.expression if isinstance(clause, exp.Limit | exp.Offset) else clause.args.get("count")
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return int(value.this)
    return refuse(text, clause, "LIMIT and OFFSET take a whole number")
