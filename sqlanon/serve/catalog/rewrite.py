"""A question to PostgreSQL's catalog, in the SQL of the database in memory. Unknown names are refused."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlanon.serve.catalog.calls import INFORMATION, SYSTEM, Asker, place, read_call, read_cast, type_name
from sqlanon.serve.catalog.content import CATALOG, STANDARD, columns
from sqlanon.serve.refusals import NO_FUNCTION, NO_TABLE, READ_ONLY, ServeError


def is_catalog(table: exp.Table) -> bool:
    """Whether the name means a table of the catalog."""
    if table.db:
        return table.db.lower() in (SYSTEM, INFORMATION)
    return table.name.lower() in columns() or isinstance(table.this, exp.Func)


def rewritten(tree: exp.Expr, asker: Asker) -> str:
    """The text for the database in memory.

    Args:
        tree: the question, as PostgreSQL's dialect is parsed.
        asker: the user and settings of the session.

    Raises:
        ServeError: it is no query, or names a table or function that is not answered.
    """
    if not isinstance(tree, exp.Query) or isinstance(tree, exp.Subquery | exp.Table):
        raise ServeError(READ_ONLY, "this server answers SELECT only")
    for node in tree.walk():
        if isinstance(node, exp.DML | exp.DDL | exp.Command | exp.Into | exp.Lock) and not isinstance(node, exp.Query):
            raise ServeError(READ_ONLY, "this server answers SELECT only")
    tree = tree.copy()
    # All are looked up before any is renamed.
    ctes = {id(table) for table in tree.find_all(exp.Table) if _is_cte(table)}
    for table in list(tree.find_all(exp.Table)):
        _table(table, is_cte=id(table) in ctes)
    _name_items(tree)
    for node in reversed(list(tree.dfs())):  # children come before their node
        cast = read_cast(read_call(_operator(node), asker))
        if cast is node:
            continue
        if node is tree:
            raise ServeError(READ_ONLY, "this server answers SELECT only")
        node.replace(cast)
    return str(tree.sql(dialect="duckdb", comments=False))


def _name_items(tree: exp.Expr) -> None:
    """Give the columns of the outermost SELECT the names that PostgreSQL gives them."""
    select: exp.Expr = tree
    while isinstance(select, exp.SetOperation):
        select = select.this.unnest()
    if isinstance(select, exp.Select):
        items = [item if item.is_star or item.alias else _alias(item) for item in select.expressions]
        select.set("expressions", items)


def _alias(item: exp.Expr) -> exp.Expr:
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
        return inner if inner != _UNNAMED else type_name(item.to)
    if isinstance(item, exp.CurrentVersion):
        return "version"
    if isinstance(item, exp.CurrentTimestamp):
        return "now"
    if isinstance(item, exp.Anonymous):
        return str(item.name.lower())
    if isinstance(item, exp.Unnest | exp.Explode):
        return "unnest"
    if isinstance(item, exp.Func) and not isinstance(item, exp.Connector | exp.Case | exp.If):
        return str(item.sql_name().lower())
    return "case" if isinstance(item, exp.Case) else _UNNAMED


_UNNAMED = "?column?"
_HIDDEN = ("tableoid", "xmin", "xmax", "cmin", "cmax")
"""System columns of every table of PostgreSQL: 0 here."""


def _is_cte(table: exp.Table) -> bool:
    """Whether a name means a CTE where it is written: elsewhere it would be a view of the database in memory."""
    name = table.name.lower()
    inner: exp.Expr = table
    node: exp.Expr | None = table.parent
    while node is not None:
        visible: list[exp.Expr] = []
        if isinstance(node, exp.With):
            expression = next(i for i, cte in enumerate(node.expressions) if cte is inner)
            visible = node.expressions[:expression]
            if node.args.get("recursive") and _repeats(inner, table):
                visible = [*visible, inner]
        elif (listed := node.args.get("with_")) is not None and listed is not inner:
            visible = listed.expressions
        if any(cte.alias.lower() == name for cte in visible):
            return True
        inner, node = node, node.parent
    return False


def _repeats(cte: exp.Expr, table: exp.Table) -> bool:
    """Whether a table is in the part of a recursive CTE that reads the CTE itself."""
    union = cte.this.unnest()
    if not isinstance(union, exp.Union):
        return False
    node: exp.Expr | None = table
    while node is not None and node is not union.expression:
        node = node.parent
    return node is not None


def _table(table: exp.Table, *, is_cte: bool) -> None:
    name = table.name.lower()
    if isinstance(table.this, exp.Func):
        if table.db and table.db.lower() not in (SYSTEM, INFORMATION):
            raise ServeError(NO_FUNCTION, f"functions of the schema {table.db[:63]} are not answered")
        table.set("db", None)
        if not (isinstance(table.this, exp.Anonymous) and table.this.name.lower() in columns()):
            _rows_of_function(table)
            return  # functions are looked at by `_call`
        name = table.this.name.lower()
    if not table.db and is_cte:
        return
    full = f"{INFORMATION}.{name}" if table.db.lower() == INFORMATION else name
    if full not in columns() or not is_catalog(table):
        raise ServeError(NO_TABLE, f'relation "{table.name}" does not exist', position=place(table))
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    table.set("this", exp.to_identifier(name))
    table.set("db", exp.to_identifier(STANDARD if "." in full else CATALOG))
    table.set("catalog", None)


def _rows_of_function(table: exp.Table) -> None:
    """A function after FROM: the alias also names the column, and a function of a single value gives a single row."""
    alias = table.args.get("alias")
    if alias is None or alias.args.get("columns"):
        return
    if isinstance(table.this, exp.StringToArray):
        value = exp.alias_(table.this.copy(), alias.this.copy())
        table.replace(exp.Subquery(this=exp.Select(expressions=[value]), alias=alias.copy()))
    elif isinstance(table.this, exp.ExplodingGenerateSeries | exp.GenerateSeries | exp.Unnest):
        alias.set("columns", [alias.this.copy()])


def _operator(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Collate):
        value: exp.Expr = node.this
        return value
    if isinstance(node, exp.Column) and node.name.lower() in _HIDDEN:
        return exp.cast(exp.Literal.number(0), "uinteger", dialect="duckdb")
    if isinstance(node, exp.Column) and node.db:  # pg_catalog.pg_class.oid
        node.set("db", None)
        node.set("catalog", None)
        return node
    if not isinstance(node, exp.Operator):
        return node
    builders: dict[str, Callable[[], exp.Expr]] = {
        "~": lambda: exp.RegexpLike(this=node.this, expression=node.expression),
        "!~": lambda: exp.Not(this=exp.RegexpLike(this=node.this, expression=node.expression)),
        "~*": lambda: exp.RegexpILike(this=node.this, expression=node.expression),
        "~~": lambda: exp.Like(this=node.this, expression=node.expression),
        "!~~": lambda: exp.Not(this=exp.Like(this=node.this, expression=node.expression)),
        "=": lambda: exp.EQ(this=node.this, expression=node.expression),
        "<>": lambda: exp.NEQ(this=node.this, expression=node.expression),
    }
    sign = str(node.args["operator"]).rpartition(".")[2].strip()
    if sign not in builders:
        raise ServeError(NO_FUNCTION, f"the operator {sign} is not answered")
    return exp.Paren(this=builders[sign]())
