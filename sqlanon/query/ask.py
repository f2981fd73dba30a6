"""Answer one query over a release: a pipeline of passes from the analyst's SQL to rows with bounds, each a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Statement
from sqlanon.engines.lacks import require
from sqlanon.engines.rows import count
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from sqlanon.query.answer import Answer, Interval, make_answer
from sqlanon.query.find import Names, dimensions_of, find, is_replaced
from sqlanon.query.infinite_dates import with_infinite
from sqlanon.query.intervals import distributions, intervals_of
from sqlanon.query.limits import ROWS, SECONDS, Limits, guard, limit_query
from sqlanon.query.parse.bind import bind
from sqlanon.query.parse.engine_check import check_valid
from sqlanon.query.parse.parse import Query, parse
from sqlanon.query.parse.text_limits import check_text, readable
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.box_rows import box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import final_select
from sqlanon.query.rewrite.sums import sums
from sqlanon.query.rewrite.unlisted_groups import select_unlisted
from sqlanon.query.rewrite.window_bounds import bound_windows
from sqlanon.query.union_all import merge_answers, split_union
from sqlanon.sqltext.trees import port_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlanon.engines.base import Engine, TableRef
    from sqlanon.query.release import Released
    from sqlanon.spec import ReleaseSpec


TRIES = 3
"""How often a query is asked whose release is replaced meanwhile."""


def ask(
    engine: Engine,
    sql: str,
    *,
    release: str | None = None,
    allow_linking: bool = False,
    spec: ReleaseSpec | None = None,
    role: str | None = None,
    seconds: float = SECONDS,
    known: Names | None = None,
    as_of_source: bool = False,
    interval: float | None = None,
    unwanted: Callable[[], bool] | None = None,
    rows: int = ROWS,
) -> Answer:
    """Answer a query over a release with estimates and sound bounds.

    Args:
        engine: the database that holds the release.
        sql: one SELECT, or a UNION ALL of several, in the engine's dialect, against the source's column names.
        release: the release to ask, whatever the query calls it; None: what is named after FROM.
        allow_linking: let the query join any table, also one that has several rows for one value of the join column.
        spec: the release's policy, where the caller has one: it helps to find the release by its source's name, and
            lists the tables that may be joined; otherwise the catalog does.
        role: a role of the database whose rights apply: what it may not read is refused. None: the connected role.
        seconds: the deadline of the query, over the work here and in the engine.
        as_of_source: of a release with ``refresh: {mode: frozen}`` bounds of the source as it was when the version was
            made, in place of the rows as published: counts without groups only.
        interval: a share above 0 and below 1, such as 0.95: in addition to the bounds, where each count and sum lies in
            so many of the uniformly drawn consistent sources (`sqlanon.query.intervals`).
        unwanted: whether nobody waits for the answer any more: then the query ends as at its deadline.
        rows: of the answer, of each SELECT at most.
        known: what the names of earlier queries over this connection meant; it is added to.

    Returns:
        One row a group. Every bound holds for every source that is consistent with the release (docs/query.md).

    Raises:
        Refused: the query, or a piece of it, has no answer over a release; the text underlines the piece.
        PolicyError: no release, or several, are meant; the role may not read it, or ``as_of_source`` is asked of a
            release that is not frozen.
        UnsupportedError: this database has no roles.
        DatabaseError: the database refused, the release was replaced each time it was asked, or the query exceeded its
            deadline or its memory (`sqlanon.query.limits`).

    Cost: the release is read once or twice; it is brought down to distinct boxes first where boxes are unrolled.
    Besides the answer, the text is bound and the metadata are read before and after: one statement each once the
    release is known. Metadata that changed meanwhile describe other rows than those that were read, so that everything
    is asked again.
    """
    if interval is not None and not 0 < interval < 1:
        raise PolicyError(f"interval {interval}: a number above 0 and below 1, such as 0.95")
    asked: dict[str, Any] = {
        "release": release,
        "allow_linking": allow_linking,
        "spec": spec,
        "role": role,
        "known": known,
        "as_of_source": as_of_source,
        "interval": interval,
    }
    check_text(sql)
    with limit_query(engine.cancel, seconds, unwanted=unwanted, rows=rows) as limits, readable():
        with limits.rewriting():
            parts = split_union(sql, engine.dialect)
        if len(parts) > 1:
            return _ask_union(engine, sql, parts, limits, asked)
        return _ask(engine, sql, limits, **asked)


def _ask(
    engine: Engine,
    sql: str,
    limits: Limits,
    *,
    release: str | None,
    allow_linking: bool,
    spec: ReleaseSpec | None,
    role: str | None,
    known: Names | None,
    as_of_source: bool,
    interval: float | None,
) -> Answer:
    """The answer to one SELECT; see `ask`."""
    with limits.rewriting():
        query = parse(sql, engine.dialect)
    name = release or query.table_name
    for left in reversed(range(TRIES)):
        with _explain_errors(engine):
            released = find(engine, name, spec, known=known)
        if as_of_source and released.unlike is None:
            raise PolicyError(
                f"{name}: --as-of-source is for releases with refresh: {{mode: frozen}}; the rows of others are those "
                "of the source"
            )
        if role is not None:
            require(engine, "query --as")
        same = False
        try:
            asked = replace(released, as_of_source=as_of_source)
            answer = _ask_released(
                engine,
                query,
                asked,
                spec,
                limits,
                allow_linking=allow_linking,
                role=role,
                interval=interval,
            )
            same = not is_replaced(engine, released, unreadable=True)
            if same:
                return answer
        except SqlanonError:
            same = not is_replaced(engine, released, unreadable=False)
            if same or not left:
                raise
        finally:
            if not same and known is not None:
                known.clear()  # facts in it may be of either version
    raise DatabaseError(f"{name} was replaced by another version each of {TRIES} times it was asked; ask again")


def _ask_union(engine: Engine, sql: str, parts: Sequence[str], limits: Limits, asked: Mapping[str, Any]) -> Answer:
    """The answer to a UNION ALL, of one version of the release that its first SELECT asks."""
    with limits.rewriting():
        name = asked["release"] or parse(parts[0], engine.dialect).table_name
    for _ in range(TRIES):
        with _explain_errors(engine):
            released = find(engine, name, asked["spec"], known=asked["known"])
        answers = [_ask(engine, part, limits, **asked) for part in parts]
        if not is_replaced(engine, released, unreadable=True):
            return merge_answers(sql, answers)
    raise DatabaseError(f"{name} was replaced by another version each of {TRIES} times it was asked; ask again")


def _ask_released(
    engine: Engine,
    query: Query,
    released: Released,
    spec: ReleaseSpec | None,
    limits: Limits,
    *,
    allow_linking: bool,
    role: str | None,
    interval: float | None,
) -> Answer:
    with _explain_errors(engine):
        joinable = dimensions_of(engine, released, spec) if query.joins else frozenset()
    rights = engine.rights
    with (
        rights.acting_as(role, limits.seconds) if rights and role is not None else nullcontext(),
        _explain_errors(engine),
    ):
        if rights and role is not None and not rights.can_select(role, released.view.ref):
            raise PolicyError(
                f"role {role} may not read {released.view.ref}: name it under readers in the release's policy, or "
                "grant it the view"
            )
        return _answer(engine, query, released, joinable, limits, allow_linking=allow_linking, interval=interval)


def _answer(
    engine: Engine,
    query: Query,
    released: Released,
    joinable: Collection[TableRef],
    limits: Limits,
    *,
    allow_linking: bool,
    interval: float | None,
) -> Answer:
    if interval is not None:  # of all sources that lie in the boxes: so are the bounds beside it
        fields = tuple(replace(one, attained=False) for one in released.fields)
        released = replace(released, fields=fields, known={})
    engine = guard(engine, limits)
    bound = bind(engine, query, released, joinable, allow_linking=allow_linking)
    with limits.rewriting():
        plan = collect(bound, drawn=interval is not None)
    check_valid(bound)
    with limits.rewriting():
        rows = box_rows(bound.scope, plan)
        groups = (*sums(bound.scope, plan, rows), *bound_windows(bound, plan))
        drawn = None if interval is None else distributions(bound, plan, rows, groups)
        final = final_select(bound, plan, rows, groups, keyed=drawn is not None)
        beyond = select_unlisted(bound.scope, plan, rows)
        # Trees are changed while they are written, and not used again.
        text = port_tree(final.tree, engine.dialect).sql(dialect=engine.dialect, pretty=True, copy=False)
        more_text = (
            None if beyond is None else port_tree(beyond, engine.dialect).sql(dialect=engine.dialect, copy=False)
        )
    found = engine.fetch(Statement("query", text), max_rows=limits.rows)
    found = with_infinite(engine, text, found, limits.rows)
    intervals: Sequence[Mapping[str, Interval]] = ()
    if drawn is not None and interval is not None:
        keys = [tuple(row[: len(plan.keys)]) for row in found]
        found = [row[len(plan.keys) :] for row in found]
        intervals = intervals_of(engine, drawn, keys, interval)
    for i, check in enumerate(plan.checks, len(found[0]) - len(plan.checks) if found else 0):
        if any(row[i] for row in found):
            refuse(query.text, check.node, check.reason)
    more = more_text is not None and _count(engine, more_text) > 0
    more = more or (released.left_out > 0 and bool(query.groups))
    if more and plan.outputs.windows:
        refuse(
            query.text,
            None,
            "rows may be in further groups, of values that the release shows nowhere, so that ranks and totals of "
            "groups have no bounds; ask without window functions, or leave these rows out by WHERE",
        )
    return make_answer(
        final.columns,
        final.tight,
        found,
        text,
        unlisted_groups=more,
        left_out=released.left_out,
        unlike=released.unlike,
        intervals=intervals,
    )


def _count(engine: Engine, text: str) -> int:
    return count(engine, Statement("query/unlisted", text))


@contextmanager
def _explain_errors(engine: Engine) -> Iterator[None]:
    """Give the database's reason with its errors."""
    try:
        yield
    except DatabaseError as error:
        if error.__cause__ is None:
            raise
        raise type(error)(f"the query has no answer here: {engine.reason(error)}") from error
