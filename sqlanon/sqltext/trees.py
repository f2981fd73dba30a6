"""SQL as trees; only here sqlglot is imported.

It checks core templates, writes them for another engine, and numbers the rows of queries.

Transpiling is not porting: sqlglot passes much through that another engine lacks or understands differently. So what a
core template may contain is listed here, node by node, and anything else is an error.
"""

from __future__ import annotations

import re
import secrets

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.errors import TemplateError
from sqlanon.sqltext.find import own_functions
from sqlanon.sqltext.spark import for_spark

ALLOWED: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Add,
        exp.Alias,
        exp.AggFunc,
        exp.And,
        exp.Array,
        exp.ArrayAgg,
        exp.Between,
        exp.Boolean,
        exp.Bracket,
        exp.Case,
        exp.Cast,
        exp.Coalesce,
        exp.Collate,
        exp.Column,
        exp.ColumnDef,
        exp.Commit,
        exp.Count,
        exp.Create,
        exp.CTE,
        exp.DataType,
        exp.Delete,
        exp.DataTypeParam,
        exp.Distinct,
        exp.Div,
        exp.Drop,
        exp.EQ,
        exp.Except,
        exp.Exists,
        exp.Filter,
        exp.Floor,
        exp.From,
        exp.GT,
        exp.GTE,
        exp.Greatest,
        exp.Group,
        exp.GroupingSets,
        exp.Having,
        exp.Identifier,
        exp.If,
        exp.In,
        exp.Insert,
        exp.Is,
        exp.Join,
        exp.LT,
        exp.LTE,
        exp.Lag,
        exp.Lead,
        exp.Least,
        exp.Like,
        exp.Limit,
        exp.Literal,
        exp.Max,
        exp.Min,
        exp.Mul,
        exp.NEQ,
        exp.Neg,
        exp.Not,
        exp.Null,
        exp.Or,
        exp.Order,
        exp.Ordered,
        exp.Paren,
        exp.Placeholder,
        exp.Properties,
        exp.RowNumber,
        exp.Schema,
        exp.DenseRank,
        exp.Rank,
        exp.Select,
        exp.Star,
        exp.Sub,
        exp.Subquery,
        exp.Substring,
        exp.Sum,
        exp.Table,
        exp.TableAlias,
        exp.TemporaryProperty,
        exp.Union,
        exp.Update,
        exp.Var,
        exp.Where,
        exp.Window,
        exp.WindowSpec,
        exp.With,
        exp.Abs,
        exp.Avg,
        exp.IsNan,
        exp.Tuple,
        exp.WithinGroup,
        exp.Transaction,
        exp.Alter,
        exp.Values,
        exp.ColumnConstraint,
        exp.NotNullColumnConstraint,
        exp.NullSafeEQ,
        exp.IntDiv,
        exp.Any,
        exp.ArrayContains,
        exp.Mod,
        exp.DPipe,
        exp.GroupConcat,
        exp.Concat,
        exp.NullSafeNEQ,
        exp.Pow,
        exp.CountIf,
        exp.BitwiseOrAgg,
        exp.BitwiseLeftShift,
        exp.BitwiseRightShift,
        exp.BitwiseAnd,
        exp.Exp,
        exp.Ln,
        exp.Explode,
        exp.Translate,
        exp.Like,  # of patterns without a backslash
    }
)
"""Syntax a core template may use: all of it means the same on every engine we compile to."""

PORTED: dict[str, frozenset[type[exp.Expr]]] = {
    "postgres": frozenset({exp.ArrayPosition, exp.IndexParameters, exp.PrimaryKey, exp.SHA2}),
    "spark": frozenset({exp.ArraySize, exp.Left, exp.Length, exp.Repeat, exp.SHA2}),
}
"""Syntax that means the same on one engine as on DuckDB, or is written anew for it."""

HASH = "HASH"
"""64 bits of several values."""

_ANY_TYPE = f"_sqlanon_type_{secrets.token_hex(8)}_"
NUMBER = "_sqlanon_number"
"""The column of `number_rows`."""
_NAME = r'(?:\w+|"(?:[^"]|"")+")'
_QUOTED_TYPE = re.compile(rf"""\bAS ((?:{_NAME}\.)?"(?:[^"]|"")+"|"(?:[^"]|"")+"\.\w+)\)""")
"""The end of a cast to a type whose name has quotes: a person's own, which sqlglot would write without them."""
_POSTGRES_TYPE = re.compile(r"\bAS (numeric|bpchar|bit varying(?:\(\d+\))?)\)")
"""The end of a cast to a column's type in PostgreSQL's words that means another type in our dialect.

A numeric without digits has three there.
"""


def translate(name: str, text: str, source_dialect: str, dialect: str, sentinel: str) -> str:
    """Check a template's text and write it in ``dialect``.

    A placeholder becomes a column with the prefix ``sentinel``.

    Raises:
        TemplateError: it does not parse, or uses syntax outside the allow-list.
    """
    types: list[str] = []

    def name_type(cast: re.Match[str]) -> str:
        types.append(cast[1])
        return f"AS {_ANY_TYPE}{len(types) - 1}_)"

    try:
        # Spark has no types of a person's own.
        plain = text if dialect == "spark" else _QUOTED_TYPE.sub(name_type, text)
        tree = sqlglot.parse_one(
            _POSTGRES_TYPE.sub(name_type, plain) if dialect == "postgres" else plain, read=source_dialect
        )
    except sqlglot.errors.SqlglotError as error:
        raise TemplateError(f"template {name} does not parse") from error
    _check(name, tree, dialect)
    tree = port_tree(tree, dialect)
    for node in list(tree.find_all(exp.Placeholder)):
        node.replace(exp.column(f"{sentinel}{node.name}"))
    out = tree.sql(dialect=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE)
    for i, quoted in enumerate(types):
        out = out.replace(f"{_ANY_TYPE}{i}_", quoted)
    return out


def port_tree(tree: exp.Expr, dialect: str) -> exp.Expr:
    """A tree of ours as an engine has to read it, where sqlglot writes it otherwise; the tree is changed."""
    if dialect == "postgres":  # which rounds doubles to whole numbers alone
        for node in list(tree.find_all(exp.Round)):
            if node.args.get("decimals") is not None:
                node.set("this", exp.cast(node.this, "DECIMAL"))
        for call in reversed(list(tree.find_all(exp.Anonymous, exp.SHA2))):  # what is inside first
            if isinstance(call, exp.SHA2):
                call.replace(_hash_text(call.this))
            elif call.name.upper() == HASH:
                row = exp.Anonymous(this="ROW", expressions=call.expressions)
                call.replace(exp.Anonymous(this="hash_record_extended", expressions=[row, exp.Literal.number(0)]))
    return for_spark(tree) if dialect == "spark" else tree


def _hash_text(text: exp.Expr) -> exp.Expr:
    """SHA-256 of a text, in hexadecimal digits that are ordered as elsewhere."""
    digest = exp.func("sha256", exp.func("convert_to", text, exp.Literal.string("UTF8")))
    digits = exp.Anonymous(this="encode", expressions=[digest, exp.Literal.string("hex")])
    return exp.paren(exp.Collate(this=digits, expression=exp.Identifier(this="C", quoted=True)))


def _check(name: str, tree: exp.Expr, dialect: str) -> None:
    allowed = ALLOWED | PORTED.get(dialect, frozenset())
    for node in tree.walk():
        if isinstance(node, exp.Anonymous) and (node.name in own_functions() or node.name.upper() == HASH):
            continue  # stored functions of ours mean the same on every engine; HASH is written anew
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous | exp.Identifier):
            continue  # the schema of such a call
        if type(node) not in allowed:
            raise TemplateError(f"template {name} uses {type(node).__name__}, which is not portable")
        if isinstance(node, exp.Group) and node.args.get("all"):
            raise TemplateError(f"template {name} uses GROUP BY ALL, which is not portable")


def number_rows(query: Statement, dialect: str) -> Statement:
    """A query with its ORDER BY as the last column, numbers from 1.

    It is for engines that stream rows in no order.

    Raises:
        TemplateError: the numbers would not be those of its rows.
    """
    tree = sqlglot.parse_one(query.text, read=dialect)
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or order is None or tree.args.get("distinct") or tree.args.get("limit"):
        raise TemplateError(f"template {query.name}: rows in order are those of a plain SELECT with ORDER BY")
    tree.set("order", None)
    number = exp.Window(this=exp.RowNumber(), order=order)
    tree.select(exp.alias_(number, NUMBER, quoted=True), copy=False)
    return Statement(query.name, tree.sql(dialect=dialect), query.binds)


def is_ordered(query: Statement, dialect: str) -> bool:
    """Whether a query says in which order its rows come."""
    return sqlglot.parse_one(query.text, read=dialect).args.get("order") is not None
