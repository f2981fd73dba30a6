"""`plan` predicts the loss of each column.

The release that follows loses as much, measured on the published table.
"""

from __future__ import annotations

import random
import uuid
from pathlib import Path
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.release.trials import sample
from tests.engines import create_table

TREE = "a1;a;*\na2;a;*\nb1;b;*\nb2;b;*\n"


def people(db: Any, rows: int, seed: int = 5) -> str:
    name = f"planned_{uuid.uuid4().hex[:10]}"
    draw = random.Random(seed)
    drawn = [
        (
            i,
            i // 2,
            draw.choice([None, *range(20, 60)]),
            draw.choice("fmx"),
            draw.choice(["a1", "a2", "b1", "b2"]),
            draw.choice("uvw"),
        )
        for i in range(rows)
    ]
    kinds = {"id": "INTEGER", "who": "INTEGER", "age": "INTEGER", "sex": "TEXT", "zip": "TEXT", "ill": "TEXT"}
    create_table(db, name, kinds, drawn)
    return name


OPTIONS: dict[str, dict[str, Any]] = {
    "tree": {},
    "mondrian": {"method": "mondrian"},
    "l": {"l": 2},
    "labels": {"format": "labels"},
    "whole": {"person": "who", "persons": "whole", "identifiers": ["id", "who"]},
}


@pytest.mark.cover("engine", "option")
@pytest.mark.parametrize("option", OPTIONS)
def test_a_column_loses_what_was_planned(shared_db: Any, tmp_path: Path, option: str) -> None:
    name = people(shared_db, 120)
    (tmp_path / "zip.csv").write_text(TREE)
    asked: dict[str, Any] = {
        "quasi": ["age", "sex", "zip"],
        "sensitive": "ill",
        "identifiers": ["id"],
        "k": 4,
        "rest": "drop",
        "hierarchies": {"zip": tmp_path / "zip.csv"},
        "name": name,
        "publish": f"release.{name}",
        "seed": 1,
    }
    spec = policy.release(source=name, **(asked | OPTIONS[option]))
    planned, released = shared_db.plan(spec), shared_db.run(spec)
    losses = {column.name: column.loss for column in planned.columns}
    assert {column for column, lost in losses.items() if lost is not None} == {"age", "sex", "zip"}
    for column, figures in released.loss.columns.items():
        assert losses[column] == pytest.approx(figures["ncp"], abs=1e-5), column
    assert not [one for one in planned.notes if one.startswith("loses")]


def test_trials_are_left_out(shared_db: Any) -> None:
    name = people(shared_db, 120)
    spec = policy.release(source=name, quasi=["age", "sex"], sensitive="ill", k=4, rest="drop", refine=True)
    planned, released = shared_db.plan(spec), shared_db.run(spec)
    assert "loses: measured without the trials of refine, which make it less" in planned.notes
    losses = [column.loss for column in planned.columns if column.loss is not None]
    assert sum(losses) > sum(one["ncp"] for one in released.loss.columns.values())


def test_a_part_of_a_large_table_is_an_estimate(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MOST_MEASURED", 100)
    name = people(shared_db, 320)
    spec = policy.release(
        source=name, quasi=["age", "sex"], sensitive="ill", k=4, rest="drop", name=name, publish=f"release.{name}"
    )
    planned, released = shared_db.plan(spec), shared_db.run(spec)
    (note,) = [one for one in planned.notes if one.startswith("loses")]
    assert note == "loses: an estimate, measured on 80 of 320 rows, which lose more than all of them"
    losses = {column.name: column.loss for column in planned.columns if column.loss is not None}
    assert sum(losses.values()) > sum(one["ncp"] for one in released.loss.columns.values())


@pytest.mark.parametrize("options", [{"format": "anatomy", "k": 1, "l": 2}, {"boxes": "own", "method": "freeform"}])
def test_nothing_is_measured_without_classes_of_boxes(shared_db: Any, options: dict[str, Any]) -> None:
    name = people(shared_db, 60)
    asked = {"quasi": ["age", "sex"], "sensitive": "ill", "k": 3, "rest": "drop"} | options
    planned = shared_db.plan(policy.release(source=name, **asked))
    assert [column.loss for column in planned.columns] == [None] * 6
