"""Every order of the registry arranges rows as its definition says, however they are stored.

Ties are ordered as everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.canonical_order import FEW, order_by_words, settle
from sqlanon.kernels.sorted_lists import FEW as FEW_POSITIONS
from sqlanon.kernels.sorted_lists import sort_positions
from sqlanon.methods.base import Context
from sqlanon.methods.onedim import orders
from sqlanon.methods.onedim.row_orders import Order, SortedRows, make_canonical
from sqlanon.methods.shared import threads as threads_module
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.papers.idistance.curve import IDistance
from sqlanon.papers.idistance.declaration import MOST_CENTRES
from tests.contract.cases import Case
from tests.oracle import orders as oracle
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy
from tests.properties.onedim import context_of, kinds, loaded, order_of
from tests.properties.strategies import cases, examples

ORDERS = [name for name, kind in kinds().items() if not kind.fast]


@pytest.fixture(autouse=True, scope="module")
def few_rows_are_worth_a_thread() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads_module, "LEAST_ROWS", 1)
        yield


def tuples(table: Table, rows: list[int]) -> list[object]:
    """What a row is to a release: rows of equal codes may change places."""
    return [(table.codes[row], table.sa_codes[row]) for row in rows]


def arranged(order: Order, context: Context, data: LoadedTable) -> SortedRows:
    """By the keys, then between them."""
    found = order.arrange(context, data)
    order.within(context, found.bare, data.geometry)
    return found


def check(name: str, table: Table, seed: int, stored: list[int], threads: int = 1) -> oracle.Ordered:
    return compared(order_of(name), oracle.ORDERS[name](table, seed), table, seed, stored, threads)


def compared(
    order: Order, expected: oracle.Ordered, table: Table, seed: int, stored: list[int], threads: int = 1
) -> oracle.Ordered:
    found = arranged(order, context_of(table, Privacy(), seed, threads), loaded(table, stored))
    ranked = [stored[i] for i in found.bare.number.tolist()]
    assert sorted(ranked) == list(range(table.rows))
    assert tuples(table, ranked) == tuples(table, expected.rows)
    assert (found.line is None) == (expected.line is None)
    if found.line is not None:
        assert found.line.tolist() == expected.line
        assert found.span == expected.span
    return expected


@pytest.mark.parametrize("name", ORDERS)
@examples(100)
@given(case=cases(max_rows=24), data=st.data(), threads=st.integers(1, 3))
def test_orders_are_those_of_their_definitions(name: str, case: Case, data: st.DataObject, threads: int) -> None:
    check(name, case.table, 7, data.draw(st.permutations(range(case.table.rows))), threads)


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(("d", "domain"), [(1, 2**20), (8, 1000), (20, 50), (30, 5)])
def test_many_attributes(name: str, d: int, domain: int) -> None:
    """Keys of one word and of more."""
    rng = random.Random(d)
    columns = [tuple(rng.choice([None, 0, domain, rng.randint(0, domain)]) for _ in range(30)) for _ in range(d)]
    table = Table(tuple(Quasi(f"q{j}", column) for j, column in enumerate(columns)))
    found = check(name, table, 1, rng.sample(range(30), 30))
    if found.line is not None:
        assert max(found.line) <= found.span < 2**63


@examples(40)
@given(case=cases(max_rows=40), k=st.integers(1, 9), threads=st.integers(1, 2), data=st.data())
def test_trees_of_a_large_table(case: Case, k: int, threads: int, data: st.DataObject) -> None:
    """Above a number of rows there is a tree for every stretch of the curve, with leaves of up to a class."""
    table, stored = case.table, data.draw(st.permutations(range(case.table.rows)))
    with pytest.MonkeyPatch.context() as patch:
        for module in (orders, oracle):
            patch.setattr(module, "ONE_TREE", 12)
            patch.setattr(module, "TREE_ROWS", 7)
        expected = oracle.tree(table, 0, k)
        context = context_of(table, Privacy(k=k), 0, threads)
        found = arranged(orders.Tree(), context, loaded(table, stored))
    assert tuples(table, [stored[i] for i in found.bare.number.tolist()]) == tuples(table, expected.rows)


@pytest.mark.thorough
def test_more_points_than_centres() -> None:
    """Beyond 512 rows centres come from a sample that the seed draws, and take part of the points each."""
    rng = random.Random(10)
    n = 640
    columns = [tuple(rng.randint(0, 40) ** 2 for _ in range(n)) for _ in range(2)]
    table = Table(
        tuple(Quasi(f"q{j}", column) for j, column in enumerate(columns)),
        (Sensitive("s", tuple(rng.choice("abc") for _ in range(n))),),
    )
    lines = [check("idistance", table, seed, rng.sample(range(n), n)).line for seed in (1, 2)]
    assert lines[0] != lines[1]


@pytest.mark.parametrize(("n", "centres"), [(640, 1), (640, 40), (640, 100), (60, 59), (60, 100), (1, MOST_CENTRES)])
def test_as_many_centres_as_asked(n: int, centres: int) -> None:
    """A sample of more than 10 % where more centres are asked; no more than there are points."""
    assert MOST_CENTRES == oracle.MOST_SAMPLED
    rng = random.Random(11)
    columns = [tuple(rng.randint(0, 40) ** 2 for _ in range(n)) for _ in range(2)]
    table = Table(tuple(Quasi(f"q{j}", column) for j, column in enumerate(columns)))
    expected = oracle.idistance(table, 3, count=centres)
    compared(IDistance(centres), expected, table, 3, rng.sample(range(n), n))


@examples(100)
@given(case=cases(max_rows=24), data=st.data())
def test_the_canonical_order_is_that_of_the_codes(case: Case, data: st.DataObject) -> None:
    table = case.table
    stored = data.draw(st.permutations(range(table.rows)))
    found = make_canonical(context_of(table, Privacy()), loaded(table, stored)).bare.number.tolist()
    assert tuples(table, [stored[i] for i in found]) == tuples(table, oracle.canonical(table))


@examples(200)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3, *[st.integers(0, 2)] * 2), min_size=1, max_size=80),
    d=st.integers(0, 2),
    s=st.integers(0, 2),
    data=st.data(),
)
def test_ties_are_settled_by_codes_then_occurrence_then_sensitive_codes_then_row(
    rows: list[tuple[int, ...]], d: int, s: int, data: st.DataObject
) -> None:
    """Runs of equal keys keep their places; with no codes the key distinguishes rows.

    Long runs take another way to sort.
    """
    n = len(rows)
    key = [row[0] for row in rows]
    codes, sensitive = [row[1 : 1 + d] for row in rows], [row[3 : 3 + s] for row in rows]
    stored = data.draw(st.booleans())  # rows lie in the order of their ids
    rid = list(range(n)) if stored else data.draw(st.permutations(range(n)))
    seen: dict[object, int] = {}
    occurrence = [0] * n
    for row in sorted(range(n), key=lambda row: rid[row]):
        cell = (key[row], codes[row], sensitive[row])
        occurrence[row] = seen[cell] = seen.get(cell, -1) + 1
    expected = sorted(range(n), key=lambda row: (key[row], codes[row], occurrence[row], sensitive[row], rid[row]))
    drawn = list(range(n)) if stored else data.draw(st.permutations(range(n)))
    order = np.array(sorted(drawn, key=lambda row: key[row]), np.int32)
    begins = np.array([at == 0 or key[order[at]] != key[order[at - 1]] for at in range(n)])
    columns = np.array([*zip(*codes, strict=True)], np.int32).reshape(d, n)
    values = np.array([*zip(*sensitive, strict=True)], np.int32).reshape(s, n)
    settle(order, begins, columns, values, np.array([] if stored else rid, np.int32))
    assert order.tolist() == expected


@pytest.mark.parametrize("n", [1, 2, FEW, FEW + 1, 700])
@pytest.mark.parametrize("values", [2, 1 << 62])
def test_keys_of_several_words_are_sorted_stably(n, values):
    rng = np.random.default_rng([n, values % 97])
    leading = np.sort(rng.integers(0, 3, n))
    words = rng.integers(0, values, (2, n))
    order, begins = rng.permutation(n).astype(np.int32), np.ones(n, np.bool_)
    by_leading = np.empty(n, np.int64)
    by_leading[order] = leading
    begins[1:] = leading[1:] != leading[:-1]
    place = np.argsort(order)
    expected = np.lexsort((place, words[1], words[0], by_leading))
    order_by_words(order, begins, words)
    assert order.tolist() == expected.tolist()
    keys = np.stack([by_leading, *words])[:, expected]
    assert begins.tolist() == [True, *(keys[:, 1:] != keys[:, :-1]).any(axis=0).tolist()]


@pytest.mark.parametrize("n", [1, 2, FEW_POSITIONS, FEW_POSITIONS + 1, 300])
@pytest.mark.parametrize("codes", [3, 1 << 20])
def test_positions_are_sorted_stably(n, codes):
    code = np.random.default_rng([n, codes]).integers(0, codes, n + 2).astype(np.int32)
    lists = np.full(n + 2, 9, np.uint32)
    sort_positions(code, 1, n, lists)
    assert lists.tolist() == [9, *np.argsort(code[1:-1], kind="stable").tolist(), 9]
