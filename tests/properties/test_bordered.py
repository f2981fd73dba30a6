"""Runs that end where a quasi value changes: against the same rule written down again."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from sqlanon.methods.onedim.kernels import bordered_runs as module
from sqlanon.methods.onedim.kernels.bordered_runs import divide_bordered
from tests.contract.cases import Case
from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_first, in_order
from tests.properties.strategies import cases, examples


def bordered(table: Table, equal: list[bool], privacy: Privacy) -> list[list[int]]:
    """The rule: a run closes where its rows meet the requirements and the next row differs.

    The rest joins the runs before it that it needs.
    """
    runs: list[list[int]] = []
    own: list[int] = []
    for i in range(table.rows):
        own.append(i)
        if not (i + 1 < table.rows and equal[i + 1]) and meets(table, own, privacy):
            runs, own = [*runs, own], []
    while own and runs and not meets(table, own, privacy):
        own = runs.pop() + own
    return [*runs, own] if own else runs


@examples(150)
@given(case=cases(max_rows=24))
def test_runs_are_those_of_the_rule(case: Case) -> None:
    table, privacy = case.table, case.privacy
    if not feasible(table, privacy):
        return
    rows, _ = in_order(table)
    seen = [(tuple(rows.places[i].tolist()), tuple(rows.sets[i].tolist())) for i in range(table.rows)]
    equal = [i > 0 and seen[i] == seen[i - 1] for i in range(table.rows)]
    first = np.zeros(table.rows, np.bool_)
    divide_bordered(rows.places, rows.sets, rows.number, demands(table, privacy), first)
    assert [list(own) for own in by_first(first, range(table.rows))] == bordered(table, equal, privacy)


def test_runs_longer_than_what_is_counted_together() -> None:
    """Rows of one value in thousands, whose every other value of the second kind comes last."""
    from sqlanon.kernels.requirements import demands_of

    sizes = [1, 3000, 2, 5000, 2047, 2, 1]
    places = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes).reshape(-1, 1)
    n = len(places)
    first = np.zeros(n, np.bool_)
    divide_bordered(places, np.zeros((n, 0), np.uint64), np.arange(n, dtype=np.int32), demands_of(2500, []), first)
    # 3001 | 2 + 5000 | 2047 + 2 + 1, which are fewer than 2500 and join the run before them
    assert np.flatnonzero(first).tolist() == [0, 3001]
    assert module._BLOCKS[1] < 2500
