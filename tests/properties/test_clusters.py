"""Clustering methods: their classes are never better than the best of all partitions.

`sequential` prices classes rightly and ends.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlanon.kernels.requirements import make_counters
from sqlanon.methods.clustering.kernels.balanced_start import deal
from sqlanon.methods.clustering.kernels.class_costs import (
    find_cheapest_cluster,
    make_lone_slot,
    make_priced,
    price_slot,
)
from sqlanon.methods.clustering.kernels.cluster import Count, Flag
from sqlanon.methods.clustering.kernels.costs_without_row import price_without_each
from tests.contract.cases import Case
from tests.covering import seeds
from tests.oracle.divisions import gcp, partitions
from tests.oracle.domains import Kind, Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy, meets
from tests.oracle.sequential import cost, sequential, total
from tests.properties.clusters import BY_DISTANCE, by_distance, by_sequential, clusterings, priced_by
from tests.properties.kernel import demands
from tests.properties.onedim import by_number, in_order
from tests.properties.strategies import cases, examples
from tests.properties.test_refine_search import drawn_table, least_loss

OBJECTIVES = ("loss", "mi", "pmi", "mixed")
MANY = 2**62
STOPPED = np.ones(1, np.int8)


def counted(table: Table, objective: str) -> bool:
    """Whether the objective takes the table."""
    return objective in ("loss", "mi") or len(table.sensitive) == 1


def below_the_best(kind: str, tables: int, most: int) -> None:
    """No method loses less than the best partition; each finds it now and then."""
    rng, best = random.Random(11), Counter[str]()
    for _ in range(tables):
        table, privacy = drawn_table(rng, kind, most)
        least = least_loss(table, privacy)
        for name, classes in clusterings(table, privacy).items():
            assert sorted(row for rows in classes for row in rows) == list(range(table.rows))
            assert all(meets(table, rows, privacy) for rows in classes), name
            assert gcp(table, classes) >= least, name
            best[name] += gcp(table, classes) == least
    assert len(+best) == len(best), best


@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_never_below_the_best_of_all_partitions(kind: str) -> None:
    below_the_best(kind, 12, 9)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_never_below_the_best_of_all_partitions_of_13_rows(kind: str) -> None:
    below_the_best(kind, 60, 13)


@pytest.mark.parametrize("objective", ["mi", "pmi", "mixed"])
def test_objectives_are_never_below_those_of_the_best_partition(objective: str) -> None:
    rng = random.Random(3)
    for _ in range(4):
        table, privacy = drawn_table(rng, "l", 7)
        options = {"objective": objective}
        every = partitions(range(table.rows), lambda rows: meets(table, rows, privacy))  # noqa: B023
        costs = [total(table, [list(rows) for rows in some], options) for some in every]
        assert by_sequential(table, privacy, options, 0)[1] >= min(costs)


@examples(40)
@given(case=cases(max_rows=14), data=st.data(), objective=st.sampled_from(OBJECTIVES))
def test_what_a_cluster_costs_and_where_rows_join_cheapest(case: Case, data: st.DataObject, objective: str) -> None:
    """Against costs counted anew from the table: of clusters, and of their unions with a row or a cluster."""
    table, n = case.table, case.table.rows
    assume(counted(table, objective) and n > 1)
    drawn = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    classes = by_number(drawn)
    priced_for, value = priced_by(table, objective)
    rows, asked = in_order(table)[0], demands(table, Privacy())
    made, past = make_priced(priced_for, n, len(classes) + 2), len(classes)
    for g, members in enumerate(classes):
        for row in members:
            made.after[row], made.head[g] = made.head[g], row
        price_slot(made, priced_for, rows.codes, value, g, -1, g)
    assert made.cost[:past].tolist() == [cost(table, members, objective) for members in classes]
    room = (asked, rows.number, make_counters(asked, n), np.empty(n, np.int64))
    for row in range(n):
        own = next(g for g, members in enumerate(classes) if row in members)
        make_lone_slot(made, priced_for, rows.codes, value, row, past)
        dearer = [
            (cost(table, [*members, row], objective) - cost(table, members, objective), g)
            for g, members in enumerate(classes)
            if g != own
        ]
        found = find_cheapest_cluster(made, priced_for, past, row, own, 0, past, -1, MANY, *room)
        assert found == (min(dearer)[::-1] if dearer else (-1, MANY))
        if dearer:
            assert find_cheapest_cluster(made, priced_for, past, row, own, 0, past, -1, min(dearer)[0], *room)[0] == -1
        price_slot(made, priced_for, rows.codes, value, own, row, past)
        assert made.cost[past] == cost(table, [r for r in classes[own] if r != row], objective)
    alone = np.empty(n, np.int64)
    for g, members in enumerate(classes):
        if len(members) > 1 and objective in ("loss", "mi"):
            price_without_each(made, priced_for, rows.codes, g, past, alone)
            assert [alone[row] for row in members] == [
                cost(table, [r for r in members if r != row], objective) for row in members
            ]
    for g, members in enumerate(classes):
        dearer = [
            (cost(table, members + other, objective) - cost(table, other, objective), h)
            for h, other in enumerate(classes)
            if h != g
        ]
        found = find_cheapest_cluster(made, priced_for, g, -1, g, 0, past, -1, MANY, *room)
        assert found == (min(dearer)[::-1] if dearer else (-1, MANY))


@examples(60)
@given(
    case=cases(max_rows=24),
    start=st.sampled_from(["random", "tree"]),
    objective=st.sampled_from(OBJECTIVES),
    alpha=st.sampled_from([10, 50, 100, 200]),
    omega=st.sampled_from([101, 150, 200]),
    seed=st.integers(0, 9),
)
def test_equals_the_oracle_with_every_option(
    case: Case, start: str, objective: str, alpha: int, omega: int, seed: int
) -> None:
    table, privacy = case.table, replace(case.privacy, k=max(1, case.privacy.k))
    assume(counted(table, objective))
    options = {"start": start, "objective": objective, "alpha": str(alpha), "omega": str(omega)}
    classes, price = by_sequential(table, privacy, options, seed)
    assert sorted(row for rows in classes for row in rows) == list(range(table.rows))
    assert all(meets(table, rows, privacy) for rows in classes)
    assert price == total(table, classes, options)
    expected = sequential(options, seed)(table, privacy, list(range(table.rows)))
    assert [sorted(rows) for rows in classes] == [sorted(rows) for rows in expected]


def _of_every_kind(rng: random.Random, n: int) -> tuple[Quasi, ...]:
    """A number, a nominal column and a hierarchy, with NULLs."""
    leaves = tuple((f"v{i}", f"m{i // 3}", f"u{i // 6}", "*") for i in range(12))
    kinds = {"number": range(30), "nominal": "abcdefghijkl", "hierarchy": [leaf[0] for leaf in leaves]}
    return tuple(
        Quasi(
            kind,
            tuple(None if rng.random() < 0.1 else rng.choice(values) for _ in range(n)),
            cast(Kind, kind),
            rng.choice([1, 3]),
            levels=leaves if kind == "hierarchy" else (),
        )
        for kind, values in kinds.items()
    )


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("start", ["random", "tree"])
@pytest.mark.parametrize(
    ("n", "columns", "top", "objective"),
    [(48, 1, 9, "loss"), (36, 3, 99, "loss"), (36, 0, 0, "loss"), (36, 0, 0, "mi")],
    ids=["ties", "wide", "every kind", "every kind, mi"],
)
def test_exchanges_equal_the_oracles(n: int, columns: int, top: int, objective: str, start: str, seed: int) -> None:
    """Two values as often as each other with l = 2.

    No cluster can spare a row, and all that is gained is gained by exchanges.

    Later passes look at little of what they looked at before, and clusters that a row would widen too much are passed
    over, which the oracle knows nothing of.
    """
    rng = random.Random(seed)
    for _ in range(6):
        said = [row % 2 for row in range(n)]
        rng.shuffle(said)
        quasi = tuple(Quasi(f"x{j}", tuple(rng.randint(0, top) for _ in range(n))) for j in range(columns))
        quasi = quasi or _of_every_kind(rng, n)
        table, privacy = Table(quasi, (Sensitive("s", tuple(said)),)), Privacy(k=6, l=Fraction(2))
        options = {"start": start, "alpha": "100", "objective": objective}
        classes, _ = by_sequential(table, privacy, options, 0)
        expected = sequential(options, 0)(table, privacy, list(range(n)))
        assert [sorted(rows) for rows in classes] == [sorted(rows) for rows in expected]


@examples(60)
@given(key=st.lists(st.integers(0, 5), min_size=1, max_size=40), t=st.integers(1, 12))
def test_rows_are_dealt_evenly_by_value(key: list[int], t: int) -> None:
    """Sizes differ by at most one, and so do the rows of each value."""
    rows, part = np.arange(len(key)), np.empty(len(key), np.int64)
    deal(rows, np.array(key), t, part)
    assert sorted(rows.tolist()) == list(range(len(key)))
    for value in {None, *key}:
        counts = [0] * t
        for row, c in zip(rows.tolist(), part.tolist(), strict=True):
            counts[c] += value in (None, key[row])
        assert max(counts) - min(counts) <= 1


def test_nothing_to_gain_and_ties_end() -> None:
    """Rows that are equal, and rows of which every pair costs the same."""
    same = Table((Quasi("x", (7,) * 12),))
    assert by_sequential(same, Privacy(k=4), {}, 0)[1] == 0
    level = Table((Quasi("x", tuple("abcdefghijkl"), "nominal"),))
    for k in (2, 3, 5):
        classes, _ = by_sequential(level, Privacy(k=k), {"alpha": "10"}, 0)
        assert all(len(rows) >= k for rows in classes)


def test_l_between_a_starts_rows_and_the_tables_own() -> None:
    """The paper's start gives up with one class where l is above alpha k, and makes empty clusters of rare values."""
    rng = random.Random(2)
    said = [*(v for v in "abcdef" for _ in range(10)), *"ghijklmnop"]
    rng.shuffle(said)
    line = Quasi("x", tuple(rng.randint(0, 99) for _ in said))
    table = Table((line,), (Sensitive("s", tuple(said)),))
    for start in ("random", "tree"):
        for l in (2, 4, 6, 7):  # noqa: E741 - the papers' symbol
            privacy = Privacy(k=4, l=Fraction(l))
            classes, _ = by_sequential(table, privacy, {"start": start}, 0)
            assert len(classes) > 1
            assert all(meets(table, rows, privacy) for rows in classes)


@pytest.mark.parametrize("objective", ["loss", "mi"])
def test_rows_are_exchanged_where_no_cluster_can_spare_one(objective: str) -> None:
    """Every cluster has one row of each value, as l requires.

    While two do not match, an exchange lowers the loss: to 0 in the end.
    """
    places, said = [place for place in range(12) for _ in "ab"], tuple("ab" * 12)
    table = Table((Quasi("x", tuple(places)),), (Sensitive("s", said),))
    options = {"alpha": "100", "objective": objective}
    for seed in range(5):
        classes, _ = by_sequential(table, Privacy(k=2, l=Fraction(2)), options, seed)
        assert [{places[row] for row in rows} for rows in classes] == [{place} for place in range(12)]


@pytest.mark.parametrize("start", ["random", "tree"])
def test_a_start_that_halving_passes_over_is_found(start: str) -> None:
    """Halving tries 120, 60, 30, 15, 7, 3 and 1 cluster.

    50 have each of the 12 values once, and every multiple of 12 rows else.
    """
    rng = random.Random(5)
    said = [i % 12 for i in range(600)]
    rng.shuffle(said)
    line = Quasi("x", tuple(rng.randint(0, 99) for _ in said))
    table, privacy = Table((line,), (Sensitive("s", tuple(said)),)), Privacy(k=10, l=Fraction(12))
    classes, _ = by_sequential(table, privacy, {"start": start}, 0)
    assert len(classes) == 50
    assert all(meets(table, rows, privacy) for rows in classes)


@pytest.mark.parametrize(("counts", "l"), [((9,) * 5, 5), ((10,) * 4, 4), ((25,) * 3, 3), ((15, 15, 6), 2)])
def test_starts_that_halving_passes_over_equal_the_oracle(counts: tuple[int, ...], l: int) -> None:  # noqa: E741
    rng = random.Random(7)
    said = [value for value, count in enumerate(counts) for _ in range(count)]
    rng.shuffle(said)
    table = Table((Quasi("x", tuple(rng.randint(0, 30) for _ in said)),), (Sensitive("s", tuple(said)),))
    for k in (2, 3, 5):
        privacy = Privacy(k=k, l=Fraction(l))
        expected = sequential({}, 0)(table, privacy, list(range(table.rows)))
        classes, _ = by_sequential(table, privacy, {}, 0)
        assert [sorted(rows) for rows in classes] == [sorted(rows) for rows in expected]


@pytest.mark.parametrize("start", ["random", "tree"])
def test_an_interrupted_run_ends_where_it_is(start: str) -> None:
    """No row moves and no clusters unite: those of the start have half of k rows."""
    table = Table((Quasi("x", tuple(i * 7 % 40 for i in range(40))),))
    classes, _ = by_sequential(table, Privacy(k=4), {"start": start}, 0, stop=STOPPED)
    assert [len(rows) for rows in classes] == [2] * 20
    assert all(len(rows) >= 4 for rows in by_sequential(table, Privacy(k=4), {"start": start}, 0)[0])


LONG = Table((Quasi("x", tuple(i * 7 % 40 for i in range(40))), Quasi("y", tuple(i * i % 17 for i in range(40)))))
"""Repeated 10,000 times it takes any of the kernels minutes or hours."""


@contextmanager
def once_counted() -> Iterator[tuple[Flag, Count]]:
    """What stops a kernel as soon as it has counted something, which another thread reads while it runs."""
    stop, done, seen = np.zeros(1, np.int8), np.zeros(1, np.int64), list[int]()

    def watch() -> None:
        for _ in range(12_000):
            if done[0]:
                break
            time.sleep(0.01)
        seen.append(int(done[0]))
        stop.fill(1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield stop, done
    watcher.join()
    assert seen[0] > 0


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_an_interrupted_kernel_ends_and_writes_nothing(name: str) -> None:
    """Before it begins, and in the midst of it."""
    group, count = by_distance(name, LONG, Privacy(k=4), np.ones(1, np.int8), 10_000)
    assert (count, set(group.tolist())) == (0, {-1})
    with once_counted() as (stop, done):
        group, count = by_distance(name, LONG, Privacy(k=4), stop, 10_000, done)
    assert (count, set(group.tolist())) == (0, {-1})


def test_passes_of_sequential_count_rows_and_end_where_they_are_interrupted() -> None:
    with once_counted() as (stop, done):
        by_sequential(LONG, Privacy(k=4), {}, 0, times=500, stop=stop, done=done)
    assert 0 < done[0] < 20_000


@pytest.mark.thorough
@pytest.mark.parametrize("objective", ["loss", "mi"])
def test_an_interrupted_start_prices_no_cluster_and_unites_none(objective: str) -> None:
    classes, price = by_sequential(LONG, Privacy(k=4), {"objective": objective}, 0, 10_000, STOPPED)
    assert len(classes) == 200_000
    assert price == 0
