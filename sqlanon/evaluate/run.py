"""Evaluation of a release.

A workload is asked of it and of the source, cells are compared, and the divergence of the two is measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from sqlglot import exp

from sqlanon.engines.base import OUT_OF_RANGE, Engine, TableRef
from sqlanon.engines.rows import count
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.evaluate.divergence import average_divergence, level, measure_divergence
from sqlanon.evaluate.noisy import evaluate_noisy
from sqlanon.evaluate.report import OVERFLOW, Cell, CubeResult, Errors, Evaluation, QueryResult, family_of
from sqlanon.evaluate.sides import Sides
from sqlanon.evaluate.subject import Subject, find_entry, find_subject
from sqlanon.evaluate.truth import compare_cells, find_truth
from sqlanon.evaluate.workload import WorkloadQuery, choose_columns, find_sensitive, fit_workload, list_queries
from sqlanon.progress import Progress, SilentProgress
from sqlanon.query.ask import ask
from sqlanon.query.find import Names
from sqlanon.query.parse.parse import Query, parse
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import spell_table
from sqlanon.release_kind import COUNTS, NOISY, ROWS, ReleaseKind
from sqlanon.results import NoisyCandidatesReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import in_dialect, statement
from sqlanon.sqltext.bind_literals import separate_values
from sqlanon.workload_spec import WorkloadSpec

MOST_TOGETHER = 50
"""Counts in a single statement."""


def evaluate(
    engine: Engine, release: str | None = None, workload: WorkloadSpec | None = None, progress: Progress | None = None
) -> Evaluation:
    """Measure a release against the source, in the engine.

    Args:
        engine: the database that holds both.
        release: name or view of the release; None: the only release.
        workload: the queries; None: `sqlanon.evaluate.workload.DEFAULT`, as far as it fits.
        progress: gets how many queries are done.

    Raises:
        PolicyError: no such release, or the workload does not fit it.
        DatabaseError: the database refused.

    Cost: two statements for each query, or for so many counts as `MOST_TOGETHER`, and for each group-by of a datacube
    the cost of `measure_divergence`.
    """
    entry = find_entry(engine, release)
    return EVALUATIONS[entry.kind](engine, entry, workload, progress or SilentProgress())


def _evaluate_noisy(engine: Engine, entry: Entry, workload: WorkloadSpec | None, reporter: Progress) -> Evaluation:
    evaluation = evaluate_noisy(engine, entry, workload, lambda on, queries: _measure(engine, on, queries, reporter))
    reporter.finish(entry.release)
    return evaluation


def _evaluate_rows(engine: Engine, entry: Entry, workload: WorkloadSpec | None, reporter: Progress) -> Evaluation:
    start = time.perf_counter()
    on = find_subject(engine, entry.release)
    plan = fit_workload(workload, on)
    queries = list_queries(engine, on, plan)
    results: list[QueryResult] = []
    cells: dict[str, list[Cell]] = {}
    for result, found_cells in _measure(engine, on.sides, queries, reporter):
        results.append(result)
        cells.setdefault(result.family, []).extend(found_cells)
    cubes = _cubes(engine, on, plan, reporter)
    reporter.finish(on.name)
    families = tuple(family_of(name, results, cells[name]) for name in cells)
    return Evaluation(
        on.name,
        str(on.view),
        str(on.roles.relation.ref),
        _rows(engine, on.roles.relation.ref),
        _rows(engine, on.view),
        family_of("all", results, [cell for each in cells.values() for cell in each]),
        families,
        tuple(results),
        cubes,
        time.perf_counter() - start,
        on.loss,
        cells,
    )


EVALUATIONS: Mapping[ReleaseKind, Callable[[Engine, Entry, WorkloadSpec | None, Progress], Evaluation]] = {
    ROWS: _evaluate_rows,
    COUNTS: _evaluate_rows,  # which says that it has none
    NOISY: _evaluate_noisy,
}
"""The evaluation of each kind of releases."""


def compare_noisy(
    engine: Engine,
    spec: ReleaseSpec,
    epsilons: Sequence[Fraction],
    *,
    alone: bool = False,
    progress: Progress | None = None,
) -> NoisyCandidatesReport:
    """Candidates of noisy statistics side by side; see `sqlanon.evaluate.noisy_candidates.compare_noise`."""
    from sqlanon.evaluate.noisy_candidates import compare_noise

    reporter = progress or SilentProgress()
    noise = compare_noise(
        engine, spec, epsilons, alone=alone, measure=lambda on, queries: _measure(engine, on, queries, reporter)
    )
    reporter.finish(spec.name)
    return noise


def _rows(engine: Engine, table: TableRef) -> int:
    return count(engine, statement("table/count", engine.dialect, source=table))


def _measure(
    engine: Engine, on: Sides, queries: Sequence[WorkloadQuery], reporter: Progress
) -> list[tuple[QueryResult, list[Cell]]]:
    """Ask queries of both sides."""
    reporter.stage(on.name, "queries")
    names = Names()
    results: list[tuple[QueryResult, list[Cell]]] = []
    for some in _group_queries(queries):
        reporter.update(len(results), len(queries), "queries")
        results += _measure_queries(engine, on, some, names)
    return results


def _cubes(engine: Engine, on: Subject, plan: WorkloadSpec, reporter: Progress) -> tuple[CubeResult, ...]:
    """The divergence that each generator asks; source and release are read once for each sensitive column."""
    group_bys_of: dict[str | None, list[tuple[str, tuple[tuple[str, ...], ...]]]] = {}
    for generator in plan.generators:
        if generator.kind in ("datacube", "joint"):
            columns = choose_columns(generator, on)
            of = level(columns, generator.level) if generator.kind == "datacube" else (columns,)
            group_bys_of.setdefault(find_sensitive(generator, on), []).append((generator.name, of))
    cubes = {}
    for value, generators in group_bys_of.items():
        reporter.stage(on.name, ", ".join(name for name, _ in generators))
        group_bys = dict.fromkeys(group_by for _, of in generators for group_by in of)
        divergences = dict(
            zip(group_bys, measure_divergence(engine, on, tuple(group_bys), value, reporter), strict=True)
        )
        for name, of in generators:
            mine = tuple(divergences[group_by] for group_by in of)
            cubes[name] = CubeResult(
                name, value, average_divergence(mine), sum(divergence.missed for divergence in mine), mine
            )
    return tuple(cubes[generator.name] for generator in plan.generators if generator.name in cubes)


def _group_queries(queries: Sequence[WorkloadQuery]) -> Iterator[list[WorkloadQuery]]:
    """The queries in order; counts that follow each other are asked in a single statement, so many at once."""
    for conditional, some in groupby(queries, lambda query: query.condition is not None):
        every = list(some)
        size = MOST_TOGETHER if conditional else 1
        yield from (every[place : place + size] for place in range(0, len(every), size))


def _measure_queries(
    engine: Engine, on: Sides, some: Sequence[WorkloadQuery], names: Names
) -> list[tuple[QueryResult, list[Cell]]]:
    """Ask queries of both; a result and the cells for every aggregate.

    ``names``: facts about the release from earlier queries.

    Several are counts, and asked together: each row of the source and each box of the release is read once for all of
    them.
    """
    if len(some) == 1:
        return _ask_alone(engine, on, some[0], names)
    counts = ", ".join(f"COUNT(*) FILTER (WHERE {query.condition}) AS n{i}" for i, query in enumerate(some))
    source = in_dialect(spell_table(on.source), engine.dialect)
    sql = f"SELECT {counts} FROM {source}"  # noqa: S608
    try:
        with engine.snapshot(), keep_apart(engine, some):
            answer = ask(engine, sql, release=spell_table(on.view), names=names, seconds=math.inf)
            truth = find_truth(engine, sql, answer)
    except (UnsupportedError, DatabaseError) as error:
        if not isinstance(error, UnsupportedError) and not is_overflow(engine, error):
            raise DatabaseError(f"queries {some[0].name} to {some[-1].name}: {error}") from error
        half = len(some) // 2  # it may be some of them alone
        return [
            measured for part in (some[:half], some[half:]) for measured in _measure_queries(engine, on, part, names)
        ]
    measured = []
    for i, query in enumerate(some):
        result, cells = compare_cells(query, answer, f"n{i}", truth, cut=False, count=True)
        measured.append((replace(result, aggregate="n"), cells))
    return measured


def _ask_alone(
    engine: Engine, on: Sides, question: WorkloadQuery, names: Names
) -> list[tuple[QueryResult, list[Cell]]]:
    try:
        query = parse_of_source(engine, on, question)
        with engine.snapshot(), keep_apart(engine, [question]):
            answer = ask(engine, question.sql, release=spell_table(on.view), names=names, seconds=math.inf)
            truth = find_truth(engine, question.sql, answer)
    except UnsupportedError as error:
        # An error that refuses a query underlines a piece of it, and that may be a value that was drawn.
        reason = "a query that was drawn has no answer over this release" if question.secret else str(error)
        return [(QueryResult(question.name, question.family, "", 0, 0, Errors.of(()), refused=reason), [])]
    except DatabaseError as error:
        if not is_overflow(engine, error):
            raise DatabaseError(f"query {question.name}: {error}") from error
        return [(QueryResult(question.name, question.family, "", 0, 0, Errors.of(()), refused=OVERFLOW), [])]
    cut = bool(query.having is not None or query.limit is not None or query.offset is not None)
    counts = {name for name, node in query.items if isinstance(node, exp.Count)}
    return [compare_cells(question, answer, name, truth, cut=cut, count=name in counts) for name in answer.aggregates]


def keep_apart(engine: Engine, some: Sequence[WorkloadQuery]) -> AbstractContextManager[None]:
    """Context manager: values that were drawn are in no log of the engine's."""
    if engine.conceals is None or not any(query.secret for query in some):
        return nullcontext()
    return engine.conceals(separate_values)


def is_overflow(engine: Engine, error: DatabaseError) -> bool:
    """Whether a number of a query has no room in the type, which says nothing of other queries."""
    while isinstance(error.__cause__, DatabaseError):
        error = error.__cause__
    return error.__cause__ is not None and engine.reason(error) == OUT_OF_RANGE


def parse_of_source(engine: Engine, on: Sides, question: WorkloadQuery) -> Query:
    """The query, parsed.

    Raises:
        PolicyError: it asks something else than the source.
    """
    query = parse(question.sql, engine.dialect)
    if engine.relation(query.table_name).ref != on.source:
        raise PolicyError(
            f"query {question.name}: asks {query.table_name}, but {on.name} was made of {on.source}; write that "
            "after FROM"
        )
    return query
