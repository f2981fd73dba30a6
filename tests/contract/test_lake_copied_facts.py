"""Whoever can write a lake table's storage cannot pass rows off as ours by the texts of our commits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

import sqlanon
from tests.contract.elsewhere import KINDS, fill, shown, visits_spec
from tests.contract.lakes import Delta, rows_in

pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]


@pytest.fixture(params=["duckdb", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    kind = KINDS[request.param]
    if why := kind.missing():
        pytest.skip(why)
    (tmp_path / "state").mkdir()
    url = kind.fresh(tmp_path / "state")
    with sqlanon.connect(url) as made:
        fill(made)
        yield made
    kind.drop(url)


def append(lake: Delta, operation: str | None = None) -> None:
    """Append a row with the facts of the latest commit, and the name of another operation."""
    facts = lake.table.history()[0].get("sqlanon")
    how = CommitProperties(custom_metadata={"sqlanon": facts} if facts else None)
    write_deltalake(lake.folder / "published", lake.arrow().slice(0, 1), mode="append", commit_properties=how)
    if operation:
        log = max((lake.folder / "published" / "_delta_log").glob("*.json"))
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        for action in actions:
            if "commitInfo" in action:
                action["commitInfo"]["operation"] = operation
        log.write_text("\n".join(map(json.dumps, actions)))


@pytest.mark.parametrize("operation", [None, "OPTIMIZE"])
def test_facts_that_were_copied_into_another_commit(db, tmp_path, operation):
    lake = Delta(tmp_path)
    spec = visits_spec(lake.name)
    db.run(spec)
    append(lake, operation)
    assert sum(rows_in(lake).values()) == 25
    audited = db.audit("release.visits", spec=spec)
    assert not audited.satisfied
    assert "version 1 in" in str(audited.not_measured)
    assert db.run(spec).outcome == "published"
    assert rows_in(lake) == shown(db)
    assert db.run(spec).outcome == "unchanged"


def test_a_compaction_has_the_same_rows(db, tmp_path):
    lake = Delta(tmp_path)
    spec = visits_spec(lake.name)
    db.run(spec)
    lake.table.optimize.z_order(["ill"])
    assert len(DeltaTable(lake.folder / "published").file_uris()) == 1
    assert lake.table.history()[0]["operation"] == "OPTIMIZE"
    assert db.run(spec).outcome == "unchanged"
    assert db.audit("release.visits", spec=spec).satisfied


def test_a_file_that_was_written_over_is_found_by_an_audit(db, tmp_path):
    lake = Delta(tmp_path)
    spec = visits_spec(lake.name)
    db.run(spec)
    (file,) = (lake.folder / "published").glob("sqlanon-*.parquet")
    rows = pq.read_table(file)
    pq.write_table(rows.slice(1, len(rows) - 1), file)
    audited = db.audit("release.visits", spec=spec)
    assert not audited.satisfied
    assert "what readers have" in str(audited.not_measured)
