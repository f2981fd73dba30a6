"""Debug mode: a run keeps its intermediate tables in the private schema, lists them, and they go by the list."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from sqlanon.progress import STAGES
from tests.refresh.conftest import fill, release


def private_tables(db: Any) -> set[str]:
    """What the private schema holds of scratch tables."""
    rows = db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' AND table_name LIKE "
        "'scratch%'"
    )
    return {str(name) for (name,) in rows} - {"scratch"}


def test_tables_are_kept_listed_and_dropped(db: Any) -> None:
    fill(db, "ward")
    report = db.run(release("ward"), keep_scratch=True)
    assert report.outcome == "published"
    assert {one.table.removeprefix("_sqlanon.") for one in report.scratch} == private_tables(db)
    assert {one.stage for one in report.scratch} <= set(STAGES)
    by_statement = {one.statement: one for one in report.scratch}
    assert by_statement["table/stage"].rows == by_statement["table/classed"].rows == 40
    assert by_statement["table/stage"].stage == "snapshot"
    assert by_statement["table/stage"].seconds > 0
    assert all(db.engine.fetch(f"SELECT count(*) FROM {one.table}") == [(one.rows,)] for one in report.scratch)
    assert report.to_dict()["scratch"][0]["table"] == report.scratch[0].table
    assert db.version("ward").report["scratch"] in ([], ())
    db.engine.execute("CREATE TABLE _sqlanon.scratch_of_mine AS SELECT 1 AS a")
    assert set(db.clean()) == {one.table.removeprefix("_sqlanon.") for one in report.scratch}
    assert private_tables(db) == {"scratch_of_mine"}  # only what the list names


def test_the_next_run_drops_them(db: Any) -> None:
    fill(db, "ward")
    assert db.run(release("ward"), keep_scratch=True).scratch
    fill(db, "ward", 42)
    assert db.run(release("ward")).scratch == ()
    assert private_tables(db) == set()


def test_a_run_that_fails_keeps_them_as_well(db: Any) -> None:
    fill(db, "ward")
    with pytest.raises(sqlanon.InfeasibleError):
        db.run(release("ward", k=41), keep_scratch=True)
    assert private_tables(db)
    db.clean()
    assert private_tables(db) == set()


def test_nobody_else_gets_a_right_on_them(db: Any) -> None:
    fill(db, "ward")
    if db.engine.rights is None:
        pytest.skip("the engine knows no roles")
    db.engine.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
    db.run(release("ward"), keep_scratch=True)
    assert db.engine.fetch(
        "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, aclexplode(c.relacl) AS "
        "g WHERE n.nspname = '_sqlanon' AND g.grantee <> c.relowner"
    ) == [(0,)]
    db.engine.execute("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC")
