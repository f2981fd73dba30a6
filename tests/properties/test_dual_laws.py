"""Laws of the dual problem on random tables.

The bound holds, a wider bound costs no privacy where the solver is exact.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlanon.kernels.bounds import OVER, measure_widest
from tests.contract.cases import Case
from tests.contract.dual import Bound, classes_of, numbered, privacy
from tests.oracle.divisions import wide
from tests.oracle.losses import width
from tests.properties.onedim import by_number, in_order
from tests.properties.strategies import FEW, cases, examples
from tests.properties.test_accurate import bounds_of

SHARES = st.sampled_from([Fraction(n, 12) for n in range(13)])


@FEW
@given(
    case=cases(max_rows=12),
    goal=st.sampled_from("kl"),
    limit=SHARES,
    part=SHARES,
    data=st.data(),
    method=st.sampled_from(["hilbert", "tree", "idistance", "mondrian"]),
)
def test_bound_holds(
    shared_db: Any,
    tmp_path: Path,
    case: Case,
    goal: str,
    limit: Fraction,
    part: Fraction,
    data: st.DataObject,
    method: str,
) -> None:
    """For any types, NULLs, infinities and weights; extents in own units are drawn as a part of the whole table's."""
    assume(goal == "k" or len(case.sensitive) == 1)
    case = numbered(case)
    extents = {}
    for column in case.table.quasi:
        reach = width(column, [i for i in range(case.table.rows) if column.codes[i] > 0] or [0])
        if column.kind != "nominal" and reach is not None and data.draw(st.booleans()):
            extent = Fraction(reach * part).limit_denominator(10**9)
            if extent < 2**62:
                extents[column.name] = extent
    bound = Bound(limit if data.draw(st.booleans()) or not extents else None, extents)
    classes, report = classes_of(
        shared_db, case, tmp_path, method=method, maximize=goal, at_least={goal: 1}, **bound.arguments
    )
    assert all(bound.holds(case, rows) for rows in classes)
    if goal == "l":
        assert report.pm[case.sensitive[0]] == pytest.approx(float(privacy(case, classes)))
    assert report.min_class == min(len(rows) for rows in classes)


@examples(60)
@given(case=cases(max_rows=20), data=st.data())
def test_widest_is_the_widest_class(case: Case, data: st.DataObject) -> None:
    rows, shape = in_order(case.table)
    group = np.array(
        data.draw(st.lists(st.integers(0, 4), min_size=case.table.rows, max_size=case.table.rows)), np.int32
    )
    found = [wide(case.table, members) for members in by_number(group)]
    assert measure_widest(rows.codes, group, 5, shape, bounds_of(case.table)) == max(found)
    alone = {0: list(range(len(set(case.table.quasi[0].codes)) + case.table.quasi[0].size + 2))}
    apart = any(len({case.table.quasi[0].codes[i] for i in members}) > 1 for members in by_number(group))
    reached = measure_widest(rows.codes, group, 5, shape, bounds_of(case.table, until=alone))
    assert (reached == OVER) == apart
