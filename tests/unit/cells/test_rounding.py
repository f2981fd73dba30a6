"""Controlled rounding of tiny tables, against every rounding and every table that a reader cannot rule out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.rounded_tables import RoundedTables, see_rounded
from sqlanon.statistics.rounding import NoRoundingError, round_atoms
from sqlanon.statistics.work import Work
from tests.oracle.table_reader import Cell
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

NONE = {
    (0, 0, 0): 1,
    (0, 0, 1): 2,
    (0, 0, 2): 2,
    (0, 1, 1): 4,
    (0, 1, 2): 3,
    (1, 0, 0): 4,
    (1, 0, 1): 3,
    (1, 1, 0): 1,
    (1, 1, 2): 2,
}
"""A table of three columns that has no controlled rounding to multiples of 5 (found by trying all of them)."""


def roundings(case: Tiny, base: int) -> Iterator[tuple[int, ...]]:
    """Every controlled rounding, by the definition."""
    able = [[n - n % base] if n % base == 0 else [n - n % base, n - n % base + base] for n in case.counts.values()]
    for made in itertools.product(*able):
        sums = {cell: sum(made[place] for place in places) for cell, places in case.within.items()}
        if all(abs(sums[cell] - case.value[cell]) < base for cell in case.cells):
            yield made


def read(case: Tiny, rounded: Mapping[Cell, int], base: int, most: int) -> dict[Cell, tuple[int, int]]:
    """The ends of each cell over all tables from 1 to a number, as a reader of the rounded cells computes them."""
    grid = np.indices((most,) * len(case.counts), np.int16).reshape(len(case.counts), -1) + 1
    fits = np.ones(grid.shape[1], bool)
    sums = {cell: grid[list(places)].sum(axis=0) for cell, places in case.within.items()}
    for cell, number in rounded.items():
        fits &= np.abs(sums[cell] - number) < base
    return {cell: (int(own[fits].min()), int(own[fits].max())) for cell, own in sums.items()}


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize("seed", range(8))
def test_a_rounding_is_one_of_all_that_there_are(seed: int, base: int) -> None:
    case = tiny(drawn(seed, (2, 2, 2) if seed % 2 else (3, 3), 7))
    system, able = case.system(base), set(roundings(case, base))
    try:
        made = round_atoms(system, base, b"key")
    except NoRoundingError:
        assert not able
        return
    assert tuple(made.tolist()) in able


def test_draws_with_other_keys_reach_other_roundings() -> None:
    case = tiny(drawn("keys", (2, 3), 7))
    system, able = case.system(3), set(roundings(case, 3))
    found = {tuple(round_atoms(system, 3, bytes([key])).tolist()) for key in range(60)}
    assert found <= able
    assert len(found) > len(able) // 2


def test_a_table_without_a_rounding_is_said_to_have_none() -> None:
    case = tiny(NONE)
    assert not list(roundings(case, 5))
    with pytest.raises(NoRoundingError) as none:
        round_atoms(case.system(5), 5, b"key")
    assert not none.value.exhausted


@pytest.mark.parametrize("seed", range(6))
def test_a_reader_of_a_rounding_cannot_bound_a_small_cell(seed: int) -> None:
    case, base = tiny({codes: n + 1 for codes, n in drawn(seed, (2, 2), 5).items()}), 5
    system = case.system(base)
    made = round_atoms(system, base, b"key")
    numbers = system.sums(made)
    served = RoundedTables(system, see_rounded(system, find_margins(system), numbers, base), base - 1, Work())
    left = set(served.serve().tolist())
    rounded = {cell: int(numbers[of]) for cell, of in zip(case.cells, system.listed, strict=True)}
    ends = read(case, rounded, base, 16)
    reach = Reach(see_rounded(system, find_margins(system), numbers, base))
    for cell, of in zip(case.cells, system.listed.tolist(), strict=True):
        low, high = ends[cell]
        assert reach.span(system.members(of))[:2] == (low, high)
        if case.value[cell] < base:
            assert (low <= case.parts(cell) and high >= base - 1) == (of not in left)
    for table in served.tables:
        sums = {cell: sum(int(table[place]) for place in case.within[cell]) for cell in case.cells}
        assert all(abs(sums[cell] - rounded[cell]) < base for cell in case.cells)


def test_each_cell_rounded_by_itself_gives_a_small_one_away() -> None:
    """Naive: the nearest multiple of 3 of each cell, sums or not. A reader of the total finds all four cells."""
    case = tiny({(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1})
    nearest = {cell: 3 * round(n / 3) for cell, n in case.value.items()}
    assert {nearest[cell] for cell in case.cells if None not in cell} == {0}
    ends = read(case, nearest, 2, 8)  # the nearest multiple of 3 is within 1
    assert {ends[cell] for cell in case.cells if None not in cell} == {(1, 1)}


def test_the_search_for_tables_ends_at_the_limit_of_its_work() -> None:
    case, base = tiny({codes: n + 1 for codes, n in drawn(2, (2, 2), 5).items()}), 5
    system = case.system(base)
    numbers = system.sums(round_atoms(system, base, b"key"))
    seen = see_rounded(system, find_margins(system), numbers, base)
    every = RoundedTables(system, seen, base - 1, Work())
    assert not len(every.serve())
    limited = RoundedTables(system, seen, base - 1, Work(most_read=1))
    assert len(limited.serve())
    assert len(limited.tables) < len(every.tables)
