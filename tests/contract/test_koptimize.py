"""Method koptimize.

The enumeration is compared with every set of cuts of tiny tables; publication and refusals are tested too.
"""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import PolicyError
from sqlanon.methods.base import Context
from sqlanon.papers.koptimize import assignment, cut_columns, cut_search, interval_search
from sqlanon.papers.koptimize.assignment import _assign_set as published
from sqlanon.papers.koptimize.assignment import assign
from sqlanon.papers.koptimize.cut_search import CutSearch
from sqlanon.papers.koptimize.cut_sets import CutSets, read_records
from sqlanon.papers.koptimize.interval_search import find_intervals
from sqlanon.progress import SilentProgress
from sqlanon.spec import SuppressionSpec
from sqlanon.sqltext import identifier
from sqlanon.table.scratch import Scratch
from tests.contract.assigned import Sample, encoded_sample
from tests.contract.cases import QI, Case, release_rows
from tests.contract.lattices import ordered as case
from tests.covering import seeds
from tests.engines import PAIR
from tests.oracle import cuts
from tests.oracle.requirements import Privacy

METRICS = ("dm", "cm", "loss", "c_avg")


def context_of(sample: Sample, scratch: Scratch, limit: Fraction, rows: str) -> Context:
    suppression = SuppressionSpec(limit, rows)  # type: ignore[arg-type]
    return Context(
        scratch,
        sample.encoded,
        sample.ready.requirements,
        "kernel",
        sys.maxsize,
        2,
        SilentProgress(),
        0,
        suppression=suppression,
        most_unassigned=suppression.most(sample.encoded.rows),
    )


def search_of(context: Context, metric: str) -> CutSearch:
    return CutSearch(CutSets(context, metric, read_records(context, metric)[0]), context.most_unassigned)


@pytest.mark.parametrize("by", ["columns", "cuts"])
@pytest.mark.parametrize("seed", seeds(6, 2))
def test_the_least_of_all_sets(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, by: str
) -> None:
    """Each enumeration alone: the one by columns without what the start found."""
    monkeypatch.setattr(cut_search, "fits_intervals", lambda *_: False)
    if by == "cuts":
        monkeypatch.setattr(cut_columns, "MOST_STEPS", 0)
    else:
        monkeypatch.setattr(CutSearch, "_start_from", lambda *_: None)
        monkeypatch.setattr(CutSearch, "_enumerate", lambda *_: pytest.fail("by cuts"))
    one = case(seed, k=2 + seed % 3)
    with encoded_sample(connect_module(PAIR[seed % 2]), one, tmp_path) as sample:
        for metric in METRICS:
            for limit, rows in (
                (Fraction(0), "starred"),
                (Fraction(1, 5), "starred"),
                (Fraction(1, 5), "left_out"),
                (Fraction(1), "left_out"),
            ):
                with Scratch(sample.scratch.engine) as scratch:
                    context = context_of(sample, scratch, limit, rows)
                    search = search_of(context, metric)
                    assert search.run(10**6)
                expected = cuts.least(
                    sample.table, one.privacy.k, metric, context.most_unassigned, starred=rows == "starred"
                )
                assert search.best is not None
                assert search.best[0] == search.bound == expected, (metric, limit, rows)


@pytest.mark.parametrize("seed", seeds(8, 3))
def test_the_least_loss_interval_by_interval(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Without what the start found, without suppressed rows and with any; and a search that ends early has a bound."""
    for name in ("_greedy", "_improve", "_start_from"):
        monkeypatch.setattr(CutSearch, name, lambda *_: None)
    one = case(seed, k=2 + seed % 3)
    with encoded_sample(connect_module(PAIR[seed % 2]), one, tmp_path) as sample, Scratch(sample.scratch.engine) as own:
        context = context_of(sample, own, Fraction(0), "starred")
        sets = CutSets(context, "loss", read_records(context, "loss")[0])
        expected = cuts.least(sample.table, one.privacy.k, "loss", 0, starred=True)
        search = CutSearch(sets, 0)
        monkeypatch.setattr(CutSearch, "_enumerate", lambda *_: pytest.fail("not proven"))
        assert search.run(10**6)
        assert search.best is not None
        assert search.best[0] == search.bound == expected
        suppressing = search_of(context_of(sample, own, Fraction(1), "left_out"), "loss")
        assert suppressing.run(10**6)
        assert suppressing.best is not None
        lost = cuts.least(sample.table, one.privacy.k, "loss", sample.encoded.rows, starred=False)
        assert suppressing.best[0] == suppressing.bound == lost
        monkeypatch.setattr(interval_search, "STEPS", 1)
        for most in (0, 10, 100, 400):
            found, bound, _ = find_intervals(sets, None, most)
            assert bound <= expected
            if found is not None:
                score = sets.score(found, sets.group_rows(found, sets.records)[1], 0)
                assert score is not None
                assert score >= expected


@pytest.mark.parametrize("by", ["columns", "cuts"])
def test_a_search_that_ends_early_has_a_bound(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "cuts":
        monkeypatch.setattr(cut_columns, "MOST_STEPS", 0)
    one = case(11, k=2, rows=60)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample, Scratch(sample.scratch.engine) as scratch:
        context = context_of(sample, scratch, Fraction(1, 5), "left_out")
        whole = search_of(context, "dm")
        assert whole.run(10**6)
        for most in (0, 5, 20, 50, 150, 250):
            search = search_of(context, "dm")
            search.run(most)
            assert search.best is not None
            assert search.bound <= whole.bound <= search.best[0]
        made = assign(context, "dm", 1)
        assert "the search ended there, as sets: 1 says; no set costs less than" in made.notes[1]


def test_without_sets_it_looks_at_what_10_s_allow(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assignment, "affordable_sets", lambda records, columns: 5 if records * columns else 0)
    one = case(11, k=2, rows=60)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample, Scratch(sample.scratch.engine) as scratch:
        made = assign(context_of(sample, scratch, Fraction(1, 5), "left_out"), "dm", 0)
        assert "the search ended there, after about 10 s; sets: N looks at N; no set costs less than" in made.notes[1]
        assert made.notes[1].endswith("% below")


def test_ways_of_equal_cost_are_counted(connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """209 values of 3 rows in classes of 10 values.

    Millions of divisions of one column have the same bound, which none reaches.
    """
    monkeypatch.setattr(CutSearch, "_start_from", lambda *_: None)
    monkeypatch.setattr(CutSearch, "_enumerate", lambda *_: False)
    one = Case(
        "single_ties",
        {"a": "INTEGER", "sa": "TEXT"},
        tuple((n // 3, "p") for n in range(3 * 209)),
        {"a": QI()},
        ("sa",),
        Privacy(k=28),
    )
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample, Scratch(sample.scratch.engine) as scratch:
        search = search_of(context_of(sample, scratch, Fraction(1, 100), "starred"), "c_avg")
        assert not search.run(600)
        assert search.looked <= 600
        assert search.best is not None
        # 22 classes are the most of 627 rows; one of starred rows besides cannot be, as fewer than 28 may be
        # suppressed.
        assert search.best[0] == 22 - 20
        assert search.bound == search.best[0] - 1
        monkeypatch.setattr(cut_columns, "MOST_WAITING", 10)
        search = search_of(context_of(sample, scratch, Fraction(1, 100), "starred"), "c_avg")
        assert not search.run(600)
        assert search.bound == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("columns", "most"),
    [("dependent", 20_000), pytest.param("uniform", 138_000, marks=pytest.mark.thorough)],
)
def test_five_columns_of_eight_values_are_proven(connect_module: Any, tmp_path: Path, columns: str, most: int) -> None:
    """10,000 rows whose columns depend on each other, or do not; a set counts as the 3.5 bounds that are made of it.

    No change of a single cut is better than what is proven.
    """
    rng = random.Random(5)

    def row() -> tuple[Any, ...]:
        if columns == "uniform":
            return (*(rng.randrange(8) for _ in range(5)), "a")
        z = rng.gauss(0, 1)
        return (*(min(7, max(0, round(3.5 + z * w + rng.gauss(0, 1.2)))) for w in (1.5, 1, 0.5, 0, -1)), "a")

    one = Case(
        "five",
        {**dict.fromkeys("abcde", "INTEGER"), "sa": "TEXT"},
        tuple(row() for _ in range(10_000)),
        {name: QI() for name in "abcde"},
        ("sa",),
        Privacy(k=100),
    )
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample, Scratch(sample.scratch.engine) as scratch:
        context = context_of(sample, scratch, Fraction(0), "starred")
        search = search_of(context, "dm")
        assert search.run(most)
        assert search.best is not None
        assert search.bound == search.best[0]
        score, head = search.best
    chosen = [[int(cut) + 1 for cut in range(7) if head[7 * j + cut]] for j in range(5)]

    def dm(cuts_of: list[list[int]]) -> int:
        groups: dict[tuple[int, ...], int] = {}
        for values in one.rows:
            key = tuple(sum(value >= cut for cut in own) for value, own in zip(values[:5], cuts_of, strict=True))
            groups[key] = groups.get(key, 0) + 1
        return sum(n * n if n >= 100 else n * 10**9 for n in groups.values())

    assert dm(chosen) == score
    for j in range(5):
        for cut in range(1, 8):
            changed = [list(set(own) ^ {cut}) if at == j else own for at, own in enumerate(chosen)]
            assert dm(changed) >= score


@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("rows", ["starred", "left_out"])
def test_a_whole_run_publishes_the_intervals(connect_module: Any, tmp_path: Path, engine: Any, rows: str) -> None:
    one = case(12, k=4, rows=40)
    limit = Fraction(1, 5)
    shown, report = release_rows(
        connect_module(engine),
        one,
        tmp_path,
        method={"name": "koptimize", "metric": "dm"},
        suppression={"limit": "1/5", "rows": rows},
    )
    expected = cuts.least(one.table, 4, "dm", int(limit * 40), starred=rows == "starred")
    assert report.verified
    assert report.loss.dm == expected
    assert len(shown) == 40 - report.left_out
    kept = [row for row in shown if row["a_lo"] is not None]
    # A value is published as the same interval wherever it occurs: intervals of a column do not overlap.
    intervals = sorted({(row["a_lo"], row["a_hi"]) for row in kept if (row["a_lo"], row["a_hi"]) != (0, 9)})
    assert all(left[1] < right[0] for left, right in pairwise(intervals))


def test_what_it_does_not_take(connect_module: Any, tmp_path: Path) -> None:
    one = case(13, k=2)
    words = Case(
        "single_words",
        {"a": "TEXT", "sa": "TEXT"},
        (("x", "p"), ("y", "q")),
        {"a": QI("nominal")},
        ("sa",),
        Privacy(k=2),
    )
    trees = Case(
        "single_trees",
        {"a": "TEXT", "b": "TEXT", "sa": "TEXT"},
        (("x", "x", "p"), ("y", "y", "q")),
        {"a": QI("nominal"), "b": QI("hierarchy", levels=(("x", "*"), ("y", "*")))},
        ("sa",),
        Privacy(k=2),
    )
    long = Case(
        "single_long",
        {"a": "INTEGER", "sa": "TEXT"},
        tuple((n, "p") for n in range(2002)),
        {"a": QI()},
        ("sa",),
        Privacy(k=2),
    )
    two = Case(
        "single_two",
        {"a": "INTEGER", "sa": "TEXT", "sb": "TEXT"},
        ((1, "p", "q"), (2, "p", "q")),
        {"a": QI()},
        ("sa", "sb"),
        Privacy(k=2),
    )
    db = connect_module(PAIR[0])
    for table, options, more, what in (
        (one, {}, {"l": 2}, "koptimize is for k alone"),
        (one, {"metric": "height"}, {}, "one of loss, dm, cm, c_avg"),
        (one, {}, {"execution": "pushdown"}, "koptimize has no pushdown"),
        (two, {"metric": "cm"}, {}, "metric=cm is for one sensitive column, and there are 2; use metric=loss"),
        (one, {}, {"refine": True}, "leave refine out, or use fulldomain"),
        (
            one,
            {},
            {"k": None, "max_loss": 0.5, "maximize": "k", "at_least": {"k": 2}},
            "does not maximize k",
        ),
        (
            one,
            {},
            {"k": None, "l": 2, "format": "anatomy"},
            "cannot be published in the format anatomy: .*; koptimize goes with ranges",
        ),
        (
            one,
            {},
            {"suppression": {"limit": "3/2"}},
            r"suppression\[limit\]: too large; a number of at least 0 and at most 1",
        ),
        (long, {}, {}, r"takes at most 2000 cut points, and the quasi columns have 2001: round"),
        (
            words,
            {},
            {},
            (
                r"koptimize divides ordered columns, and a is none: give an order \(ordered\) in place .*, or use "
                r"method fulldomain"
            ),
        ),
        (
            trees,
            {},
            {},
            r"and a, b are none: give an order .* in place of a hierarchy or of none, or use method fulldomain$",
        ),
    ):
        with pytest.raises(PolicyError, match=what):
            release_rows(db, table, tmp_path, method={"name": "koptimize", **options}, **more)


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("rows", ["starred", "left_out"])
def test_no_interval_ends_at_a_value_of_suppressed_rows(
    connect_module: Any, tmp_path: Path, engine: Any, rows: str
) -> None:
    """9 and 0 are in the intervals of a class, and only suppressed rows have them."""
    one = Case(
        "single_ends",
        {"a": "INTEGER", "b": "INTEGER", "sa": "TEXT"},
        ((1, 3, "p"), (1, 3, "p"), (2, 3, "p"), (5, 3, "p"), (5, 3, "p"), (9, 8, "p"), (0, 9, "p")),
        {"a": QI(), "b": QI()},
        ("sa",),
        Privacy(k=2),
    )
    with encoded_sample(connect_module(engine), one, tmp_path) as sample, Scratch(sample.scratch.engine) as scratch:
        context = context_of(sample, scratch, Fraction(1, 2), rows)
        records, cells = read_records(context, "dm")
        # a: 0 1 2 | 5 9, b: 3 | 8 9
        head = np.array([False, False, True, False, True, False])
        made = published(context, CutSets(context, "dm", records), cells, head, ())
        assert made.spans is not None
        query = f"SELECT lo_c1, hi_c1, lo_c2, hi_c2 FROM {identifier(made.spans.name)} ORDER BY class"
        found = scratch.engine.fetch(query)
    codes = [tuple(int(str(cell)) for cell in row) for row in found]
    assert codes == [(1, 2, 0, 0), (3, 3, 0, 0), *([(0, 4, 0, 2)] if rows == "starred" else [])]
