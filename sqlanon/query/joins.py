"""Joins with tables that describe values of an exact column."""

from __future__ import annotations

from sqlanon.query.parse import Query
from sqlanon.query.refuse import refuse
from sqlanon.query.scope import Scope


def joined(scope: Scope, query: Query, *, allow_linking: bool) -> None:
    """Bind the joins of a query into its scope.

    Raises:
        Refused: a join on a column with ranges, or with rows of persons.
    """
    for join in query.joins:
        refuse(scope.text, join, "joins are not answered yet")
