"""The search of refine.

Never worse, every requirement kept, and on small tables nearly always the best of all partitions.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.random import seed_state
from sqlanon.methods.shared import search as blocks
from sqlanon.methods.shared.kernel_input import WholeTable
from sqlanon.methods.shared.kernels.search import search
from sqlanon.methods.shared.search_table import SearchTable
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, wide
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.partitions import least_cost
from tests.oracle.requirements import Privacy, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_number, context_of, in_order
from tests.properties.strategies import cases, examples

Classes = list[list[int]]


def least_of(privacy: Privacy) -> int:
    """Rows of a class, at least."""
    return max(privacy.k, int(np.ceil(privacy.l or 1)), privacy.distinct_l or 1, 1)


def searched(table: Table, privacy: Privacy, classes: Classes, trials: int, seed: int = 1) -> tuple[Classes, int]:
    rows, shape = in_order(table)
    group = np.empty(table.rows, np.int32)
    for number, members in enumerate(classes):
        group[members] = number
    least = least_of(privacy)
    gain = search(
        rows.places,
        rows.sets,
        shape,
        demands(table, privacy),
        group,
        len(classes),
        least,
        16 * least,
        trials,
        seed_state(seed),
    )
    return by_number(group), gain


def lawful(table: Table, privacy: Privacy, drawn: list[int]) -> Classes:
    """Drawn classes, those that do not meet the requirements merged with others."""
    merged: Classes = []
    for members in by_number(drawn):
        if merged and not meets(table, merged[-1], privacy):
            merged[-1] += members
        else:
            merged.append(list(members))
    while len(merged) > 1 and not meets(table, merged[-1], privacy):
        last = merged.pop()
        merged[-1] += last
    return merged


@examples(100)
@given(case=cases(max_rows=40), data=st.data(), trials=st.integers(1, 8), seed=st.integers(0, 99))
def test_searched_classes_are_no_worse_and_keep_every_requirement(
    case: Case, data: st.DataObject, trials: int, seed: int
) -> None:
    table, privacy = case.table, replace(case.privacy, k=max(1, case.privacy.k))
    drawn = data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows))
    before = lawful(table, privacy, drawn)
    if not meets(table, before[0], privacy):
        return
    after, gain = searched(table, privacy, before, trials, seed)
    assert sorted(row for rows in after for row in rows) == list(range(table.rows))
    assert all(meets(table, rows, privacy) for rows in after)
    assert gain == gcp(table, before) - gcp(table, after)
    assert gain >= 0
    assert searched(table, privacy, before, trials, seed)[0] == after


def drawn_table(rng: random.Random, kind: str, most: int) -> tuple[Table, Privacy]:
    """A table of ranges, sets or trees, or of ranges with a sensitive column, and what is asked of it."""
    n, k = rng.randint(5, most), rng.randint(2, 4)
    shown = {"ranges": "number", "sets": "nominal", "trees": "hierarchy", "l": "number"}[kind]
    columns = []
    for j in range(rng.randint(1, 3)):
        values = [rng.randint(0, 9) for _ in range(n)]
        if shown == "hierarchy":
            levels = tuple((f"v{v}", f"m{v // 2}", f"u{v // 5}", "*") for v in range(10))
            columns.append(Quasi(f"x{j}", tuple(f"v{v}" for v in values), "hierarchy", levels=levels))
        elif shown == "nominal":
            columns.append(Quasi(f"x{j}", tuple(f"v{v}" for v in values), "nominal"))
        else:
            columns.append(Quasi(f"x{j}", tuple(values)))
    if kind != "l":
        return Table(tuple(columns)), Privacy(k=k)
    disease = [("flu", "cold", "hiv")[i % 3] for i in range(n)]
    rng.shuffle(disease)
    return Table(tuple(columns), (Sensitive("s", tuple(disease)),)), Privacy(k=k, l=Fraction(2))


def least_loss(table: Table, privacy: Privacy) -> int:
    """The least rows x extents of all partitions.

    For every set of rows, the best class that holds the first of them.
    """
    n = table.rows
    owned: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for chosen in range(1, 1 << n):
        rows = [row for row in range(n) if chosen >> row & 1]
        # Without l a class of 2k rows or more can be divided: both parts are at most as wide.
        if (privacy.l is not None or len(rows) < 2 * privacy.k) and meets(table, rows, privacy):
            owned[rows[0]].append((chosen, len(rows) * wide(table, rows)))
    return least_cost(owned)


def found_best(kind: str, tables: int, most: int) -> int:
    """In how many tables a search of 100 trials from one class of all rows finds the best partition."""
    rng, found = random.Random(7), 0
    for number in range(tables):
        table, privacy = drawn_table(rng, kind, most)
        after, _ = searched(table, privacy, [list(range(table.rows))], 100, seed=number)
        least, reached = least_loss(table, privacy), gcp(table, after)
        assert reached >= least
        found += reached == least
    return found


@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_nearly_always_the_best_of_all_partitions(kind: str) -> None:
    assert found_best(kind, 10, 9) >= 9


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_nearly_always_the_best_of_all_partitions_of_13_rows(kind: str) -> None:
    assert found_best(kind, 45, 13) >= 43


def test_threads_change_nothing_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 60)
    rng = random.Random(5)
    table = Table(tuple(Quasi(name, tuple(rng.randint(0, 99) for _ in range(400))) for name in "xy"))
    privacy, before = Privacy(k=4), [list(range(at, at + 8)) for at in range(0, 400, 8)]
    rows, shape = in_order(table)

    def classes(threads: int, seed: int) -> Classes:
        context = context_of(table, privacy, threads=threads)
        context.search_seed = seed  # type: ignore[misc]
        codes, group = rows.codes[:, :2].T.copy(), np.repeat(np.arange(50), 8)
        return by_number(blocks.search_classes(SearchTable(context, codes, [], shape, WholeTable()), group, 9).group)

    one = classes(1, 0)
    assert sorted(row for rows in one for row in rows) == list(range(400))
    assert all(len(rows) >= 4 for rows in one)
    assert gcp(table, one) < gcp(table, before)
    assert classes(4, 0) == one
    assert classes(1, 3) != one


@pytest.mark.thorough
def test_trials_end_where_they_gain_little_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 60)
    rng = random.Random(6)
    table = Table(tuple(Quasi(name, tuple(rng.randint(0, 99) for _ in range(400))) for name in "xy"))
    rows, shape = in_order(table)

    def searched(threads: int, least_gain: Fraction) -> tuple[list[int], int]:
        context = context_of(table, Privacy(k=4), threads=threads)
        context.search_seed = 0  # type: ignore[misc]
        codes, group = rows.codes[:, :2].T.copy(), np.repeat(np.arange(50), 8)
        found = blocks.search_classes(
            SearchTable(context, codes, [], shape, WholeTable()), group, 400, least_gain=least_gain
        )
        return found.group.tolist(), found.trials

    assert searched(1, Fraction(100))[1] == 2 * blocks.ROUND
    assert searched(1, Fraction(0))[1] == 400
    one = searched(1, Fraction(1, 500))
    assert 2 * blocks.ROUND < one[1] < 400
    assert searched(4, Fraction(1, 500)) == one


def test_classes_appear_and_vanish() -> None:
    table = Table((Quasi("x", (0, 1, 2, 50, 51, 52, 100, 101, 102)),))
    apart, _ = searched(table, Privacy(k=3), [list(range(9))], 20)
    assert sorted(map(sorted, apart)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    together = Table((Quasi("x", (0, 0, 9, 9, 9, 0)),))
    fewer, _ = searched(together, Privacy(k=2), [[0, 2], [1, 3], [4, 5]], 20)
    assert sorted(map(sorted, fewer)) == [[0, 1, 5], [2, 3, 4]]


def test_nothing_to_gain_and_ties_end() -> None:
    same = Table((Quasi("x", (7,) * 12),))
    assert searched(same, Privacy(k=2), [list(range(6)), list(range(6, 12))], 1000)[1] == 0
    level = Table((Quasi("x", tuple("ab"[i % 2] for i in range(12)), "nominal"),))
    classes, gain = searched(level, Privacy(k=6), [list(range(6)), list(range(6, 12))], 100)
    assert gcp(level, classes) == 0
    assert gain > 0
