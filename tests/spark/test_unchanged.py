"""A run that finds nothing to do reads the catalog and the rows, takes no lock and writes nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines.spark.names import quote
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.versions.glance import glance
from sqlanon.spec import ReleaseSpec
from tests.spark.tables import arrow, load
from tests.spark.test_walk import leftovers

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
BROUGHT = True


def specify(**options: Any) -> ReleaseSpec:
    """The release of the table ``kept``."""
    asked = {
        "source": "kept",
        "name": "kept",
        "quasi": ["i", "b"],
        "sensitive": "diag",
        "identifiers": "name",
        "rest": "drop",
        "k": 3,
        "method": "tree",
    }
    return policy.release(**(asked | options))


def test_an_unchanged_run_is_one_statement(session, monkeypatch):
    load(session, arrow(60), "kept")
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        spark, catalog = db.engine._session, Catalog(db.engine)
        first = db.run(specify())
        rows = db.engine.fetch("SELECT COUNT(*) FROM _sqlanon.catalog")
        texts: list[str] = []
        sql = type(spark).sql
        monkeypatch.setattr(type(spark), "sql", lambda self, text, *more: texts.append(text) or sql(self, text, *more))
        same = db.run(specify())
        assert [re.findall(r"name: (\S+)", text) for text in texts] == [["refresh/glance"]]
        assert (same.outcome, same.version, same.rows) == ("unchanged", first.version, 60)
        assert same.why == ("source, policy and sqlanon are as before",)
        assert db.engine.fetch("SELECT COUNT(*) FROM _sqlanon.catalog") == rows
        assert not leftovers(db)

        def looks(spec: ReleaseSpec, **options: Any) -> str | None:
            found = glance(db.engine, spec, RunOptions(**options), Stopwatch(spec.name, SilentProgress()))
            return found and found.outcome

        assert looks(specify()) == "unchanged"
        # What a run has to note, to finish, to drop or to make anew is its own.
        spec = specify()
        assert looks(spec, full=True) is None
        assert looks(spec, keep_scratch=True) is None
        assert looks(specify(k=4)) is None
        assert looks(specify(name="other")) is None
        assert looks(replace(spec, refresh=replace(spec.refresh, every=60))) is None
        for status in ("pending", "withdrawing", "returning", "abandoned", "discarded", "withdrawn"):
            catalog.mark("kept", first.version, status)
            assert looks(spec) is None
        catalog.mark("kept", first.version, "published")
        assert looks(spec) == "unchanged"
        db.engine.execute("CREATE TABLE _sqlanon.scratch AS SELECT 1 AS n")  # the list of kept scratch tables
        assert looks(spec) is None
        db.engine.execute("DROP TABLE _sqlanon.scratch")
        view = db.engine.target("release.kept")
        db.engine.execute("ALTER VIEW release.kept RENAME TO release.moved")
        assert not db.engine.exists(view)
        assert looks(spec) is None
        db.engine.execute("ALTER VIEW release.moved RENAME TO release.kept")
        # A row more: the fingerprint of the new version is read under the lock.
        listed = ("'new'" if name == "name" else quote(name) for name in session.table("kept").columns)
        db.engine.execute(f"INSERT INTO kept SELECT {', '.join(listed)} FROM kept LIMIT 1")
        assert looks(spec) is None
        reads = sum("refresh/fingerprint" in text or "refresh/glance" in text for text in texts)
        again = db.run(spec)
        assert (again.outcome, again.version, again.rows) == ("published", first.version + 1, 61)
        assert sum("refresh/fingerprint" in text or "refresh/glance" in text for text in texts) == reads + 2
        assert db.run(spec).outcome == "unchanged"
        db.engine.execute("ALTER TABLE kept ADD COLUMN more INT")
        assert db.run(spec).version > first.version + 1  # a column more, which is not published
        assert not leftovers(db)
        join_files(session)
        assert session.table("_sqlanon.catalog").rdd.getNumPartitions() == 1
        assert db.run(spec).outcome == "unchanged"
        assert db.run(spec, full=True).outcome == "published"


def join_files(session: Any) -> None:
    """The statements of docs/spark.md that join the files of the catalog."""
    page = (Path(__file__).parents[2] / "docs/spark.md").read_text(encoding="utf-8")
    block = re.search(r"```sql\n(CREATE TABLE _sqlanon\..*?)```", page, re.DOTALL)
    assert block is not None
    for line in block[1].splitlines():
        session.sql(line.split(";")[0])
