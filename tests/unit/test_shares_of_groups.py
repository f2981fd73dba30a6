"""Numbers of groups and of their values, and distances on trees of values, by their definitions."""

from __future__ import annotations

import random
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlanon.privacy.closeness.tree import Tree
from sqlanon.privacy.counts import GroupShares
from sqlanon.privacy.reference import group_items


def test_values_within_groups_have_a_number_each() -> None:
    draw = random.Random(4)
    for _ in range(20):
        rows, codes = draw.randrange(1, 9), (3, 2, 4)
        columns = [np.array([draw.randrange(most) for _ in range(rows)], np.int32) for most in codes]
        coded: Any = SimpleNamespace(rows=rows, codes=codes, sensitive=columns)
        within = tuple(draw.sample((1, 2), draw.randrange(3)))
        items, groups, values, value_of = group_items(coded, 0, within)
        keys = [tuple(int(columns[i][row]) for i in within) for row in range(rows)]
        own_groups, numbers = items[::2].tolist(), items[1::2].tolist()
        assert groups == len(set(keys)) == len(set(own_groups)) == len(set(zip(keys, own_groups, strict=True)))
        assert [int(value_of[number]) for number in numbers] == columns[0].tolist()
        pairs = {(key, number) for key, number in zip(keys, numbers, strict=True)}
        assert len(pairs) == len({(key, int(value)) for key, value in zip(keys, columns[0], strict=True)})
        assert values == (len(set(numbers)) if within else codes[0])
        if within:
            assert len({number for _, number in pairs}) == len(pairs)


TREES = {
    "star": Tree(node=(0, 1, 2, 3), parent=(4, 4, 4, 4, -1), edges=2),
    "chain": Tree(node=(0, 1, 2, 3), parent=(1, 2, 3, -1), edges=3),
    "pairs": Tree(node=(0, 1, 2, 3), parent=(4, 4, 5, 5, 6, 6, -1), edges=4),
}


@pytest.mark.parametrize("name", TREES)
def test_a_distance_is_what_is_moved_over_the_edges(name: str) -> None:
    """Over an edge goes the difference of what is below it."""
    tree, draw = TREES[name], random.Random(name)
    below = [[value for value in range(4) if node in above(tree, value)] for node in range(len(tree.parent))]
    edges = [values for node, values in enumerate(below) if tree.parent[node] >= 0]
    for _ in range(10):
        counts = [[draw.randrange(4) for _ in range(4)] for _ in range(3)]
        counts = [own if any(own) else [1, 0, 0, 0] for own in counts]
        whole = [sum(column) for column in zip(*counts, strict=True)]
        table = {value: Fraction(n, sum(whole)) for value, n in enumerate(whole)}
        shares = [{value: Fraction(n, sum(own)) for value, n in enumerate(own) if n} for own in counts]
        expected = [
            sum((abs(sum((own.get(v, 0) - table[v] for v in values), Fraction(0))) for values in edges), Fraction(0))
            / tree.edges
            for own in shares
        ]
        assert [tree.distance(own, table) for own in shares] == expected
        entries = [(group, value, float(share)) for group, own in enumerate(shares) for value, share in own.items()]
        given = GroupShares(
            np.array([group for group, _, _ in entries]),
            np.array([value for _, value, _ in entries]),
            np.array([share for _, _, share in entries]),
            np.array([float(table[value]) for value in range(4)]),
            table,
        )
        assert tree.distances(given) == pytest.approx([float(each) for each in expected])


def above(tree: Tree, value: int) -> list[int]:
    """A value's node and those over it."""
    found = [tree.node[value]]
    while tree.parent[found[-1]] >= 0:
        found.append(tree.parent[found[-1]])
    return found
