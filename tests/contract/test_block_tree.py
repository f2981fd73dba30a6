"""The tree that places rows in blocks: the query against a walk down the tree, row by row."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from sqlanon.engines import connect
from sqlanon.engines.base import TableRef
from sqlanon.release.divide.block_tree import BlockTree, cut_sample
from sqlanon.table.scratch import Scratch
from sqlanon.table.work import Packing


def block_of(tree: BlockTree, codes: list[int], rid: int) -> tuple[int, int]:
    """The leaf of a row, and the block."""
    node = 0
    while tree.attribute[node] >= 0:
        node = tree.below[node] + (codes[tree.attribute[node]] > tree.cut[node])
    return node, (tree.name[node] + (rid * 1327217884 % 2147483647 * tree.spread[node] >> 31)) * tree.step


@pytest.mark.parametrize("widths", [(3, 4), (40, 30, 5)], ids=["one word", "two words"])
@pytest.mark.parametrize("part", [False, True])
def test_rows_are_placed_by_the_tree(widths, part):
    chance = np.random.default_rng(len(widths))
    codes = np.stack([chance.integers(0, min(1 << width, 9), 300) for width in widths]).astype(np.int32)
    tree = cut_sample(codes, [np.arange(9)] * len(widths), 11)
    tree.step = 100
    if part:
        tree.part = list(range(len(tree.name)))
    packing = Packing.of(widths)
    words = np.zeros((len(packing.words), 300), np.int64)
    for code, (word, shift) in zip(codes.astype(np.int64), packing.places, strict=True):
        words[word] |= code << shift
    engine = connect("duckdb:///:memory:", threads=1)
    with closing(engine), Scratch(engine) as scratch:
        table = TableRef(None, "packed")
        columns = dict(zip(packing.words, words, strict=True))
        engine.load_arrays(table, {"rid": np.arange(300, dtype=np.int32), **columns})
        read = tree.read_placed(scratch, table, packing.words, packing)
        block, rid, *rest = engine.fetch_arrays(read, ["int64"] * (2 + len(words) + part))
    for row, number in enumerate(rid.tolist()):
        leaf, expected = block_of(tree, codes[:, number].tolist(), number)
        assert block[row] == expected
        assert [column[row] for column in rest[: len(words)]] == words[:, number].tolist()
        if part:
            assert rest[-1][row] == leaf


@pytest.mark.parametrize("blocks", [1, 2, 7, 30])
def test_blocks_of_a_sample_have_about_equally_many_rows(blocks):
    chance = np.random.default_rng(blocks)
    codes = np.stack([chance.integers(0, 200, 3000), chance.integers(0, 4, 3000), chance.integers(0, 50, 3000)])
    tree = cut_sample(codes.astype(np.int32), [np.arange(200), np.arange(4) * 50, np.arange(50) * 4], blocks)
    assert tree.blocks == blocks
    sizes = Counter(block_of(tree, row, number)[1] for number, row in enumerate(codes.T.tolist()))
    assert sorted(sizes) == list(range(blocks))
    assert max(sizes.values()) < 2.5 * 3000 / blocks


def test_equal_rows_are_spread_over_blocks():
    """Two thirds of the rows are equal, and have two thirds of the blocks; the others are not among them."""
    codes = np.array([[5] * 600 + list(range(300))], np.int32)
    codes[0, 600:][codes[0, 600:] == 5] = 6
    tree = cut_sample(codes, [np.arange(300)], 9)
    assert tree.blocks == 9
    of = [block_of(tree, row, number)[1] for number, row in enumerate(codes.T.tolist())]
    equal, others = Counter(of[:600]), Counter(of[600:])
    assert 5 <= len(equal) <= 7
    assert max(equal.values()) <= 130
    assert sum(others[block] for block in equal) <= 30
    assert tree.count_levels() <= 4
    assert cut_sample(codes[:, :600], [np.arange(300)], 4).spread == [4]
    assert cut_sample(codes[:, :0], [np.arange(300)], 4).spread == [4]
