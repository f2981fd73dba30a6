"""Random sequences of runs on the model: what holds in every lineage, by the records of all its versions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.frozen.histories import K, L
from tests.frozen.invariants import Log
from tests.frozen.model import InfeasibleError, Key, Lineage, Row
from tests.frozen.partitions import by_order, dealt, optimal, whole

KEYS = [f"r{i}" for i in range(9)]
STEPS = 10


def altered(rng: np.random.Generator, source: dict[Key, Row], former: dict[Key, Row]) -> dict[Key, Row]:
    """The source after some rows came, went, returned as they were, or changed."""
    rows = dict(source)
    for key in KEYS:
        event = rng.integers(12)
        if key not in rows and event < 4:
            rows[key] = former[key] if key in former and event < 2 else row(rng)
        elif key in rows and event == 0:
            del rows[key]
        elif key in rows and event == 1:
            rows[key] = row(rng)
        former.update(rows)
    return rows


def row(rng: np.random.Generator) -> Row:
    """A row."""
    return Row(tuple(rng.integers(5, size=2).tolist()), int(rng.integers(3)))


@pytest.mark.parametrize("block", range(4))
def test_random_sequences(block):
    """Runs that are skipped, repeated, erasures between them, and lineages that are started anew."""
    seen: Counter[str] = Counter()
    for seed in range(500 * block, 500 * (block + 1)):
        rng = np.random.default_rng(seed)
        method = (by_order, by_order, whole, optimal if seed % 3 == 0 else by_order)[block](K, L)
        divide = dealt(K, L) if seed % 2 else None
        lineage = Lineage(K, L, int(rng.integers(K, 5)), [None, 1, 3][seed % 3], method, divide)
        source, former, log = {key: row(rng) for key in KEYS[:5]}, {}, Log()
        for now in range(STEPS):
            source = altered(rng, source, former)
            event = rng.integers(20)
            if event < 4:
                continue  # a skipped run
            if event == 4:
                erased = set(rng.choice(KEYS, size=1).tolist())
                assert lineage.erase(erased) == log.erase(erased)
            elif event == 5 and now > STEPS // 2:
                lineage.new_lineage()
                log, before = Log(), log
                log.erased = before.erased
            try:
                version = lineage.run(source, now)
            except InfeasibleError:
                assert not lineage.versions
                assert not lineage.entries
                continue
            log.check(version, source)
            seen.update({name: n > 0 for name, n in version.counts._asdict().items()})
            again = lineage.run(source, now)
            assert (again.cells, again.counts, again.cohort) == (version.cells, version.counts, frozenset())
            log.check(again, source)
    assert min(seen[name] for name in version.counts._fields) > 100


def test_a_run_that_is_skipped_changes_nothing_later():
    """Where on that night no cohort is due, and no exit group left whole: both are what a run decides for ever."""
    skips = compared = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        rows, divide = int(rng.integers(K, 5)), dealt(K, L) if seed % 2 else None
        always, seldom = (Lineage(K, L, rows, None, by_order(K, L), divide) for _ in range(2))
        source, former = {key: row(rng) for key in KEYS[:5]}, {}
        shown: set[Key] = set()
        skipped = False
        for now in range(STEPS):
            source = altered(rng, source, former)
            try:
                version = always.run(source, now)
            except InfeasibleError:
                break
            quiet = not version.cohort and shown <= set(version.cells)
            shown = set(version.cells)
            if quiet and now and rng.random() < 0.7:
                skips, skipped = skips + 1, True
                continue
            late = seldom.run(source, now)
            assert (late.cells, late.counts, late.cohort) == (version.cells, version.counts, version.cohort)
            compared += skipped and bool(version.cohort)
            skipped = False
    assert skips > 300
    assert compared > 50  # a cohort after a night that was skipped


def test_a_cohort_is_tried_by_counts_and_times():
    lineage = Lineage(2, 2, 3, 5, whole(2, 2))
    rows: dict[Key, Row] = {"a": Row((0,), 0), "b": Row((1,), 1)}
    assert set(lineage.run(rows, 0).cells) == {"a", "b"}
    rows |= {"c": Row((2,), 0)}
    assert lineage.run(rows, 9).counts.waiting == 1  # fewer than k, however long
    assert lineage.run(rows, 14).cohort == frozenset()
    rows |= {"d": Row((3,), 0)}
    assert lineage.run(rows, 14).refused  # c has waited 5, and two are k; their values are equal
    rows |= {key: Row((4,), i) for i, key in enumerate("efg")}
    assert lineage.run(rows, 15).cohort == {"e", "f", "g"}


def test_the_first_version_fails_and_the_clock_goes_forward():
    lineage = Lineage(2, 2, 2, None, whole(2, 2))
    for rows in ({}, {"a": Row((0,), 0)}, {"a": Row((0,), 0), "b": Row((1,), 0)}):
        with pytest.raises(InfeasibleError):
            lineage.run(rows, 0)
    lineage.run({"a": Row((0,), 0), "b": Row((1,), 1)}, 3)
    with pytest.raises(ValueError, match="backwards"):
        lineage.run({}, 2)
