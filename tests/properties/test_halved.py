"""Runs by halving: against the same rule written down again, and none of them can be divided any more."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given

from sqlanon.methods.onedim.kernels.halved_runs import divide_halved, without_run
from tests.contract.cases import Case
from tests.oracle.divisions import gcp
from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_first, in_order
from tests.properties.strategies import cases, examples


def halved(table: Table, rows: list[int], privacy: Privacy) -> list[list[int]]:
    """The rule: the cut of least loss in the middle half, else the one nearest to the middle, the left one of two."""
    n = len(rows)
    cuts = [c for c in range(1, n) if meets(table, rows[:c], privacy) and meets(table, rows[c:], privacy)]
    if not cuts:
        return [rows]
    cut = min(cuts, key=lambda c: (abs(c - n // 2), c))
    if n // 4 <= cut < n - n // 4:
        middle = [c for c in cuts if n // 4 <= c < n - n // 4]
        cut = min(middle, key=lambda c: (gcp(table, [rows[:c], rows[c:]]), c))
    return halved(table, rows[:cut], privacy) + halved(table, rows[cut:], privacy)


@examples(100)
@given(case=cases(max_rows=24))
def test_runs_are_those_of_the_rule_and_none_can_be_divided(case: Case) -> None:
    table, privacy = case.table, case.privacy
    if not feasible(table, privacy):
        return
    rows, shape = in_order(table)
    first = np.zeros(table.rows, np.bool_)
    divide_halved(rows.places, rows.sets, rows.number, shape, demands(table, privacy), first)
    found = by_first(first, range(table.rows))
    assert [list(own) for own in found] == halved(table, list(range(table.rows)), privacy)
    for own in found:
        assert meets(table, own, privacy)
        parts = ((own[:c], own[c:]) for c in range(1, len(own)))
        assert not any(all(meets(table, part, privacy) for part in two) for two in parts)


@examples(60)
@given(case=cases(max_rows=24))
def test_places_without_a_run_of_so_many_rows(case: Case) -> None:
    table, privacy = case.table, case.privacy
    rows, _ = in_order(table)
    for most, looks in itertools.product(range(1, table.rows + 1), (1, 3)):
        pasts = [most + (table.rows - most) * look // looks for look in range(looks)]
        none = sum(
            not any(meets(table, list(range(past - size, past)), privacy) for size in range(1, most + 1))
            for past in pasts
        )
        assert without_run(rows.number, demands(table, privacy), most, looks) == none
