"""Check that the source's engine accepts the analyst's text.

The engine binds it, over columns of the source's types, and runs nothing.

The parser knows the words of many dialects and rewrites one into another, so that the parser alone would answer queries
that the source refuses. The text is put together anew from the tokens that were parsed and admitted, so that the engine
reads nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect

from sqlanon.engines.base import TableRef
from sqlanon.errors import DatabaseError
from sqlanon.query.parse.allowed_shapes import QUANTILES
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.scope import Scope
from sqlanon.query.parse.source_types import read_type
from sqlanon.query.refusal import refuse
from sqlanon.query.release import Field, ReaderRelease
from sqlanon.sqltext import identifier, literal, respell

_PLAIN_TEXT = re.compile(r"(text|varchar|char|character|bpchar)\b", re.IGNORECASE)
_TEXTS = {
    TokenType.STRING,
    TokenType.NATIONAL_STRING,
    TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.BYTE_STRING,
    TokenType.UNICODE_STRING,
}


def check_valid(bound: BoundQuery) -> tuple[exp.DataType, ...]:
    """Refuse a query that the source's engine does not accept: unknown functions, wrong types, engine rules.

    Args:
        bound: the query; every other check has passed.

    Returns:
        The types of its columns in the source.

    Raises:
        RefusedQueryError: see above.
    """
    scope, query = bound.scope, bound.query
    tokens = [
        token
        for token in Dialect.get_or_raise(scope.engine.dialect).tokenize(query.text)
        if token.token_type is not TokenType.SEMICOLON
    ]
    try:
        shown = scope.engine.describe("".join(_write_tokens(scope, query, tokens)))
    except DatabaseError as error:
        reason = scope.engine.reason(error)
        called = _find_call(tokens, reason)
        name = called.name.lower() if called is not None else ""
        instead = f"; quantiles are {QUANTILES}" if name.startswith(("median", "quantile")) else ""
        refuse(query.text, called, f"the source's database does not accept this query: {reason}{instead}")
    return tuple(read_type(kind, scope.engine.dialect) for kind in shown)


def _write_tokens(scope: Scope, query: Query, tokens: list[Token]) -> Iterator[str]:
    """The parts of the text to bind.

    They are the tokens, the released table as a query of the published columns, and the other tables in full.
    """
    dialect = scope.engine.dialect
    tables = {_span(table): _write_table(scope, query, table) for table in query.tables}
    starts = {start: text for (start, _), text in tables.items()}
    names = _spellings(scope)
    end = -1
    dropped = False  # the name of a schema before that of a table, and the point after it
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.start in query.dropped or (dropped and token.token_type is TokenType.DOT):
            dropped, end = token.start in query.dropped, token.end
            continue
        dropped = False
        if token.start != end + 1 and end >= 0:
            yield " "
        end = token.end
        if any(start <= token.start <= stop for start, stop in tables):
            yield starts.get(token.start, "")
        else:
            yield _token(token, names, dialect, call=after is not None and after.token_type is TokenType.L_PAREN)


def _write_table(scope: Scope, query: Query, table: exp.Table) -> str:
    """SQL in place of a table of the text: the released table as a query of columns, another table in full."""
    dialect = scope.engine.dialect
    if query.source is not None and _path(table) == _path(query.source):
        return f"({_rows(scope)}){_alias(table, dialect)}"
    for join in query.joins:
        if _path(join.this) == _path(table):
            relation = scope.tables[join.this.alias_or_name][1]
            return f"{_qualify(relation.ref, dialect)}{_alias(table, dialect)}"
    asked_query = next(
        (
            asked_query
            for asked_query in query.asked
            if asked_query.query.source and _path(asked_query.query.source) == _path(table)
        ),
        None,
    )
    if asked_query is None:
        refuse(query.text, table, "a query asks one release; the tables beside it are joined, or read by IN")
    name = ".".join(identifier(p.name) if p.args.get("quoted") else p.name for p in table.parts)
    return f"{_qualify(scope.engine.relation(name).ref, dialect)}{_alias(table, dialect)}"


def _path(table: exp.Table) -> list[str]:
    return [part.name.lower() for part in table.parts]


def _span(table: exp.Table) -> tuple[int, int]:
    """Position of a table's name in the text: first and last character."""
    places = [part.meta for part in table.parts if "start" in part.meta]
    return places[0]["start"], places[-1]["end"]


def _alias(table: exp.Table, dialect: str) -> str:
    return "" if table.alias else f" AS {respell(identifier(table.name), dialect)}"


def _qualify(ref: TableRef, dialect: str) -> str:
    return ".".join(respell(identifier(part), dialect) for part in (ref.database, ref.schema, ref.name) if part)


def _token(token: Token, names: Mapping[str, str], dialect: str, *, call: bool) -> str:
    if token.token_type in _TEXTS:
        return respell(literal(token.text), dialect)
    quoted = token.token_type is TokenType.IDENTIFIER
    name = names.get(token.text.lower())
    if quoted or (token.token_type is TokenType.VAR and not call and name is not None and name != name.lower()):
        return respell(identifier(name or token.text), dialect)
    return " ".join(token.text.split())


def _spellings(scope: Scope) -> dict[str, str]:
    """The spelling of the columns of the query's tables, by their names in small letters.

    It has only names with a single meaning.
    """
    listed = [field.name for field in scope.released.fields]
    listed += [column.name for _, relation in scope.tables.values() for column in relation.columns]
    spellings: dict[str, set[str]] = {}
    for name in listed:
        spellings.setdefault(name.lower(), set()).add(name)
    return {folded: next(iter(names)) for folded, names in spellings.items() if len(names) == 1}


def _rows(scope: Scope) -> str:
    """A query with the release's columns under the source's names and types."""
    released, dialect = scope.released, scope.engine.dialect
    listed = [_item(_type(released, field), field.name, dialect) for field in released.fields]
    return f"SELECT {', '.join(listed)}"


@lru_cache(maxsize=4096)
def _item(source_type: str, name: str, dialect: str) -> str:
    """A NULL of a type, under a name."""
    kind = exp.DataType.build(source_type, dialect=dialect, udt=True)
    item = exp.alias_(exp.cast(exp.null(), kind), name, quoted=True)
    return item.sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE)


def _type(released: ReaderRelease, field: Field) -> str:
    """The source's type; of types with names of their own, that of the released column."""
    text = field.source_type if field.kind != "text" or _PLAIN_TEXT.match(field.source_type) else "TEXT"
    if field.kind in ("enum", "other"):
        shown = next((c for c in released.view.columns if field.published and c.name == field.published[0]), None)
        text = shown.type if shown is not None and (field.treatment == "" or shown.kind == "enum") else "TEXT"
    return text


def _find_call(tokens: list[Token], reason: str) -> exp.Expr | None:
    """The call of the function that the reason names, or None."""
    for token, after in pairwise(tokens):
        if after.token_type is TokenType.L_PAREN and f"function {token.text.lower()} " in f"{reason} ":
            place = exp.Var(this=token.text)
            place.meta.update(start=token.start, end=after.start)
            return place
    return None
