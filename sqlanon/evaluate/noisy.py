"""Evaluation of noisy statistics: the counts of their finest groups against the source, beside releases of rows.

Each group of each table is a query, a count with the group as its condition. The same queries are asked of every
published release of rows of the same source, so that both are measured by the answers that readers get.

Errors of noisy counts include the noise and the rows cut by bounding. The report is for the owner: it is computed of
exact answers, which no budget pays for.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import count
from sqlanon.errors import PolicyError
from sqlanon.evaluate.noisy_groups import list_groups
from sqlanon.evaluate.report import Cell, ComparedRelease, Evaluation, QueryResult, family_of
from sqlanon.evaluate.sides import Sides
from sqlanon.evaluate.workload import WorkloadQuery
from sqlanon.query.find import find
from sqlanon.query.noisy.release import ReleasedNoisy
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.views import spell_table
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.workload_spec import WorkloadSpec

Measure = Callable[[Sides, Sequence[WorkloadQuery]], list[tuple[QueryResult, list[Cell]]]]


def evaluate_noisy(engine: Engine, entry: Entry, workload: WorkloadSpec | None, measure: Measure) -> Evaluation:
    """Measure noisy statistics, and releases of rows of the same source, by the same counts.

    Args:
        engine: the database of both.
        entry: the published version.
        workload: queries of the file that are asked in place of the groups; None: all groups.
        measure: asks queries of a release and of the source.

    Raises:
        PolicyError: nothing counts rows, or the workload has generators.

    Cost: a statement for 50 groups, over the source and over each release.
    """
    start = time.perf_counter()
    assert entry.view is not None
    released = find(engine, spell_table(entry.view))
    assert isinstance(released, ReleasedNoisy)
    source = engine.relation(entry.source).ref
    sides = Sides(entry.release, entry.view, source)
    if workload is not None and workload.generators:
        raise PolicyError(
            f"{entry.release}: generators draw queries of rows; a workload of noisy statistics has queries alone"
        )
    queries = _list_groups(engine, released, sides) if workload is None else _list_queries(workload)
    results, cells = _measure_families(measure, sides, queries)
    beside = ask_releases_of_rows(engine, entry.source, source, queries, measure)
    return Evaluation(
        entry.release,
        str(entry.view),
        str(source),
        count(engine, statement("table/count", engine.dialect, source=source)),
        count(engine, statement("table/count", engine.dialect, source=entry.view)),
        family_of("all", results, list(itertools.chain.from_iterable(cells.values()))),
        tuple(family_of(name, results, cells[name]) for name in cells),
        tuple(results),
        (),
        time.perf_counter() - start,
        cells=cells,
        noise=True,
        beside=beside,
    )


def _measure_families(
    measure: Measure, sides: Sides, queries: Sequence[WorkloadQuery]
) -> tuple[list[QueryResult], dict[str, list[Cell]]]:
    results: list[QueryResult] = []
    cells: dict[str, list[Cell]] = {}
    for name, some in itertools.groupby(queries, lambda query: query.family):  # each table answers for itself
        for result, cells_of in measure(sides, list(some)):
            results.append(result)
            cells.setdefault(name, []).extend(cells_of)
    return results, cells


def _list_queries(workload: WorkloadSpec) -> list[WorkloadQuery]:
    return [WorkloadQuery(query.name, "queries", query.sql) for query in workload.queries]


def ask_releases_of_rows(
    engine: Engine, source_name: str, source: TableRef, queries: Sequence[WorkloadQuery], measure: Measure
) -> tuple[ComparedRelease, ...]:
    """The errors of the published releases of rows of a source, in this database.

    Args:
        engine: the database of all.
        source_name: the source as the catalog names it.
        source: the source.
        queries: counts.
        measure: asks queries of a release and of the source.
    """
    beside = []
    for entry in Catalog(engine).entries(statuses=("published",)):
        if entry.source == source_name and entry.view is not None and entry.kind.has_rows:
            results, cells = _measure_families(measure, Sides(entry.release, entry.view, source), queries)
            beside.append(
                ComparedRelease(entry.release, tuple(family_of(name, results, cells[name]) for name in cells))
            )
    return tuple(beside)


def _list_groups(engine: Engine, released: ReleasedNoisy, sides: Sides) -> list[WorkloadQuery]:
    """A count of each finest group of each table."""
    if not any(measure.of == "rows" for measure in released.measures):
        raise PolicyError(f"{sides.name}: no measure counts rows; give a workload of queries that it answers")
    kinds = {field.name: field.kind for field in released.fields}
    return list_groups(
        engine, sides.source, [(table.name, table.by) for table in released.tables], released.dimensions, kinds
    )
