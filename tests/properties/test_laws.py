"""Laws of a release on random tables, through the public API on both engines."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.contract.axes import Way, executions, ways
from tests.contract.cases import Case, multiset, release_rows
from tests.oracle.methods import ORACLES, K
from tests.oracle.recode import FORMATS, covers, released
from tests.oracle.requirements import Privacy, meets
from tests.properties.strategies import FEW, cases

Run = tuple[Way, str]


def asked_of(way: Way, case: Case) -> Case:
    """The case, or k alone where the method does not take more."""
    return case if way.takes(case) else replace(case, privacy=Privacy(k=case.privacy.k))


GENERAL = [way for way in ways() if K in ORACLES[way.method].kinds(way.options)]
"""Ways that release any table; what a method for one kind of problem must keep has suites of its own."""
WAYS = st.sampled_from(GENERAL)
RUNS = WAYS.flatmap(lambda way: st.tuples(st.just(way), st.sampled_from(executions(way))))


@pytest.mark.parametrize("method", sorted({way.method for way in GENERAL}))
@FEW
@given(case=cases(), data=st.data(), kind=st.sampled_from(sorted(FORMATS)))
def test_engines_and_executions_equal_the_oracle(
    both_dbs: tuple[Any, ...], tmp_path: Path, method: str, case: Case, data: st.DataObject, kind: str
) -> None:
    """DuckDB = PostgreSQL = kernel = pushdown = oracle, as multisets of (box, SA); seeds and all."""
    way = data.draw(st.sampled_from([way for way in GENERAL if way.method == method]))
    # Extents say nothing of values that are shown or hidden, so `best` refuses to choose by them there.
    assume(kind != "suppressed" or "metric" not in way.options or way.method != "best")
    case = asked_of(way, case)
    truth = multiset(released(case.table, way.classes(case), kind))
    for db in both_dbs:
        for execution in executions(way):
            rows, report = release_rows(db, case, tmp_path, **way.arguments, execution=execution, format=kind)
            assert multiset(rows) == truth, execution
            assert report.verified


@FEW
@given(case=cases(), run=RUNS)
def test_boxes_cover_and_classes_meet_the_requirements(shared_db: Any, tmp_path: Path, case: Case, run: Run) -> None:
    """An insensitive row number ties every released row to its source row; classes are groups of equal boxes."""
    way, execution = run
    case = asked_of(way, case)
    numbered = replace(
        case,
        columns={**case.columns, "row": "INTEGER"},
        rows=tuple((*row, number) for number, row in enumerate(case.rows)),
    )
    rows, _ = release_rows(
        shared_db,
        numbered,
        tmp_path,
        **way.arguments,
        execution=execution,
        insensitive="row",
        accept_unique=[*case.sensitive, "row"],
    )
    assert sorted(row["row"] for row in rows) == list(range(len(case.rows)))
    classes: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        for column in case.table.quasi:
            assert covers(column, column.values[row["row"]], row)
        for column in case.table.sensitive:
            assert row[column.name] == column.values[row["row"]]
        box = {k: v for k, v in row.items() if k != "row" and k not in case.sensitive}
        ((key, _),) = multiset([box]).items()
        classes[key].append(row["row"])
    assert all(meets(case.table, members, case.privacy) for members in classes.values())


@FEW
@given(case=cases(), run=RUNS, data=st.data())
def test_row_order_does_not_matter(shared_db: Any, tmp_path: Path, case: Case, run: Run, data: st.DataObject) -> None:
    way, execution = run
    case = asked_of(way, case)
    order = data.draw(st.permutations(range(len(case.rows))))
    runs = [
        multiset(release_rows(shared_db, c, tmp_path, **way.arguments, execution=execution)[0])
        for c in (case, case.shuffled(order))
    ]
    assert runs[0] == runs[1]


@pytest.mark.thorough
@FEW
@given(case=cases(), run=RUNS)
def test_same_seed_same_output(shared_db: Any, tmp_path: Path, case: Case, run: Run) -> None:
    way, execution = run
    case = asked_of(way, case)
    source = case.create(shared_db)
    runs = [
        release_rows(shared_db, case, tmp_path, source=source, **way.arguments, execution=execution)[0]
        for _ in range(2)
    ]
    assert [multiset([row]) for row in runs[0]] == [multiset([row]) for row in runs[1]]


@FEW
@given(case=cases(), way=WAYS)
def test_reported_figures_are_those_of_the_published_rows(shared_db: Any, tmp_path: Path, case: Case, way: Way) -> None:
    """Sizes, C_DM and C_AVG recounted from the released boxes; the paper's bounds for k alone."""
    case = replace(case, privacy=Privacy(k=case.privacy.k))
    rows, report = release_rows(shared_db, case, tmp_path, **way.arguments)
    boxes = multiset([{k: v for k, v in row.items() if k not in case.sensitive} for row in rows])
    n, k, d = len(case.rows), case.privacy.k, len(case.quasi)
    sizes = list(boxes.values())
    assert report.rows == n == sum(sizes)
    assert k <= min(sizes)
    assert (report.classes, report.min_class, report.max_class) == (len(sizes), min(sizes), max(sizes))
    assert report.loss.c_avg == (pytest.approx(n / (len(sizes) * k)) if k > 1 else None)
    assert report.loss.dm == sum(size**2 for size in sizes)
    assert 0 <= report.loss.gcp <= 1
    assert 0 <= report.loss.lm <= 1
    # Under NULLs, in trees and in relaxed partitionings two partitions may publish one box; else Theorem 4 shows.
    distinct = all(not column.has_null and column.kind != "hierarchy" for column in case.table.quasi)
    if way.options.get("variant") == "strict" and distinct:
        bound = 2 * d * (k - 1) + max(Counter(case.table.codes).values())
        assert report.max_class <= bound
        assert report.loss.dm <= bound * n
        assert Fraction(n, report.classes) <= bound
