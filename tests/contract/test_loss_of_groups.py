"""The loss of boxes no two of which publish the same is that of their groups, whether they are grouped or not."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.table.scratch import Scratch

ROWS = 1500
"""More than a small run has, whose classes are always grouped."""
SCAN, SIZES = "loss/scan", "recode/sizes"


@pytest.mark.parametrize(("variant", "alone"), [("strict", True), ("relaxed", False)])
def test_grouped_boxes_lose_what_boxes_alone_lose(
    db: Any, monkeypatch: pytest.MonkeyPatch, variant: str, alone: bool
) -> None:
    """Relaxed partitions of equal rows publish the same; strict ones never do."""
    values = [(i % 5 if variant == "relaxed" else i % 300, i % 5, f"d{i % 4}") for i in range(ROWS)]
    columns = [("age", "INTEGER"), ("ward", "INTEGER"), ("disease", "TEXT")]
    db.engine.load_rows(db.engine.target("stays"), columns, values)
    fetch, scans, flags = Scratch.fetch, [], []

    def fetch_both(scratch: Scratch, name: str, *arguments: Any, **options: Any) -> Any:
        rows = fetch(scratch, name, *arguments, **options)
        if name == SIZES:
            flags.append(rows[0][-1] == 1)
        if name == SCAN:
            grouped = fetch(scratch, name, *arguments, **{**options, "ordered": True})
            scans.append(([float(cell) for cell in rows[0]], [float(cell) for cell in grouped[0]]))
        return rows

    monkeypatch.setattr(Scratch, "fetch", fetch_both)
    db.anonymize(
        "stays", quasi=["age", "ward"], sensitive="disease", k=3, method={"name": "mondrian", "variant": variant}
    )
    assert flags == [alone]
    ((plain, grouped),) = scans
    assert plain == pytest.approx(grouped, rel=1e-12)
