"""Every method x engine x execution x format publishes what the oracle says, and reports it truly; or it is refused."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import METHODS
from sqlanon.errors import PolicyError
from sqlanon.policy import release as spec_of
from tests.contract.assigned import Sample, encoded_sample
from tests.contract.axes import (
    ELSEWHERE,
    Way,
    by_options,
    contrasting,
    everywhere,
    executions,
    refusals,
    runs,
    samples_of,
    walks,
    ways,
)
from tests.contract.cases import Case, multiset, published_classes, reached, release_rows
from tests.contract.samples import CORE, DIVERSE, JOINT, MIXED, NUMBERS, SAMPLES, TIES
from tests.engines import ENGINES, PAIR
from tests.oracle.losses import FURTHER, either, losses
from tests.oracle.methods import KINDS, ORACLES, kind_of
from tests.oracle.recode import released

FORMATS = ("ranges", "labels", "points", "suppressed")


def expected(case: Case, way: Way, kind: str = "ranges", **options: Any) -> Counter[Any]:
    return multiset(released(case.table, way.classes(case), kind, **options))


def test_every_method_has_an_oracle_and_an_execution() -> None:
    assert {way.method for way in ways()} == set(ORACLES)
    assert set(ORACLES) | set(ELSEWHERE) == set(METHODS)
    assert all((Path(__file__).parents[2] / file).is_file() for file in ELSEWHERE.values())
    for way in ways():
        assert executions(way)
        assert way.classes(next(case for case in samples_of(way) if way.takes(case)))


def test_samples_ask_everything_of_every_method() -> None:
    """What a method takes and what it refuses is all tried: each kind on its default options and on the others."""
    for samples in (SAMPLES, CORE):
        assert {kind_of(case.table, case.privacy) for case in samples} == KINDS
    for way in ways():
        assert any(way.takes(case) for case in samples_of(way))


def check_report(sample: Case, report: Any, partition: Sequence[Sequence[int]]) -> None:
    """Classes are what a reader sees, rows of equal released values: so the paper defines them (section 1.1)."""
    classes = published_classes(sample, partition)
    sizes = [len(rows) for rows in classes]
    assert (report.classes, report.min_class, report.max_class) == (len(sizes), min(sizes), max(sizes))
    asked = {(r.name, r.column): r for r in reversed(report.requirements)}  # with joint, the plain ones come first
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
        {column: pytest.approx(float(reached(sample, classes, j)[0])) for j, column in enumerate(sample.sensitive)}
        if sample.privacy.l is not None or sample.privacy.distinct_l is not None
        else {}
    )
    truth = asdict(losses(sample.table, classes, sample.privacy.k))
    for name, values in truth.pop("columns").items():
        for metric, value in values.items():
            assert report.loss.columns[name][metric] == pytest.approx(float(value), rel=1e-9), (name, metric)
    elsewhere = {
        "rce",
        "cm",
        "stars",
        "starred_rows",
        "hidden_rows",
    }  # of format anatomy, and of releases that hide rows or values
    assert all(getattr(report.loss, name) is None for name in elsewhere)
    assert report.loss.more == {
        name: pytest.approx(float(value(sample.table, classes))) for name, value in FURTHER.items()
    }
    assert report.loss.sensitive == {}
    assert set(truth) | elsewhere | {"columns", "more", "sensitive"} == {field.name for field in fields(report.loss)}
    for metric, value in truth.items():
        assert getattr(report.loss, metric) == pytest.approx(float(value), rel=1e-9), metric


@pytest.fixture(scope="module")
def encoded(connect_module: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Sample]]:
    """Encodes each sample, or its rows in another order, once an engine."""
    with ExitStack() as stack:

        @cache
        def make(engine: Any, case: str, order: tuple[int, ...] | None = None) -> Sample:
            sample = next(item for item in SAMPLES if item.name == case)
            sample = sample if order is None else sample.shuffled(order)
            return stack.enter_context(
                encoded_sample(connect_module(engine), sample, tmp_path_factory.mktemp("hierarchies"))
            )

        yield make


@cache
def expected_once(way: str, case: str) -> Counter[Any]:
    """What the oracle releases in format ranges."""
    return expected(next(item for item in SAMPLES if item.name == case), next(w for w in ways() if str(w) == way))


@pytest.mark.cover("engine way execution", "way sample")
@pytest.mark.parametrize(("engine", "way", "execution", "sample"), everywhere())
def test_assignment_equals_oracle(
    encoded: Callable[..., Sample], engine: Any, way: Way, execution: str, sample: Case
) -> None:
    """Row by row, on the encoded table; that a run publishes it is tested by whole runs below."""
    given = encoded(engine, sample.name)
    classes, used = given.classes(execution, **way.arguments)
    assert used == execution
    assert multiset(released(given.table, classes, "ranges")) == expected_once(str(way), sample.name)


@pytest.mark.cover
@pytest.mark.parametrize(("engine", "way", "execution", "sample"), walks())
def test_release_and_report_equal_oracle(
    connect_module: Any, engine: Any, sample: Case, way: Way, execution: str, tmp_path: Path
) -> None:
    rows, report = release_rows(connect_module(engine), sample, tmp_path, **way.arguments, execution=execution)
    classes = way.classes(sample)
    assert multiset(rows) == multiset(released(sample.table, classes, "ranges"))
    assert report.verified
    assert (report.rows, report.suppressed) == (len(sample.rows), 0)
    assert report.execution == execution
    check_report(sample, report, classes)


@pytest.mark.cover
@pytest.mark.parametrize(("way", "sample"), refusals())
def test_what_a_method_does_not_take_is_refused_with_what_does(sample: Case, way: Way, tmp_path: Path) -> None:
    """Before a database is read; the text names the method, and one that takes it or the option at fault."""
    with pytest.raises(PolicyError) as caught:
        spec_of(source="t", **{**sample.arguments(tmp_path), **way.arguments})
    words = re.findall(r"[\w=]+", str(caught.value))
    able = {other.method for other in ways() if other.takes(sample)}
    faults = {f"{name}={value}" for name, value in way.options.items()}
    assert way.method in words
    assert able & set(words) or faults & set(words)


@pytest.mark.cover
@pytest.mark.parametrize(("way", "execution", "sample"), runs((MIXED, NUMBERS)))
def test_release_in_a_file_equals_oracle(
    connect_module: Any, sample: Case, way: Way, execution: str, tmp_path: Path
) -> None:
    db = connect_module(ENGINES[1])
    rows, _ = release_rows(db, sample, tmp_path, **way.arguments, execution=execution)
    assert multiset(rows) == expected(sample, way)


@pytest.mark.cover("kind sample", "engine kind")
@pytest.mark.parametrize("kind", FORMATS[1:])
@pytest.mark.parametrize("sample", CORE, ids=lambda case: case.name)
@pytest.mark.parametrize("way", contrasting(), ids=str)
def test_formats_equal_oracle(shared_db: Any, sample: Case, way: Way, kind: str, tmp_path: Path) -> None:
    rows, report = release_rows(shared_db, sample, tmp_path, **way.arguments, format=kind)
    assert multiset(rows) == expected(sample, way, kind)
    assert report.verified
    assert report.format == kind


@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("way", ways(), ids=str)
def test_row_order_does_not_matter(encoded: Callable[..., Sample], engine: Any, way: Way) -> None:
    """In every execution; that a run keeps it so is tested where rows are published (`test_published`)."""
    for case in filter(way.takes, (MIXED, NUMBERS)):
        order = tuple(random.Random(7).sample(range(len(case.rows)), len(case.rows)))
        given = encoded(engine, case.name, order)
        for execution in executions(way):
            classes, _ = given.classes(execution, **way.arguments)
            assert multiset(released(given.table, classes, "ranges")) == expected_once(str(way), case.name)


@pytest.mark.cover
@pytest.mark.parametrize("way", by_options(ways()))
def test_small_memory_budget_gives_the_same_classes(shared_db: Any, way: Way, tmp_path: Path) -> None:
    """What can be done by the database is, until the rest fits; what must be in memory is refused with a way out."""
    used = set()
    for case in filter(way.takes, (MIXED, JOINT, NUMBERS, DIVERSE)):
        if kind_of(case.table, case.privacy) in ORACLES[way.method].in_memory:
            with pytest.raises(PolicyError, match=rf"{way.method} .*raise memory to .*use mondrian"):
                release_rows(shared_db, case, tmp_path, **way.arguments, memory=2000)
            continue
        rows, report = release_rows(shared_db, case, tmp_path, **way.arguments, memory=2000)
        assert multiset(rows) == expected(case, way)
        assert report.verified
        used.add(report.execution)
    if used and {"kernel", "pushdown"} <= set(executions(way)):
        assert used & {"pushdown", "pushdown+kernel"}


@pytest.mark.cover
@pytest.mark.parametrize("way", by_options([way for way in ways() if way.takes(TIES)]))
def test_means_equal_oracle(shared_db: Any, way: Way, tmp_path: Path) -> None:
    case = TIES
    assert case.privacy.k >= 5
    rows, _ = release_rows(shared_db, case, tmp_path, **way.arguments, mean=["a", "b"])
    assert multiset(rows) == expected(case, way, mean=["a", "b"])


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["points", "suppressed"])
def test_losses_where_a_format_merges_boxes(shared_db: Any, sample: Case, kind: str, tmp_path: Path) -> None:
    """The loss of a row is its box's; the largest of a class bounds every box; sizes are those of merged classes."""
    way = Way("mondrian", {"variant": "strict", "cut": "loss"})
    _, report = release_rows(shared_db, sample, tmp_path, **way.arguments, format=kind)
    boxes = way.classes(sample)
    classes = published_classes(sample, boxes, kind)
    share = partial(losses, share=either) if kind == "suppressed" else losses
    own, merged = share(sample.table, boxes, 1), losses(sample.table, classes, sample.privacy.k)
    for metric in ("ncp", "gcp", "lm", "il_inf", "weighted_avg_volume"):
        assert getattr(report.loss, metric) == pytest.approx(float(getattr(own, metric)), rel=1e-9), metric
    average = pytest.approx(float(merged.c_avg)) if sample.privacy.k > 1 else None
    assert (report.loss.dm, report.loss.c_avg) == (merged.dm, average)
    of_box = {box[0]: share(sample.table, [box], 1).il1 for box in boxes}
    of_class = [sum(len(box) * of_box[box[0]] for box in boxes if box[0] in rows) / len(rows) for rows in classes]
    assert report.loss.il_sum == pytest.approx(float(sum(of_class)), rel=1e-9)
