"""The nights of the example, on both engines: what every night must end with."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon
from examples.nightly.nights import EVENTS, Hospital
from examples.nightly.run import line
from sqlanon import policy
from tests.conftest import ready
from tests.engines import ENGINES
from tests.safety.people import private_tables

OUTCOMES = {5: "unchanged", 9: "refused", 13: "refused", 17: "killed", 22: "unchanged"}


@pytest.fixture(params=ENGINES[1:], ids=lambda engine: engine.name)
def url(request, tmp_path: Path):
    engine = ready(request.param)
    made = engine.fresh(tmp_path)
    yield made
    engine.drop(made)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [10, pytest.param(30, marks=pytest.mark.thorough)])
def test_nights(url, count):
    hospital, nights, table = Hospital(url), [], []
    seen = 0
    for night in hospital.nights(count):
        nights.append(night)
        table.append(line(night))
        assert night.outcome == OUTCOMES.get(night.number, "published"), night
        if night.outcome == "published":
            assert night.seen == night.rows == len(hospital._people)
        elif night.number != 22:
            assert night.seen == seen  # what readers had
        seen = night.seen
        if night.number in (1, 10, 12, 18, 22, 30):
            check(url, hospital)
    assert nights[8].refused.count("k 5 -> 4 (weaker)") == 1
    if count == 30:
        assert "has phone since version" in nights[12].refused
        assert nights[21].version == nights[19].version  # back to what was before the loss
    assert [night.version for night in nights if night.outcome == "published"] == sorted(
        {night.version for night in nights if night.outcome == "published"}
    )
    assert all(EVENTS[number] in table[number - 1] for number in EVENTS if number <= count)
    compared = [night for night in nights if night.failing is not None]
    assert len(compared) > count * 2 // 3
    assert all(night.failing > 0 for night in compared)  # which is why history is reported
    with sqlanon.connect(url) as db:
        reported = db.history("patients")
        assert {one.new for one in reported} >= {night.version for night in compared}


def check(url: str, hospital: Hospital) -> None:
    """What readers see keeps the policy, and the private schema holds what the catalog names."""
    spec = policy.release(**hospital.arguments)
    with sqlanon.connect(url) as db:
        report = db.audit("release.patients", spec=spec)
        assert all(one.satisfied for one in report.requirements)
        rows = db.releases("patients")
        kept = [row for row in rows if row.status in ("published", "replaced", "withdrawn")]
        assert [row.status for row in kept].count("published") == 1
        assert len(kept) <= 3
        tables = private_tables(db.engine) - {"catalog", "secrets"}
        assert len([name for name in tables if name.endswith("_link")]) == len(kept)
        histories = [name for name in tables if name.endswith("_history")]
        assert len(histories) == len([row for row in rows if row.status != "abandoned"])
