"""From the analyst's text to the parts of a SELECT, in the engine's own dialect.

Queries without an answer are refused here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import Dialect

from sqlanon.query.functions.comparisons import is_equality, is_inequality
from sqlanon.query.functions.quantile_forms import unwrap_within_group
from sqlanon.query.functions.spellings import spell_alike
from sqlanon.query.normalize.distinct import group_list, group_values
from sqlanon.query.normalize.expression_subqueries import ListedValues, Scalar, Subquery
from sqlanon.query.normalize.grouping_sets import list_order_terms, split_groupings
from sqlanon.query.normalize.inline import Statement
from sqlanon.query.normalize.kinds import has_window, is_grouped
from sqlanon.query.normalize.names import output_name
from sqlanon.query.normalize.scopes import read_tables, shorten_columns
from sqlanon.query.parse.allowed_shapes import admit, aggregates
from sqlanon.query.parse.grouping_tokens import parenthesize_terms
from sqlanon.query.parse.text_lengths import check_lengths
from sqlanon.query.refusal import RefusedQueryError, refuse, underline
from sqlanon.sqltext import identifier

_CLAUSES = {
    "expressions",
    "from_",
    "where",
    "group",
    "having",
    "qualify",
    "order",
    "limit",
    "offset",
    "joins",
    "kind",
    "hint",
    "with_",
}
NO_ROWS = "a release has no rows of persons to show: ask for aggregates, such as count(*)"


@dataclass(frozen=True)
class Query:
    """A SELECT over tables.

    Attributes:
        text: the text as written, for messages.
        items: output name and expression, in order.
        source: the table after FROM; None: the query reads no table.
        joins: the other tables.
        where, having, qualify: predicates or None.
        groups: the expressions of GROUP BY, numbers resolved, aliases left.
        order: the terms of ORDER BY, aliases and numbers left.
        limit, offset: row counts or None.
        new: columns that subqueries name in addition to a star, so that no table may have them.
        aliases: names of items of subqueries, which GROUP BY may mean.
        regroup: the terms by which the groups are grouped again; None: not grouped again. Otherwise ``having`` is about
            the new groups, ``inner_having`` and ``qualify`` about the first groups.
        asked: the queries with values in the expressions, by number.
        nothing: whether the query has no rows, whatever the table holds; items may be a star then.
        tables: every table of the text, as it is written there.
        dropped: start positions of schema names that columns repeat.
    """

    text: str
    items: tuple[tuple[str, exp.Expr], ...]
    source: exp.Table | None
    joins: tuple[exp.Join, ...]
    where: exp.Expr | None
    groups: tuple[exp.Expr, ...]
    having: exp.Expr | None
    order: tuple[exp.Ordered, ...]
    limit: int | None
    offset: int | None
    new: tuple[exp.Expr, ...] = ()
    aliases: tuple[tuple[str, exp.Expr], ...] = ()
    qualify: exp.Expr | None = None
    regroup: tuple[exp.Expr, ...] | None = None
    inner_having: exp.Expr | None = None
    asked: tuple[ParsedSubquery, ...] = ()
    nothing: bool = False
    tables: tuple[exp.Table, ...] = ()
    dropped: frozenset[int] = frozenset()

    @property
    def table_name(self) -> str:
        """The table after FROM, as a person writes it."""
        parts = self.source.parts if self.source is not None else []
        return ".".join(identifier(part.name) if part.args.get("quoted") else part.name for part in parts)


@dataclass(frozen=True)
class ParsedSubquery:
    """A subquery inside an expression, see `sqlanon.query.normalize.expression_subqueries.Subquery`."""

    query: Query
    select: exp.Select
    node: exp.Expr
    column: int
    several: bool
    top: bool


@dataclass(frozen=True)
class Groupings:
    """The queries of a text; their rows are put below one another.

    Attributes:
        queries: a single query, or a query for each grouping.
        order, limit, offset: of several queries, the clauses for all rows together.
        unshown: columns that rows are sorted by, and that are not in the answer.
    """

    queries: tuple[Query, ...]
    order: tuple[exp.Ordered, ...] = ()
    limit: int | None = None
    offset: int | None = None
    unshown: tuple[str, ...] = ()


def parse(text: str, dialect: str) -> Query:
    """The query of a text, of several groupings the first; see `parse_groupings`."""
    return parse_groupings(text, dialect).queries[0]


def parse_groupings(text: str, dialect: str, *, distinct: bool = False) -> Groupings:
    """Parse a text.

    Args:
        text: a single SELECT.
        dialect: the engine's.
        distinct: equal rows are merged: where it reads rows, their different values are groups.

    Raises:
        RefusedQueryError: it is no single SELECT, or has a clause that is not answered over a release.
    """
    whole = read_select(text, dialect)
    tables, dropped = tuple(read_tables(whole)), frozenset(shorten_columns(text, whole))
    tables = tuple(table.copy() for table in tables)
    statement = Statement(text, dialect)
    flat = statement.flatten(whole)
    if distinct and not any(flat.args.get(name) for name in ("limit", "offset")) and flat.args.get("from_"):
        group_values(text, flat)
    unshown = list_order_terms(flat) if len(split_groupings(text, flat)) > 1 else ()
    parts = split_groupings(text, flat)
    reader = _Reader(text, dialect, tables, dropped, statement.asked)
    queries = tuple(reader.query(part) for part in parts)
    if len(queries) == 1:
        return Groupings(queries)
    order = flat.args.get("order")
    return Groupings(
        queries,
        tuple(order.expressions) if order else (),
        read_count(text, flat.args.get("limit")),
        read_count(text, flat.args.get("offset")),
        unshown,
    )


@dataclass(frozen=True)
class _Reader:
    """Reads flat SELECTs of a text."""

    text: str
    dialect: str
    tables: tuple[exp.Table, ...]
    dropped: frozenset[int]
    asked: list[Subquery]

    def query(self, select: exp.Select, *, inside: bool = False) -> Query:
        """The parts of a SELECT, and of subqueries in expressions; ``inside``: it may give rows of a table."""
        text = self.text
        self._check_clauses(select)
        aggregates(text, select)
        check_lengths(text, select)
        subqueries = self._read_subqueries(select)
        limit = read_count(text, select.args.get("limit"))
        grouped = is_grouped(select) or has_window(select)
        where = select.args.get("where")
        nothing = limit == 0 or (not grouped and where is not None and _is_never(where.this))
        source = select.args.get("from_")
        table = source.this if source is not None else None
        if table is None:
            table = next((subquery.query.source for subquery in subqueries.values() if not subquery.several), None)
        if table is not None and (not isinstance(table, exp.Table) or not table.name):
            refuse(text, source, "the query needs a released table after FROM")
        items: list[tuple[str, exp.Expr]] = []
        for node in select.expressions:
            if node.is_star and not nothing:
                refuse(text, node, NO_ROWS)
            items.append((self._name(node, [name for name, _ in items]), node.unalias()))
        if table is not None and source is not None and not (grouped or nothing or inside):
            refuse(text, select.expressions[0], NO_ROWS)
        having, qualify, group = (select.args.get(name) for name in ("having", "qualify", "group"))
        groups = [term for node in (group.expressions if group else ()) for term in _read_groups(text, node)]
        order = select.args.get("order")
        for term in order.expressions if order is not None else ():
            if isinstance(term.this, exp.Var):
                refuse(text, order, "write the columns of ORDER BY out")
        regroup = select.meta.get("regroup")
        return Query(
            text,
            tuple(items),
            table,
            tuple(select.args.get("joins") or ()),
            where.this if where else None,
            tuple(groups),
            having.this if having else None,
            tuple(order.expressions) if order else (),
            limit,
            read_count(text, select.args.get("offset")),
            tuple(select.meta.get("new", ())),
            tuple(select.meta.get("aliases", ())),
            qualify.this if qualify else None,
            None if regroup is None else tuple(t for node in regroup for t in _terms(node)),
            select.meta.get("inner_having"),
            tuple(subqueries.values()),
            nothing,
            self.tables,
            self.dropped,
        )

    def _read_subqueries(self, select: exp.Select) -> dict[int, ParsedSubquery]:
        """The subqueries that a SELECT asks, numbered anew."""
        subqueries: dict[int, ParsedSubquery] = {}
        places: dict[int, int] = {}
        trees = [select, *([select.meta["inner_having"]] if select.meta.get("inner_having") is not None else [])]
        for node in [n for tree in trees for n in tree.find_all(Scalar, ListedValues)] + [
            n for tree in select.meta.get("regroup") or () for n in tree.find_all(Scalar, ListedValues)
        ]:
            number = int(node.this.name)
            if number not in places:
                subquery = self.asked[number]
                places[number] = len(subqueries)
                inner = subquery.select.copy()
                if subquery.several and not subquery.top and _reads_same_table(select, inner):
                    group_list(self.text, inner)
                query = self.query(inner, inside=True)
                subqueries[len(subqueries)] = ParsedSubquery(
                    query, subquery.select, subquery.node, subquery.column, subquery.several, subquery.top
                )
            node.set("this", exp.Literal.number(places[number]))
        return subqueries

    def _check_clauses(self, select: exp.Select) -> None:
        for name, value in select.args.items():
            if value and name not in _CLAUSES:
                piece = value[0] if isinstance(value, list) else value
                refuse(
                    self.text,
                    piece if isinstance(piece, exp.Expr) else None,
                    f"{name.strip('_').upper()} is not answered over a release",
                )
        group = select.args.get("group")
        if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
            refuse(self.text, group, "groupings are answered in the outermost query; ask one query for each")
        if group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
            refuse(self.text, group, "groupings are answered in the outermost query; ask one query for each")

    def _name(self, node: exp.Expr, names: list[str]) -> str:
        name = output_name(node, self.dialect)
        count = 1
        while name in names:
            count += 1
            name = f"{name.rsplit('_', 1)[0] if count > 2 else name}_{count}"
        return name


def _reads_same_table(select: exp.Select, inner: exp.Select) -> bool:
    """Whether both read one table, by the same name."""
    tables = [part.this for part in (tree.args.get("from_") for tree in (select, inner)) if part is not None]
    paths = [[part.name.lower() for part in table.parts] for table in tables if isinstance(table, exp.Table)]
    return len(paths) == 2 and paths[0] == paths[1]


def _is_never(node: exp.Expr) -> bool:
    """Whether a predicate has no column and is FALSE or NULL as it is written: ``1 = 0``, ``FALSE``."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return _is_never(node.left) or _is_never(node.right)
    if isinstance(node, exp.Boolean):
        return not node.this
    sides = (node.this, node.expression) if is_equality(node) else ()
    if len(sides) == 2 and all(isinstance(s, exp.Literal) and not s.is_string and s.this.isdigit() for s in sides):
        return int(sides[0].this) != int(sides[1].this)
    return False


def read_select(text: str, dialect: str) -> exp.Select:
    """The tree of a text that is a single SELECT of allowed parts.

    Raises:
        RefusedQueryError: it is something else.
    """
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
        trees = Dialect.get_or_raise(dialect).parser().parse(parenthesize_terms(tokens), text)
    except sqlglot.errors.SqlglotError as error:
        problems = getattr(error, "errors", None) or [{}]
        line, place = problems[0].get("line"), problems[0].get("col")
        where = f" near line {line}, column {place}" if line else ""
        raise RefusedQueryError([f"the query does not parse{where}", *underline(text, None)]) from error
    # Spark reads 'it''s' as a single text with a quote in it, sqlglot as two.
    for token, following in pairwise(tokens):
        if token.token_type is following.token_type is TokenType.STRING and token.end + 1 == following.start:
            refuse(text, None, r"write a quote within a text as \'")
    parsed = [tree for tree in trees if tree is not None]
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Select):
        refuse(
            text,
            None,
            "write one SELECT, or several with UNION between them; other set operations and statements are not "
            "answered over a release",
        )
    select = parsed[0]
    for call in list(select.find_all(exp.Anonymous)):
        # <> ALL (...), which is read as a function
        if (
            call.name.lower() == "all"
            and len(call.expressions) == 1
            and call.parent is not None
            and is_inequality(call.parent)
        ):
            call.replace(exp.All(this=exp.Paren(this=call.expressions[0])))
    spell_alike(select, dialect)
    admit(text, select)
    for node in select.walk():
        node.comments = None  # generated SQL holds nothing that was not read
    # Some dialects read IS NOT as a predicate with a flag; here a negation is a NOT.
    for node in list(select.find_all(exp.Is)):
        if node.args.get("negate"):
            node.set("negate", None)
            node.replace(exp.Not(this=node.copy()))
    unwrap_within_group(select)
    return select


def _read_groups(text: str, node: exp.Expr) -> list[exp.Expr]:
    """The terms of a part of GROUP BY: parentheses hold several."""
    terms = _terms(node)
    for term in terms:
        if term.find(exp.AggFunc, exp.Window):
            refuse(text, term, "GROUP BY cannot hold an aggregate")
    return terms


def _terms(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return [term for part in node.expressions for term in _terms(part)]
    return [node]


def read_count(text: str, clause: exp.Expr | None) -> int | None:
    """The number of a LIMIT or OFFSET; None without one.

    Raises:
        RefusedQueryError: it is no whole number.
    """
    if clause is None:
        return None
    value = clause.expression if isinstance(clause, exp.Limit | exp.Offset) else clause.args.get("count")
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return int(value.this)
    return refuse(text, clause, "LIMIT and OFFSET take a whole number")
