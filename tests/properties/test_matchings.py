"""The paper's solvers: k matchings each, the optimum where it is promised, and what they refuse."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.methods.shared.kernel_input import rows_of
from sqlanon.papers.matchings import solvers
from sqlanon.papers.matchings.kernels import greedy as freeform_greedy
from sqlanon.papers.matchings.kernels.cost import Coordinates, prepare_rows, sum_widths
from sqlanon.papers.matchings.solvers import MOST_ROWS, greedy, ring, solve_matchings
from tests.contract.cases import Case
from tests.oracle.divisions import wide
from tests.oracle.domains import Quasi, Table
from tests.oracle.freeform import least_loss
from tests.oracle.regular import cheapest_pairs, pairs
from tests.properties.kernel import geometry, product_codes
from tests.properties.strategies import cases, examples

SCIPY = pytest.mark.skipif(find_spec("scipy") is None, reason="solver mip needs SciPy")


def rows_in(table: Table) -> Coordinates:
    """The rows of a table in their order."""
    columns = np.array([product_codes(column) for column in table.quasi], np.int32)
    shape, _ = geometry(table)
    rows = rows_of(columns, np.arange(table.rows, dtype=np.int32), shape)
    return prepare_rows(rows.places, rows.sets, rows.codes, shape)


def members(targets: np.ndarray) -> list[list[int]]:
    """The rows of each box, its own first."""
    k, n = targets.shape
    for target in targets:
        assert sorted(target) == list(range(n))
    assert (targets[0] == np.arange(n)).all()
    assert all(len(set(boxes)) == k for boxes in targets.T.tolist())
    return [[int(np.flatnonzero(target == j)[0]) for target in targets] for j in range(n)]


@pytest.mark.parametrize("solver", ["greedy", "sortgreedy", "flow", "ring"])
@examples(60)
@given(case=cases(max_rows=24), data=st.data())
def test_a_solver_gives_k_matchings_without_a_common_edge(solver: str, case: Case, data: st.DataObject) -> None:
    """Up to the greatest k that it takes: neither of the greedy ones is left without a box."""
    n = case.table.rows
    k = data.draw(st.integers(1, (n + 2) // 2 if "greedy" in solver else n))
    rows = rows_in(case.table)
    targets = solve_matchings(solver, rows, min(k, n))
    assert sum(wide(case.table, held) for held in members(targets)) == sum_widths(rows, targets)


def line(values: list[int]) -> Table:
    """A table of one column of numbers."""
    return Table((Quasi("x", tuple(values)),))


def small(data: st.DataObject, case: Case) -> int:
    return data.draw(st.integers(1, min(4, case.table.rows)))


@SCIPY
@examples(40)
@given(case=cases(max_rows=6), data=st.data())
def test_mip_is_the_optimum(case: Case, data: st.DataObject) -> None:
    """Hierarchies, NULLs, sets and weights included."""
    k = small(data, case)
    found = members(solve_matchings("mip", rows_in(case.table), k))
    assert sum(wide(case.table, rows) for rows in found) == least_loss(case.table, k)


@examples(60)
@given(case=cases(max_rows=6), data=st.data())
def test_flow_is_the_least_sum_of_pairs_and_the_optimum_for_two(case: Case, data: st.DataObject) -> None:
    k = small(data, case)
    found = members(solve_matchings("flow", rows_in(case.table), k))
    assert sum(pairs(case.table, rows) for rows in found) == cheapest_pairs(case.table, k)
    if k <= 2:
        assert sum(wide(case.table, rows) for rows in found) == least_loss(case.table, k)


@examples(60)
@given(case=cases(max_rows=24), data=st.data())
def test_rings_stay_in_classes_of_k_to_twice_k_rows(case: Case, data: st.DataObject) -> None:
    k, rows = data.draw(st.integers(1, case.table.rows)), rows_in(case.table)
    found = ring.divide_rows(rows, k)
    assert np.concatenate(found).tolist() == list(range(case.table.rows))
    assert all(k <= len(one) <= 2 * k - 1 for one in found)
    number = np.repeat(np.arange(len(found)), [len(one) for one in found])
    assert all((number[target] == number).all() for target in solve_matchings("ring", rows, k))


def greedily(table: Table, order: list[int], k: int, *, by_edge: bool) -> list[list[int]] | None:
    """The paper's algorithms 1 and 2 as they are written, for as long as there is no dead end."""
    boxes = {j: [j] for j in order}
    place = {row: at for at, row in enumerate(order)}
    for _ in range(1, k):
        price = {
            (i, j): wide(table, [*boxes[j], i]) - wide(table, boxes[j])
            for i in order
            for j in order
            if i not in boxes[j]
        }
        edges = sorted(price, key=lambda e: (price[e], place[e[0]], place[e[1]]))
        if not by_edge:
            edges.sort(key=lambda e: place[e[0]])
        taken: dict[int, int] = {}
        for i, j in edges:
            if i not in taken and j not in taken.values():
                taken[i] = j
        if len(taken) < len(order):
            return None
        for i, j in taken.items():
            boxes[j].append(i)
    return [boxes[j] for j in range(len(order))]


@pytest.mark.parametrize("solver", ["greedy", "sortgreedy"])
@examples(60)
@given(case=cases(max_rows=12), k=st.integers(1, 4))
def test_greedy_choices_are_the_papers(solver: str, case: Case, k: int) -> None:
    table, rows = case.table, rows_in(case.table)
    order = greedy.sort_rows(rows.codes).tolist()
    if 2 * k >= len(order) + 3:
        return
    expected = greedily(table, order, k, by_edge=solver == "sortgreedy")
    if expected is not None:
        assert members(solve_matchings(solver, rows, k)) == expected


@pytest.mark.parametrize("remembered", [1, 3])
def test_boxes_that_are_looked_for_again_are_the_same(remembered: int) -> None:
    """With few candidates a row, as compiled code has them for large tables.

    The plain function takes the number as it is.
    """
    rows = rows_in(line([0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 7, 9, 9, 9]))
    expected = solve_matchings("sortgreedy", rows, 4)
    keep, freeform_greedy.CANDIDATES = freeform_greedy.CANDIDATES, remembered
    try:
        targets = np.empty((4, 14), np.int64)
        assert freeform_greedy.sort_greedy.py_func(rows, targets)
    finally:
        freeform_greedy.CANDIDATES = keep
    assert targets.tolist() == expected.tolist()


@pytest.mark.skipif(find_spec("scipy") is not None, reason="SciPy is there")
def test_mip_without_scipy_names_the_extra() -> None:
    with pytest.raises(ValueError, match=r"install sqlanon\[mip\], or use method freeform"):
        solve_matchings("mip", rows_in(line([1, 2, 3])), 2)


def test_columns_of_few_values_come_first() -> None:
    codes = np.array([[2, 0], [1, 1], [0, 1], [3, 0]], np.int32)
    assert greedy.sort_rows(codes).tolist() == [0, 3, 2, 1]


@pytest.mark.parametrize(
    ("solver", "rows", "k", "words"),
    [
        *(
            (
                solver,
                most + 1,
                2,
                f"solver {solver} takes at most {most} rows at a time, and here are {most + 1}; use method freeform",
            )
            for solver, most in MOST_ROWS.items()
        ),
        (
            "mip",
            18,
            9,
            (
                "solver mip takes at most 100000 sets of rows, and boxes of 9 among 18 rows have more; use method "
                "freeform"
            ),
        ),
        ("ring", 3, 4, "4 matchings need as many rows, and here are 3"),
        ("greedy", 8, 6, "solver greedy takes k below (n + 3) / 2, for 8 rows at most 5; use method freeform"),
        ("sortgreedy", 9, 6, "solver sortgreedy takes k below (n + 3) / 2, for 9 rows at most 5; use method freeform"),
    ],
)
def test_what_is_too_large_names_the_default(solver: str, rows: int, k: int, words: str) -> None:
    assert solvers.explain_refusal(solver, rows, k) == words
    assert solvers.explain_refusal(solver, min(rows, MOST_ROWS[solver]), 2) is None


def test_a_measurement_takes_rows_of_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_in(line([3, 1, 2, 5, 4]))
    made = solve_matchings("greedy", rows, 2)
    monkeypatch.setitem(solvers.MOST_ROWS, "greedy", 4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 4 rows at a time"):
        solve_matchings("greedy", rows, 2)
    assert (solve_matchings("greedy", rows, 2, any_size=True) == made).all()
