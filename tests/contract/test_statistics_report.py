"""Reports of releases of counts, for the owner and for readers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.report import counts
from sqlanon.workload_spec import WorkloadSpec
from tests.contract.counted import Made, stays

pytest.importorskip("highspy")

SMALL = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]", "protect": "{persons: 12}"}


def test_both_reports_have_cells_and_intervals(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("undone counts"), **SMALL)
    made.run()
    hidden = sum(row["status"] == "hidden" for row in made.rows())
    owner = shared_db.report(made.name, form="md", attack=True)
    readers = shared_db.report(f"release.{made.view}", audience="readers", form="md")
    for text in (owner, readers):
        assert f"{hidden} different cells" in text
        assert "What readers find" in text
    assert "persons who are alone in a cell" in owner
    assert "certificate" in owner
    assert "persons who are alone in a cell" not in readers
    assert made.source not in readers.replace(made.view, "").replace(made.name, "")
    assert "<html" in shared_db.report(made.name)
    with pytest.raises(PolicyError, match="a workload is of queries over rows"):
        shared_db.report(made.name, workload=WorkloadSpec())


def test_the_certificate_decides_and_not_numbers_that_readers_compute(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell may be hidden for another measure alone, while other cells give its number; tables must agree."""
    made = Made(shared_db, tmp_path, stays("computed"), **SMALL)
    made.run()
    disclose = counts._disclose
    monkeypatch.setattr(counts, "_disclose", lambda *asked: replace(disclose(*asked), exact=1))
    assert "Every requirement of the policy is met" in shared_db.report(made.name, form="md")
    monkeypatch.setattr(
        counts,
        "_disclose",
        lambda *asked: (found := disclose(*asked), replace(found, contradictions=found.found[:1]))[1],
    )
    assert "NOT met" in shared_db.report(made.name, form="md")
