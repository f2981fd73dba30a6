"""IPCSD, and the direct problem through the dual."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.runs import MOST, NEVER
from sqlanon.methods.onedim.ipcsd import THRESHOLD, least_bound, search_l
from sqlanon.methods.onedim.kernels.optimal_diverse import find_best_accurate, find_best_diverse
from tests.properties.strategies import examples


@given(steps=st.lists(st.integers(0, 30), min_size=1, max_size=8), bound=st.integers(0, 30))
def test_a_monotone_method_is_searched_to_the_threshold(steps: list[int], bound: int) -> None:
    losses = sorted(steps)
    top = Fraction(len(losses))

    def solve(l: Fraction) -> int | None:  # noqa: E741
        return losses[min(int(l) - 1, len(losses) - 1)]

    found = search_l(solve, top, bound)
    assert found.broken == ()
    allowed = [l for l in range(1, len(losses) + 1) if losses[l - 1] <= bound]  # noqa: E741
    if not allowed:
        assert found.l is None
        return
    limit = min(top, Fraction(max(allowed) + 1))
    assert found.l is not None
    assert limit - THRESHOLD <= found.l <= limit
    assert solve(found.l) <= bound


def test_probes_that_break_the_assumption_are_reported() -> None:
    losses = {Fraction(3): 9, Fraction(2): 5, Fraction(5, 2): 1}
    found = search_l(lambda asked: losses.get(asked, 4), Fraction(5), 6, Fraction(3, 4))
    assert [(a.l, b.l) for a, b in found.broken] == [(Fraction(2), Fraction(5, 2))]
    assert found.l == Fraction(5, 2)


def test_a_method_without_a_solution() -> None:
    found = search_l({}.get, Fraction(1), 10)
    assert found.l is None
    assert [probe.loss for probe in found.probes] == [None]


@examples(60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=8).map(sorted),
    l=st.integers(1, 4),
)
def test_the_dual_solves_the_direct_problem(rows: list[tuple[int, int]], l: int) -> None:  # noqa: E741
    """The least bound under which the optimal dual reaches l is the optimal direct solution's IL-infinity."""
    line, values = np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int32)
    group = np.empty(len(rows), np.int32)
    direct = find_best_diverse(line, values, 4, l, MOST, group)
    bound = least_bound(lambda e: Fraction(*find_best_accurate(line, values, 4, e, group)), Fraction(l), 12)
    assert bound == (None if direct >= NEVER else direct)
