"""The dual problem along an order: the heuristic's steps, its bound, and the dual of k-anonymity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.bounds import OVER, Bounds, find_most_anonymous, find_reach
from sqlanon.kernels.extent import Geometry
from sqlanon.methods.onedim.kernels.bounded_groups import find_least_privacy, make_accurate_groups
from tests.contract.cases import Case
from tests.oracle import dual as oracle
from tests.oracle.divisions import runs, wide
from tests.oracle.domains import Quasi, Table
from tests.properties.kernel import geometry, product_codes
from tests.properties.onedim import by_first, by_number, in_order
from tests.properties.strategies import cases, examples


def bounds_of(table: Table, total: int = OVER - 1, until: dict[int, list[int]] | None = None) -> Bounds:
    _, domains = geometry(table)
    start, packed = np.full(len(domains), -1, np.int64), [0]
    for a, own in (until or {}).items():
        start[a] = len(packed)
        packed += own
    base = np.concatenate([[0], np.cumsum(domains)]).astype(np.int64)
    return Bounds(total, np.array(packed, np.int64), start, base)


def solve(table: Table, values: list[int], bounds: Bounds, adjust: bool = True) -> list[list[int]]:
    rows, shape = in_order(table)
    group = np.full(table.rows, -1, np.int32)
    column = np.array(values, np.int32)
    made = make_accurate_groups(rows.codes, column, max(values) + 1, shape, bounds, adjust, group)
    found = by_number(group)
    assert len(found) == made
    size, most = find_least_privacy(column, max(values) + 1, group, made)
    assert Fraction(size, most) == oracle.find_least_privacy(values, found)
    return found


def reaches(table: Table, bounds: Bounds) -> tuple[np.ndarray, Geometry]:
    rows, shape = in_order(table)
    start = np.empty(table.rows, np.int64)
    find_reach(rows.codes, shape, bounds, start)
    return start, shape


@examples(200)
@given(case=cases(max_rows=20), share=st.floats(0, 1), data=st.data())
def test_groups_are_those_of_the_paper_s_steps(case: Case, share: float, data: st.DataObject) -> None:
    table = case.table
    values = data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows))
    limit = int(share * wide(table, range(table.rows)))

    def within(rows) -> int | None:
        width = wide(table, rows)
        return width if width <= limit else None

    found = solve(table, values, bounds_of(table, limit))
    assert found == sorted([sorted(rows) for rows in oracle.make_accurate_groups(values, within)], key=found.index)
    assert sorted(row for rows in found for row in rows) == list(range(table.rows))
    assert all(wide(table, rows) <= limit for rows in found)
    plain = solve(table, values, bounds_of(table, limit), adjust=False)
    assert plain == oracle.candidates(table.rows, within)
    assert oracle.find_least_privacy(values, found) >= oracle.find_least_privacy(values, plain)


@examples(80)
@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=30),
    extent=st.integers(0, 15),
)
def test_an_attribute_s_own_bound_is_in_its_own_units(rows: list[tuple[int, int, int]], extent: int) -> None:
    rows.sort()
    table = Table((Quasi("x", tuple(r[0] for r in rows)), Quasi("y", tuple(r[1] for r in rows))))
    values = [r[2] for r in rows]
    x = table.quasi[0]
    until = [max(j for j, v in enumerate(x.domain) if v - own <= extent) for own in x.domain]
    bounds = bounds_of(table, until={0: until})
    for members in solve(table, values, bounds):
        spread = [rows[row][0] for row in members]
        assert max(spread) - min(spread) <= extent


@examples(80)
@given(case=cases(max_rows=9), share=st.floats(0, 1))
def test_dual_k_is_the_most_of_all_divisions(case: Case, share: float) -> None:
    table = case.table
    limit = int(share * wide(table, range(table.rows)))
    start, _ = reaches(table, bounds_of(table, limit))
    for stop in range(1, table.rows + 1):
        reached = [at for at in range(stop) if wide(table, range(at, stop)) <= limit]
        assert start[stop - 1] == min(reached)
    first = np.zeros(table.rows, np.bool_)
    k = find_most_anonymous(start, first)
    found = by_first(first, range(table.rows))
    assert min(len(rows) for rows in found) >= k
    assert all(wide(table, rows) <= limit for rows in found)
    every = runs(range(table.rows), lambda rows: wide(table, rows) <= limit)
    assert k == max(min(len(rows) for rows in each) for each in every)


def test_the_exchange_lifts_the_lesser_privacy() -> None:
    """Shaped like the paper's Figure 18 (E = 20): PM 7/3 and 2 become 3 and 5/2 when the row at 27 moves."""
    line = [11, 13, 15, 18, 20, 22, 27, 32, 36, 40, 44]
    values = [0, 0, 1, 1, 2, 2, 0, 3, 3, 1, 2]
    table = Table((Quasi("x", tuple(line)),))
    until = [max(j for j, v in enumerate(line) if v - own <= 20) for own in line]
    bounds = bounds_of(table, until={0: until})
    before = solve(table, values, bounds, adjust=False)
    assert [oracle.privacy(values, rows) for rows in before] == [Fraction(7, 3), Fraction(2)]
    after = solve(table, values, bounds)
    assert [line[row] for row in after[0]] == [11, 13, 15, 18, 20, 22]
    assert [oracle.privacy(values, rows) for rows in after] == [Fraction(3), Fraction(5, 2)]


def test_no_loss_allowed() -> None:
    """E = 0: groups of equal rows."""
    table = Table((Quasi("x", (1, 1, 1, 2, 2, 3)),))
    assert solve(table, [0, 1, 2, 0, 0, 1], bounds_of(table, 0)) == [[0, 1, 2], [3, 4], [5]]
    assert product_codes(table.quasi[0]) == [0, 0, 0, 1, 1, 2]
