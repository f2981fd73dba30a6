"""Boxes of their own: matchings without a common edge, never worse by a pass, near the least loss.

Remixing keeps the graph.
"""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.freeform_graph import are_in_order, list_rows_of_boxes, order_boxes
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.methods.freeform.draw import draw_matching, remix_matchings
from sqlanon.methods.freeform.kernels.assign import assign
from sqlanon.methods.freeform.kernels.prices import price_window
from sqlanon.methods.freeform.kernels.remix import decompose_graph, remix, split, swap
from sqlanon.methods.freeform.kernels.stream import draw_below, draw_choice, draw_word, refill, stream
from sqlanon.methods.freeform.walk import BlockWalk, walk_blocks, windows_of
from sqlanon.papers.matchings.kernels.cost import prepare_rows, sum_widths
from tests.contract.cases import Case
from tests.oracle.domains import Quasi, Table
from tests.oracle.extent import extent
from tests.oracle.freeform import least_loss, loss
from tests.oracle.freeform import list_rows_of_boxes as rows_of_boxes_of
from tests.properties.kernel import product_codes
from tests.properties.onedim import in_order
from tests.properties.strategies import cases, examples

KEY = bytes(range(32))


def key_of(number: int) -> bytes:
    return number.to_bytes(32, "little")


def walk(table: Table, k: int, block: int = 0, passes: int = 2, threads: int = 1) -> np.ndarray:
    codes = np.array([product_codes(column) for column in table.quasi], np.int32)
    _, shape = in_order(table)
    return walk_blocks(codes, shape, BlockWalk(k, block or max(table.rows, 2 * k), passes, KEY), threads)


def check(targets: np.ndarray) -> None:
    n = targets.shape[1]
    assert all(sorted(matching) == list(range(n)) for matching in targets.tolist())
    assert all(len(set(column)) == len(targets) for column in targets.T.tolist())


def graph(targets: np.ndarray) -> list[list[int]]:
    return np.sort(targets, axis=0).T.tolist()


def cyclic(k: int, n: int) -> np.ndarray:
    return np.array([[(i + t) % n for i in range(n)] for t in range(k)], np.int32)


def held_of(targets: np.ndarray) -> np.ndarray:
    """The rows of every box, by brute force."""
    return np.array([sorted(rows) for rows in rows_of_boxes_of(targets.tolist())], np.int32)


@examples(60)
@given(case=cases(max_rows=24), k=st.integers(1, 5), block=st.integers(2, 12))
def test_matchings_have_no_common_edge_and_passes_are_never_worse(case: Case, k: int, block: int) -> None:
    table = case.table
    k = min(k, table.rows)
    block = max(block, 2 * k)
    rows, shape = in_order(table)
    own = prepare_rows(rows.places, rows.sets, rows.codes, shape)
    losses = []
    for passes in range(4):
        targets = walk(table, k, block, passes)
        check(targets)
        losses.append(sum_widths(own, targets))
        assert losses[-1] == loss(table, targets.tolist())
    assert losses == sorted(losses, reverse=True)
    after = remix_matchings(held_of(targets), KEY)
    assert graph(after) == graph(targets)
    check(after)
    assert (walk(table, k, block, 3, threads=2) == targets).all()


@examples(60)
@given(case=cases(max_rows=10), data=st.data())
def test_costs_are_how_much_boxes_grow(case: Case, data: st.DataObject) -> None:
    table = case.table
    n = table.rows
    k = data.draw(st.integers(1, n))
    codes = np.array([product_codes(column) for column in table.quasi], np.int32)
    rows, shape = in_order(table)
    own = prepare_rows(rows.places, rows.sets, rows.codes, shape)
    targets, t = cyclic(k, n), data.draw(st.integers(0, k - 1))
    if k == 1:
        return
    held = np.argsort(targets, axis=1)
    cost = np.empty((n, n), np.int32)
    price_window(codes, shape, held, t, k, 0, n, targets[t].copy(), cost)
    without = np.delete(targets, t, axis=0)
    for b, box in enumerate(targets[t].tolist()):
        others = rows_of_boxes_of(without.tolist())[box]
        for i in range(n):
            if i in others:
                assert cost[b, i] == 2**31 - 1
                continue
            wide = [sum(c.weight * extent_of(c, some) for c in table.quasi) for some in (others, [*others, i])]
            assert cost[b, i] == wide[1] - wide[0]
            if len(others) == 1:
                both = measure_joint_width(own.box, own.mask, others[0], own.box, own.mask, i, own.measure)
                assert both == wide[1]


def extent_of(column: Quasi, rows: list[int]) -> int:
    return extent(column, rows)


@examples(100)
@given(data=st.data(), m=st.integers(1, 6))
def test_assignments_cost_least(data: st.DataObject, m: int) -> None:
    most = data.draw(st.sampled_from([1, 3, 2**30]))
    cost = np.array(data.draw(st.lists(st.integers(0, most), min_size=m * m, max_size=m * m)), np.int32).reshape(m, m)
    taken = data.draw(st.integers(0, (m - 1) // 2))
    for t in range(taken):  # a regular graph stays
        for b, i in enumerate(data.draw(st.permutations(range(m)))):
            cost[b, i] = 2**31 - 1 if t == 0 or cost[b, i] < 0 else cost[b, i]
    price = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=m, max_size=m)), np.int64)
    found = np.empty(m, np.int64)
    assign(cost, price, found)
    assert sorted(found.tolist()) == list(range(m))
    allowed = [
        sum(int(cost[b, i]) for b, i in enumerate(order))
        for order in permutations(range(m))
        if all(cost[b, i] < 2**31 - 1 for b, i in enumerate(order))
    ]
    if allowed:
        assert sum(int(cost[b, i]) for b, i in enumerate(found.tolist())) == min(allowed)


def small(rng: random.Random, n: int) -> Table:
    shown = rng.choice(["number", "nominal"])
    drawn_values = [[rng.randint(0, 9) for _ in range(n)] for _ in range(rng.randint(1, 3))]
    shown_as = str if shown == "nominal" else int
    return Table(tuple(Quasi(f"x{j}", tuple(map(shown_as, own)), shown) for j, own in enumerate(drawn_values)))


def excess(tables: int, most: int, least_rows: int = 4, most_k: int = 3) -> list[float]:
    rng, found = random.Random(5), []
    for _ in range(tables):
        n = rng.randint(least_rows, most)
        k = rng.randint(2, min(most_k, n - 1))
        table = small(rng, n)
        least = least_loss(table, k)
        got = loss(table, walk(table, k, passes=5).tolist())
        assert got >= least
        found.append(got / least - 1 if least else 0.0)
    return found


def test_five_passes_lose_little_more_than_the_least() -> None:
    assert float(np.mean(excess(40, 7))) <= 0.01


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [(100, 8), (15, 10, 10), (6, 9, 9, 4)], ids=["8 rows", "10 rows", "9 rows, k=4"])
def test_five_passes_lose_little_more_than_the_least_of_larger_tables(rows: tuple[int, ...]) -> None:
    assert float(np.mean(excess(*rows))) <= 0.01


@pytest.mark.parametrize(("k", "keys"), [(3, 200), (5, 4000)])
def test_every_matching_of_a_complete_graph_is_reached(k: int, keys: int) -> None:
    """Swaps of two alone do not: they leave 3 of 6, and 5 of 120."""
    for splits, reached in ((0, {3: 3, 5: 5}[k]), (k, {3: 6, 5: 120}[k])):
        found = set()
        for number in range(keys if splits else 300):
            targets = cyclic(k, k)
            remix(targets, 10 * k, splits, stream(key_of(number)))
            check(targets)
            found |= {tuple(matching) for matching in targets.tolist()}
        assert len(found) == reached


def test_each_edge_is_drawn_as_often() -> None:
    """Chi-square over the boxes of every row.

    2,000 draws, k = 4, at most the 0.999 quantile of 3 x 12 degrees of freedom.
    """
    n, k, keys = 12, 4, 2000
    counts = np.zeros((n, n))
    for number in range(keys):
        targets = remix_matchings(held_of(cyclic(k, n)), key_of(number))
        counts[np.arange(n), targets[draw_matching(k, key_of(number))]] += 1
    expected = keys / k
    assert ((counts > 0).sum(axis=1) == k).all()
    assert ((counts[counts > 0] - expected) ** 2 / expected).sum() < 67.99


@pytest.mark.thorough
def test_one_known_match_leaves_the_other_rows_a_choice() -> None:
    """Of 512 rows, k = 10, whoever knows one row's box takes no other row's for likelier than 1/4."""
    n, k, keys = 512, 10, 400
    rng = np.random.default_rng(3)
    points = np.sort(rng.integers(0, 2000, n))
    table = Table((Quasi("x", tuple(points.tolist())), Quasi("y", tuple(rng.integers(0, 50, n).tolist()))))
    targets = walk(table, k, n, 1)
    known, held = targets[0, 7], held_of(targets)
    counts = np.zeros((n, n))
    for number in range(keys):
        after = remix_matchings(held, key_of(number))
        (t,) = np.flatnonzero(after[:, 7] == known)
        counts[np.arange(n), after[t]] += 1
    counts[7] = 0
    assert counts.max() / keys <= 0.25


def test_a_graph_is_divided_with_the_identity_first() -> None:
    edges = np.sort(cyclic(4, 9), axis=0).T.copy()
    targets = decompose_graph(edges, stream(KEY))
    check(targets)
    assert targets[0].tolist() == list(range(9))
    assert graph(targets) == edges.tolist()


@examples(60)
@given(n=st.integers(1, 12), data=st.data())
def test_a_graph_is_remixed_in_one_way_whatever_it_was_divided_into(n: int, data: st.DataObject) -> None:
    """Boxes in the order of their rows, by Python's own sort.

    Other matchings, and other numbers of boxes, are the same graph.
    """
    k = data.draw(st.integers(1, n))
    targets = cyclic(k, n)[:, data.draw(st.permutations(range(n)))]
    remix(targets, k, k, stream(key_of(data.draw(st.integers(0, 9)))))
    again = np.array(data.draw(st.permutations(range(n))), np.int32)[targets]
    remix(again, k, k, stream(KEY))
    made = []
    for one in (targets, again):
        regular, held = list_rows_of_boxes(one)
        assert regular
        assert held.tolist() == held_of(one).tolist()
        assert are_in_order(held) == (held.tolist() == sorted(held.tolist()))
        held = held[order_boxes(held)]
        assert held.tolist() == sorted(held_of(one).tolist())
        made.append(remix_matchings(held, KEY))
    check(made[0])
    assert graph(made[0]) == np.sort([np.flatnonzero((held == i).any(axis=1)) for i in range(n)]).tolist()
    assert (made[0] == made[1]).all()


@examples(60)
@given(n=st.integers(2, 8), data=st.data())
def test_what_is_no_regular_graph_is_found(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n))
    targets = cyclic(k, n)
    targets[data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, n - 1))] = data.draw(st.integers(-1, n))
    boxes = targets.T.tolist()
    found, _ = list_rows_of_boxes(targets)
    rows = [[row for row in range(n) if box in boxes[row]] for box in range(n)]
    assert found == (
        all(len(own) == k for own in rows)
        and all(len(set(own)) == k for own in boxes)
        and not {-1, n} & set(targets.ravel().tolist())
    )


def test_swaps_and_splits_change_what_they_are_given_alone() -> None:
    targets = cyclic(5, 9)
    swap(targets[1], targets[3], stream(KEY))
    split(targets, np.array([0, 2, 4]), stream(KEY, 1))
    check(targets)
    assert graph(targets[[1, 3]]) == graph(cyclic(5, 9)[[1, 3]])


def test_the_stream_is_chacha20() -> None:
    """RFC 8439, section 2.3.2; and numbers below a bound are all reached."""
    state = stream(KEY)
    state[12:16] = np.frombuffer(bytes.fromhex("01000000 00000009 0000004a 00000000"), np.uint32)
    refill(state)
    expected = """
        10f1e7e4 d13b5915 500fdd1f a32071c4 c7d1f4c7 33c06803 0422aa9a c3d46c4e
        d2826446 079faa09 14c2d705 d98b02a2 b5129cd1 de164eb9 cbd083e8 a2503c4e"""
    assert state[16:32].tobytes() == bytes.fromhex(expected)
    state = stream(KEY)
    assert {draw_below(state, 5) for _ in range(200)} == set(range(5))
    assert {draw_choice(state, 5) for _ in range(200)} == set(range(5))
    assert draw_word(stream(KEY)) != draw_word(stream(KEY, 1))


@pytest.mark.parametrize("bound", [1, 3, 7, 10, 48, 51, 64, 65])
def test_few_things_are_chosen_as_often(bound: int) -> None:
    """By 256 bytes in a row, each value once, and those that are too many left out: every number as often.

    By chi-square otherwise.
    """
    state = stream(KEY)
    seen: list[int] = []
    if bound <= 64:
        for first in range(0, 256, 64):  # four bytes a word, sixteen words a block
            state[16:32] = np.arange(first, first + 64, dtype=np.uint8).view(np.uint32)
            state[32] = 0
            while state[32] < 16 or state[34] > 0:
                block = state[12]
                found = draw_choice(state, bound)
                if state[12] != block:
                    break  # the last bytes were left out
                seen.append(found)
            state[34] = 0
        assert np.bincount(seen).tolist() == [256 // bound] * bound
        return
    counts = np.bincount([draw_choice(state, bound) for _ in range(200 * bound)], minlength=bound)
    assert ((counts - 200) ** 2 / 200).sum() < 115  # the 0.9999 quantile of 64 degrees of freedom


def test_short_last_blocks_join_their_neighbours() -> None:
    for n in range(1, 60):
        for block in (4, 7, 20):
            for shift in (0, block // 2):
                windows = windows_of(n, block, shift)
                assert windows[0, 0] == 0
                assert windows[-1, 1] == n
                assert (windows[1:, 0] == windows[:-1, 1]).all()
                sizes = windows[:, 1] - windows[:, 0]
                assert sizes.max() < 2 * block
                if not shift:
                    assert sizes.min() >= min(n, block // 2)
