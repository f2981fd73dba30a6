"""Reports of releases of counts, for the owner and for readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
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
