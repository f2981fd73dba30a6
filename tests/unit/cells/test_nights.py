"""Counts of several nights: a reader of all versions, who tries every history, finds no few newcomers in a cell."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from sqlanon.statistics.choose import UnservedError, choose_hidden
from tests.oracle.nights_reader import Shown, View, histories
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

M = 3
Counts = Mapping[tuple[int, ...], int]


def pattern(counts: Counts) -> dict[tuple[object, ...], bool] | None:
    """Which cells of some rows are hidden; None: they cannot be protected."""
    case = tiny(counts)
    try:
        found = choose_hidden(case.system(M), M, insiders=False, secret=b"key")
    except UnservedError:
        return None
    return {cell: bool(found.hidden[of]) for cell, of in zip(case.cells, case.system(M).listed, strict=True)}


def add(*nights: Counts) -> dict[tuple[int, ...], int]:
    keys = sorted({codes for night in nights for codes, n in night.items() if n})
    return {codes: sum(night.get(codes, 0) for night in nights) for codes in keys}


def views_of(nights: Sequence[Counts]) -> list[View] | None:
    """The published versions: each night's rows are protected by themselves, and a cell of which some are hidden keeps
    the number of the night before, from then on.
    """
    patterns = [pattern({codes: n for codes, n in night.items() if n}) for night in nights]
    if None in patterns:
        return None
    made: list[View] = []
    for version in range(1, len(nights) + 1):
        case = tiny(add(*nights[:version]))
        view: dict[tuple[object, ...], Shown] = {}
        for cell in case.cells:
            of = [at for at in range(version) if cell in (patterns[at] or {})]
            hidden = [at for at in of if (patterns[at] or {})[cell]]
            if hidden and hidden[0] == of[0]:
                view[cell] = Shown(None, version)
            else:
                last = hidden[0] if hidden else version
                whole = tiny(add(*nights[:last]))
                view[cell] = Shown(whole.value[cell], last)
        made.append(view)
    return made


def leaves_of(nights: Sequence[Counts]) -> Tiny:
    return tiny(add(*nights))


def small_parts(nights: Sequence[Counts], cell: tuple[object, ...]) -> list[tuple[int, int, int]]:
    """The windows of nights in which few persons came to a cell: from, to, and the finest cells to which they came."""
    case = leaves_of(nights)
    found = []
    for start in range(len(nights)):
        for end in range(start + 1, len(nights) + 1):
            window = add(*nights[start:end])
            own = [codes for place, codes in enumerate(case.counts) if place in case.within[cell] and window.get(codes)]
            if 0 < sum(window[codes] for codes in own) < M:
                each = [sum(1 for codes in own if night.get(codes)) for night in nights[start:end]]
                found.append((start, end, sum(each)))
    return found


def come(seed: object, many: int, shape: tuple[int, int]) -> dict[tuple[int, ...], int]:
    draw = random.Random(str(seed))
    rows = [(draw.randrange(shape[0]), draw.randrange(shape[1])) for _ in range(many)]
    return {row: rows.count(row) for row in sorted(set(rows))}


def read_nights(seed: object, nights: int = 2, shape: tuple[int, int] = (2, 2)) -> int:
    """Read every history of a case; returns how many windows of few newcomers there were."""
    all_nights = [drawn(("first", seed), shape, 6), *(come((seed, night), 7, shape) for night in range(1, nights))]
    views = views_of(all_nights)
    if views is None or not any(all_nights[0].values()):
        return 0
    case = leaves_of(all_nights)
    most = max(max(night.values()) for night in all_nights) + 2
    found = np.array(list(histories(views, case.within, len(case.counts), most)))
    assert len(found)
    windows = 0
    for cell, places in case.within.items():
        for start, end, parts in small_parts(all_nights, cell):
            inside = found[:, :, list(places)].sum(axis=2)
            sums = inside[:, end - 1] - (inside[:, start - 1] if start else 0)
            windows += 1
            assert sums.min() <= parts
            assert sums.max() >= M
    return windows


def test_no_reader_of_two_nights_finds_few_newcomers() -> None:
    assert sum(read_nights(seed) for seed in range(6))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6, 40))
def test_no_reader_of_two_nights_finds_few_newcomers_in_many_histories(seed: int) -> None:
    read_nights(seed, 2, (2, 2) if seed % 2 else (2, 3))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_no_reader_of_three_nights_finds_few_newcomers(seed: int) -> None:
    read_nights(("three", seed), 3)


def exact_changes(first: Counts, second: Counts, views: Sequence[View]) -> int:
    """Changes of few persons that the difference of two shown cells shows, each version taken by itself."""
    case = leaves_of([add(first, second)])
    exact = 0
    for cell, places in case.within.items():
        seen = [view.get(cell) for view in views]
        change = sum(second.get(codes, 0) - first.get(codes, 0) for at, codes in enumerate(case.counts) if at in places)
        if all(one is not None and one.number is not None for one in seen) and 0 < abs(change) < M:
            exact += 1
    return exact


@pytest.mark.parametrize("change", [1, -1], ids=["came", "went"])
def test_versions_that_are_each_safe_show_who_came_or_went(change: int) -> None:
    """The scheme that is refused: every version protected anew, and shown with all its numbers."""
    first = {(0, 0): 9, (0, 1): 8, (1, 0): 7, (1, 1): 6}
    second = {**first, (0, 1): 8 + change}
    views: list[View] = []
    for at, night in enumerate((first, second), 1):
        value, hidden = tiny(night).value, pattern(night) or {}
        views.append({cell: Shown(None if hide else value[cell], at) for cell, hide in hidden.items()})
    assert exact_changes(first, second, views) == 4  # the cell, and every total of it


def test_an_older_number_that_stays_where_somebody_went_shows_that_he_went() -> None:
    """Why a night in which rows went is not published: the cells that keep their numbers are those that he was in."""
    first = {(0, 0): 9, (0, 1): 8, (1, 0): 7, (1, 1): 6}
    came, went = {(0, 0): 5, (1, 0): 4, (1, 1): 7}, (0, 1)
    case = tiny(first)
    held = {cell for cell in case.cells if list(case.counts).index(went) in case.within[cell]}
    moved = set(case.cells) - held
    # Everything else moves on: the cells that do not are exactly the totals of one finest cell.
    assert held == {(0, 1), (0, None), (None, 1), (None, None)}
    assert all(any(codes in came for at, codes in enumerate(case.counts) if at in case.within[cell]) for cell in moved)
