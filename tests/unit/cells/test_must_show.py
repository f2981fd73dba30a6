"""Margins that must be shown are, and readers who try every table find no small cell then either."""

from __future__ import annotations

import pytest

from sqlanon.statistics.choose import HiddenChoice, UnservedError, choose_hidden
from sqlanon.statistics.must_show import Levels, find_hidden, fix_margins
from tests.oracle.table_reader import numbers, tables
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

M = 3


def margin_of(cell: tuple[object, ...]) -> Levels:
    return tuple(1 if code is None else 0 for code in cell)


def protect(case: Tiny, show: list[Levels], *, insiders: bool = False) -> HiddenChoice | None:
    """The hidden cells; None: the margins cannot be shown."""
    system = case.system(M)
    small = [margin_of(cell) in show and case.value[cell] < M for cell in case.cells]
    first = find_hidden(system, show, system.small)
    assert (first is not None) == any(small)
    if first is not None:
        return None
    try:
        return choose_hidden(fix_margins(system, show), M, insiders=insiders, secret=b"key")
    except UnservedError:
        return None


def check(case: Tiny, show: list[Levels], found: HiddenChoice, known: dict[int, int] | None = None) -> None:
    """Cells of the margins are shown, and each small cell can have each number that is promised."""
    hidden = [bool(found.hidden[of]) for of in case.system(M).listed]
    shown = case.shown(hidden)
    assert all(shown[cell] == case.value[cell] for cell in case.cells if margin_of(cell) in show)
    asked = [cell for cell in case.cells if case.value[cell] < M]
    if known:
        asked = [cell for cell in asked if set(case.within[cell]) - set(known)]
    most = min(max(case.value.values()), 2 * M + 4)
    seen = numbers(tables(list(case.counts), shown, case.within, most, known), case.within, asked)
    assert all(seen[cell].issuperset(range(case.parts(cell), M + 1)) for cell in asked)


@pytest.mark.parametrize("show", [[(1, 1)], [(0, 1)], [(0, 1), (1, 0)]], ids=str)
def test_no_reader_finds_a_small_cell_of_two_columns(show: list[Levels]) -> None:
    served = 0
    for seed in range(8):
        case = tiny(drawn(("show", seed), (3, 4)))
        found = protect(case, show)
        if found is not None:
            check(case, show, found)
            served += 1
    assert served


@pytest.mark.parametrize("seed", [65, 173, 180])
def test_other_cells_are_hidden_where_a_margin_is_shown(seed: int) -> None:
    """Without `show` a cell of this margin is hidden."""
    case, show = tiny(drawn(("show", seed), (2, 2, 3), 6)), [(0, 0, 1)]
    before = protect(case, [])
    assert before is not None
    with pytest.raises(AssertionError):
        check(case, show, before)
    found = protect(case, show)
    assert found is not None
    check(case, show, found)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(40, 70))
@pytest.mark.parametrize("show", [[(0, 0, 1)], [(0, 1, 0)], [(0, 0, 1), (0, 1, 0)]], ids=str)
def test_no_reader_finds_a_small_cell_of_three_columns(show: list[Levels], seed: int) -> None:
    case = tiny(drawn(("show", seed), (2, 2, 3), 6))
    found = protect(case, show)
    if found is not None:
        check(case, show, found)


def test_who_is_alone_finds_no_small_cell_either() -> None:
    served = 0
    for seed in range(8):
        case, show = tiny(drawn(("show alone", seed), (3, 4))), [(1, 0)]
        found = protect(case, show, insiders=True)
        for place, number in enumerate(case.counts.values() if found is not None else ()):
            if number == 1:
                assert found is not None
                check(case, show, found, {place: 1})
                served += 1
    assert served


def test_a_margin_is_refused_only_if_no_choice_shows_it() -> None:
    """All other cells are hidden, and every table is tried: the small cell is found, so that no choice can be made."""
    refused = 0
    for seed in range(12):
        case, show = tiny(drawn(("refused", seed), (2, 3), 6)), [(0, 1), (1, 0)]
        if any(case.value[cell] < M for cell in case.cells if margin_of(cell) in show):
            continue
        if protect(case, show) is None:
            with pytest.raises(AssertionError):
                check_all_hidden(case, show)
            refused += 1
        else:
            check_all_hidden(case, show)
    assert refused


def check_all_hidden(case: Tiny, show: list[Levels]) -> None:
    shown = case.shown([margin_of(cell) not in show for cell in case.cells])
    asked = [cell for cell in case.cells if case.value[cell] < M]
    seen = numbers(tables(list(case.counts), shown, case.within, 2 * M + 4), case.within, asked)
    assert all(seen[cell].issuperset(range(case.parts(cell), M + 1)) for cell in asked)
