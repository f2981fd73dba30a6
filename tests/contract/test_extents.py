"""The widest class of every column in its own units, on every type and at the edges of them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.loss import Extent, measure_extents
from sqlanon.release.verify.verify import verify_staged
from tests.contract.axes import Way
from tests.contract.cases import QI, Case, release_rows
from tests.contract.test_types import EXTREME, NARROW, ONLY, one_column
from tests.engines import PAIR
from tests.oracle.losses import width
from tests.oracle.requirements import Privacy

WAY = Way("mondrian", {"variant": "strict", "cut": "loss"})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Extent]:
    """What `measure_extents` says of the last release."""
    last: dict[str, Extent] = {}

    def measure_and_verify(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        last.clear()
        last.update(measure_extents(scratch, recoded.boxes, classed.encoded.quasi))
        return verify_staged(scratch, classed, recoded, form)

    monkeypatch.setattr("sqlanon.release.divide.classes.verify_staged", measure_and_verify)
    return last


def check(case: Case, classes: list[list[int]], found: dict[str, Extent]) -> None:
    for column in case.table.quasi:
        widths = [width(column, rows) for rows in classes]
        known = [each for each in widths if each is not None]
        assert found[column.name].largest == max(known, default=0), column.name
        assert found[column.name].unbounded == len(widths) - len(known), column.name


@pytest.mark.cover
def test_samples(shared_db: Any, sample: Case, found: dict[str, Extent], tmp_path: Path) -> None:
    release_rows(shared_db, sample, tmp_path, **WAY.arguments)
    check(sample, WAY.classes(sample), found)


@pytest.mark.parametrize("name", NARROW)
def test_one_column(shared_db: Any, name: str, found: dict[str, Extent], tmp_path: Path) -> None:
    case = one_column(*NARROW[name])
    release_rows(shared_db, case, tmp_path, **WAY.arguments)
    check(case, WAY.classes(case), found)


def test_null_alone_has_no_extent(shared_db: Any, found: dict[str, Extent], tmp_path: Path) -> None:
    """Classes of NULL alone and of one word each: a set of one word has the extent 1, one of nothing 0."""
    words = QI("nominal")
    for rows, largest in (([None] * 4, 0), ([None] * 4 + ["a"] * 4, 1), ([None] * 4 + ["a"] * 2 + ["b"] * 2, 2)):
        case = Case("nulls", {"x": "TEXT"}, tuple((v,) for v in rows), {"x": words}, (), Privacy(k=4))
        release_rows(shared_db, case, tmp_path, **WAY.arguments)
        assert found["x"] == Extent(Fraction(largest), 0)


def test_the_widest_of_boxes_that_are_one_class(shared_db: Any, tmp_path: Path) -> None:
    """Both classes publish 1, their median: one has 0 to 1, and the other 1 to 9, of a range of 9."""
    case = Case("twice", {"x": "INTEGER"}, tuple((v,) for v in (0, 1, 1, 1, 1, 9)), {"x": QI()}, (), Privacy(k=3))
    method = "mondrian:variant=relaxed,cut=median"
    shown, report = release_rows(shared_db, case, tmp_path, method=method, format="points")
    assert [row["x"] for row in shown] == [1] * 6
    assert report.loss.gcp == pytest.approx((1 / 9 + 8 / 9) / 2)
    assert report.loss.il_inf == pytest.approx(8 / 9)


NONE = Extent(Fraction(0), 1)
HOUR = Fraction(1, 24)
WHOLE: dict[str, Any] = {
    "huge": NONE,
    "tiny": Extent(Fraction(1e-320 + 5e-324), 0),
    "wide_decimal": pytest.approx(2e28, rel=1e-15),
    "money": Extent(Fraction("1000000000000001.500000000000000001"), 0),
    "hugeint": pytest.approx(2.0**128, rel=1e-15),
    "ubigint": Extent(Fraction(2**64 - 1), 0),
    "nanoseconds": Extent(Fraction(1, 86_400 * 10**9), 0),
    "zoned": Extent((dt.date(2024, 6, 1) - dt.date(1969, 1, 1)).days + 10 * HOUR, 0),
    "endless_dates": NONE,
    "free_numeric": Extent(Fraction("1e30") + Fraction("1e-10"), 0),
    "numeric": NONE,
}
"""What one class of all values spans, by the names of `tests.contract.test_types`."""


@pytest.mark.cover
@pytest.mark.parametrize(
    ("engine", "name"),
    [
        pytest.param(engine, name, id=f"{engine.name}-{name}")
        for engine in PAIR
        for name in WHOLE
        if name in EXTREME | ONLY[engine.family]
    ],
)
def test_extremes(connect_module: Any, engine: Any, name: str, found: dict[str, Extent], tmp_path: Path) -> None:
    """No type overflows; a class of one value has no extent, whatever the value."""
    db = connect_module(engine)
    sql_type, pool = (EXTREME | ONLY[engine.family])[name]
    for k, expected in ((2, Extent(Fraction(0), 0)), (2 * len(pool), WHOLE[name])):
        case = Case("one", {"x": sql_type}, tuple((v,) for v in pool * 2), {"x": QI()}, (), Privacy(k=k))
        db.anonymize(case.create(db), **case.arguments(tmp_path))
        exact = isinstance(expected, Extent)
        assert (found["x"] if exact else float(found["x"].largest)) == expected
