"""Errors of the database while a query is answered: the reason, and the piece of the query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.errors import DatabaseError
from sqlanon.query.functions.registry import failing
from sqlanon.query.parse.parse import Query
from sqlanon.query.refusal import underline

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

NO_ANSWER_HERE = "the query has no answer here"
"""How the error of a query that the database cannot compute begins."""


@contextmanager
def explain_errors(engine: Engine, query: Query | None = None) -> Iterator[None]:
    """Give the database's reason with its errors, and the only piece of the query that may be an error of values."""
    try:
        yield
    except DatabaseError as error:
        if error.__cause__ is None:
            raise
        reason = f"{NO_ANSWER_HERE}: {engine.reason(error)}"
        places = [] if query is None else [node for part in _parts(query) for node in failing(part)]
        place = underline(query.text, places[0]) if query is not None and len(places) == 1 else ()
        raise type(error)([reason, *place]) from error


def _parts(query: Query) -> Iterator[exp.Expr]:
    """The expressions of a query that are computed row by row, or of its groups."""
    yield from (node for _, node in query.items)
    yield from (part for part in (query.where, query.having, query.qualify) if part is not None)
    yield from query.groups
