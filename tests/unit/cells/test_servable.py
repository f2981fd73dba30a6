"""Coarser levels that are proposed where the search for hidden cells takes too long."""

from __future__ import annotations

import itertools

import pytest

from sqlanon.statistics.cube import Margin, find_servable

TABLES = [((0, 3), (0, 2), (2, 2)), ((3, 3), (0, 2), (0, 2))]
"""Of each table the least and the greatest level of each of three columns; the greatest of all is the total."""


def _margins(small_of: dict[tuple[int, ...], int]) -> list[Margin]:
    of = {levels for table in TABLES for levels in itertools.product(*(range(a, b + 1) for a, b in table))}
    return [
        Margin(str(levels), levels, 40 // (1 + sum(levels)), small_of.get(levels, 0) / (40 // (1 + sum(levels))))
        for levels in sorted(of)
    ]


def _left(margins: list[Margin], levels: tuple[int, ...]) -> int:
    """Small cells that are left where the first two columns have such levels."""
    return sum(
        round(margin.share * margin.cells)
        for margin in margins
        if margin.levels[0] >= levels[0] and margin.levels[1] >= levels[1]
    )


def _cells(margins: list[Margin], levels: tuple[int, ...]) -> int:
    return sum(m.cells for m in margins if m.levels[0] >= levels[0] and m.levels[1] >= levels[1])


SMALL = {(0, 0, 2): 9, (1, 0, 2): 5, (0, 1, 2): 4, (0, 2, 2): 2, (1, 1, 2): 2, (2, 0, 2): 1, (3, 0, 0): 3}


@pytest.mark.parametrize("able", [30, 8, 7, 3, 1, 0])
def test_levels_leave_as_few_small_cells_as_a_search_is_able_to_protect(able: int) -> None:
    margins = _margins(SMALL)
    finest = next(margin for margin in margins if margin.levels == (0, 0, 2))
    found = find_servable(margins, finest, able)
    assert found is not None
    assert _left(margins, found.levels) <= able
    coarser = [m for m in margins if m is not finest and m.levels[2] == 2 and _left(margins, m.levels) <= able]
    assert _cells(margins, found.levels) == max(_cells(margins, m.levels) for m in coarser)


def test_if_none_leaves_so_few_that_with_the_fewest_is_proposed() -> None:
    margins = _margins({**SMALL, (3, 2, 2): 1, (3, 2, 0): 4})
    finest = next(margin for margin in margins if margin.levels == (0, 0, 2))
    found = find_servable(margins, finest, 0)
    assert found is not None
    coarser = [m for m in margins if m is not finest and m.levels[2] == 2]
    assert _left(margins, found.levels) == min(_left(margins, m.levels) for m in coarser)
    total = next(margin for margin in margins if margin.levels == (3, 2, 2))
    assert find_servable(margins, total, 0) is None
