"""What an officer does with a release on Spark: an approval, a threshold, a frame and a bundle of evidence."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from typing import Any

import pytest

import sqlanon
from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.report.evidence import check_bundle
from tests.refresh.conftest import release
from tests.report.pages import Read

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
ILL = ("flu", "cold", "hiv")


def test_an_officers_walk(session: Any) -> None:
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        cells = ", ".join(f"({i}, {20 + i % 30}, '{'mf'[i % 2]}', '{ILL[i % 3]}')" for i in range(60))
        db.engine.execute(f"CREATE TABLE officer AS SELECT * FROM (VALUES {cells}) AS v(id, age, sex, illness)")
        spec = release("officer", method="tree", k=4)
        spec = replace(
            spec,
            context=ContextSpec(purpose="research", recipients="a registry"),
            threshold=ThresholdSpec(Fraction(1, 11), "a guideline"),
            refresh=replace(spec.refresh, needs_approval=True),
        )
        with pytest.raises(GuardError, match="nobody approved"):
            db.run(spec)
        db.approve("officer", by="Alice", until="9999-12-31", planned=spec)
        with pytest.raises(PrivacyViolation, match="above the threshold"):
            db.run(spec)
        assert [one for one in db.releases() if one.status == "published"] == []
        # 60 rows in classes of 11 to 60: one over the smallest is within 1/11.
        spec = replace(spec, privacy=replace(spec.privacy, k=11, l=None))
        db.approve("officer", by="Alice", until="9999-12-31", planned=spec)
        done = db.run(spec)
        assert (done.outcome, done.min_class >= 11) == ("published", True)
        made = db.approve("officer", by="Alice", until="9999-12-31", condition="no linking")
        assert made.figures["rows"] == pytest.approx(1 / done.min_class)
        page = Read(db.report("officer", frame="wp216"))
        assert "a registry" in page.text
        assert "no linking" in Read(db.report("officer", frame="iso27559")).text
        bundle = db.evidence("officer")
        assert db.evidence("officer") == bundle
        checked = check_bundle(bundle, engine=db.engine)
        seen = (checked.release, checked.version, checked.compared, checked.pages)
        assert seen == ("officer", done.version, True, True)
        with zipfile.ZipFile(BytesIO(bundle)) as archive:
            figures = json.loads(archive.read("figures.json"))
            approvals = json.loads(archive.read("approvals.json"))
        assert figures["risk"]["rows"] == pytest.approx(1 / done.min_class)
        assert [one["approver"] for one in approvals] == ["Alice"] * 3
        db.revoke("officer", by="Bob")
        with pytest.raises(GuardError, match="Bob revoked"):
            db.run(spec)
        db.unpublish("officer")
        db.engine.execute("DROP TABLE officer")
