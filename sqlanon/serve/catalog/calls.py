"""The functions and casts of a question to the catalog, as the database in memory has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon._version import __version__
from sqlanon.serve.catalog import functions
from sqlanon.serve.catalog.content import DATABASE
from sqlanon.serve.refusals import NO_FUNCTION, NO_SETTING, ServeError
from sqlanon.serve.values import TEXTS, decode
from sqlanon.serve.variables import VERSION

SYSTEM, INFORMATION = "pg_catalog", "information_schema"
_PLAIN_TYPES = {"name": "text", "char": "text", "oid": "uinteger", "xid": "uinteger", "cid": "uinteger"}
_FROM_TEXT = {
    "regclass": ("to_regclass", "regclass_name"),
    "regtype": ("to_regtype", "format_type"),
    "regnamespace": ("to_regnamespace", "regnamespace_name"),
}
_TEXTS = {"text", "varchar", "char", "name", "character varying"}
_NOW = ("now", "transaction_timestamp", "statement_timestamp", "clock_timestamp")
_ASKERS = ("user", "current_role", "system_user")
"""Names of who asks that are written like columns."""
_PLACEHOLDER = re.compile("%([ILs])")
_QUOTED = {"I": "quote_ident", "L": "quote_literal"}
_SAFE = (
    exp.Abs,
    exp.AggFunc,
    exp.And,
    exp.Array,
    exp.ArrayToString,
    exp.Case,
    exp.Cast,
    exp.Ceil,
    exp.Coalesce,
    exp.Concat,
    exp.ConcatWs,
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.Exists,
    exp.Explode,
    exp.Floor,
    exp.GenerateSeries,
    exp.Greatest,
    exp.If,
    exp.Least,
    exp.Left,
    exp.Length,
    exp.Lower,
    exp.MD5,
    exp.Nullif,
    exp.Or,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.RegexpReplace,
    exp.Replace,
    exp.Right,
    exp.Round,
    exp.RowNumber,
    exp.Split,
    exp.SplitPart,
    exp.StringToArray,
    exp.StrPosition,
    exp.Substring,
    exp.TimestampTrunc,
    exp.ToChar,
    exp.Trim,
    exp.Unnest,
    exp.Upper,
    exp.Xor,
)
"""Functions with a class of their own that read nothing."""


@dataclass(frozen=True)
class Asker:
    """Values for functions about the session.

    Attributes:
        user: name of the user who has logged in.
        schema: the current schema.
        schemas: all of the search path.
        pid: the session's number.
        settings: the session's settings.
        change: changes a setting; None: the question is only described.
    """

    user: str
    schema: str
    schemas: tuple[str, ...]
    pid: int
    settings: Mapping[str, str]
    change: Callable[[str, str], object] | None = None


def place(node: exp.Expr) -> int:
    """Where a node is in the text, from 1; 0: not known."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts) + 1 if starts else 0


def read_call(node: exp.Expr, asker: Asker) -> exp.Expr:
    """A call in the SQL of the database in memory; other nodes unchanged."""
    if isinstance(node, exp.Column) and node.name.lower() in _ASKERS and not node.table and not node.this.quoted:
        return _literal(asker.user)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        schema = node.this.name.lower() if isinstance(node.this, exp.Identifier) else ""
        if schema not in (SYSTEM, INFORMATION):
            raise ServeError(NO_FUNCTION, f"functions of the schema {schema[:63]} are not answered")
        return _function(node.expression, asker)
    within = isinstance(node.parent, exp.Dot) and node.parent.expression is node
    return _function(node, asker) if isinstance(node, exp.Func) and not within else node


def _function(node: exp.Func, asker: Asker) -> exp.Expr:
    constants: dict[type[exp.Func], str] = {
        exp.CurrentUser: asker.user,
        exp.SessionUser: asker.user,
        exp.CurrentSchema: asker.schema,
        exp.CurrentCatalog: DATABASE,
        exp.CurrentDatabase: DATABASE,
        exp.CurrentVersion: version(),
    }
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate):
        now: exp.Expr = exp.Anonymous(this="now")
        return now if isinstance(node, exp.CurrentTimestamp) else exp.cast(exp.cast(now, "timestamp"), "date")
    if isinstance(node, exp.Format):
        return _format([node.this, *node.expressions])
    if isinstance(node, exp.CurrentSchemas):
        return exp.Array(expressions=[_literal(schema) for schema in (SYSTEM, *asker.schemas)])
    if type(node) in constants:
        return _literal(constants[type(node)])
    if not isinstance(node, exp.Anonymous):
        if isinstance(node, _SAFE):
            return node
        raise ServeError(NO_FUNCTION, f"the function {node.sql_name().lower()} is not answered by the catalog")
    name = node.name.lower()
    values = {
        "current_database": DATABASE,
        "current_schema": asker.schema,
        "current_user": asker.user,
        "session_user": asker.user,
        "user": asker.user,
        "version": version(),
    }
    if name in values:
        return _literal(values[name])
    if name in _NOW:
        return exp.Anonymous(this="now")
    if name == "pg_backend_pid":
        return exp.Literal.number(asker.pid)
    if name == "all" and len(node.expressions) == 1:  # <> ALL (...), which is read as a function
        return exp.All(this=exp.Paren(this=node.expressions[0]))
    if name == "current_setting" and node.expressions and isinstance(node.expressions[0], exp.Literal):
        folded = {key.lower(): value for key, value in asker.settings.items()}
        setting_value = folded.get(node.expressions[0].name.lower())
        if setting_value is not None:
            return _literal(setting_value)
    if name == "format":
        return _format(node.expressions)
    if name == "set_config" and len(node.expressions) == 3:
        setting, value = (
            expression.name if isinstance(expression, exp.Literal) else "" for expression in node.expressions[:2]
        )
        if asker.change is not None:
            asker.change(setting, value)
        return _literal(value)
    if name in functions.names():
        return _call_own(name, *node.expressions)
    if name in functions.PLAIN:
        return exp.Anonymous(this=functions.RENAMED.get(name, name), expressions=node.expressions)
    raise ServeError(NO_FUNCTION, f"the function {name[:63]} is not answered by the catalog", position=place(node))


def _format(arguments: Sequence[exp.Expr]) -> exp.Expr:
    """``format('%I.%s', ..)`` as a concatenation."""
    template, *values = arguments
    parts = _PLACEHOLDER.split(template.name) if isinstance(template, exp.Literal) else []
    if len(parts) != 2 * len(values) + 1:
        raise ServeError(NO_FUNCTION, "format is answered by the catalog with a plain text, and %I, %L and %s in it")
    pieces: list[exp.Expr] = [_literal(parts[0])]
    for value, kind, text in zip(values, parts[1::2], parts[2::2], strict=True):
        pieces += [
            _call_own(_QUOTED[kind], value) if kind in _QUOTED else exp.cast(value.copy(), "text"),
            _literal(text),
        ]
    return exp.Anonymous(this="concat", expressions=pieces)


def version() -> str:
    """Result of ``version()``."""
    return f"PostgreSQL {VERSION} (sqlanon {__version__})"


def _literal(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def read_cast(node: exp.Expr) -> exp.Expr:
    """A cast in the SQL of the database in memory; other nodes unchanged."""
    if not isinstance(node, exp.Cast):
        return node
    name = type_name(node.to)
    if name in _FROM_TEXT:
        to_oid, to_name = _FROM_TEXT[name]
        if isinstance(node.this, exp.Literal) and node.this.is_string:
            return _call_own(to_oid, node.this)
        arguments = [node.this, exp.null()] if to_name == "format_type" else [node.this]
        compared = isinstance(node.parent, exp.EQ | exp.NEQ | exp.In)
        if (compared or _counts(node)) and name == "regclass" and not isinstance(node.this, exp.Column):
            return _call_own("as_oid", node.this)
        return node.this if compared or _counts(node) else _call_own(to_name, *arguments)
    if name in ("regproc", "regprocedure", "regrole", "regoper", "regoperator", "regconfig"):
        is_name = isinstance(node.this, exp.Literal) and node.this.is_string
        return exp.cast(exp.null(), "uint") if is_name else exp.cast(node.this, "text")  # there are none
    if isinstance(node.this, exp.Literal) and node.this.is_string and name.endswith("[]"):
        return _list(node.this.name, name)
    if name in _TEXTS:
        return exp.cast(node.this, "text")
    if name in _PLAIN_TYPES:
        return exp.cast(node.this, exp.DataType.build(_PLAIN_TYPES[name], dialect="duckdb"))
    if any(kind.this is exp.DataType.Type.USERDEFINED for kind in node.to.find_all(exp.DataType)):
        try:
            data_type = exp.DataType.build(name, dialect="postgres")
        except (SqlglotError, ValueError):
            data_type = exp.DataType.build("unknown")
        if data_type.this in (exp.DataType.Type.USERDEFINED, exp.DataType.Type.UNKNOWN):
            raise ServeError(NO_SETTING, f'type "{name[:63]}" does not exist', position=place(node))
        return exp.cast(node.this, data_type)
    return node


def _list(text: str, kind: str) -> exp.Expr:
    """A list that PostgreSQL writes as a text, such as {a,b}."""
    items = decode(text.encode(), TEXTS.oid, binary=False)
    assert isinstance(items, list)
    array = exp.Array(expressions=[exp.null() if item is None else _literal(str(item)) for item in items])
    return exp.cast(array, exp.DataType.build(_PLAIN_TYPES.get(kind[:-2], kind[:-2]) + "[]", dialect="duckdb"))


def _counts(node: exp.Expr) -> bool:
    """Whether a reference is cast once more, to a number."""
    parent = node.parent
    return isinstance(parent, exp.Cast) and type_name(parent.to) not in _TEXTS


def _call_own(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Dot(
        this=exp.to_identifier("fn"),
        expression=exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments]),
    )


def type_name(kind: exp.Expr) -> str:
    """The name of a type, without schema and quotes."""
    text = str(kind.sql(dialect="postgres")).lower().replace('"', "")
    return text.replace(f"{SYSTEM}.", "").replace(f"{INFORMATION}.", "")
