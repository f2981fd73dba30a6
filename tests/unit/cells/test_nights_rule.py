"""Readers who know when a version follows: so many persons are new at least, and fewer were while none followed."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sqlanon.release.versions.statistics_lineage import is_old
from sqlanon.statistics.choose import UnservedError, choose_hidden
from sqlanon.statistics.shape import find_fewest
from sqlanon.statistics.system import with_least_total
from tests.oracle.table_reader import Cell, tables
from tests.unit.cells.made import Tiny, tiny

pytest.importorskip("highspy")

M = 3


def new_rows(seed: object) -> Tiny:
    draw = random.Random(str(seed))
    shape = draw.choice([(2, 2), (3,), (4,), (2, 3)])
    rows = [tuple(draw.choice([0, 0, *range(size)]) for size in shape) for _ in range(draw.randrange(M + 1, 9))]
    return tiny({row: rows.count(row) for row in sorted(set(rows))})


def read(case: Tiny, shown: Mapping[Cell, int | None], least: int) -> dict[Cell, set[int]]:
    """Of each small cell the numbers that a reader cannot rule out who knows that so many rows are new at least."""
    leaves = list(case.counts)
    every = [
        table
        for table in tables(leaves, shown, case.within, max(case.counts.values()) + M)
        if all(table) and sum(table) >= least
    ]
    return {
        cell: {sum(table[place] for place in case.within[cell]) for table in every}
        for cell in case.cells
        if case.value[cell] < M
    }


def check(seed: object) -> int:
    """Whether the total is hidden: the rule that a version needs so many new rows says nothing of small cells."""
    case = new_rows(seed)
    total = sum(case.counts.values())
    system = with_least_total(case.system(M), total)
    try:
        found = choose_hidden(system, M, insiders=False, secret=str(seed).encode())
    except UnservedError:
        return 0
    hidden = [bool(found.hidden[of]) for of in system.listed]
    assert found.witnesses.sum(axis=1).min() >= 0
    for cell, numbers in read(case, case.shown(hidden), total).items():
        assert min(numbers) <= case.parts(cell)
        assert max(numbers) >= M
    return int(hidden[case.cells.index((None,) * len(next(iter(case.counts))))])


def test_that_a_version_followed_says_nothing_of_small_cells() -> None:
    assert sum(check(seed) for seed in range(120))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_that_a_version_followed_says_nothing_of_small_cells_in_many_cases(seed: int) -> None:
    for part in range(60):
        check((seed, part))


def test_a_hidden_total_that_is_known_to_be_large_enough_gives_a_cell_away() -> None:
    """Why the rule is in the witnesses: 2 and 6 rows, and a version follows when 8 are new."""
    case = tiny({(0,): 2, (1,): 6})
    shown = {**case.value, (0,): None, (None,): None}
    assert min(read(case, shown, 0)[0,]) == 1
    assert min(read(case, shown, 8)[0,]) == 2


def test_a_version_that_time_asks_for_has_more_new_rows_than_a_small_cell() -> None:
    """While none follows, readers know that so few are new: no fewer than may be said."""
    assert find_fewest(8, None, M) == 8
    assert find_fewest(8, 60, M) - 1 == M
    assert find_fewest(None, None, M) == 0


def test_a_version_is_old_when_its_time_is_over() -> None:
    now = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
    before = cast("Any", SimpleNamespace(published_at="2026-11-29T11:00:00+00:00"))

    def old(every: int | None) -> bool:
        return is_old(every, before, now)

    assert [old(every) for every in (None, 3599, 3600, 3601)] == [False, True, True, False]
