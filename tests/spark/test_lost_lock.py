"""Two runs of one release on Spark, one of which was away for longer than its lease.

The other's version is whole, and no one drops it.
"""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from sqlanon.engines.spark import locks
from sqlanon.engines.spark.names import qualify
from sqlanon.errors import DatabaseError, LockedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.publish import in_views, publish
from tests.safety.people import RELEASE, ROWS
from tests.spark.killed import write_people

pytestmark = [pytest.mark.spark, pytest.mark.thorough]


def test_a_run_that_has_lost_its_lock_drops_nothing_of_the_next_one(session, monkeypatch):
    """A first version: there is no view before it that tidying up would replace, which is refused by itself.

    The second run begins before the first one commits, and is verified when the first one tidies up, as it does once it
    has failed.
    """
    options = RELEASE | {"name": "taken", "publish": "release.taken"}
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as late,
        sqlanon.connect(session, temporary=True, accept_shared=True) as next_one,
    ):
        commit, made = in_views.commit, []

        def meanwhile(engine: Any, *given: Any) -> None:
            if engine is late.engine:
                made.append(next_one.anonymize("people", **options).report.version)
            else:
                publish.clean_up(late.engine, "taken")
            commit(engine, *given)

        write_people(late, 0)
        monkeypatch.setattr(in_views, "commit", meanwhile)
        monkeypatch.setattr(locks, "ANSWER", 0.0)
        monkeypatch.setattr(next_one.engine._locks, "_is_alive", lambda _: False)
        with pytest.raises(LockedError, match="another one has taken over"):
            late.anonymize("people", **options)
        assert made == [2]
        assert late.engine.fetch("SELECT count(*) FROM release.taken") == [(ROWS,)]
        status = {one.version: one.status for one in late.releases("taken")}
        assert status == {1: "discarded", 2: "published"}
        monkeypatch.undo()
        physical = {entry.version: entry.table for entry in Catalog(late.engine).entries("taken")}
        for again in (
            lambda: next_one.anonymize("people", **options),
            next_one.clean,
        ):  # a server finishes a table after its run is gone
            late.engine.execute(f"CREATE TABLE {qualify(physical[1])} AS SELECT 1 AS n")
            again()
            assert not late.engine.exists(physical[1])
            assert late.engine.exists(physical[2])


def test_a_lock_that_cannot_be_asked_about_is_not_taken_over(session, monkeypatch):
    """An error of the catalog is no sign that its holder is gone."""
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as holder,
        sqlanon.connect(session, temporary=True, accept_shared=True) as other,
        holder.engine.lock("release asked"),
    ):
        ask, others = other.engine._locks._run, other.engine._locks

        def fails(text: str) -> Any:
            if text.startswith("SHOW TBLPROPERTIES"):
                raise DatabaseError("the catalog does not answer")
            return ask(text)

        monkeypatch.setattr(others, "_run", fails)
        with pytest.raises(DatabaseError, match="does not answer"), other.engine.lock("release asked"):
            pass
        monkeypatch.undo()
        holder.engine._locks.check()
        with pytest.raises(LockedError, match="another session"), other.engine.lock("release asked"):
            pass
