"""What the text of Ghinita et al. (2009) states in figures, on the kernels and in the reports of releases."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.kernels.boxes import widths
from sqlanon.kernels.extent import SCALE
from tests.contract.cases import QI, Case, release_rows
from tests.oracle.domains import Quasi, Table
from tests.oracle.requirements import Privacy
from tests.properties.onedim import in_order

COUNTRIES = (
    ("US", "America", "*"),
    ("Canada", "America", "*"),
    ("Italy", "Europe", "*"),
    ("France", "Europe", "*"),
    ("Spain", "Europe", "*"),
)


MEMBERS = [(("Italy", "France"), 3), (("US", "Spain"), 5), (("Spain", "Spain"), 0)]


@pytest.mark.parametrize(("members", "share"), MEMBERS)
def test_figure_20(members: tuple[str, str], share: int) -> None:
    """NCP({Italy, France}) = 3/5, their common ancestor is Europe; NCP({US, Spain}) = 1."""
    table = Table((Quasi("country", members, "hierarchy", levels=COUNTRIES),))
    rows, shape = in_order(table)
    low, high = rows.places.min(axis=0, keepdims=True), rows.places.max(axis=0, keepdims=True)
    out = np.empty(1, np.int64)
    widths(low, high, np.zeros((1, 0), np.uint64), shape, out)
    assert out[0] == share * SCALE // 5


@pytest.mark.parametrize(("members", "share"), MEMBERS)
def test_figure_20_in_a_release(shared_db: Any, members: tuple[str, str], share: int, tmp_path: Path) -> None:
    quasi = {"country": QI("hierarchy", levels=COUNTRIES)}
    case = Case("figure 20", {"country": "TEXT"}, tuple((m,) for m in members), quasi, (), Privacy(k=2))
    _, report = release_rows(shared_db, case, tmp_path)
    loss = report.loss
    assert [loss.gcp, loss.il1, loss.il_inf, loss.avg_ncp] == pytest.approx([share / 5] * 4)
    assert loss.weighted_avg_volume == pytest.approx(max(share, 1) / 5)


@pytest.mark.parametrize("asked", [{"l": Fraction(2)}, {"distinct_l": 2}])
@pytest.mark.parametrize(("first", "second", "pm"), [("aaabbcc", "aabc", 2.0), ("aabbcc", "aabbc", 2.5)])
def test_privacy_of_figure_18(
    shared_db: Any, first: str, second: str, pm: float, asked: dict[str, Any], tmp_path: Path
) -> None:
    """Two groups of PM 7/3 and 4/2, and after the adjustment 6/2 and 5/2: the privacy is the lesser (own values)."""
    rows = tuple((0, value) for value in first) + tuple((9, value) for value in second)
    case = Case("figure 18", {"x": "INTEGER", "sa": "TEXT"}, rows, {"x": QI()}, ("sa",), Privacy(4, **asked))
    _, report = release_rows(shared_db, case, tmp_path)
    assert (report.classes, report.pm) == (2, {"sa": pm})
