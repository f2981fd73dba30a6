"""Numbers of several versions as one system: bounds are those of every history that the view allows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sqlanon.statistics.joined_tables import JointTable, join_tables
from sqlanon.statistics.of_versions import divide_by_version
from sqlanon.statistics.reach import ContradictionError, Reach
from sqlanon.statistics.reader_cells import HIDDEN, Cells, SeenCells, SeenColumn, build_seen
from tests.oracle.table_reader import tables

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

pytest.importorskip("highspy")

Cell = tuple[str | None, str | None]
COLUMNS = (SeenColumn("a", 1, {}), SeenColumn("b", 1, {}))
LEAVES: list[Cell] = list(itertools.product("xy", "pq"))
CELLS: list[Cell] = list(itertools.product(("x", "y", None), ("p", "q", None)))
MOST = 20_000
"""Histories that are tried, at most."""
View = dict[Cell, tuple[int | None, int]]
"""Of each cell the number, None where it is hidden, and its version."""


def inside(leaf: Cell, cell: Cell) -> bool:
    return all(node in (None, own) for node, own in zip(cell, leaf, strict=True))


def history(seed: object, versions: int) -> tuple[View, dict[Cell, list[int]]]:
    """A view whose numbers stopped at versions drawn at random, and the rows that came with each version."""
    draw = random.Random(str(seed))
    rows = {leaf: [draw.randint(1, 3), *(draw.choice((0, 0, 1, 2)) for _ in range(versions - 1))] for leaf in LEAVES}
    view: View = {}
    for cell in CELLS:
        came = [sum(rows[leaf][at] for leaf in LEAVES if inside(leaf, cell)) for at in range(versions)]
        stops = [at for at in range(versions) if came[at] and draw.random() < (0.15 if cell == (None, None) else 0.4)]
        if stops and stops[0] == 0:
            view[cell] = (None, versions)
        else:
            last = stops[0] if stops else versions
            view[cell] = (sum(came[:last]), last)
    return view, rows


def every_history(view: View, versions: int) -> Iterator[tuple[int, ...]]:
    """The numbers of now of every history, written down as the page says: no part of the product is used."""
    ages = sorted({age for _, age in view.values()} | {versions})
    leaves = [(leaf, age) for age in ages for leaf in LEAVES]
    cells: dict[tuple[Any, ...], int | None] = {}
    within: dict[tuple[Any, ...], list[int]] = {}
    for cell, (number, age) in view.items():
        own = [at for at, (leaf, _) in enumerate(leaves) if inside(leaf, cell)]
        cells[*cell, "number"], within[*cell, "number"] = number, [at for at in own if leaves[at][1] <= age]
        if age < versions:
            cells[*cell, "since"], within[*cell, "since"] = None, [at for at in own if leaves[at][1] > age]
    most = 1 + max(number for number, _ in view.values() if number is not None)
    for table in tables(leaves, cells, within, most):
        yield tuple(sum(table[at] for at, (leaf, _) in enumerate(leaves) if leaf == own) for own in LEAVES)


def seen_of(view: View, versions: int) -> tuple[SeenCells, Longs]:
    levels = np.array([[int(cell[at] is None) for cell in view] for at in range(2)], np.int64)
    labels = tuple([cell[at] for cell in view] for at in range(2))
    value = np.array([HIDDEN if number is None else number for number, _ in view.values()], np.int64)
    made = build_seen(COLUMNS, Cells(levels, labels, value), LEAVES, 1)
    return divide_by_version(made, np.array([age for _, age in view.values()], np.int64), versions)


def check(seed: object, versions: int) -> int:
    """How many of the sums of atoms have bounds that are apart."""
    view, rows = history(seed, versions)
    listed = list(itertools.islice(every_history(view, versions), MOST))
    if len(listed) == MOST:  # too many to try
        return -1
    found = {one for one in listed if all(one)}
    true = tuple(sum(rows[leaf]) for leaf in LEAVES)
    seen, _ = seen_of(view, versions)
    reach, apart = Reach(seen), 0
    shown = [number for number, _ in view.values() if number is not None]
    for chosen in itertools.product((0, 1), repeat=len(LEAVES)):
        sums = [sum(itertools.compress(one, chosen)) for one in found]
        low, high = reach.bound(np.tile(np.array(chosen, np.int64), seen.times))
        assert low.value is not None
        own = sum(itertools.compress(true, chosen))
        assert low.value <= own
        assert high.value is None or own <= high.value
        assert low.value == min(sums)
        # The tables of the reader have numbers up to a bound: what exceeds all shown numbers is bounded by nothing.
        if high.value is None:
            assert max(sums) > max(shown, default=0)
        else:
            assert high.value == max(sums)
        apart += low.value != high.value
    return apart


@pytest.mark.parametrize(("seed", "versions"), [("two 1", 2), ("two 3", 2), ("two 6", 2)])
def test_bounds_are_those_of_every_history(seed: str, versions: int) -> None:
    assert check(seed, versions)


@pytest.mark.thorough
@pytest.mark.parametrize("versions", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_those_of_every_drawn_history(seed: int, versions: int) -> None:
    check(seed, versions)


def test_a_table_of_others_adds_what_it_says_of_now() -> None:
    """A cell of 7 rows in version 1, and of 9 in a table of today: 2 came; and of fewer than 8, nothing fits."""
    old = JointTable(
        "ours", (0,), {((0, "x"),): 7, ((1, None),): 12, ((0, "y"),): HIDDEN}, True, {}, {((0, "x"),): 1}, 2
    )
    columns = COLUMNS[:1]
    alone = join_tables(columns, [old], 1)
    assert [place for place, _ in alone.older] == [0]
    assert Reach(alone.seen).span(np.array([1, 3]))[:2] == (1, 4)  # y: of 12 there are 8 or more in x
    beside = join_tables(columns, [old, JointTable("theirs", (0,), {((0, "x"),): 9}, whole=False)], 1)
    assert not beside.clashes
    assert Reach(beside.seen).span(np.array([1, 3]))[:2] == (3, 3)
    fewer = join_tables(columns, [old, JointTable("theirs", (0,), {((0, "x"),): 7}, whole=False)], 1)
    assert fewer.clashes == (0,)


def test_numbers_that_no_history_has_are_a_contradiction() -> None:
    view: View = {("x", "p"): (7, 1), ("x", None): (7, 2), (None, None): (9, 2), (None, "p"): (None, 2)}
    seen, older = seen_of(view, 2)
    assert older.tolist() == [0]
    with pytest.raises(ContradictionError):
        Reach(seen).check()
