"""Schemes that look safe and are not: each lets a reader who tries every table find a small cell.

They are why the rules of docs/statistics.md are as they are. Each scheme is compared with what is published instead.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sqlanon.statistics.choose import choose_hidden
from tests.oracle.table_reader import Cell, ends, tables
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

M = 3


def read(case: Tiny, shown: Mapping[Cell, int | None], known: dict[int, int] | None = None) -> set[Cell]:
    """The small cells whose number a reader finds exactly, and does not know anyhow."""
    asked = [cell for cell in case.cells if case.value[cell] < M and shown.get(cell) is None]
    asked = [cell for cell in asked if set(case.within[cell]) - set(known or {})]
    most = min(max(case.value.values()), 2 * M + 4)
    found = ends(tables(list(case.counts), shown, case.within, most, known), case.within, asked)
    # A cell of as many parts as it has persons is known by its parts alone.
    return {cell for cell, (low, high) in found.items() if low == high}


def safe(case: Tiny, *, insiders: bool = False) -> dict[Cell, int | None]:
    system = case.system(M)
    found = choose_hidden(system, M, insiders=insiders, secret=b"key")
    return case.shown([bool(found.hidden[of]) for of in system.listed])


def test_hiding_small_cells_alone_gives_them_back_by_subtraction() -> None:
    case = tiny({(0, 0): 1, (0, 1): 7, (1, 0): 6, (1, 1): 8})
    naive = case.shown([case.value[cell] < M for cell in case.cells])
    assert read(case, naive) == {(0, 0)}
    assert read(case, safe(case)) == set()


def test_linked_tables_protected_one_by_one_give_a_cell_away() -> None:
    found = 0
    for seed in range(40):
        case = tiny(drawn(("one by one", seed), (2, 3, 2), 4), [(0, 1), (1, 2)])
        shown: dict[Cell, int | None] = {}
        for own in case.tables:
            alone = tiny(_margin(case, own))
            pattern = safe(alone)
            for cell, value in pattern.items():
                whole = _lift(cell, own, 3)
                shown[whole] = None if value is None or (whole in shown and shown[whole] is None) else value
        found += bool(read(case, shown))
        if found:
            return
    pytest.fail("no table shows it")


def _margin(case: Tiny, own: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    made: dict[tuple[int, ...], int] = {}
    for codes, n in case.counts.items():
        key = tuple(codes[at] for at in own)
        made[key] = made.get(key, 0) + n
    return made


def _lift(cell: Cell, own: tuple[int, ...], columns: int) -> Cell:
    known = dict(zip(own, cell, strict=True))
    return tuple(known.get(at) for at in range(columns))


@pytest.mark.thorough
def test_primary_and_secondary_as_statuses_give_cells_away() -> None:
    """With two statuses a reader knows that a primary cell is below the threshold, and a secondary one is not."""
    found = 0
    for seed in range(20):
        case = tiny(drawn(("status", seed), (3, 3)))
        shown = safe(case)
        small = [cell for cell in case.cells if case.value[cell] < M]
        possible = [
            table
            for table in tables(list(case.counts), shown, case.within, 2 * M + 4)
            if all(
                (sum(table[at] for at in case.within[cell]) < M) == (cell in small)
                for cell in case.cells
                if shown[cell] is None
            )
        ]
        exact = {
            cell
            for cell in small
            if len({sum(table[at] for at in case.within[cell]) for table in possible}) == 1
            and case.parts(cell) < case.value[cell]
        }
        found += bool(exact)
    assert found


@pytest.mark.thorough
def test_who_is_alone_in_a_cell_finds_others_where_insiders_are_not_looked_at() -> None:
    found = 0
    for seed in range(30):
        case = tiny(drawn(("insider", seed), (3, 3)))
        shown, looked = safe(case), safe(case, insiders=True)
        for place, n in enumerate(case.counts.values()):
            if n == 1:
                found += bool(read(case, shown, {place: 1}))
                assert not read(case, looked, {place: 1}) - _known_by_parts(case)
    assert found


def _known_by_parts(case: Tiny) -> set[Cell]:
    return {cell for cell in case.cells if case.parts(cell) >= M}


def test_two_nights_published_each_by_itself_give_newcomers_away() -> None:
    """Each night is safe, and the difference of both shows in which cell somebody came."""
    before = drawn("night", (2, 3), 9)
    after = {**before, (0, 1): before[0, 1] + 1}
    nights = [tiny(counts) for counts in (before, after)]
    first, second = (safe(case) for case in nights)
    seen = [(first[cell], second[cell]) for cell in nights[0].cells]
    pairs = [(old, new) for old, new in seen if old is not None and new is not None]
    assert any(new - old == 1 for old, new in pairs)  # a person came, and this cell has the person
