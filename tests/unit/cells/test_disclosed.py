"""What several published tables disclose together: the same as trying every table."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.statistics import joined_tables
from sqlanon.statistics.disclosure import disclose
from sqlanon.statistics.joined_tables import JoinedSystem, JointTable, join_tables
from sqlanon.statistics.reach import ContradictionError
from sqlanon.statistics.reader_cells import HIDDEN, SeenColumn
from tests.oracle.table_reader import Cell, ends, tables
from tests.unit.cells.made import Tiny, drawn, tiny

pytest.importorskip("highspy")

LINKED = [(0, 1), (1, 2)]
CYCLE = [(0, 1), (1, 2), (0, 2)]
CASES = [
    *((seed, (3, 3), None) for seed in range(4)),
    *((seed, (2, 2, 2), LINKED) for seed in range(4)),
    *((seed, (2, 2, 2), CYCLE) for seed in range(4)),
]


def publish(case: Tiny, shown: dict[Cell, int | None], *, whole: bool = True) -> list[JointTable]:
    """The tables of a case as readers have them."""
    made = []
    for own in case.tables:
        cells = {}
        for cell in case.cells:
            if all(code is None or at in own for at, code in enumerate(cell)):
                value = shown[cell]
                key = tuple((1, None) if cell[at] is None else (0, str(cell[at])) for at in own)
                cells[key] = HIDDEN if value is None else value
        made.append(JointTable(str(own), tuple(own), cells, whole))
    return made


def join(case: Tiny, shown: dict[Cell, int | None], least: int = 1) -> JoinedSystem:
    columns = [SeenColumn(str(at), 1, {}) for at in range(len(case.cells[0]))]
    return join_tables(columns, publish(case, shown), least)


def tried(case: Tiny, shown: dict[Cell, int | None]) -> dict[Cell, tuple[int, int]]:
    """The ends of each hidden cell over every table of the combinations that each published table allows."""
    many = len(case.cells[0])
    codes = [sorted({one[at] for one in case.counts}) for at in range(many)]

    def inside(leaf: Sequence[int], cell: Cell) -> bool:
        return all(code is None or code == own for code, own in zip(cell, leaf, strict=True))

    leaves = [
        leaf
        for leaf in itertools.product(*codes)
        if all(tuple(code if at in own else None for at, code in enumerate(leaf)) in shown for own in case.tables)
    ]
    within = {cell: [at for at, leaf in enumerate(leaves) if inside(leaf, cell)] for cell in case.cells}
    most = max(number for number in shown.values() if number is not None)
    return ends(tables(leaves, shown, within, most), within, [cell for cell in shown if shown[cell] is None])


@pytest.mark.parametrize(("seed", "shape", "linked"), CASES)
def test_intervals_are_those_of_every_table(
    seed: int, shape: tuple[int, ...], linked: list[tuple[int, int]] | None
) -> None:
    draw = random.Random(f"disclosed {seed} {shape} {linked}")
    case = tiny(drawn(("disclosed", seed), shape, 4), linked)
    finest = [sum(code is not None for code in cell) == (2 if linked else len(shape)) for cell in case.cells]
    hidden = [
        draw.random() < (0.7 if fine else 0.2) and any(c is not None for c in cell)
        for cell, fine in zip(case.cells, finest, strict=True)
    ]
    shown = case.shown(hidden)
    made = join(case, shown)
    assert not made.clashes
    found = {}
    for one in disclose(made.seen, lambda: 60.0):
        cell = tuple(None if label is None else int(label) for _, label in made.keys[one.cell])
        found[cell] = (one.low, one.high)
        assert one.reached
    assert found == tried(case, shown)


def test_a_cell_that_another_table_shows_is_known() -> None:
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    first = publish(case, dict.fromkeys(case.cells, None))
    second = publish(case, dict(case.value))
    made = join_tables([SeenColumn("a", 1, {}), SeenColumn("b", 1, {})], [*first, *second], 0)
    assert disclose(made.seen, lambda: 60.0) == []
    assert all(hidden == (0,) for hidden in made.hidden)
    assert sorted(made.seen.value.tolist()) == sorted(case.value.values())


def test_unlike_numbers_of_a_cell_are_named() -> None:
    case = tiny({(0, 0): 2, (0, 1): 3})
    other = dict(case.value) | {(0, None): 6}
    columns = [SeenColumn("a", 1, {}), SeenColumn("b", 1, {})]
    made = join_tables(columns, [*publish(case, dict(case.value)), *publish(case, dict(other))], 0)
    assert [made.keys[cell] for cell in made.clashes] == [((0, "0"), (1, None))]


def test_cells_without_a_table_are_named() -> None:
    """Two rows and two columns whose totals are unlike; no cell shows it alone."""
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    shown: dict[Cell, int | None] = dict.fromkeys(case.cells, None)
    shown |= {(0, None): 9, (1, None): 9, (None, 0): 9, (None, 1): 10}
    made = join(case, shown)
    with pytest.raises(ContradictionError) as raised:
        disclose(made.seen, lambda: 60.0)
    named = {made.keys[cell] for cell in raised.value.cells.tolist()}
    assert named == {((0, "0"), (1, None)), ((0, "1"), (1, None)), ((1, None), (0, "0")), ((1, None), (0, "1"))}


def test_of_unlisted_combinations_nothing_is_known() -> None:
    """Of rows that were left out the number follows from the total, and is of one cell where only one can have it."""
    columns = [SeenColumn("a", 1, {}), SeenColumn("b", 1, {})]
    cells = {((0, "x"), (0, "p")): 7, ((0, "y"), (0, "q")): 8, ((1, None), (1, None)): 18, ((0, "y"), (1, None)): 8}
    made = join_tables(columns, [JointTable("t", (0, 1), cells, whole=False)], 0)
    assert len(made.seen.atoms) == 4
    with pytest.raises(ContradictionError):
        disclose(join_tables(columns, [JointTable("t", (0, 1), cells)], 0).seen, lambda: 60.0)
    cells[(0, "x"), (0, "q")] = HIDDEN
    (found,) = disclose(join_tables(columns, [JointTable("t", (0, 1), cells, whole=False)], 0).seen, lambda: 60.0)
    assert (found.low, found.high, found.reached) == (3, 3, True)


def test_out_of_time_nothing_is_called_narrow() -> None:
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    made = join(case, case.shown([None not in cell for cell in case.cells]))
    sharp = {one.cell: one for one in disclose(made.seen, lambda: 60.0)}
    for one in disclose(made.seen, lambda: 0.0):
        assert one.low <= sharp[one.cell].low
        assert one.high is not None
        assert one.high >= (sharp[one.cell].high or 0)


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_tables, "MOST_ATOMS", 3)
    case = tiny({(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5})
    with pytest.raises(UnsupportedError, match="4 combinations"):
        join(case, dict(case.value))


def test_levels_of_a_hierarchy_are_one_system() -> None:
    """A table of leaves and one of their groups: the hidden leaf is what is left."""
    above = {"a": ("a", "ab"), "b": ("b", "ab"), "c": ("c", "c")}
    columns = [SeenColumn("place", 2, above)]
    leaves = JointTable("leaves", (0,), {((0, "a"),): HIDDEN, ((0, "b"),): 4, ((0, "c"),): HIDDEN})
    groups = JointTable("groups", (0,), {((1, "ab"),): 6, ((1, "c"),): HIDDEN, ((2, None),): 20})
    found = disclose(join_tables(columns, [leaves, groups], 0).seen, lambda: 60.0)
    assert [(one.low, one.high) for one in found] == [(2, 2), (14, 14), (14, 14)]
    assert np.all([one.reached for one in found])
