"""Evidence about releases of counts: frames, bundles, approvals, the accepted risk."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.report.evidence import check_bundle
from tests.contract.counted import Made, stays

pytest.importorskip("highspy")

SMALL: dict[str, str] = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]"}
DECIDED = """    context: {purpose: planning, owner: M. Weber}
    threshold: {risk: 1/3, because: the board says so}
    review: 365d
"""
ROUND = "{persons: 3, method: round, base: 3}"
NOISE = "{persons: 3, method: cell_key, deviation: 5, variance: 3}"


def files(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_bundle_says_what_is_certified(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("bundle", 40), more=DECIDED, **SMALL)
    report = made.run()
    bundle = shared_db.evidence(made.name)
    found = files(bundle)
    assert {name for name in found if name.startswith("report")} == {"report-sdc.html"}
    figures = json.loads(found["figures.json"])
    assert figures["counts"]["hidden"] == report.statistics.hidden > 0
    assert figures["counts"]["witnesses"] == report.statistics.witnesses
    assert figures["risk"]["published_persons"] == pytest.approx(1 / 3)
    readers = files(shared_db.evidence(made.name, audience="readers"))["figures.json"]
    assert "witnesses" not in json.loads(readers)["counts"]
    page = found["report-sdc.html"].decode()
    assert all(text in page for text in ("planning", "M. Weber", "the board says so", "certificate"))
    assert "it's" not in page
    assert "it&#39;s" not in page  # a region


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("protect", ["{persons: 3}", ROUND, NOISE])
def test_a_bundle_is_made_again_byte_by_byte(protect: str, shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("again", 40), protect=protect, **SMALL)
    made.run()
    for audience in ("owner", "readers"):
        bundle = shared_db.evidence(made.name, audience=audience)
        assert bundle == shared_db.evidence(made.name, audience=audience)
        assert check_bundle(bundle, shared_db.engine).pages
    assert "Small cells" in shared_db.report(made.name, frame="sdc", attack=True)


@pytest.mark.thorough
def test_frames_about_rows_are_refused_by_name(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("frames", 40), **SMALL)
    made.run()
    with pytest.raises(PolicyError, match="the frame wp216 asks about rows, and this release has counts: --frame sdc"):
        shared_db.report(made.name, frame="wp216")


@pytest.mark.thorough
def test_a_run_without_an_approval_stops(shared_db: Any, tmp_path: Path) -> None:
    more = "    refresh: {needs_approval: true}\n"
    made = Made(shared_db, tmp_path, stays("approved", 40), more=more, **SMALL)
    with pytest.raises(GuardError, match="nobody approved this release"):
        made.run()
    assert shared_db.releases(made.name) == ()
    shared_db.approve(made.name, by="M. Weber", until="2999-01-01", planned=made.spec)
    assert made.run().verified
    made.write(more=more, protect="{persons: 4}", **SMALL)
    with pytest.raises(GuardError, match="would publish other counts"):
        made.run()
    shared_db.unpublish(made.name)
    with pytest.raises(GuardError, match="the policy is not the one"):
        made.run(allow_weaker=True)


def test_more_risk_than_accepted_publishes_nothing(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("risk", 40), more=DECIDED.replace("1/3", "1/4"), **SMALL)
    with pytest.raises(PrivacyViolation, match="above the threshold 25 %"):
        made.run()
    assert shared_db.releases(made.name) == ()
    made.write(more=DECIDED, protect=NOISE, **SMALL)
    with pytest.raises(PolicyError, match="promise no number of persons"):
        made.run()
