"""ARX's local recoding and the bound from below, against all partitions of few rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from benchmarks.local_recoding import read_tree, recode_locally

PATHS = [
    [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cde", "*"], ["d", "cde", "*"], ["e", "cde", "*"]],
    [["x", "*"], ["y", "*"], ["z", "*"]],
    [[str(leaf), "1-2" if leaf < 3 else "3-4", "1-4", "*"] for leaf in range(1, 5)],
]
"""Of each column the leaves with the nodes above them."""


def partitions(rows: Sequence[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions into classes of at least k rows."""

    def assign(at: int, classes: list[list[int]]) -> Iterator[list[list[int]]]:
        if at == len(rows):
            if all(len(members) >= k for members in classes):
                yield classes
            return
        for members in classes:
            members.append(rows[at])
            yield from assign(at + 1, classes)
            members.pop()
        classes.append([rows[at]])
        yield from assign(at + 1, classes)
        classes.pop()

    return assign(0, [])


def lost(members: Sequence[Sequence[str]]) -> float:
    """The sum of LM of a class, by its least common nodes."""
    total = 0.0
    for paths, values in zip(PATHS, zip(*members, strict=True), strict=True):
        own = [path for path in paths if path[0] in values]
        level = next(level for level in range(len(own[0])) if len({path[level] for path in own}) == 1)
        total += (sum(path[level] == own[0][level] for path in paths) - 1) / (len(paths) - 1)
    return total * len(members)


@pytest.fixture
def trees(tmp_path):
    files = [tmp_path / f"{number}.csv" for number in range(len(PATHS))]
    for file, paths in zip(files, PATHS, strict=True):
        file.write_text("".join(";".join(path) + "\n" for path in paths), encoding="utf-8")
    return [read_tree(file) for file in files]


def draw(rng, rows):
    return [[rng.choice(paths)[0] for paths in PATHS] for _ in range(rows)]


def number(trees, table):
    return np.array([[tree.number[row[j]] for row in table] for j, tree in enumerate(trees)])


def test_local_recoding_has_classes_of_k_rows_at_nodes_that_hold_them(trees):
    rng = random.Random(1)
    for k in (2, 3, 5):
        table = draw(rng, 40)
        recoding = recode_locally(number(trees, table), trees, k)
        classes = [[table[i] for i in np.flatnonzero(recoding.group == g)] for g in range(recoding.group.max() + 1)]
        starred = int((recoding.group < 0).sum())
        assert min(map(len, classes)) >= k > starred
        # ARX's nodes are not below the least common ones.
        assert recoding.loss * 40 * len(PATHS) >= sum(map(lost, classes)) + starred * len(PATHS) - 1e-9


@pytest.mark.thorough
def test_no_partition_loses_less_than_the_bound(trees):
    from benchmarks.node_bound import bound_loss, list_boxes

    rng, better = random.Random(2), 0
    for trial in range(20):
        k, table = 2 + trial % 2, draw(rng, 5 + trial % 3)
        best = min(
            sum(lost([table[i] for i in members]) for members in classes)
            for classes in partitions(range(len(table)), k)
        )
        boxes = list_boxes(number(trees, table), trees, k)
        bound, least = bound_loss(boxes, k), best / (len(table) * len(PATHS))
        narrowest = boxes.narrowest() @ boxes.rows / len(table)
        assert narrowest - 1e-9 <= bound <= least + 1e-9
        better += bound > narrowest + 1e-6
    assert better >= 10
