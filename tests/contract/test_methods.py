"""Every method x engine x execution x format publishes what the oracle says, and reports it truly."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from tests.contract.axes import Way, executions, runs, ways
from tests.contract.cases import Case, multiset, published_classes, reached, release_rows
from tests.contract.samples import JOINT, MIXED, NUMBERS, TIES
from tests.engines import ENGINES
from tests.oracle.losses import losses
from tests.oracle.recode import released

FORMATS = ("ranges", "labels", "points", "suppressed")


def expected(case: Case, way: Way, kind: str = "ranges", **options: Any) -> Counter[Any]:
    return multiset(released(case.table, way.classes(case), kind, **options))


def test_every_method_has_an_oracle_and_an_execution() -> None:
    for way in ways():
        assert executions(way)
        assert way.classes(TIES)


Released = Callable[[Any, Case, Way, str], tuple[list[dict[str, Any]], Any]]


@pytest.fixture(scope="module")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> Released:
    """Rows and report of a case in format ranges, released once for all tests of this module."""
    done: dict[Any, Any] = {}
    directory = tmp_path_factory.mktemp("hierarchies")

    def release(db: Any, case: Case, way: Way, execution: str) -> tuple[list[dict[str, Any]], Any]:
        key = (id(db), case.name, str(way), execution)
        if key not in done:
            done[key] = release_rows(db, case, directory, method=way.argument, execution=execution)
        return done[key]

    return release


@pytest.mark.parametrize(("way", "execution"), runs())
def test_release_equals_oracle(
    shared_db: Any, released_once: Released, sample: Case, way: Way, execution: str
) -> None:
    rows, report = released_once(shared_db, sample, way, execution)
    assert multiset(rows) == expected(sample, way)
    assert report.verified
    assert (report.rows, report.suppressed) == (len(sample.rows), 0)
    assert report.execution == execution


@pytest.mark.parametrize(("way", "execution"), runs())
def test_release_in_a_file_equals_oracle(
    connect_module: Any, way: Way, execution: str, tmp_path: Path
) -> None:
    db = connect_module(ENGINES[1])
    rows, _ = release_rows(db, MIXED, tmp_path, method=way.argument, execution=execution)
    assert multiset(rows) == expected(MIXED, way)


@pytest.mark.parametrize("kind", FORMATS[1:])
@pytest.mark.parametrize("way", [ways()[0], ways()[-1]], ids=str)
def test_formats_equal_oracle(shared_db: Any, sample: Case, way: Way, kind: str, tmp_path: Path) -> None:
    rows, report = release_rows(shared_db, sample, tmp_path, method=way.argument, format=kind)
    assert multiset(rows) == expected(sample, way, kind)
    assert report.verified
    assert report.format == kind


@pytest.mark.parametrize("way", ways(), ids=str)
def test_row_order_does_not_matter(shared_db: Any, way: Way, tmp_path: Path) -> None:
    for case in (MIXED, NUMBERS):
        order = random.Random(7).sample(range(len(case.rows)), len(case.rows))
        rows, _ = release_rows(shared_db, case.shuffled(order), tmp_path, method=way.argument)
        assert multiset(rows) == expected(case, way)


@pytest.mark.parametrize("way", ways(), ids=str)
def test_small_memory_budget_gives_the_same_classes(shared_db: Any, way: Way, tmp_path: Path) -> None:
    """The top levels are pushed down until a partition fits; kernels finish."""
    used = set()
    for case in (MIXED, JOINT):
        rows, report = release_rows(shared_db, case, tmp_path, method=way.argument, memory=3000)
        assert multiset(rows) == expected(case, way)
        assert report.verified
        used.add(report.execution)
    if {"kernel", "pushdown"} <= set(executions(way)):
        assert "pushdown+kernel" in used


@pytest.mark.parametrize("way", ways(), ids=str)
def test_means_equal_oracle(shared_db: Any, way: Way, tmp_path: Path) -> None:
    case = TIES
    assert case.privacy.k >= 5
    rows, _ = release_rows(shared_db, case, tmp_path, method=way.argument, mean=["a", "b"])
    assert multiset(rows) == expected(case, way, mean=["a", "b"])


@pytest.mark.parametrize(("way", "execution"), runs())
def test_report_tells_classes_requirements_and_loss(
    shared_db: Any, released_once: Released, sample: Case, way: Way, execution: str
) -> None:
    """Classes are what a reader sees, rows of equal released values: so the paper defines them (section 1.1)."""
    _, report = released_once(shared_db, sample, way, execution)
    partition = way.classes(sample)
    classes = published_classes(sample, partition)
    sizes = [len(rows) for rows in classes]
    assert (report.classes, report.min_class, report.max_class) == (len(sizes), min(sizes), max(sizes))
    asked = {
        (r.name, r.column): r for r in reversed(report.requirements)
    }  # with joint, the plain ones come first
    assert all(r.satisfied for r in report.requirements)
    assert asked["k", None].asked == sample.privacy.k
    assert asked["k", None].reached == min(sizes)
    for j, column in enumerate(sample.sensitive):
        frequency, distinct = reached(sample, classes, j)
        if sample.privacy.l is not None:
            assert asked["l", column].reached == pytest.approx(float(frequency))
        if sample.privacy.distinct_l is not None:
            assert asked["distinct_l", column].reached == distinct
    assert report.pm == (
        {
            column: pytest.approx(float(reached(sample, classes, j)[0]))
            for j, column in enumerate(sample.sensitive)
        }
        if sample.privacy.l is not None or sample.privacy.distinct_l is not None
        else {}
    )
    truth = asdict(losses(sample.table, classes, sample.privacy.k))
    for name, values in truth.pop("columns").items():
        for metric, value in values.items():
            assert report.loss.columns[name][metric] == pytest.approx(float(value), rel=1e-9), (name, metric)
    assert set(truth) | {"columns"} == {field.name for field in fields(report.loss)}
    for metric, value in truth.items():
        assert getattr(report.loss, metric) == pytest.approx(float(value), rel=1e-9), metric


@pytest.mark.parametrize("kind", ["points", "suppressed"])
def test_losses_where_a_format_merges_boxes(shared_db: Any, sample: Case, kind: str, tmp_path: Path) -> None:
    """The loss of a row is its box's; the largest of a class bounds every box; sizes are those of merged classes."""
    way = Way("mondrian", {"variant": "strict", "cut": "loss"})
    _, report = release_rows(shared_db, sample, tmp_path, method=way.argument, format=kind)
    boxes = way.classes(sample)
    classes = published_classes(sample, boxes, kind)
    own, merged = losses(sample.table, boxes, 1), losses(sample.table, classes, sample.privacy.k)
    for metric in ("ncp", "gcp", "lm", "il_inf", "weighted_avg_volume"):
        assert getattr(report.loss, metric) == pytest.approx(float(getattr(own, metric)), rel=1e-9), metric
    assert (report.loss.dm, report.loss.c_avg) == (merged.dm, pytest.approx(float(merged.c_avg)))
    of_box = {box[0]: losses(sample.table, [box], 1).il1 for box in boxes}
    of_class = [
        sum(len(box) * of_box[box[0]] for box in boxes if box[0] in rows) / len(rows) for rows in classes
    ]
    assert report.loss.il_sum == pytest.approx(float(sum(of_class)), rel=1e-9)
