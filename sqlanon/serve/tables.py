"""The table that a query asks: a release, or the catalog."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlanon.serve.catalog.calls import place
from sqlanon.serve.catalog.content import DATABASE
from sqlanon.serve.catalog.rewrite import is_catalog
from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.query_connections import ReleaseQuestions
from sqlanon.serve.refusals import NO_FUNCTION, NO_TABLE, NOT_SUPPORTED, READ_ONLY, SYNTAX, ServeError
from sqlanon.serve.texts import place_of


def parse_text(text: str, other: str = "postgres") -> exp.Expr:
    """The tree of a statement in PostgreSQL's dialect, or in another dialect if it does not parse there.

    Raises:
        ServeError: it does not parse.
    """
    try:
        return _parse(text, "postgres")
    except ServeError:
        if other == "postgres":
            raise
        return _parse(text, other)


def find_meant(tree: exp.Expr, asking: ReleaseQuestions) -> ServedTable | None:
    """The release that a query asks; None: it asks the catalog.

    Raises:
        ServeError: a table that there is not, several releases, a release and the catalog, or INTO.
    """
    if tree.find(exp.Into) is not None:
        raise ServeError(READ_ONLY, "cannot execute SELECT INTO: this server is read-only")
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.db or table.name.lower() not in ctes]
    matches = {identity: _match(table, asking) for identity, table in ((id(table), table) for table in tables)}
    releases = {match for match in matches.values() if match is not None}
    if not releases:
        missing = [table for table in tables if not is_catalog(table)]
        if missing:
            raise _make_missing_error(missing[0], asking)
        return None
    if len(releases) > 1:
        raise ServeError(NOT_SUPPORTED, "a query asks one release; ask the others by themselves")
    for table in tables:
        if matches[id(table)] is None and (is_catalog(table) or not isinstance(table.parent, exp.Join)):
            raise _make_missing_error(table, asking)
    return next(iter(releases))


def _match(table: exp.Table, asking: ReleaseQuestions) -> ServedTable | None:
    if isinstance(table.this, exp.Func) or (table.catalog and table.catalog != DATABASE):
        return None
    if is_catalog(table):  # as in PostgreSQL: a table with a name of the catalog needs its schema
        return None
    for anew in (False, True):
        listed = asking.list_served(anew=anew)
        matches = [released for released in listed if _means(table, released)]
        if len(matches) > 1:
            raise ServeError(
                "42P09",
                f"{table.name} is the name of several tables",
                f"write the schema: {', '.join(sorted(f'{released.schema}.{released.name}' for released in matches))}",
                place(table),
            )
        if matches:
            return matches[0]
    return None


def _make_missing_error(table: exp.Table, asking: ReleaseQuestions) -> ServeError:
    if isinstance(table.this, exp.Func):
        return ServeError(NO_FUNCTION, "functions after FROM are not answered over a release", position=place(table))
    names = sorted(f"{released.schema}.{released.name}" for released in asking.list_served())
    shown = ".".join(part for part in (table.catalog, table.db, table.name) if part)
    hint = f"there are: {', '.join(names[:20])}" if names else "no release is published here"
    return ServeError(NO_TABLE, f'relation "{shown[:200]}" does not exist', hint, place(table))


def _means(table: exp.Table, served: ServedTable) -> bool:
    def same(part: exp.Expr | None, name: str) -> bool:
        if not isinstance(part, exp.Identifier):
            return False
        return part.name == name or (not part.args.get("quoted") and part.name.lower() == name.lower())

    schema = table.args.get("db")
    by_source = same(table.this, served.name) and (schema is None or same(schema, served.schema))
    return by_source or (schema is not None and same(table.this, served.view_name) and same(schema, served.view_schema))


def _parse(text: str, dialect: str) -> exp.Expr:
    try:
        trees = [tree for tree in Dialect.get_or_raise(dialect).parse(text) if tree is not None]
    except SqlglotError as error:
        place = place_of(error, text)
        raise ServeError(SYNTAX, "syntax error" if place else "the query does not parse", position=place) from error
    if len(trees) != 1:
        raise ServeError(SYNTAX, "one statement is wanted")
    return trees[0]
