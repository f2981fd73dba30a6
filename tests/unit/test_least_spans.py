"""Spans of large nominal domains for the least loss: every set is taken for one of two values, that of NULL as well."""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.extent import KIND, NULLS, ORDERED, SIZE, SPAN, START, Geometry
from sqlanon.loss.least_gcp import _bound_spans


def test_each_number_of_members_has_the_extent_of_two() -> None:
    facts = np.zeros((2, 9), np.int64)
    facts[0, [KIND, SIZE, NULLS, START]] = ORDERED, 3, 0, 0
    facts[1, [KIND, SIZE, NULLS, START]] = SPAN, 3, 1, 3
    # Extents by members: of none, one, two, three, and of four with NULL; another attribute's follow.
    table = np.array([0, 1, 2, 0, 0, 10, 20, 30, 40, 77], np.int64)
    bounded = _bound_spans(Geometry(facts, table))
    assert bounded.table.tolist() == [0, 1, 2, 0, 0, 10, 10, 10, 10, 77]
    assert table[6] == 20
