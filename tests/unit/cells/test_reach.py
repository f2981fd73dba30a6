"""Bounds of sums over all tables: none leaves a table out, whatever a linear program says."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.statistics.blocks import Block
from sqlanon.statistics.program import SCALE, Box, ProgramResult
from sqlanon.statistics.reach import ContradictionError, Reach
from sqlanon.statistics.reader_cells import HIDDEN, Cells, SeenCells, SeenColumn, build_seen, narrow
from tests.oracle.table_reader import Cell, tables
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")


def seen_of(case: Tiny, shown: dict[Cell, int | None], least: int = 1) -> SeenCells:
    columns = [SeenColumn(str(at), 1, {}) for at in range(len(case.cells[0]))]
    levels = np.array([[1 if code is None else 0 for code in cell] for cell in case.cells], np.int64).T
    labels = tuple([None if cell[at] is None else str(cell[at]) for cell in case.cells] for at in range(len(columns)))
    value = np.array([HIDDEN if shown[cell] is None else shown[cell] for cell in case.cells], np.int64)
    return build_seen(columns, Cells(levels, labels, value), [tuple(map(str, codes)) for codes in case.counts], least)


def published(seed: object, shape: Sequence[int]) -> tuple[Tiny, dict[Cell, int | None]]:
    """Counts of which some cells are hidden, the grand total never."""
    draw = random.Random(str(seed))
    case = tiny(drawn(seed, shape, 5))
    hidden = [any(code is not None for code in cell) and draw.random() < 0.6 for cell in case.cells]
    return case, case.shown(hidden)


def every_table(case: Tiny, shown: dict[Cell, int | None]) -> list[tuple[int, ...]]:
    most = max(case.value.values())
    return [one for one in tables(list(case.counts), shown, case.within, most) if min(one) > 0]


def weights(seed: object, many: int) -> list[np.ndarray]:
    draw = random.Random(str(seed))
    plain = [np.array([draw.choice((0, 1)) for _ in range(many)], np.int64) for _ in range(3)]
    return plain + [np.array([draw.choice((0, 0, 1, -1, 3, -7)) for _ in range(many)], np.int64) for _ in range(3)]


CASES = [(("reach", seed), (3, 3)) for seed in range(6)] + [(("reach", seed), (2, 2, 2)) for seed in range(4)]


@pytest.mark.parametrize(("seed", "shape"), CASES)
def test_bounds_are_the_least_and_the_greatest_of_every_table(seed: object, shape: tuple[int, ...]) -> None:
    case, shown = published(seed, shape)
    reach, found = Reach(seen_of(case, shown)), every_table(case, shown)
    assert len(found) < 100_000
    for weight in weights(seed, len(case.counts)):
        low, high = reach.bound(weight)
        sums = [int(weight @ np.array(one)) for one in found]
        assert (low.value, high.value) == (min(sums), max(sums))
        for end in (low, high):
            assert low.value == high.value or end.table is not None
            if end.table is not None:
                assert tuple(end.table.tolist()) in found
                assert int(weight @ end.table) == end.value


@pytest.mark.parametrize("seed", range(4))
def test_no_multipliers_make_a_wrong_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that lies about everything: the bounds are wider, and hold."""
    case, shown = published(("lies", seed), (3, 3))
    draw = np.random.default_rng(seed)
    tables_ = np.array(every_table(case, shown))

    def lie(_: Reach, block: Block, __: np.ndarray, box: Box) -> ProgramResult:
        many = len(block.program.sums.low)
        kinds = (
            draw.normal(size=many) * 3,
            np.full(many, np.nan),
            np.full(many, -1e300),
            draw.integers(-2, 3, many) / 3,
        )
        table = (None, draw.normal(size=len(box.low)) * 3, draw.integers(0, 9, len(box.low)) / 2)[draw.integers(3)]
        return ProgramResult(np.asarray(kinds[draw.integers(4)], np.float64), table)

    monkeypatch.setattr(Reach, "_solve", lie)
    reach = Reach(seen_of(case, shown))
    for weight in weights(seed, len(case.counts)) * 20:
        low, high = reach.bound(weight)
        sums = tables_ @ weight
        assert low.value is not None
        assert high.value is not None
        assert low.value <= sums.min()
        assert high.value >= sums.max()


def test_what_nothing_bounds_has_no_greatest_number() -> None:
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    shown: dict[Cell, int | None] = dict.fromkeys(case.cells, None)
    shown[0, None] = 5
    low, high = Reach(seen_of(case, shown)).bound(np.array([1, 1, 1, 0], np.int64))
    assert (low.value, high.value) == (6, None)
    low, high = Reach(seen_of(case, shown)).bound(np.array([1, 1, -1, 0], np.int64))
    assert (low.value, high.value) == (None, 4)


def test_thirds_are_exact() -> None:
    """Where the multipliers of a vertex are thirds, the bound is the whole number itself."""
    assert SCALE % 3 == SCALE % 5 == SCALE % 7 == SCALE % 11 == 0
    draw = random.Random("thirds")
    for _ in range(30):
        counts = {(i, j, k): draw.randrange(1, 4) for i in range(2) for j in range(2) for k in range(2)}
        case = tiny(counts, [(0, 1), (1, 2), (0, 2)])
        shown = case.shown([sum(code is not None for code in cell) == 3 for cell in case.cells])
        found = every_table(case, shown)
        for place in range(8):
            weight = np.eye(8, dtype=np.int64)[place]
            low, high = Reach(seen_of(case, shown)).bound(weight)
            assert (low.value, high.value) == (min(t[place] for t in found), max(t[place] for t in found))
            assert low.value == high.value or (low.table is not None and high.table is not None)


def test_numbers_that_contradict_each_other_are_noticed() -> None:
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    shown: dict[Cell, int | None] = dict(case.value)
    shown[None, None] = 13
    with pytest.raises(ContradictionError, match="contradict"):
        Reach(seen_of(case, shown))
    shown = dict.fromkeys(case.cells, None)
    shown |= {(0, None): 9, (1, None): 9, (None, 0): 9, (None, 1): 10}
    with pytest.raises(ContradictionError):
        Reach(seen_of(case, shown)).bound(np.array([1, 0, 0, 0], np.int64))


def test_numbers_are_read_with_care() -> None:
    columns = [SeenColumn("a", 1, {})]
    level = np.array([[0, 0, 1]], np.int64)
    for value, error, text in (([1, 2, -5], PolicyError, "negative"), ([1, 2, 2**60], UnsupportedError, "at most")):
        with pytest.raises(error, match=text):
            build_seen(columns, Cells(level, (["x", "y", None],), np.array(value, np.int64)), [("x",), ("y",)], 1)
    with pytest.raises(PolicyError, match="twice"):
        build_seen(columns, Cells(level, (["x", "x", None],), np.array([1, 1, 2], np.int64)), [("x",)], 1)


def test_a_known_atom_narrows_the_others() -> None:
    case = tiny({(0, 0): 1, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    shown: dict[Cell, int | None] = case.shown([all(code is not None for code in cell) for cell in case.cells])
    known = narrow(seen_of(case, shown), {0: 1})
    assert (known.low == known.high).all()
    assert known.low.tolist() == [1, 3, 4, 5]
