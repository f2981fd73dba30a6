"""Graphs of rows and boxes by flows, and candidates in assignments of all records.

They are compared with all subsets of tiny graphs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from sqlanon.release.audit.kernels.regular_graph import find_fitting, find_greatest_flow
from sqlanon.release.history.kernels.exchangeable import count_exchangeable
from tests.oracle.freeform import regular_graph_exists

Fits = list[list[int]]


def listed(fits: Fits) -> tuple[np.ndarray, np.ndarray]:
    at = np.zeros(len(fits) + 1, np.int64)
    at[1:] = np.cumsum([len(boxes) for boxes in fits])
    return at, np.array([box for boxes in fits for box in boxes], np.int32)


def graph(random_: random.Random, rows: int, boxes: int) -> Fits:
    share = random_.uniform(0.3, 1)
    return [[j for j in range(boxes) if random_.random() < share] for _ in range(rows)]


def exists(fits: Fits, rows: Sequence[int], boxes: Sequence[int], k: int) -> bool:
    at, box = listed(fits)
    return int(find_greatest_flow(at, box, np.array(rows), np.array(boxes), k)) == k * sum(rows)


def test_points_whose_boxes_count_covers_and_are_no_graph() -> None:
    """Points 0 to 4: each fits two intervals or more, each interval has two points, and point 2's is certain."""
    intervals = [(0, 1), (0, 1), (0, 2), (0, 4), (0, 4)]
    fits = [[j for j, (low, high) in enumerate(intervals) if low <= point <= high] for point in range(5)]
    assert min(map(len, fits)) == 2
    assert exists(fits, [1] * 5, [1] * 5, 1)
    assert not exists(fits, [1] * 5, [1] * 5, 2)
    assert not regular_graph_exists(fits, 2)


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.thorough] * (seed > 0)) for seed in range(5)])
def test_flows_find_every_regular_graph(seed: int) -> None:
    random_, found = random.Random(seed), []
    for _ in range(300):
        n = random_.randint(1, 6)
        k, fits = random_.randint(1, min(n, 4)), graph(random_, n, n)
        found.append(regular_graph_exists(fits, k))
        assert exists(fits, [1] * n, [1] * n, k) == found[-1]
    assert 60 < sum(found) < 240


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.thorough] * (seed > 0)) for seed in range(5)])
def test_equal_rows_and_equal_boxes_are_one_node(seed: int) -> None:
    random_, found = random.Random(seed), []
    while len(found) < 200:
        rows = [random_.randint(1, 3) for _ in range(random_.randint(1, 3))]
        boxes = [random_.randint(1, 3) for _ in range(random_.randint(1, 3))]
        if sum(rows) != sum(boxes) or sum(rows) > 6:
            continue
        fits, k = graph(random_, len(rows), len(boxes)), random_.randint(1, min(sum(rows), 4))
        row_of = [i for i, many in enumerate(rows) for _ in range(many)]
        box_of = [j for j, many in enumerate(boxes) for _ in range(many)]
        each = [[j for j, group in enumerate(box_of) if group in fits[i]] for i in row_of]
        found.append(regular_graph_exists(each, k))
        assert exists(fits, rows, boxes, k) == found[-1]
    assert 20 < sum(found) < 180


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.thorough] * (seed > 0)) for seed in range(5)])
def test_candidates_are_possible_where_an_assignment_of_all_records_has_them(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(200):
        n = random_.randint(1, 5)
        fits = [sorted({i, *others}) for i, others in enumerate(graph(random_, n, n))]
        possible = [
            {assigned[i] for assigned in permutations(range(n)) if all(assigned[j] in fits[j] for j in range(n))}
            for i in range(n)
        ]
        at, other = listed(fits)
        assert count_exchangeable(at, other.astype(np.int64)).tolist() == [len(rows) for rows in possible]


def test_rows_fit_what_covers_them_in_every_column() -> None:
    """An interval of an ordered column, perhaps with code 0 beside it, a set of another.

    And more pairs than are asked for are none.
    """
    random_ = random.Random(3)
    codes = np.array([[random_.randrange(6) for _ in range(8)], [random_.randrange(4) for _ in range(8)]], np.int32)
    ends = [sorted((random_.randrange(6), random_.randrange(6))) for _ in range(5)]
    null = [random_.random() < 0.5 for _ in range(5)]
    sets = [{value for value in range(4) if random_.random() < 0.6} for _ in range(3)]
    cells = np.array([[random_.randrange(5) for _ in range(9)], [random_.randrange(3) for _ in range(9)]], np.int32)
    expected = [
        [
            j
            for j in range(9)
            if (ends[cells[0, j]][0] <= codes[0, i] <= ends[cells[0, j]][1] or (codes[0, i] == 0 and null[cells[0, j]]))
            and codes[1, i] in sets[cells[1, j]]
        ]
        for i in range(8)
    ]
    low, high = (np.array([end[side] for end in ends], np.int32) for side in (0, 1))
    bits = np.array([value in members for members in sets for value in range(4)])
    size, start = np.array([0, 4]), np.array([0, 0])
    at, box = find_fitting(codes, cells, low, high, np.array(null), start, size, bits, 100)
    assert [box[at[i] : at[i + 1]].tolist() for i in range(8)] == expected
    pairs = sum(map(len, expected))
    assert len(find_fitting(codes, cells, low, high, np.array(null), start, size, bits, pairs)[0]) == 9
    assert len(find_fitting(codes, cells, low, high, np.array(null), start, size, bits, pairs - 1)[0]) == 1
