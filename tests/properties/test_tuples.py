"""Rows of equal codes, divided as tuples, are released as the oracle releases single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.methods.onedim import orders, tuples
from sqlanon.methods.onedim.curves import Curve
from sqlanon.methods.shared.class_boxes import find_boxes
from tests.contract.cases import Case, multiset
from tests.oracle import orders as order_oracle
from tests.oracle.chance import SEED
from tests.oracle.domains import Table
from tests.oracle.methods import ORACLES
from tests.oracle.recode import released
from tests.oracle.requirements import Privacy
from tests.properties.onedim import by_number, context_of, loaded, order_of
from tests.properties.strategies import cases, examples

OPTIONS = {name: {"minimize": "gcp", "solver": "auto"} for name in ("tree", "hilbert")}


def repeated(table: Table, times: Sequence[int]) -> Table:
    """The table with every row's quasi values as often as ``times`` has it; sensitive values follow the rows."""
    rows = [row for row, count in enumerate(times) for _ in range(count)]
    return Table(
        tuple(replace(column, values=tuple(column.values[row] for row in rows)) for column in table.quasi),
        tuple(
            replace(column, values=tuple(column.values[i % table.rows] for i in range(len(rows))))
            for column in table.sensitive
        ),
    )


def check(name: str, table: Table, k: int, stored: list[int], threads: int) -> None:
    context, data, order = context_of(table, Privacy(k=k), SEED, threads), loaded(table, stored), order_of(name)
    assert isinstance(order, Curve)
    found = tuples.Tuples.find(context, data, order.rank(context, data), order.find_stretch(table.rows))
    if found is None:  # keys that are not exact: attributes with more positions than the grid has cells
        return
    divided = tuples.divide_tuples(context, data, found, order)
    classes = [[int(data.rid[row]) for row in members] for members in by_number(divided.classes)]
    expected = ORACLES[name].classes(table, Privacy(k=k), OPTIONS[name], SEED)
    assert multiset(released(table, classes, "ranges")) == multiset(released(table, expected, "ranges"))
    codes = [tuple(int(column[row]) for column in data.codes) for row in range(table.rows)]
    of_codes: dict[tuple[int, ...], set[int]] = {}
    for row, row_codes in enumerate(codes):
        of_codes.setdefault(row_codes, set()).add(int(divided.classes[row]))
    assert sorted(divided.shared.tolist()) == [row for row in range(table.rows) if len(of_codes[codes[row]]) > 1]
    assert divided.sizes.tolist() == np.bincount(divided.classes).tolist()
    low, high, _, _ = find_boxes(divided.parts, divided.of_part, data.geometry, len(divided.sizes), threads)
    for number in range(len(divided.sizes)):
        members = [codes[row] for row in range(table.rows) if divided.classes[row] == number]
        assert low[:, number].tolist() == [min(values) for values in zip(*members, strict=True)]
        assert high[:, number].tolist() == [max(values) for values in zip(*members, strict=True)]


@pytest.mark.parametrize("name", OPTIONS)
@examples(60)
@given(case=cases(max_rows=12), k=st.integers(1, 5), threads=st.integers(1, 3), data=st.data())
def test_tuples_are_released_as_rows(name: str, case: Case, k: int, threads: int, data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 12), min_size=case.table.rows, max_size=case.table.rows))
    table = repeated(case.table, times)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuples, "MOST", 1.0)
        stored = data.draw(st.permutations(range(table.rows)))
        check(name, table, min(k, table.rows), stored, threads)
        for module in (orders, order_oracle):  # many trees
            patch.setattr(module, "ONE_TREE", 12)
            patch.setattr(module, "TREE_ROWS", 7)
        check(name, table, min(k, table.rows), stored, threads)
