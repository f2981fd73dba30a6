"""Versions of counts: one is published, and no other beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError
from sqlanon.release.catalog.catalog import Catalog
from tests.contract.counted import Made, stays

pytest.importorskip("highspy")


@pytest.mark.every_engine
def test_one_version_is_published_and_no_other_beside_it(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("versions")
    made = Made(shared_db, tmp_path, rows)
    made.run()
    before = made.rows()
    assert made.run().outcome == "unchanged"
    made.write(protect="{persons: 4, bounds: exact}")
    with pytest.raises(GuardError, match="version 1 is published, and a run would publish other counts"):
        made.run(allow_weaker=True)
    made.write()
    with pytest.raises(GuardError, match="a new version is asked for"):
        made.run(full=True)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES ('north', 'F', 20, 9999)")
    for asked in ({}, {"allow_weaker": True}):
        with pytest.raises(GuardError, match="the source's rows changed"):
            made.run(**asked)
    assert made.rows() == before
    shared_db.unpublish(made.name)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    assert made.run(allow_weaker=True).version == 2
    (*_, entry) = Catalog(shared_db.engine).entries(made.name)
    assert all(shared_db.engine.exists(table) for table in (entry.table, *entry.statistics))
    shared_db.unpublish(made.name, purge=True)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    for entry in Catalog(shared_db.engine).entries(made.name):
        assert not any(shared_db.engine.exists(table) for table in (entry.table, *entry.statistics))


def test_a_withdrawn_version_returns_as_it_was(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("returns"))
    made.run()
    before = made.rows()
    shared_db.unpublish(made.name)
    shared_db.rollback(made.name)
    assert made.rows() == before


def test_counts_of_one_source_are_one_release(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("others"))
    made.run()
    first, made.name = made.name, f"other {made.name}"
    made.write()
    made.file.write_text(made.file.read_text().replace(f"release.{made.view}", f"release.o_{made.view}"))
    with pytest.raises(GuardError, match="publishes counts of the same source"):
        made.run()
    shared_db.unpublish(first)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    made.run(allow_weaker=True)
    with pytest.raises(GuardError, match="publishes counts of the same source"):
        shared_db.rollback(first, allow_weaker=True)


def test_an_older_version_returns_only_where_nobody_has_kept_the_newer_one(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("older"))
    made.run()
    shared_db.unpublish(made.name)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES ('north', 'F', 20, 9999)")
    made.run(allow_weaker=True)
    with pytest.raises(GuardError, match="readers had version 2 after version 1"):
        shared_db.rollback(made.name, 1)
    shared_db.rollback(made.name, 1, allow_weaker=True)
