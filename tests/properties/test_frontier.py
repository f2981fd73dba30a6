"""l-diverse groups along an order: equal to the paper's steps, for every l that a table admits."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.boxes import cover
from sqlanon.kernels.runs import find_exact_runs
from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups
from sqlanon.methods.onedim.kernels.fractions import make_copies, make_fractional_groups
from tests.contract.cases import Case
from tests.oracle import frontier as oracle
from tests.oracle.divisions import wide
from tests.oracle.domains import Quasi, Table
from tests.properties.onedim import by_number, in_order
from tests.properties.strategies import cases, examples


def groups_of(table: Table, values: list[int], l: int, line: list[int] | None = None):  # noqa: E741
    rows, shape = in_order(table)
    group = np.full(table.rows, -1, np.int32)
    keys = np.array(line or [], np.int64)
    made = make_diverse_groups(
        np.array(values, np.int32), max(values) + 1, l, keys, rows.places, rows.sets, shape, group
    )
    if made == 0:
        assert (group == -1).all()
        return None
    found = by_number(group)
    assert len(found) == made
    return found


def check(values: list[int], found: list[list[int]], l: int) -> None:  # noqa: E741
    assert sorted(row for rows in found for row in rows) == list(range(len(values)))
    for rows in found:
        assert len(rows) >= l
        assert max(Counter(values[row] for row in rows).values()) == 1


@examples(200)
@given(case=cases(max_rows=24), l=st.integers(1, 5), data=st.data())
def test_groups_are_those_of_the_paper_s_steps(case: Case, l: int, data: st.DataObject) -> None:  # noqa: E741
    n = case.table.rows
    values = data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    expected = oracle.make_diverse_groups(values, l, lambda rows: wide(case.table, rows))
    found = groups_of(case.table, values, l)
    if expected is None:
        assert found is None
    else:
        assert found == [sorted(rows) for rows in expected]
        check(values, found, l)


@examples(200)
@given(rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=24), l=st.integers(1, 4))
def test_groups_on_a_line(rows: list[tuple[int, int]], l: int) -> None:  # noqa: E741
    rows.sort(key=lambda row: row[0])
    line, values = [row[0] for row in rows], [row[1] for row in rows]
    table = Table((Quasi("x", tuple(line)),))
    expected = oracle.make_diverse_groups(values, l, len, line)
    found = groups_of(table, values, l, line)
    assert found == (None if expected is None else [sorted(each) for each in expected])


@pytest.mark.parametrize("l", [1, 2, 3, 5])
def test_groups_of_longer_tables(l: int) -> None:  # noqa: E741
    """Joined rows bring their values' next rows forward, which may be behind rows that nobody has looked at yet."""
    rng = random.Random(l)
    for _ in range(20):
        n, values = rng.randint(40, 120), rng.randint(l + 1, 12)
        sensitive = [rng.randrange(rng.randint(1, values)) for _ in range(n)]
        line = sorted(rng.randrange(rng.choice([10, 1000])) for _ in range(n))
        table = Table((Quasi("x", tuple(rng.choice([None, rng.randint(0, 9)]) for _ in range(n))),))
        for keys, width in ((None, lambda rows: wide(table, rows)), (line, len)):  # noqa: B023
            expected = oracle.make_diverse_groups(sensitive, l, width, keys)
            found = groups_of(table, sensitive, l, keys)
            assert found == (None if expected is None else [sorted(rows) for rows in expected])


def test_every_admitted_l_has_a_solution() -> None:
    """Tight tables: the most frequent value is exactly n / l of the rows, and its rows are adjacent."""
    rng = random.Random(413)
    overlapping = 0
    for _ in range(300):
        l = rng.randint(2, 6)  # noqa: E741
        per = rng.randint(1, 12)
        n = l * per + rng.randint(0, l - 1)
        values = [0] * per
        while len(values) < n:
            v = rng.randint(1, 20)
            if values.count(v) < per:
                values.append(v)
        if rng.random() < 0.5:
            rng.shuffle(values)
        line = sorted(rng.randrange(1000) for _ in range(n))
        found = groups_of(Table((Quasi("x", tuple(line)),)), values, l)
        assert found is not None
        check(values, found, l)
        overlapping += any(rows != sorted(rows)[: len(rows)] or max(rows) - min(rows) >= len(rows) for rows in found)
    assert overlapping > 50


def test_a_row_joins_the_group_it_is_nearer_to() -> None:
    """Shaped like the paper's Figure 14 (l = 3): r4 joins r1 to r3 rather than r5 and r6."""
    line = [0, 1, 2, 3, 20, 21, 22]
    values = [0, 2, 3, 1, 0, 2, 3]
    table = Table((Quasi("x", tuple(line)),))
    for keys in (None, line):
        assert groups_of(table, values, 3, keys) == [[0, 1, 2, 3], [4, 5, 6]]


@examples(60)
@given(case=cases(max_rows=40), l=st.integers(1, 3), k=st.integers(1, 9), data=st.data())
def test_k_and_l_together(case: Case, l: int, k: int, data: st.DataObject) -> None:  # noqa: E741
    """Consecutive groups are merged until every class has k rows; diversity survives unions."""
    table = case.table
    values = data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows))
    found = groups_of(table, values, l)
    if found is None or k > table.rows:
        return
    rows, shape = in_order(table)
    group = np.empty(table.rows, np.int32)
    for number, members in enumerate(found):
        group[members] = number
    low = np.empty((len(found), rows.places.shape[1]), np.int32)
    high, mask = np.empty_like(low), np.zeros((len(found), rows.sets.shape[1]), np.uint64)
    sizes = np.empty(len(found), np.int64)
    cover(rows.places, rows.sets, group, low, high, mask, sizes)
    first, _ = find_exact_runs(low, high, mask, sizes, shape, k)
    classes = by_number((np.cumsum(first) - 1)[group])
    for members in classes:
        assert len(members) >= k
        assert oracle.eligible([values[row] for row in members], l)


FRACTIONS = [Fraction(*each) for each in ((3, 2), (4, 3), (5, 2), (7, 3), (9, 8), (237, 100))]


def fractional(values: list[int], l: Fraction):  # noqa: E741
    """The kernel's groups of a fractional l, None if there are none."""
    group, (p, q) = np.full(len(values), -1, np.int32), (l.numerator, l.denominator)
    made = make_fractional_groups(np.array(values, np.int32), max(values) + 1, p, q, make_copies(p, q), group)
    if made == 0:
        assert (group == -1).all()
        return None
    assert sorted(set(group.tolist())) == list(range(made))
    return by_number(group)


@pytest.mark.parametrize("l", FRACTIONS, ids=str)
@examples(60)
@given(values=st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3]), min_size=1, max_size=30))
def test_groups_of_a_fraction(l: Fraction, values: list[int]) -> None:  # noqa: E741
    """Those of the oracle's steps.

    Where the table as a whole meets l there are some, and each of them meets it exactly.
    """
    expected, found = oracle.make_fractional_groups(values, l), fractional(values, l)
    assert (found is not None) == (max(Counter(values).values()) * l <= len(values))
    if expected is None or found is None:
        assert expected is found
        return
    assert found == [sorted(rows) for rows in expected]
    for rows in found:
        assert max(Counter(values[row] for row in rows).values()) * l.numerator <= len(rows) * l.denominator


@pytest.mark.parametrize("l", FRACTIONS, ids=str)
def test_a_tight_table_has_small_groups_of_a_fraction(l: Fraction) -> None:  # noqa: E741
    """The most frequent value is as frequent as l admits.

    Only groups of p rows with q of it will do, down to the last p^2 / q.
    """
    rng, (p, q) = random.Random(l.numerator), (l.numerator, l.denominator)
    for _ in range(6):
        times = rng.randint(3, 9)
        values = [0] * (q * times) + [1 + i % 7 for i in range((p - q) * times)]
        values = [v if v == 0 or values.count(v) <= q * times else 8 for v in values]
        rng.shuffle(values)
        if max(Counter(values).values()) > q * times:
            continue
        found = fractional(values, l)
        assert found is not None
        for rows in found:
            count = Counter(values[row] for row in rows)
            assert max(count.values()) * p <= len(rows) * q
            assert len(rows) == p or len(rows) * q < p * p
