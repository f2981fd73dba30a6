"""The solver of classes against every placement of rows in cells."""

from __future__ import annotations

import itertools
import random

import pytest

from sqlanon.query.logic.venn_cells import MOST_ATTAINED, Cells, Solver

Good = list[frozenset[tuple[int, ...]]]


def enumerated(good: Good, cells: Cells) -> tuple[int, int] | None:
    """The least and the largest number of good rows over all placements; None: there is no placement."""
    sorts = [sort for sort, count in enumerate(cells.rows) for _ in range(count)]
    reached = list(itertools.product(*([kind for kind, one in enumerate(kinds) if one] for kinds in cells.reach)))
    found = set()
    for way in itertools.product(reached, repeat=len(sorts)):
        counts = [
            (sum(cell[box] == kind for cell in way), least)
            for box, kinds in enumerate(cells.attained)
            for kind, least in enumerate(kinds)
        ]
        if all(count >= least for count, least in counts):
            found.add(sum(sort < len(good) and cell in good[sort] for sort, cell in zip(sorts, way, strict=True)))
    return (min(found), max(found)) if found else None


def drawn(rng: random.Random) -> tuple[Good, Cells]:
    """A random condition and class."""
    kinds = [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
    cells = list(itertools.product(*map(range, kinds)))
    good = [frozenset(cell for cell in cells if rng.random() < 0.5) for _ in range(rng.randint(1, 2))]
    reach = [[rng.random() < 0.8 for _ in range(count)] for count in kinds]
    for box in reach:
        box[0] |= not any(box)
    attained = [[rng.randint(0, 2) if one else 0 for one in box] for box in reach]
    rows = [rng.randint(0, 2) for _ in range(len(good) + 1)]
    while sum(rows) > 4:
        rows[rows.index(max(rows))] -= 1
    return good, Cells(tuple(rows), tuple(map(tuple, reach)), tuple(map(tuple, attained)))


def test_the_numbers_are_those_of_all_placements() -> None:
    rng, solved = random.Random("cells"), 0
    for _ in range(150):
        good, cells = drawn(rng)
        expected = enumerated(good, cells)
        if expected is None:
            with pytest.raises(ValueError, match="no placement"):
                Solver(good).solve(cells)
            continue
        solved += 1
        assert Solver(good).solve(cells) == expected
    assert solved > 50


def test_more_rows_than_attained_values_add_what_each_adds_alone() -> None:
    """The numbers of rows in the texts of classes end at the number of attained values."""
    rng, solved = random.Random("more"), 0
    while solved < 20:
        good, cells = drawn(rng)
        if cells.most > 3:
            continue
        solver = Solver(good)
        rows = tuple(cells.most for _ in cells.rows)
        low, high = solver.solve(Cells(rows, cells.reach, cells.attained))
        least, most = solver.alone(0, cells.reach)
        more = (rows[0] + 2, *rows[1:])
        assert solver.solve(Cells(more, cells.reach, cells.attained)) == (low + 2 * least, high + 2 * most)
        solved += 1


def test_classes_of_many_attained_values_are_left_to_closed_forms() -> None:
    assert Cells((3, 3), ((True, True),), ((2, 2),)).few
    assert not Cells((3, 3), ((True, True),), ((MOST_ATTAINED, 1),)).few
    assert not Cells((9, 9), ((True,) * 6,), ((4,) * 6,)).few
