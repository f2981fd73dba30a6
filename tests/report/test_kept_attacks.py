"""Attacks that are kept with a version, and their way over the versions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlanon.errors import SqlanonError
from sqlanon.release.catalog.attacks import list_attacks
from tests.invoked import invoke
from tests.refresh.conftest import fill, release
from tests.report.pages import Read


def test_over_the_versions(shared_db):
    kept = []
    for rows in (40, 60):
        fill(shared_db, "attacked", rows)
        shared_db.run(release("attacked", method="tree"))
        report = shared_db.attack("attacked")
        kept.append(shared_db.keep_attacks(report))
        assert kept[-1].found_highest == max(one.highest for one in report.linkage if not one.errors)
        assert kept[-1].learned == max(one.mean for one in report.homogeneity)
    assert list_attacks(shared_db.engine, "attacked") == tuple(kept)
    table = Read(shared_db.report("attacked")).tables["Attacks over the versions"]
    assert [row[0] for row in table[1:]] == ["1", "2"]
    assert [row[-1] for row in table[1:]] == ["yes", "yes"]
    # Attacked again: the last figures count.
    shared_db.keep_attacks(replace(report, release="attacked@2", quasi=("age",)))
    table = Read(shared_db.report("attacked")).tables["Attacks over the versions"]
    assert [(row[0], row[2]) for row in table[1:]] == [("1", "2"), ("2", "1")]


def test_a_frame_takes_them(shared_db):
    fill(shared_db, "framed", 40)
    shared_db.run(release("framed", method="tree"))
    assert "No attack was run for this report" in shared_db.report("framed", frame="wp216")
    shared_db.keep_attacks(shared_db.attack("framed"))
    page = shared_db.report("framed", frame="wp216")
    assert "No attack was run for this report" not in page
    assert "the right row is picked with" in page
    assert "sqlanon attack framed --keep" in page


@pytest.mark.thorough
def test_the_option(tmp_path):
    url = f"duckdb:///{tmp_path}/d.duckdb"
    db = ["--db", url]
    import duckdb

    with duckdb.connect(f"{tmp_path}/d.duckdb") as made:
        made.execute("CREATE TABLE t AS SELECT i % 10 AS age, CAST(i % 3 AS TEXT) AS ill FROM range(40) AS r(i)")
    assert invoke("anonymize", "t", *db, "--qi", "age", "--sensitive", "ill", "--k", "4").exit_code == 0
    assert invoke("attack", "t", *db, "--keep").exit_code == 0
    assert "Attacks over the versions" in invoke("report", "t", *db, "--md").stdout
    refused = invoke("attack", "t", *db, "--keep", "--control", "0.2")
    assert refused.exit_code == 2
    assert "--keep is of attacks on what is published" in refused.stderr


def test_nothing_was_kept(shared_db):
    assert list_attacks(shared_db.engine, "nothing_of_this_name") == ()
    with pytest.raises(SqlanonError):
        shared_db.attack("nothing_of_this_name")
