"""Answer one query over a release: a pipeline of passes from the analyst's SQL to rows with bounds, each a value."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.lacks import require
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from sqlanon.query.answer import Answer, ResultRows, make_answer
from sqlanon.query.constants import answer_constants, answer_nothing
from sqlanon.query.counts.release import ReleasedCounts
from sqlanon.query.explain import explain_errors
from sqlanon.query.find import Names, dimensions_of, find, forget, is_replaced
from sqlanon.query.limits import ROWS, SECONDS, Limits, guard, limit_query
from sqlanon.query.merge_groups import merge_groups
from sqlanon.query.noisy.release import ReleasedNoisy
from sqlanon.query.parse.parameters import Parameters, write_parameters
from sqlanon.query.parse.parse import Groupings, Query
from sqlanon.query.parse.source_types import read_type
from sqlanon.query.parse.text_limits import check_text, readable
from sqlanon.query.refusal import refuse
from sqlanon.query.run_query import SHARP, Precision, run_query
from sqlanon.query.subqueries import Rows, SubqueryContext, answer_subqueries
from sqlanon.query.union_all import Union, arrange, check_types, drop_columns, merge_answers, parse_parts, read_union
from sqlanon.query.union_distinct import check_equality, drop_duplicates
from sqlanon.query.value_order import ValueOrder

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlanon.engines.base import Engine, TableRef
    from sqlanon.query.release import ReaderRelease
    from sqlanon.spec import ReleaseSpec


TRIES = 3
"""Attempts for a query if the release is replaced meanwhile."""


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How the queries of a text are answered; the attributes are arguments of `ask`."""

    release: str | None
    spec: ReleaseSpec | None
    role: str | None
    known: Names | None
    interval: float | None
    allow_linking: bool = False
    as_of_source: bool = False


def ask(  # noqa: PLR0913 - keywords of the public interface
    engine: Engine,
    sql: str,
    *,
    release: str | None = None,
    allow_linking: bool = False,
    spec: ReleaseSpec | None = None,
    role: str | None = None,
    seconds: float = SECONDS,
    names: Names | None = None,
    as_of_source: bool = False,
    interval: float | None = None,
    unwanted: Callable[[], bool] | None = None,
    parameters: Parameters | None = None,
    rows: int = ROWS,
    merge_narrow: float | None = None,
) -> Answer:
    """Answer a query over a release with estimates and sound bounds.

    Args:
        engine: the database that holds the release.
        sql: one SELECT, or a UNION ALL of several, in the engine's dialect, against the source's column names.
        release: the release to ask, whatever its name in the query; None: the name after FROM.
        allow_linking: let the query join any table, also a table with several rows for a value of the join column.
        spec: policy of the release, if the caller has it: it helps to find the release by the source's name, and
            lists the tables that may be joined; otherwise the catalog does.
        role: role of the database with the rights to apply: tables that it may not read are refused. None: the
            connected role.
        seconds: the deadline of the query, over the work here and in the engine.
        as_of_source: for a release with ``refresh: {mode: frozen}``, bounds of the source as it was when the version
            was made, in place of the rows as published: counts without groups only.
        interval: a share above 0 and below 1, such as 0.95: in addition to the bounds, the range of each count and sum
            in that share of the uniformly drawn consistent sources (`sqlanon.query.intervals`).
        unwanted: whether nobody waits for the answer any more: then the query ends as at its deadline.
        parameters: values of the query's parameters: a list for ``?`` and ``$1``, or by names for ``:name``.
        rows: most rows of the answer, for each SELECT.
        merge_narrow: a percentage: neighbouring groups are merged until the bounds of each are at most this percentage
            of the estimate apart, or a single group is left (`sqlanon.query.merge_groups`).
        names: meanings of names in earlier queries over this connection; new ones are added.

    Returns:
        A row for each group. Every bound holds for every source that is consistent with the release (docs/query.md).

    Raises:
        RefusedQueryError: the query, or a piece of it, has no answer over a release; the text underlines the piece.
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
    if merge_narrow is not None and not 0 < merge_narrow < math.inf:
        raise PolicyError(f"merge_narrow {merge_narrow}: a percentage above 0, such as 20")
    options = AskOptions(release, spec, role, names, interval, allow_linking=allow_linking, as_of_source=as_of_source)
    check_text(sql)
    with limit_query(engine.cancel, seconds, unwanted=unwanted, rows=rows) as limits, readable():
        with limits.rewriting():
            sql = write_parameters(sql, parameters, engine.dialect)
            union = read_union(sql, engine.dialect)
            parts = parse_parts(union, engine.dialect)
        if merge_narrow is not None:
            if len(parts) > 1 or len(parts[0].queries) > 1:
                refuse(sql, None, "groups are merged of one SELECT")
            with explain_errors(engine):
                released = find(engine, release or parts[0].queries[0].table_name, spec, cached=names)
            if isinstance(released, ReleasedNoisy):
                refuse(sql, None, "noise has no bounds, by which groups could be merged: ask for fewer groups")
            columns = {field.name.lower() for field in released.fields}
            return merge_groups(
                parts[0].queries[0], merge_narrow, lambda query: _ask(engine, query, limits, options), columns
            )
        if len(parts) == 1 and len(parts[0].queries) == 1:
            return _ask(engine, parts[0].queries[0], limits, options)
        return _ask_several(engine, union, parts, limits, options)


def _ask(engine: Engine, query: Query, limits: Limits, options: AskOptions) -> Answer:
    """The answer to a SELECT; see `ask`."""
    if query.source is None:
        return answer_constants(engine, query, options.role, limits)
    name, known_releases = options.release or query.table_name, options.known
    for tries_left in reversed(range(TRIES)):
        with explain_errors(engine):
            released = find(engine, name, options.spec, cached=known_releases)
        if options.as_of_source and released.unlike is None:
            raise PolicyError(
                f"{name}: --as-of-source is for releases with refresh: {{mode: frozen}}; the rows of others are those "
                "of the source"
            )
        if options.role is not None:
            require(engine, "query --as")
        same = False
        try:
            dated = replace(released, as_of_source=options.as_of_source)
            answer = _ask_released(engine, query, dated, limits, options)
            same = not is_replaced(engine, released, unreadable=True)
            if same:
                return answer
        except SqlanonError:
            same = not is_replaced(engine, released, unreadable=False)
            if same or not tries_left:
                raise
        finally:
            if not same and known_releases is not None:
                forget(engine, known_releases)  # facts in it may be of either version
    raise DatabaseError(f"{name} was replaced by another version each of {TRIES} times it was asked; ask again")


def _ask_several(
    engine: Engine, union: Union, parts: Sequence[Groupings], limits: Limits, options: AskOptions
) -> Answer:
    """The answer to a UNION, or to several groupings, from a single version of each release."""
    queries = [query for part in parts for query in part.queries]
    first = next((query for query in queries if query.source is not None), None)
    name = options.release or (first.table_name if first is not None else "")
    if options.release is not None and len({query.table_name.lower() for query in queries if query.source}) > 1:
        refuse(
            union.text, None, "the SELECTs of a UNION name several tables, and one release is asked: ask each by itself"
        )
    names = [None if query.source is None else options.release or query.table_name for query in queries]
    for _ in range(TRIES):
        with explain_errors(engine):
            releases = {
                asked_name: find(engine, asked_name, options.spec, cached=options.known)
                for asked_name in dict.fromkeys(names)
                if asked_name is not None
            }
        values = ValueOrder(engine, queries, [None if name_ is None else releases[name_] for name_ in names])
        if union.distinct:
            check_equality(union.text, values)
        answers, types = [], []
        for part in parts:
            part_answers = [_ask(engine, query, limits, options) for query in part.queries]
            columns = merge_answers(part.queries[0].text, part_answers)
            if len(parts) == 1 or part.order or part.limit is not None or part.offset:
                columns = arrange(values, part.queries[0], columns, part.order, part.limit, part.offset)
                columns = drop_columns(columns, part.unshown)
            answers.append(columns)
            types.append(_types_of(engine, part, part_answers[0]))
        if len(parts) > 1:
            check_types(union.text, answers, types)
        if not any(is_replaced(engine, released, unreadable=True) for released in releases.values()):
            if union.distinct:
                once = drop_duplicates(union.text, merge_answers(union.text, answers[: union.distinct]))
                answers = [once, *answers[union.distinct :]]
            whole = merge_answers(union.text, answers)
            return arrange(values, queries[0], whole, union.order, union.limit, union.offset)
    raise DatabaseError(f"{name} was replaced by another version each of {TRIES} times it was asked; ask again")


def _types_of(engine: Engine, part: Groupings, answer: Answer) -> tuple[exp.DataType, ...]:
    """The types of the columns of a SELECT: those of a release of counts or with noise are not known."""
    types = answer.types
    if part.queries[0].source is None:
        types = tuple(read_type(shown, engine.dialect) for shown in engine.describe(answer.sql))
    items = zip(*([node.unnest() for _, node in query.items] for query in part.queries), strict=True)
    nothing = [all(isinstance(node, exp.Null) for node in nodes) for nodes in items]
    return tuple(exp.DataType.build("NULL") if nothing[i : i + 1] == [True] else kind for i, kind in enumerate(types))


def _ask_released(engine: Engine, query: Query, released: ReaderRelease, limits: Limits, options: AskOptions) -> Answer:
    role = options.role
    with explain_errors(engine):
        joinable = dimensions_of(engine, released, options.spec) if query.joins or query.asked else frozenset()
    rights = engine.rights
    with (
        rights.acting_as(role, limits.seconds) if rights and role is not None else nullcontext(),
        explain_errors(engine, query),
    ):
        if rights and role is not None and not rights.can_select(role, released.view.ref):
            raise PolicyError(
                f"role {role} may not read {released.view.ref}: name it under readers in the release's policy, or "
                "grant it the view"
            )
        return _answer(engine, query, released, joinable, limits, options)


def _answer(
    engine: Engine,
    query: Query,
    released: ReaderRelease,
    joinable: Collection[TableRef],
    limits: Limits,
    options: AskOptions,
) -> Answer:
    interval, allow_linking = options.interval, options.allow_linking
    if interval is not None and not isinstance(released, ReleasedNoisy):
        # Of all sources that lie in the boxes: so are the bounds beside it.
        fields = tuple(replace(field, attained=False) for field in released.fields)
        released = replace(released, fields=fields, known={})
    engine = guard(engine, limits)
    if isinstance(released, ReleasedCounts):
        return _answer_counts(engine, query, released, limits)
    if isinstance(released, ReleasedNoisy):
        return _answer_noisy(engine, query, released, limits, interval)

    def answer(inner: Query) -> Rows:
        inner_query, unsettled = answer_subqueries(inner, around)
        if unsettled:
            refuse(query.text, None, "a subquery of the first groups of a subquery has no bounds")
        result = run_query(engine, inner_query, released, joinable, limits, SHARP, allow_linking=allow_linking)
        return Rows(
            result.rows,
            [bounded for _, bounded in result.final.columns],
            [bool(row[result.width]) for row in result.rows],
            result.types,
            not result.more and not result.others,
        )

    around = SubqueryContext(engine, released, joinable, allow_linking, answer)
    query, unsettled = answer_subqueries(query, around)
    if query.nothing:
        return answer_nothing(engine, query, released, joinable, allow_linking=allow_linking)
    result = run_query(engine, query, released, joinable, limits, Precision(interval), allow_linking=allow_linking)
    outer_answer = make_answer(
        ResultRows(result.final.columns, result.final.tight, result.rows, result.intervals),
        result.text,
        unlisted_groups=result.more,
        left_out=released.left_out,
        unlike=released.unlike,
    )
    outer_answer = replace(outer_answer, types=result.types, unsettled_groups=result.others)
    return (
        replace(outer_answer, certain=tuple(False for _ in outer_answer.rows), unlisted_groups=True)
        if unsettled
        else outer_answer
    )


def _answer_counts(engine: Engine, query: Query, released: ReleasedCounts, limits: Limits) -> Answer:
    from sqlanon.query.counts.answer import answer_counts  # which needs arrays

    with limits.rewriting():
        unordered = answer_counts(engine, query, released, seconds=lambda: limits.seconds, rows=limits.rows)
        return _in_order(engine, query, unordered, released)


def _answer_noisy(
    engine: Engine, query: Query, released: ReleasedNoisy, limits: Limits, interval: float | None
) -> Answer:
    from sqlanon.query.noisy.answer import answer_noisy  # which needs arrays

    with limits.rewriting():
        noisy = answer_noisy(engine, query, released, interval=interval, rows=limits.rows)
        return _in_order(engine, query, noisy, released)


def _in_order(engine: Engine, query: Query, answer: Answer, released: ReaderRelease) -> Answer:
    ordered = bool(query.order) or query.limit is not None or bool(query.offset)
    values = ValueOrder(engine, [query], [released])
    return arrange(values, query, answer, query.order, query.limit, query.offset) if ordered else answer
