"""What the text of Ghinita et al. (2009) states in figures, on the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.kernels.boxes import widths
from sqlanon.kernels.extent import SCALE
from tests.oracle.domains import Quasi, Table
from tests.properties.onedim import in_order

COUNTRIES = (
    ("US", "America", "*"),
    ("Canada", "America", "*"),
    ("Italy", "Europe", "*"),
    ("France", "Europe", "*"),
    ("Spain", "Europe", "*"),
)


@pytest.mark.parametrize(
    ("members", "share"), [(("Italy", "France"), 3), (("US", "Spain"), 5), (("Spain", "Spain"), 0)]
)
def test_figure_20(members: tuple[str, str], share: int) -> None:
    """NCP({Italy, France}) = 3/5, their common ancestor is Europe; NCP({US, Spain}) = 1."""
    table = Table((Quasi("country", members, "hierarchy", levels=COUNTRIES),))
    rows, shape = in_order(table)
    low, high = rows.places.min(axis=0, keepdims=True), rows.places.max(axis=0, keepdims=True)
    out = np.empty(1, np.int64)
    widths(low, high, np.zeros((1, 0), np.uint64), shape, out)
    assert out[0] == share * SCALE // 5
