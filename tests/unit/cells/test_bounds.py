"""Bounds of hidden cells are the least and the greatest numbers of all tables that readers cannot rule out."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from sqlanon.statistics import linked_systems
from sqlanon.statistics.amounts import Amounts, Range
from sqlanon.statistics.bounds import Ends, WitnessTables, bound_cells
from sqlanon.statistics.joint import join_sums
from sqlanon.statistics.parts import list_parts
from sqlanon.statistics.public_system import see_public
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.reader_cells import UNBOUNDED
from tests.oracle import sum_reader
from tests.oracle.class_reader import ENDS, MEMBERS, NODES, NOTHING, SHOWN, Row, agreeing, tables_of
from tests.oracle.table_reader import Cell, tables
from tests.unit.cells.made import Tiny, drawn, tiny
from tests.unit.cells.test_parts import drawn_classes, placed_of

pytest.importorskip("highspy")

SCHEMES = (
    ((3, 2, 3), ((0, 1), (1, 2))),
    ((2, 2, 2), ((0, 1), (1, 2), (0, 2))),
    ((2, 3, 2), ((0,), (1, 2))),
    ((2, 2, 2, 2), ((0, 1), (1, 2), (2, 3))),
)
"""Numbers of values of the columns, and the columns of each table; the second scheme is no tree."""
WAYS = [(ENDS, ENDS), (ENDS, MEMBERS), (ENDS, NOTHING), (SHOWN, ENDS), (NODES, ENDS), (ENDS, NODES)]
RANGES = [(0, 1), (0, 2), (1, 2), (-1, 1), (2, 3)]
MOST = 60_000
"""Tables that are tried, at most."""


class Case:
    """A tiny source of which some cells are hidden; cells of equal rows are both, and the grand total never is."""

    def __init__(self, case: Tiny, seed: object, share: float = 0.55) -> None:
        self.tiny, self.system = case, case.system(2)
        draw = random.Random(str(seed))
        hidden = np.zeros(len(self.system), bool)
        for cell, of in zip(case.cells, self.system.listed, strict=True):
            hidden[of] |= any(code is not None for code in cell) and draw.random() < share
        hidden[self.system.listed[case.cells.index((None,) * len(case.cells[0]))]] = False
        self.hidden = hidden
        self.shown = case.shown([bool(hidden[of]) for of in self.system.listed])
        self.leaves = leaves_of(case)
        self.within: dict[Cell, Sequence[int]] = {
            cell: [
                at
                for at, leaf in enumerate(self.leaves)
                if all(a in (None, b) for a, b in zip(cell, leaf, strict=True))
            ]
            for cell in case.cells
        }

    def tables(self) -> list[tuple[int, ...]]:
        found = tables(self.leaves, self.shown, self.within, max(self.tiny.value.values()))
        return list(itertools.islice(found, MOST))

    def bounds(self, amounts: Sequence[tuple[Amounts, Range]] = (), parts: object = None) -> tuple[Ends, ...]:
        nothing = np.zeros((1, len(self.tiny.counts)), np.int64)
        return bound_cells(self.system, self.hidden, WitnessTables(nothing, [nothing] * len(amounts)), amounts, parts)  # type: ignore[arg-type]


def is_in(leaf: Cell, cell: Cell) -> bool:
    return all(code in (None, own) for code, own in zip(cell, leaf, strict=True))


def leaves_of(case: Tiny) -> list[Cell]:
    """The combinations of which no table says that they are empty."""
    codes = [sorted({leaf[at] for leaf in case.counts}) for at in range(len(case.cells[0]))]
    kept = [{tuple(leaf[at] for at in own) for leaf in case.counts} for own in case.tables]
    return [
        leaf
        for leaf in itertools.product(*codes)
        if all(tuple(leaf[at] for at in own) in some for own, some in zip(case.tables, kept, strict=True))
    ]


def compare(case: Case, found: Ends, able: Sequence[Sequence[int]], *, tight: bool = True) -> int:
    """How many cells are hidden; each has the ends of all tables."""
    numbers = np.array(able, np.int64)
    for place, cell in enumerate(case.tiny.cells):
        sums = numbers[:, case.within[cell]].sum(axis=1)
        ends = (found.low[place], found.high[place])
        assert ends[0] <= sums.min() <= sums.max() <= ends[1]
        assert not found.tight[place] or ends == (sums.min(), sums.max())
        assert found.tight[place] or not tight
    return sum(number is None for number in case.shown.values())


def linked_case(seed: int) -> Case:
    shape, by = SCHEMES[seed % len(SCHEMES)]
    draw = random.Random(str(("linked", seed)))
    counts = {codes: n if draw.random() < 0.6 else 0 for codes, n in drawn(("linked", seed), shape, 2).items()}
    counts[next(iter(counts))] += not any(counts.values())
    return Case(tiny(counts, by), ("linked", seed))


@pytest.mark.parametrize("most", [50_000, 0])
def test_tables_without_all_columns(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined, or as pieces: where the columns are a tree these say all."""
    monkeypatch.setattr(linked_systems, "MOST_JOINED", most)
    compared = 0
    for seed in range(12):
        case = linked_case(seed)
        able = case.tables()
        if len(able) < MOST // 10:
            compared += compare(case, case.bounds()[0], able, tight=most > 0 or seed % len(SCHEMES) != 1)
    assert compared > 20


@pytest.mark.thorough
@pytest.mark.parametrize("most", [50_000, 0])
@pytest.mark.parametrize("seed", range(12, 60))
def test_many_tables_without_all_columns(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked_systems, "MOST_JOINED", most)
    case = linked_case(seed)
    able = case.tables()
    if len(able) < MOST:
        compare(case, case.bounds()[0], able, tight=most > 0 or seed % len(SCHEMES) != 1)


def test_equal_cells_of_two_tables_are_not_known_to_be_equal() -> None:
    """All of a are x and all of x are a; who has the two tables does not know it."""
    case = Case(tiny({(0, 0): 3, (1, 1): 2, (1, 2): 1}, [(0,), (1,)]), "equal", 0.0)
    case.hidden[case.system.listed[case.tiny.cells.index((0, None))]] = True
    case.hidden[case.system.listed[case.tiny.cells.index((1, None))]] = True
    case.shown |= {(0, None): None, (1, None): None, (None, 0): None}
    assert compare(case, case.bounds()[0], case.tables()) == 3
    (found,) = case.bounds()
    assert found.high[case.tiny.cells.index((0, None))] == 5
    assert found.high[case.tiny.cells.index((None, 0))] == 3


def test_bounds_are_not_tight_where_readers_know_that_more_rows_are_new() -> None:
    """A version follows when 8 rows are new: 1 and 7 of a hidden total are not the least together."""
    case = Case(tiny({(0,): 2, (1,): 6}), "rule", 0.0)
    case.hidden[:] = True
    nothing = np.zeros((1, 2), np.int64)
    for least_rows, tight in ((1, True), (2, True), (8, False)):
        (ends,) = bound_cells(case.system, case.hidden, WitnessTables(nothing), least_rows=least_rows)
        assert ends.tight.tolist() == [tight] * 3
        assert ends.low.tolist() == [2, 1, 1]
        assert ends.high.tolist() == [-1] * 3
    case.hidden[case.system.listed[case.tiny.cells.index((None,))]] = False
    (ends,) = bound_cells(case.system, case.hidden, WitnessTables(nothing), least_rows=8)
    assert ends.tight.all()


def rows_beside(seed: object, ways: tuple[str, str]) -> tuple[Case, list[list[Row]], set[tuple[int, ...]]]:
    classes = drawn_classes((seed, ways), (4, 3), 4, 3)
    rows = [row for one in classes for row in one]
    case = Case(tiny({row: rows.count(row) for row in sorted(set(rows))}), seed)
    able = tables_of(classes, ways, case.leaves)
    return case, classes, set(agreeing(able, dict(case.within), case.shown))


@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_rows_beside(ways: tuple[str, str]) -> None:
    compared = 0
    for seed in range(4):
        case, classes, able = rows_beside(seed, ways)
        parts = list_parts(placed_of(case.tiny, classes, ways))
        compared += compare(case, case.bounds(parts=parts)[0], sorted(able))
    assert compared


@pytest.mark.thorough
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
@pytest.mark.parametrize("seed", range(4, 24))
def test_rows_beside_of_many_sources(seed: int, ways: tuple[str, str]) -> None:
    case, classes, able = rows_beside(seed, ways)
    compare(case, case.bounds(parts=list_parts(placed_of(case.tiny, classes, ways)))[0], sorted(able))


@pytest.mark.parametrize("ways", [(ENDS, ENDS), (ENDS, MEMBERS), (SHOWN, ENDS)], ids="-".join)
def test_tables_without_all_columns_and_rows_beside(ways: tuple[str, str]) -> None:
    for seed in range(3):
        classes = drawn_classes((seed, ways, "tables"), (3, 3), 3, 3)
        rows = [row for one in classes for row in one]
        case = Case(tiny({row: rows.count(row) for row in sorted(set(rows))}, [(0,), (1,)]), seed)
        able = [
            one
            for one in agreeing(tables_of(classes, ways, case.leaves, empty=True), dict(case.within), case.shown)
            if all(sum(one[at] for at in case.within[cell]) for cell in case.tiny.cells)
        ]
        compare(case, case.bounds(parts=list_parts(placed_of(case.tiny, classes, ways)))[0], able)


def summed(case: Case, ends: tuple[int, int], seed: object) -> Amounts:
    draw, nothing = random.Random(str(seed)), np.zeros(len(case.tiny.counts), np.int64)
    sums = [sum(draw.choice((*ends, draw.randint(*ends))) for _ in range(n)) for n in case.tiny.counts.values()]
    none = np.zeros(len(case.system), np.int64)
    return Amounts(np.array(sums, np.int64), nothing, nothing, nothing, nothing, none, none, none > 0, ())


def pairs(
    case: Case, able: Sequence[tuple[int, ...]], columns: Sequence[tuple[Amounts, tuple[int, int]]]
) -> list[tuple[tuple[int, ...], ...]]:
    """Tables of rows, each with tables of the sums that these can have."""
    leaves = list(case.tiny.counts)
    found: list[tuple[tuple[int, ...], ...]] = []
    for one in able:
        choices = []
        for amounts, (low, high) in columns:
            own = list(zip(leaves, amounts.value.tolist(), strict=True))
            value = {cell: sum(n for leaf, n in own if is_in(leaf, cell)) for cell in case.tiny.cells}
            shown = {cell: None if case.shown[cell] is None else value[cell] for cell in case.tiny.cells}
            box = [(low * n, high * n) for n in one]
            choices.append(list(sum_reader.tables(shown, case.within, box)))
        found += [(one, *some) for some in itertools.product(*choices)]
    return found


def compare_sums(
    case: Case, able: Sequence[tuple[int, ...]], seed: int, parts: object = None, *, tight: bool = True
) -> int:
    some = (RANGES[seed % 5], RANGES[(seed + 2) % 5])[: 1 + seed % 2]
    columns = [(summed(case, ends, (seed, ends)), ends) for ends in some]
    found = pairs(case, able, columns)
    if not 0 < len(found) < MOST:
        return 0
    bounds = case.bounds([(amounts, Range(*ends)) for amounts, ends in columns], parts)
    return sum(compare(case, ends, [one[place] for one in found], tight=tight) for place, ends in enumerate(bounds))


@pytest.mark.parametrize("seed", range(10))
def test_rows_and_sums_bound_each_other(seed: int) -> None:
    case = Case(tiny(drawn(("rows and sums", seed), (2, 2) if seed % 2 else (2, 3), 3)), seed)
    able = [one for one in case.tables() if min(one) > 0]
    compare_sums(case, able, seed)


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_sums_of_tables_without_all_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tiny(drawn(("sums of tables", seed), (2, 2), 2), [(0,), (1,)]), seed)
    compare_sums(case, case.tables(), seed)
    monkeypatch.setattr(linked_systems, "MOST_JOINED", 0)
    compare_sums(case, case.tables(), seed, tight=False)


def test_known_tables_of_joined_tables() -> None:
    """Combinations of joined tables have an order of their own: the true table does not change what bounds say."""
    compared = 0
    for seed in (0, 2, 3, 6):
        draw = random.Random(str(("joined", seed)))
        counts = {codes: draw.randint(1, 3) for codes in itertools.product(range(2), repeat=3)}
        case = Case(tiny(counts, [(0, 2), (1, 2)]), ("joined", seed))
        columns = [(summed(case, (0, 2), seed), Range(0, 2))]
        nothing = np.zeros((0, len(counts)), np.int64)
        alone = bound_cells(case.system, case.hidden, WitnessTables(nothing, [nothing]), columns)
        for ends, own in zip(case.bounds(columns), alone, strict=True):
            assert (ends.low == own.low).all()
            assert (ends.high == own.high).all()
            assert (ends.tight == own.tight).all()
            compared += int((ends.low < ends.high).sum())
    assert compared


@pytest.mark.parametrize("ends", RANGES)
def test_who_knows_ends_of_sums(ends: tuple[int, int]) -> None:
    """Sums of some combinations are known to be between two ends, and one from below alone."""
    for seed in range(6):
        case = Case(tiny(drawn(("known", seed, ends), (2, 2), 3)), seed)
        amounts = summed(case, ends, (seed, ends))
        value = case.system.sums(amounts.value)[case.system.listed]
        public = see_public(case.system, np.array([-1 if n is None else n for n in case.shown.values()]), sums=True)
        joint = join_sums(public.seen, [(public.linked.values(value), Range(*ends))], public.combinations)
        least, most = amounts.value - 1, amounts.value + 1
        least[0], most[0], most[-1] = -UNBOUNDED, UNBOUNDED, UNBOUNDED
        known = joint.within(0, least, most)
        able = [
            sums
            for _, sums in pairs(case, [one for one in case.tables() if min(one) > 0], [(amounts, ends)])
            if all(a <= n <= b for a, n, b in zip(least.tolist(), sums, most.tolist(), strict=True))
        ]
        for place, cell in enumerate(case.tiny.cells):
            numbers = [sum(one[at] for at in case.within[cell]) for one in able]
            reach = Reach(known.seen)
            assert known.span(reach, 0, public.linked.sets()[place]) == (min(numbers), max(numbers))


@pytest.mark.parametrize("ways", [(ENDS, ENDS), (ENDS, MEMBERS)], ids="-".join)
def test_rows_and_sums_next_to_classes(ways: tuple[str, str]) -> None:
    compared = 0
    for seed in range(6):
        classes = drawn_classes((seed, ways, "sums"), (2, 3), 3, 3)
        rows = [row for one in classes for row in one]
        case = Case(tiny({row: rows.count(row) for row in sorted(set(rows))}), seed)
        able = sorted(agreeing(tables_of(classes, ways, case.leaves), dict(case.within), case.shown))
        compared += compare_sums(case, able, seed, list_parts(placed_of(case.tiny, classes, ways)))
    assert compared


def test_sums_of_tables_whose_last_combination_no_class_has() -> None:
    """Both tables allow it, and no row is in it: the sums of the second column are in their place."""
    classes, ways = [[(0, 0), (0, 1)], [(1, 0), (1, 0)]], (ENDS, ENDS)
    rows = [row for one in classes for row in one]
    for seed in (1, 3):
        case = Case(tiny({row: rows.count(row) for row in sorted(set(rows))}, [(0,), (1,)]), seed, 1.0)
        able = agreeing(tables_of(classes, ways, case.leaves, empty=True), dict(case.within), case.shown)
        assert compare_sums(case, sorted(set(able)), seed, list_parts(placed_of(case.tiny, classes, ways)))
