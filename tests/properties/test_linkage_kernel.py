"""The kernels of linkage against boxes and rows in plain Python.

Sets and ranges of more codes than are counted at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sqlanon.attack.kernels.cover_bits import Boxes
from sqlanon.attack.kernels.linkage import MOST_SETS, count_candidate_persons, count_candidates
from sqlanon.attack.kernels.mistakes import add_mistaken_success

CODES = (300, 5, 4)
"""Codes of the columns: the first is ordered, with code 0 beside some ranges, the others have sets."""
KNOWN = 2
"""Of so many columns every set is known; the others share one bit."""
Row = tuple[int, ...]
Box = tuple[tuple[frozenset[int], ...], int]


def drawn(seed: int) -> tuple[list[Box], list[Row], list[int]]:
    """Boxes with their members, different rows that each fit some box, and the box that each row is published in."""
    draw = random.Random(seed)
    boxes: list[Box] = []
    for _ in range(7):
        low = draw.randrange(CODES[0])
        high = min(low + draw.choice([0, 3, 130, 280]), CODES[0] - 1)
        sets = (frozenset(draw.sample(range(n), draw.randint(1, n))) for n in CODES[1:])
        null = [0] if low > 0 and draw.random() < 0.5 else []
        boxes.append(((frozenset([*null, *range(low, high + 1)]), *sets), draw.randint(1, 9)))
    rows: dict[Row, int] = {}
    for _ in range(12):
        own = draw.randrange(len(boxes))
        rows.setdefault(tuple(draw.choice(sorted(cell)) for cell in boxes[own][0]), own)
    ordered = sorted(rows)
    return boxes, ordered, [rows[row] for row in ordered]


def as_arrays(boxes: list[Box]) -> Boxes:
    """The boxes as the kernels read them; each box has cells of its own."""
    cells = [[box[0][a] for box in boxes] for a in range(len(CODES))]
    sets = [np.array([[code in cell for cell in cells[a]] for code in range(CODES[a])]) for a in range(1, len(CODES))]
    kinds = [0, *(len(boxes) for _ in sets)]
    return Boxes(
        np.array(
            [[_low(cell) if a == 0 else min(cell) for cell in column] for a, column in enumerate(cells)], np.int32
        ),
        np.array([[max(cell) for cell in column] for column in cells], np.int32),
        np.array([[a == 0 and _low(cell) > min(cell) for cell in column] for a, column in enumerate(cells)]),
        np.array([range(len(boxes))] * len(CODES), np.int32),
        np.array([0, 0, sets[0].size], np.int64),
        np.array(kinds, np.int64),
        np.concatenate([one.ravel() for one in sets]),
        np.array([0, 1, KNOWN], np.int64),
        np.array([box[1] for box in boxes], np.int64),
    )


def _low(cell: frozenset[int]) -> int:
    """Where the range of an ordered cell begins, beside which code 0 may be."""
    return 0 if {0, 1} <= cell or cell == {0} else min(cell - {0})


def candidates(boxes: list[Box], row: Row, known: tuple[int, ...]) -> int:
    """Published rows whose cells cover what is known of a row."""
    return sum(members for cells, members in boxes if all(row[a] in cells[a] for a in known))


def known_sets() -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each set of known columns, and its number."""
    for n in range(KNOWN + 1):
        for known in combinations(range(KNOWN), n):
            yield sum(1 << a for a in known), known


@pytest.mark.parametrize("seed", range(6))
def test_candidates(seed: int) -> None:
    boxes, rows, _ = drawn(seed)
    victims = [1 + i % 3 for i in range(len(rows))]
    fewest, chance = np.full(8, np.iinfo(np.int64).max), np.zeros(8)
    count_candidates(as_arrays(boxes), np.array(rows, np.int32), np.array(victims, np.int64), fewest, chance)
    every = tuple(range(len(CODES)))
    for number, known in [*known_sets(), (7, every)]:
        found = [candidates(boxes, row, known) for row in rows]
        assert fewest[number] == min(found)
        expected = sum(Fraction(times, n) for times, n in zip(victims, found, strict=True))
        assert chance[number] == pytest.approx(float(expected), rel=1e-12)


def persons_who_fit(boxes: list[Box], persons: list[list[int]], row: Row, known: tuple[int, ...]) -> int:
    """Different persons in the boxes whose cells cover what is known of a row."""
    fit = (who for (cells, _), who in zip(boxes, persons, strict=True) if all(row[a] in cells[a] for a in known))
    return len(set().union(*fit))


@pytest.mark.parametrize("columns", [3, 9])
@pytest.mark.parametrize("seed", range(4))
def test_persons_in_many_boxes(seed: int, columns: int) -> None:
    """Persons whose boxes cover so many different sets of columns that some are counted set by set."""
    draw = random.Random(seed)
    boxes = [
        (tuple(frozenset(c for c in range(3) if draw.random() < 0.5) or frozenset([0]) for _ in range(columns)), 1)
        for _ in range(60)
    ]
    persons = [sorted(draw.sample(range(9), draw.randint(1, 6))) for _ in boxes]
    rows = sorted({tuple(draw.randrange(3) for _ in range(columns)) for _ in range(12)})
    sets = [np.array([[code in cells[a] for code in range(3)] for cells, _ in boxes]) for a in range(columns)]
    arrays = Boxes(
        np.zeros((columns, 60), np.int32),
        np.full((columns, 60), 2, np.int32),
        np.zeros((columns, 60), np.bool_),
        np.array([range(60)] * columns, np.int32),
        np.arange(columns) * 180,
        np.full(columns, 60),
        np.concatenate([one.T.ravel() for one in sets]),
        np.arange(columns),
        np.ones(60, np.int64),
    )
    fewest, chance = np.full(1 << columns, np.iinfo(np.int64).max), np.zeros(1 << columns)
    count_candidate_persons(
        arrays,
        np.array(rows, np.int32),
        np.full(len(rows), 2, np.int64),
        np.cumsum([0, *map(len, persons)]),
        np.array([p for who in persons for p in who], np.int32),
        9,
        fewest,
        chance,
    )
    most = 0
    for row in rows:
        masks = [sum(1 << a for a in range(columns) if row[a] in cells[a]) for cells, _ in boxes]
        of = [{mask for mask, who in zip(masks, persons, strict=True) if p in who} for p in range(9)]
        most = max(most, *(sum(not any(m != o and m & o == m for o in own) for m in own) for own in of))
    assert (most > MOST_SETS) == (columns == 9)
    for number in range(1 << columns):
        known = tuple(a for a in range(columns) if number >> a & 1)
        found = [n for row in rows if (n := persons_who_fit(boxes, persons, row, known))]
        assert fewest[number] == min(found, default=np.iinfo(np.int64).max)
        assert chance[number] == pytest.approx(float(sum(Fraction(2, n) for n in found)), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_one_wrong_value(seed: int) -> None:
    boxes, rows, own = drawn(seed)
    times = [1 + i % 3 for i in range(len(rows))]
    often = [
        [sum(t for row, t in zip(rows, times, strict=True) if row[a] == code) for code in range(n)]
        for a, n in enumerate(CODES)
    ]
    chance, best = np.zeros(1 << KNOWN), np.zeros(1 << KNOWN)
    add_mistaken_success(
        as_arrays(boxes),
        np.array(rows, np.int32),
        np.arange(len(rows) + 1),
        np.array(own, np.int32),
        np.array(times, np.int64),
        np.cumsum([0, *CODES]),
        np.concatenate(often),
        KNOWN,
        chance,
        best,
    )
    for number, known in known_sets():
        if not known:
            continue
        means = [expected(boxes, rows, times, row, boxes[box], known) for row, box in zip(rows, own, strict=True)]
        total = sum(t * mean for t, mean in zip(times, means, strict=True))
        assert chance[number] == pytest.approx(float(total), rel=1e-12)
        assert best[number] == pytest.approx(float(max(means)), rel=1e-12)


def expected(
    boxes: list[Box], rows: list[Row], times: list[int], victim: Row, own: Box, known: tuple[int, ...]
) -> Fraction:
    """The success where one of the known columns has the value of a random other row."""
    means = []
    for a in known:
        others = [(row[a], t) for row, t in zip(rows, times, strict=True) if row[a] != victim[a]]
        found = Fraction(0)
        for code, t in others:
            if code in own[0][a]:
                believed = (*victim[:a], code, *victim[a + 1 :])
                found += Fraction(t, candidates(boxes, believed, known))
        if others:
            means.append(found / sum(t for _, t in others))
    return sum(means, Fraction(0)) / len(means) if means else Fraction(1, candidates(boxes, victim, known))
