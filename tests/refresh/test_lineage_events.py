"""OpenLineage events: what catalogs get to know of runs, and that they never stop one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import sqlanon
from sqlanon.column_spec import Recode
from sqlanon.database import lineage
from sqlanon.errors import PolicyError
from sqlanon.spec import RefreshSpec
from tests.contract.noisy_releases import Made, stays
from tests.refresh.conftest import fill, release

pytest.importorskip("openlineage.client")


@pytest.fixture
def db(tmp_path, monkeypatch):
    """A database whose operations write their events to a file."""
    monkeypatch.setenv("SQLANON_LINEAGE", "1")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "events"))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    with sqlanon.connect("duckdb:///:memory:") as opened:
        fill(opened, "ward", 40)
        yield opened


def events(tmp_path):
    lines = (tmp_path / "events").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_and_its_columns(db, tmp_path):
    spec = release("ward", method="tree")
    db.run(spec)
    begin, end = events(tmp_path)
    assert (begin["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert begin["run"]["runId"] == end["run"]["runId"]
    assert end["job"] == {**end["job"], "namespace": "sqlanon", "name": "ward.run"}
    (source,), (made,) = end["inputs"], end["outputs"]
    assert (source["name"], made["name"]) == ("main.ward", "release.ward")
    assert {one["name"] for one in source["facets"]["schema"]["fields"]} == {"id", "age", "sex", "illness"}
    assert made["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "CREATE"
    shown = {column.name for column in db.engine.relation("release.ward").columns}
    columns = made["facets"]["columnLineage"]["fields"]
    assert set(columns) == shown == {one["name"] for one in made["facets"]["schema"]["fields"]}
    assert "id" not in json.dumps(columns).replace("identifier", "")  # it is not published
    (age,) = columns["age_lo"]["inputFields"]
    (change,) = age["transformations"]
    assert (age["field"], change["type"], change["masking"]) == ("age", "DIRECT", True)
    (change,) = columns["illness"]["inputFields"][0]["transformations"]
    assert (change["subtype"], change["masking"]) == ("IDENTITY", False)


def test_a_run_of_noisy_statistics_ends_without_columns(db, tmp_path):
    """They are of groups: none is a column of the source."""
    Made(db, tmp_path, stays("lineage")).run()
    begin, end = events(tmp_path)
    assert (begin["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert set(end["outputs"][0]["facets"]) == {"lifecycleStateChange"}


def test_withdrawn_and_failed(db, tmp_path):
    db.run(release("ward", method="tree"))
    db.run(release("ward", method="tree"), full=True)
    change = events(tmp_path)[-1]["outputs"][0]["facets"]["lifecycleStateChange"]
    assert change["lifecycleStateChange"] == "OVERWRITE"
    db.unpublish("ward")
    end = events(tmp_path)[-1]
    assert end["job"]["name"] == "ward.unpublish"
    assert end["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"
    with pytest.raises(PolicyError):
        db.rollback("nothing")
    failed = events(tmp_path)[-1]
    assert (failed["eventType"], failed["outputs"]) == ("FAIL", [])
    assert failed["run"]["facets"]["errorMessage"]["message"] == "PolicyError"  # its class alone


def test_erased_and_rolled_back(db, tmp_path):
    spec = replace(release("ward", method="tree", key="id"), refresh=RefreshSpec(mode="frozen"))
    db.run(spec)
    db.erase(spec, [{"id": 7}])  # what it would cost: nothing is done
    sent = len(events(tmp_path))
    assert sent == 2
    db.erase(spec, [{"id": 7}], confirmed=True)
    end = events(tmp_path)[-1]
    assert (end["eventType"], end["job"]["name"]) == ("COMPLETE", "ward.erase")
    assert end["job"]["facets"]["jobType"]["jobType"] == "ERASE"
    assert end["outputs"][0]["facets"]["columnLineage"]["fields"]
    fill(db, "other", 40)
    db.run(release("other", method="tree"))
    db.run(release("other", method="tree"), full=True)
    db.rollback("other")
    end = events(tmp_path)[-1]
    assert (end["eventType"], end["job"]["name"], end["outputs"][0]["name"]) == (
        "COMPLETE",
        "other.rollback",
        "release.other",
    )


def test_recoded_columns_are_masked(db, tmp_path):
    spec = release("ward", method="tree")
    columns = [replace(one, recode=Recode(top="40")) if one.name == "age" else one for one in spec.columns]
    db.run(replace(spec, columns=tuple(columns)))
    (change,) = events(tmp_path)[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]["age_lo"]["inputFields"][0][
        "transformations"
    ]
    assert (change["subtype"], change["masking"]) == ("TRANSFORMATION", True)
    assert change["description"].startswith("recoded (top), then generalized")


@pytest.mark.thorough
def test_no_value(db, tmp_path):
    db.run(release("ward", method="tree"))
    text = (tmp_path / "events").read_text(encoding="utf-8")
    assert not any(value in text for value in ("flu", "cold", "hiv"))


def test_a_catalog_that_is_away_stops_nothing(db, monkeypatch, caplog):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "no such transport")
    assert db.run(release("ward", method="tree")).outcome == "published"
    assert "no lineage was sent" in caplog.text
    monkeypatch.setattr(lineage, "EXTRA", "no_such_client")
    assert db.run(release("ward", method="tree"), full=True).outcome == "published"
    assert "is not installed" in caplog.text


def test_nothing_is_sent_unasked(db, tmp_path, monkeypatch):
    monkeypatch.delenv("SQLANON_LINEAGE")
    db.run(release("ward", method="tree"))
    assert not (tmp_path / "events").exists()
