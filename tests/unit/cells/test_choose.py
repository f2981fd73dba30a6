"""What is hidden is hidden from a reader who tries every table, and from one who is alone in a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sqlanon.statistics import choose, count_search
from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.choose import HiddenChoice, UnservedError, choose_hidden
from sqlanon.statistics.work import Work
from tests.oracle.table_reader import ends, numbers, tables
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

M = 3


def failing(case: Tiny, hidden: Sequence[bool], known: dict[int, int] | None = None) -> list[tuple[object, ...]]:
    """The small cells that cannot have each number that is promised; ``known``: numbers that an insider knows."""
    shown = case.shown(hidden)
    asked = [cell for cell in case.cells if case.value[cell] < M]
    if known:
        asked = [cell for cell in asked if set(case.within[cell]) - set(known)]
    most = max(case.value.values())
    found = numbers(tables(list(case.counts), shown, case.within, min(most, 2 * M + 4), known), case.within, asked)
    return [cell for cell in asked if not found[cell].issuperset(range(case.parts(cell), M + 1))]


def protect(case: Tiny, *, insiders: bool) -> HiddenChoice | None:
    try:
        return choose_hidden(case.system(M), M, insiders=insiders, secret=b"key")
    except UnservedError:
        return None


def hidden_of(case: Tiny, found: HiddenChoice) -> list[bool]:
    return [bool(found.hidden[of]) for of in case.system(M).listed]


@pytest.mark.parametrize("seed", range(12))
def test_no_reader_finds_a_small_cell_of_two_columns(seed: int) -> None:
    case = tiny(drawn(seed, (3, 4)))
    found = protect(case, insiders=False)
    assert found is not None
    assert failing(case, hidden_of(case, found)) == []


@pytest.mark.parametrize("seed", range(4))
def test_no_reader_finds_a_small_cell_of_three_columns(seed: int) -> None:
    case = tiny(drawn(("three", seed), (2, 2, 3), 6))
    found = protect(case, insiders=False)
    assert found is not None
    assert failing(case, hidden_of(case, found)) == []


@pytest.mark.parametrize("seed", range(8))
def test_nobody_who_is_alone_finds_another_small_cell(seed: int) -> None:
    case = tiny(drawn(("alone", seed), (3, 4)))
    found = protect(case, insiders=True)
    assert found is not None
    hidden = hidden_of(case, found)
    numbers = list(case.counts.values())
    for place, number in enumerate(numbers):
        if number == 1:
            assert failing(case, hidden, {place: 1}) == []


@pytest.mark.parametrize("seed", range(6))
def test_no_reader_finds_a_small_cell_of_linked_tables(seed: int) -> None:
    case = tiny(drawn(("linked", seed), (2, 3, 2), 4), [(0, 1), (1, 2)])
    found = protect(case, insiders=False)
    if found is not None:  # what the combinations that occur do not allow is refused
        assert failing(case, hidden_of(case, found)) == []


@pytest.mark.parametrize("seed", range(6))
def test_witnesses_agree_with_what_is_shown(seed: int) -> None:
    system = tiny(drawn(("witness", seed), (3, 3, 2))).system(M)
    found = choose_hidden(system, M, insiders=True, secret=b"key")
    for change in found.witnesses:
        moved = system.sums(change)
        assert not moved[~found.hidden].any()
        assert (system.value + moved >= 1).all()
        assert (system.atoms.count + change >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_every_table(seed: int) -> None:
    case = tiny(drawn(("bounds", seed), (3, 3), 6))
    system = case.system(M)
    found = choose_hidden(system, M, insiders=False, secret=b"key")
    (bounds,) = bound_cells(system, found.hidden, WitnessTables(found.witnesses))
    shown = case.shown(hidden_of(case, found))
    if shown[None, None] is None:
        return
    seen = ends(tables(list(case.counts), shown, case.within, case.value[None, None]), case.within, case.cells)
    for place, cell in enumerate(case.cells):
        assert (bounds.low[place], bounds.high[place]) == seen[cell]
        assert bounds.tight[place]


@pytest.mark.parametrize("insiders", [False, True])
def test_three_single_persons_in_a_row(insiders: bool) -> None:
    """The table of sdcTools/UserSupport issue 135, where cells of at most 2 are small."""
    rows = [(1, 1, 7, 1, 0), (1, 0, 0, 2, 8)]
    case = tiny({(i, j): n for i, row in enumerate(rows) for j, n in enumerate(row)})
    found = protect(case, insiders=insiders)
    assert found is not None
    hidden = hidden_of(case, found)
    assert failing(case, hidden) == []
    for place, n in enumerate(case.counts.values()):
        if insiders and n == 1:
            assert failing(case, hidden, {place: 1}) == []


def test_of_a_table_of_one_small_cell_everything_is_hidden() -> None:
    case = tiny({(0, 0): 2})
    found = choose_hidden(case.system(M), M, insiders=True, secret=b"key")
    assert found.hidden.all()


@pytest.mark.parametrize("secret", [b"a", b"b", b"c"])
def test_small_cells_that_protect_each_other_are_hidden_alone(secret: bytes) -> None:
    """Two in each row and each column, on one cycle: one more and one less in turn changes no margin.

    Along it each 2 becomes 3, the threshold, or 1, the least number, so that nothing else needs to be hidden.
    """
    case = tiny({(i, j): 2 if j in (i, (i + 1) % 5) else 9 for i in range(5) for j in range(5)})
    system = case.system(M, secret)
    found = choose_hidden(system, M, insiders=False, secret=secret)
    hidden = {cell for cell, of in zip(case.cells, system.listed, strict=True) if found.hidden[of]}
    assert hidden == {cell for cell in case.cells if case.value[cell] == 2}


def test_the_secret_decides_between_equal_cells() -> None:
    case = tiny({(i, j): 1 if i == j == 0 else 9 for i in range(4) for j in range(4)})
    patterns = {
        tuple(choose_hidden(case.system(M, key), M, insiders=False, secret=key).hidden)
        for key in (b"a", b"b", b"c", b"d")
    }
    assert len(patterns) > 1


def test_equal_cells_are_one_class() -> None:
    case = tiny({(0, 0): 4, (1, 0): 5, (1, 1): 6})
    system = case.system(M)
    by_cell = dict(zip(case.cells, system.listed, strict=True))
    assert by_cell[0, None] == by_cell[0, 0]
    assert by_cell[None, 1] == by_cell[1, 1]
    assert by_cell[None, 0] != by_cell[1, 0]
    assert list(np.bincount(system.listed)).count(2) == 2


@pytest.mark.parametrize("insiders", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_reader_finds_a_small_cell_where_programs_have_near_atoms_alone(
    seed: int, insiders: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_search, "SPARED", 10**12)
    monkeypatch.setattr(count_search, "NEARBY", (4, 8))
    case = tiny(drawn(("near", seed), (3, 4)))
    found = protect(case, insiders=insiders)
    assert found is not None
    assert failing(case, hidden_of(case, found)) == []


@pytest.mark.parametrize("limit", ["work", "matrices"])
def test_a_search_that_costs_too_much_names_a_margin(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, most = tiny(drawn(1, (3, 4))).system(M), {"most_work": 1} if limit == "work" else {}
    if limit == "matrices":
        monkeypatch.setattr(choose, "Work", lambda most, _: Work(most, most_read=1))
    with pytest.raises(UnservedError) as raised:
        choose_hidden(system, M, insiders=False, secret=b"key", **most)
    assert raised.value.exhausted
    assert system.small[system.listed[raised.value.margin]]
