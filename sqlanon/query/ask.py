"""Answer one query over a release: the walk from the analyst's SQL to rows with bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.query.answer import Answer
from sqlanon.query.parse import parse
from sqlanon.query.released import find
from sqlanon.query.rewrite import Rewrite

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine
    from sqlanon.spec import ReleaseSpec


def ask(
    engine: Engine,
    sql: str,
    *,
    release: str | None = None,
    allow_linking: bool = False,
    spec: ReleaseSpec | None = None,
) -> Answer:
    """Answer a query over a release with estimates and sound bounds.

    Args:
        engine: the database that holds the release.
        sql: one SELECT in the engine's dialect, against the source's column names.
        release: the release to ask, whatever the query calls it; None: what stands after FROM.
        allow_linking: let the query join tables that have several rows for one value of the join column.
        spec: the release's policy, where the caller has one: it helps to find the release by its source's name.

    Returns:
        One row a group. Every bound holds for every source that is consistent with the release (docs/query.md).

    Raises:
        Refused: the query, or a piece of it, has no answer over a release; the text underlines the piece.
        PolicyError: no release, or several, are meant.
        DatabaseError: the database refused.

    Cost: the release is read once or twice; it is brought down to distinct boxes first where boxes are unrolled.
    """
    query = parse(sql, engine.dialect)
    name = release or query.table_name
    released = find(engine, name, spec, given=release is not None)
    return Rewrite(engine, query, released, allow_linking=allow_linking).answer()
