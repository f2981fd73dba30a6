"""A question to PostgreSQL's catalog, as the database in memory reads it. What is not known is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon._version import __version__
from sqlanon.serve.catalog import functions
from sqlanon.serve.catalog.content import CATALOG, DATABASE, STANDARD, columns
from sqlanon.serve.refusals import NO_FUNCTION, NO_TABLE, NOT_SUPPORTED, READ_ONLY, ServeError
from sqlanon.serve.values import TEXTS, decoded
from sqlanon.serve.variables import VERSION

_SYSTEM, _INFORMATION = "pg_catalog", "information_schema"
_PLAIN_TYPES = {"name": "text", "char": "text", "oid": "uinteger", "xid": "uinteger", "cid": "uinteger"}
_FROM_TEXT = {
    "regclass": ("to_regclass", "regclass_name"),
    "regtype": ("to_regtype", "format_type"),
    "regnamespace": ("to_regnamespace", "regnamespace_name"),
}
_TEXTS = {"text", "varchar", "char", "name", "character varying"}
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
    """What a session's own functions give.

    Attributes:
        user: who has logged in.
        schema: the current schema.
        schemas: all of the search path.
        pid: the session's number.
        settings: of the session.
    """

    user: str
    schema: str
    schemas: tuple[str, ...]
    pid: int
    settings: Mapping[str, str]


def is_catalog(table: exp.Table) -> bool:
    """Whether a table's name means one of the catalog."""
    if table.db:
        return table.db.lower() in (_SYSTEM, _INFORMATION)
    return table.name.lower() in columns() or isinstance(table.this, exp.Func)


def rewritten(tree: exp.Expr, asker: Asker) -> str:
    """The text for the database in memory.

    Args:
        tree: the question, as PostgreSQL's dialect is parsed.
        asker: who asks.

    Raises:
        ServeError: it is no query, or names a table or function that is not answered.
    """
    if not isinstance(tree, exp.Query) or isinstance(tree, exp.Subquery | exp.Table):
        raise ServeError(READ_ONLY, "this server answers SELECT only")
    for node in tree.walk():
        if isinstance(node, exp.DML | exp.DDL | exp.Command | exp.Into | exp.Lock) and not isinstance(node, exp.Query):
            raise ServeError(READ_ONLY, "this server answers SELECT only")
    tree = tree.copy()
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        _table(table, named)
    _name_items(tree)
    for node in reversed(list(tree.dfs())):  # what is within a node comes before it
        made = _cast(_call(_operator(node), asker))
        if made is node:
            continue
        if node is tree:
            raise ServeError(READ_ONLY, "this server answers SELECT only")
        node.replace(made)
    return str(tree.sql(dialect="duckdb", comments=False))


def _name_items(tree: exp.Expr) -> None:
    """Give the columns of the outermost SELECT the names that PostgreSQL gives them."""
    select: exp.Expr = tree
    while isinstance(select, exp.SetOperation):
        select = select.this.unnest()
    if isinstance(select, exp.Select):
        named = [item if item.is_star or item.alias else _aliased(item) for item in select.expressions]
        select.set("expressions", named)


def _aliased(item: exp.Expr) -> exp.Expr:
    name = _item_name(item)
    return exp.alias_(item, name, quoted=True) if name else item


def _item_name(item: exp.Expr) -> str:
    if isinstance(item, exp.Column):
        return str(item.name)
    if isinstance(item, exp.Paren):
        return _item_name(item.this)
    if isinstance(item, exp.Dot):
        return _item_name(item.expression) if not isinstance(item.expression, exp.Identifier) else item.expression.name
    if isinstance(item, exp.Cast):
        inner = _item_name(item.this)
        return inner if inner != _UNNAMED else _type(item.to)
    if isinstance(item, exp.CurrentVersion):
        return "version"
    if isinstance(item, exp.Anonymous):
        return str(item.name.lower())
    if isinstance(item, exp.Unnest | exp.Explode):
        return "unnest"
    if isinstance(item, exp.Func) and not isinstance(item, exp.Connector | exp.Case | exp.If):
        return str(item.sql_name().lower())
    return "case" if isinstance(item, exp.Case) else _UNNAMED


_UNNAMED = "?column?"


def _table(table: exp.Table, named: set[str]) -> None:
    name = table.name.lower()
    if isinstance(table.this, exp.Func):
        if table.db and table.db.lower() not in (_SYSTEM, _INFORMATION):
            raise ServeError(NO_FUNCTION, f"functions of the schema {table.db[:63]} are not answered")
        table.set("db", None)
        if not (isinstance(table.this, exp.Anonymous) and table.this.name.lower() in columns()):
            return  # functions are looked at by `_call`
        name = table.this.name.lower()
    if not table.db and name in named:
        return
    full = f"{_INFORMATION}.{name}" if table.db.lower() == _INFORMATION else name
    if full not in columns() or not is_catalog(table):
        raise ServeError(NO_TABLE, f'relation "{table.name}" does not exist', position=place(table))
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    table.set("this", exp.to_identifier(name))
    table.set("db", exp.to_identifier(STANDARD if "." in full else CATALOG))
    table.set("catalog", None)


def place(node: exp.Expr) -> int:
    """Where a node is in the text, from 1; 0: not known."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts) + 1 if starts else 0


def _operator(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Collate):
        value: exp.Expr = node.this
        return value
    if isinstance(node, exp.Column) and node.db:  # pg_catalog.pg_class.oid
        node.set("db", None)
        node.set("catalog", None)
        return node
    if not isinstance(node, exp.Operator):
        return node
    made: dict[str, Callable[[], exp.Expr]] = {
        "~": lambda: exp.RegexpLike(this=node.this, expression=node.expression),
        "!~": lambda: exp.Not(this=exp.RegexpLike(this=node.this, expression=node.expression)),
        "~*": lambda: exp.RegexpILike(this=node.this, expression=node.expression),
        "~~": lambda: exp.Like(this=node.this, expression=node.expression),
        "!~~": lambda: exp.Not(this=exp.Like(this=node.this, expression=node.expression)),
        "=": lambda: exp.EQ(this=node.this, expression=node.expression),
        "<>": lambda: exp.NEQ(this=node.this, expression=node.expression),
    }
    sign = str(node.args["operator"]).rpartition(".")[2].strip()
    if sign not in made:
        raise ServeError(NO_FUNCTION, f"the operator {sign} is not answered")
    return exp.Paren(this=made[sign]())


def _call(node: exp.Expr, asker: Asker) -> exp.Expr:
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        schema = node.this.name.lower() if isinstance(node.this, exp.Identifier) else ""
        if schema not in (_SYSTEM, _INFORMATION):
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
    if isinstance(node, exp.CurrentSchemas):
        return exp.Array(expressions=[_literal(one) for one in (_SYSTEM, *asker.schemas)])
    if type(node) in constants:
        return _literal(constants[type(node)])
    if not isinstance(node, exp.Anonymous):
        if isinstance(node, _SAFE):
            return node
        raise ServeError(NO_FUNCTION, f"the function {node.sql_name().lower()} is not answered by the catalog")
    name = node.name.lower()
    own = {
        "current_database": DATABASE,
        "current_schema": asker.schema,
        "current_user": asker.user,
        "session_user": asker.user,
        "user": asker.user,
        "version": version(),
    }
    if name in own:
        return _literal(own[name])
    if name == "pg_backend_pid":
        return exp.Literal.number(asker.pid)
    if name == "all" and len(node.expressions) == 1:  # <> ALL (...), which is read as a function
        return exp.All(this=exp.Paren(this=node.expressions[0]))
    if name == "current_setting" and node.expressions and isinstance(node.expressions[0], exp.Literal):
        folded = {key.lower(): value for key, value in asker.settings.items()}
        known = folded.get(node.expressions[0].name.lower())
        if known is not None:
            return _literal(known)
    if name in functions.names():
        return _own(name, *node.expressions)
    if name in functions.PLAIN:
        return exp.Anonymous(this=functions.RENAMED.get(name, name), expressions=node.expressions)
    raise ServeError(NO_FUNCTION, f"the function {name[:63]} is not answered by the catalog", position=place(node))


def version() -> str:
    """What ``version()`` gives."""
    return f"PostgreSQL {VERSION} (sqlanon {__version__})"


def _literal(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _cast(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Cast):
        return node
    name = _type(node.to)
    if name in _FROM_TEXT:
        to_oid, to_name = _FROM_TEXT[name]
        if isinstance(node.this, exp.Literal) and node.this.is_string:
            return _own(to_oid, node.this)
        arguments = [node.this, exp.null()] if to_name == "format_type" else [node.this]
        compared = isinstance(node.parent, exp.EQ | exp.NEQ | exp.In)
        return node.this if compared or _counts(node) else _own(to_name, *arguments)
    if name in ("regproc", "regrole", "regoper"):
        named = isinstance(node.this, exp.Literal) and node.this.is_string
        return exp.cast(exp.null(), "uint") if named else exp.cast(node.this, "text")  # there are none
    if isinstance(node.this, exp.Literal) and node.this.is_string and name.endswith("[]"):
        return _list(node.this.name, name)
    if name in _TEXTS:
        return exp.cast(node.this, "text")
    if name in _PLAIN_TYPES:
        return exp.cast(node.this, exp.DataType.build(_PLAIN_TYPES[name], dialect="duckdb"))
    if any(kind.this is exp.DataType.Type.USERDEFINED for kind in node.to.find_all(exp.DataType)):
        try:
            return exp.cast(node.this, exp.DataType.build(name, dialect="postgres"))
        except ValueError as error:
            raise ServeError(NOT_SUPPORTED, f"the type {name[:63]} is not answered by the catalog") from error
    return node


def _list(text: str, kind: str) -> exp.Expr:
    """A list that PostgreSQL writes as a text, such as {a,b}."""
    items = decoded(text.encode(), TEXTS.oid, binary=False)
    assert isinstance(items, list)
    made = exp.Array(expressions=[exp.null() if item is None else _literal(str(item)) for item in items])
    return exp.cast(made, exp.DataType.build(_PLAIN_TYPES.get(kind[:-2], kind[:-2]) + "[]", dialect="duckdb"))


def _counts(node: exp.Expr) -> bool:
    """Whether a reference is wanted as its number: it is cast once more, to a number."""
    parent = node.parent
    return isinstance(parent, exp.Cast) and _type(parent.to) not in _TEXTS


def _own(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Dot(
        this=exp.to_identifier("fn"), expression=exp.Anonymous(this=name, expressions=[one.copy() for one in arguments])
    )


def _type(kind: exp.Expr) -> str:
    """The name of a type, without schema and quotes."""
    text = str(kind.sql(dialect="postgres")).lower().replace('"', "")
    return text.replace(f"{_SYSTEM}.", "").replace(f"{_INFORMATION}.", "")
