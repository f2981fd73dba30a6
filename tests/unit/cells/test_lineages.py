"""A new lineage of counts: a reader of all versions of all lineages, who tries every history, finds nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.choose import UnservedError, choose_hidden
from sqlanon.statistics.lineages import Blocks, Window, build_lineages
from sqlanon.statistics.parts import Parts, list_parts, read_parts, with_classes
from sqlanon.statistics.system import Atoms, PublishedCells
from tests.oracle.class_reader import ENDS, MEMBERS, tables_of
from tests.oracle.nights_reader import Shown, View, histories
from tests.unit.cells import test_nights
from tests.unit.cells.made import drawn, tiny
from tests.unit.cells.test_nights import Counts, M, add, come, leaves_of, pattern, small_parts, views_of
from tests.unit.cells.test_parts import drawn_classes, joint_system, placed_of, protect, tiny_of

pytest.importorskip("highspy")

Hidden = dict[tuple[object, ...], bool]


def listed_of(rows: Counts, places: dict[tuple[int, ...], int]) -> tuple[PublishedCells, list[tuple[object, ...]]]:
    """The cells of some rows, each with an atom of all blocks, and their keys."""
    case = tiny(rows)
    levels = np.array([[int(code is None) for code in cell] for cell in case.cells], np.int64).T
    leaves = list(case.counts)
    first = np.array([places[leaves[case.within[cell][0]]] for cell in case.cells], np.int64)
    return PublishedCells(levels, first, np.array([case.value[cell] < M for cell in case.cells])), list(case.cells)


def begin(nights: Sequence[Counts], patterns: Sequence[Hidden], parts: Parts | None = None) -> Hidden | None:
    """Which cells are hidden where a lineage begins; the rows of the last night have waited. None: it cannot.

    With ``parts`` readers have classes of the first night's rows as well.
    """
    rows = [(codes, night, n) for night, own in enumerate(nights) for codes, n in own.items() if n]
    if parts is not None:
        leaves = [codes for codes, n in nights[0].items() if n]
        first = zip(parts.atom.tolist(), parts.count.tolist(), strict=True)
        rows = [*((leaves[atom], 0, n) for atom, n in first), *(row for row in rows if row[1])]
    codes, block, count = (np.array(one, np.int64) for one in zip(*rows, strict=True))
    owner = np.where(count == 1, np.arange(len(count)) + 1, -1)
    atoms = Atoms(tuple(column[np.newaxis] for column in codes.T), count, owner)
    windows = []
    for start in range(len(nights)):
        for end in range(start, len(nights) - (not start)):
            own = add(*nights[start : end + 1])
            places = {key: place for place, (key, night, _) in reversed(list(enumerate(rows))) if start <= night <= end}
            cells, keys = listed_of(own, places)
            known = patterns[start] if start == end < len(patterns) else {}
            windows.append(Window(start, end, cells, np.array([not known.get(key, True) for key in keys])))
    whole, keys = listed_of(add(*nights), {key: place for place, (key, _, _) in reversed(list(enumerate(rows)))})
    system = build_lineages(Blocks(atoms, block, [(0,) * codes.shape[1]]), windows, whole, b"key")
    if parts is not None:
        more = len(rows) - len(parts)
        kind, of = (np.concatenate([one, np.full(more, -1)]) for one in (parts.kind, parts.of))
        ranks = np.concatenate([parts.ranks, np.zeros((len(parts.ranks), more), np.int64)], axis=1)
        placed = parts.placed
        columns = list(zip(placed.how, placed.known, strict=True))
        stored = read_parts(kind, of, np.concatenate([parts.count, np.zeros(more, np.int64)]), ranks, columns)
        system = with_classes(system, stored)
    try:
        found = choose_hidden(system, M, insiders=False, secret=b"key")
    except UnservedError:
        return None
    return {key: bool(found.hidden[of]) for key, of in zip(keys, system.listed, strict=True)}


def check(nights: Sequence[Counts], *, joint: bool) -> tuple[int, int, int, int]:
    """Windows of few newcomers, those that a reader finds, cells that the lineage shows, and those that it would."""
    views = views_of(nights[:-1])
    patterns = [pattern({codes: n for codes, n in night.items() if n}) for night in nights[:-1]]
    if views is None or None in patterns:
        return 0, 0, 0, 0
    hidden = begin(nights, [one for one in patterns if one is not None]) if joint else pattern(add(*nights))
    if hidden is None:
        return 0, 0, 0, 0
    case = leaves_of(nights)
    version = len(nights)
    last: View = {cell: Shown(None if hidden[cell] else case.value[cell], version) for cell in case.cells}
    most = max(max(night.values()) for night in nights) + 2
    found = list(histories([*views, last], case.within, len(case.counts), most))
    assert found
    windows = exposed = 0
    for cell, places in case.within.items():
        for start, end, parts in small_parts(nights, cell):
            sums = {
                sum(one[end - 1][at] for at in places) - (sum(one[start - 1][at] for at in places) if start else 0)
                for one in found
            }
            windows += 1
            exposed += min(sums) > parts or max(sums) < M
    return windows, exposed, sum(not one for one in hidden.values()), len(hidden)


def case_of(seed: object, nights: int = 2, shape: tuple[int, int] = (2, 2)) -> list[Counts]:
    return [drawn(("lineage", seed), shape, 6), *(come((seed, night), 7, shape) for night in range(1, nights))]


def total(nights: int, seeds: int, *, joint: bool, shape: tuple[int, int] = (2, 2)) -> list[int]:
    cases = [case_of(seed, nights, shape) for seed in range(seeds)]
    return [
        sum(numbers)
        for numbers in zip(*(check(one, joint=joint) for one in cases if any(one[0].values())), strict=True)
    ]


def test_no_reader_of_two_lineages_finds_few_newcomers() -> None:
    windows, exposed, shown, cells = total(2, 40, joint=True)
    assert windows
    assert exposed == 0
    assert 0 < shown < cells


def test_a_lineage_that_does_not_look_back_shows_few_newcomers() -> None:
    """The scheme that is refused: the rows of all versions protected by themselves, next to older numbers."""
    windows, exposed, _, _ = total(2, 40, joint=False)
    assert exposed > windows / 4


@pytest.mark.thorough
@pytest.mark.parametrize(("nights", "seeds", "shape"), [(2, 12, (2, 3)), (3, 14, (2, 2))])
def test_no_reader_of_lineages_finds_few_newcomers(nights: int, seeds: int, shape: tuple[int, int]) -> None:
    windows, exposed, _, _ = total(nights, seeds, joint=True, shape=shape)
    assert windows
    assert exposed == 0


Tables = tuple[tuple[int, ...], ...]


def agreeing(night: Counts, hidden: Hidden, leaves: Sequence[tuple[int, ...]], most: int) -> list[tuple[int, ...]]:
    """All tables of some leaves that agree with the numbers of a night that are shown, and with the listed cells."""
    case = tiny({codes: n for codes, n in night.items() if n})
    free = [range(1, most + 1) if leaf in case.counts else range(1) for leaf in leaves]
    places = {cell: [leaves.index(list(case.counts)[at]) for at in of] for cell, of in case.within.items()}
    shown = [(places[cell], case.value[cell]) for cell, hide in hidden.items() if not hide]
    return [one for one in itertools.product(*free) if all(sum(one[at] for at in of) == n for of, n in shown)]


def histories_with_bounds(nights: Sequence[Counts], patterns: Sequence[Hidden], begun: Hidden) -> Iterator[Tables]:
    """All rows of each night for a reader of versions with bounds: the numbers of a night that are not hidden among its
    own rows follow from them, also in cells that have stopped. Of the last night there are those that are empty.
    """
    whole = leaves_of(nights)
    leaves, most = list(whole.counts), max(max(night.values()) for night in nights) + 2
    unseen = dict.fromkeys(tiny({codes: n for codes, n in nights[-1].items() if n}).cells, True)
    tables = [
        agreeing(night, pattern, leaves, most) for night, pattern in zip(nights, [*patterns, unseen], strict=True)
    ]
    shown = [(whole.within[cell], whole.value[cell]) for cell, hide in begun.items() if not hide]
    for history in itertools.product(*tables):
        total = [sum(numbers) for numbers in zip(*history, strict=True)]
        if all(sum(total[at] for at in of) == n for of, n in shown):
            yield history


def check_bounds(nights: Sequence[Counts]) -> tuple[int, int]:
    """Windows of few newcomers, and those that a reader of lineages with bounds finds; no history leaves the bounds."""
    patterns = [pattern({codes: n for codes, n in night.items() if n}) for night in nights[:-1]]
    known = [one for one in patterns if one is not None]
    begun = begin(nights, known) if len(known) == len(patterns) else None
    if begun is None:
        return 0, 0
    whole = leaves_of(nights)
    leaves = list(whole.counts)
    system = whole.system(M)
    hidden = np.zeros(len(system), bool)
    hidden[system.listed] = [begun[cell] for cell in whole.cells]
    (ends,) = bound_cells(system, hidden, WitnessTables(np.zeros((1, len(leaves)), np.int64)))
    found = list(histories_with_bounds(nights, known, begun))
    assert found
    for place, cell in enumerate(whole.cells):
        sums = {sum(night[at] for night in one for at in whole.within[cell]) for one in found}
        assert ends.low[place] <= min(sums)
        assert ends.high[place] < 0 or max(sums) <= ends.high[place]
    windows = exposed = 0
    for cell, places in whole.within.items():
        for start, end, parts in small_parts(nights, cell):
            sums = {sum(night[at] for night in one[start:end] for at in places) for one in found}
            windows += 1
            exposed += min(sums) > parts or max(sums) < M
    return windows, exposed


def test_no_reader_of_lineages_with_bounds_finds_few_newcomers() -> None:
    cases = [case for case in map(case_of, range(16)) if any(case[0].values())]
    windows, exposed = (sum(numbers) for numbers in zip(*map(check_bounds, cases), strict=True))
    assert windows
    assert exposed == 0


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(16, 80))
def test_no_reader_of_many_lineages_with_bounds_finds_few_newcomers(seed: int) -> None:
    case = case_of(seed, 2, (2, 3) if seed % 4 == 0 else (2, 2))
    assert not any(case[0].values()) or check_bounds(case)[1] == 0


def read_beside_rows(
    seed: object, ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch, *, joint: bool
) -> tuple[int, int]:
    """How many windows of few newcomers a case has whose first night is next to classes of rows, and how many of them
    readers of the rows and of both lineages find.

    Args:
        seed: of the case.
        ways: how the rows show each column.
        monkeypatch: for the first version's hidden cells.
        joint: the classes are part of the system with which the lineage begins; else it knows the counts alone.
    """
    classes = drawn_classes((seed, ways, "lineage"), (2, 2), 4, 2)
    case = tiny_of(classes)
    system = joint_system(case, classes, ways)
    choice = protect(system, insiders=False)
    if choice is None:
        return 0, 0
    of_cells = system.listed[: len(case.cells)]
    hidden = {cell: bool(choice.hidden[of]) for cell, of in zip(case.cells, of_cells, strict=True)}
    nights = [dict(case.counts), come((seed, "later"), 7, (2, 2))]
    parts = list_parts(placed_of(case, classes, ways)) if joint else None
    begun = begin(nights, [hidden], parts)
    monkeypatch.setattr(test_nights, "pattern", lambda _: hidden)
    views = views_of(nights[:1])
    monkeypatch.undo()
    if begun is None or views is None:
        return 0, 0
    whole = leaves_of(nights)
    leaves = list(whole.counts)
    places = [list(case.counts).index(leaf) if leaf in case.counts else None for leaf in leaves]
    alone = {
        tuple(0 if place is None else one[place] for place in places)
        for one in tables_of(classes, ways, list(case.counts))
    }
    last: View = {cell: Shown(None if begun[cell] else whole.value[cell], 2) for cell in whole.cells}
    found = [one for one in histories([*views, last], whole.within, len(leaves), 8) if one[0] in alone]
    assert found
    windows = exposed = 0
    for cell, inside in whole.within.items():
        for start, end, finest in small_parts(nights, cell):
            sums = {
                sum(one[end - 1][at] for at in inside) - (sum(one[start - 1][at] for at in inside) if start else 0)
                for one in found
            }
            # As few as the rows allow by themselves.
            later = sum(1 for at in inside if end > 1 and nights[1].get(leaves[at]))
            least = finest if start else min(sum(one[at] for at in inside) for one in alone) + later
            windows += 1
            exposed += min(sums) > least or max(sums) < M
    return windows, exposed


WAYS = [(ENDS, ENDS), (MEMBERS, MEMBERS)]


def total_beside(ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch, seeds: int, *, joint: bool) -> list[int]:
    cases = [read_beside_rows(seed, ways, monkeypatch, joint=joint) for seed in range(seeds)]
    return [sum(numbers) for numbers in zip(*cases, strict=True)]


@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_no_reader_of_rows_and_lineages_finds_few_newcomers(
    ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    windows, exposed = total_beside(ways, monkeypatch, 8, joint=True)
    assert windows
    assert exposed == 0


@pytest.mark.thorough
def test_a_lineage_that_does_not_know_the_rows_shows_few_newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of docs/statistics.md."""
    assert [total_beside(ways, monkeypatch, 400, joint=False) for ways in WAYS] == [[1526, 12], [1391, 12]]


@pytest.mark.thorough
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_no_reader_of_rows_and_many_lineages_finds_few_newcomers(
    ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert total_beside(ways, monkeypatch, 400, joint=True)[1] == 0
