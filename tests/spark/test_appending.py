"""Rows that several runs append to the catalog at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon
from sqlanon.engines.base import Statement

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("few", [False, True])
def test_what_another_statement_is_writing_stays(session, few):
    """Two that append to one table write in one folder of it, which Spark removes when the first is done."""
    name = f"appended_{few}".lower()
    session.sql(f"CREATE TABLE {name} (n INT) USING parquet")
    folder = Path(session.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / name
    other = folder / "_temporary" / "0" / "_temporary" / "attempt_of_another" / "part"
    other.parent.mkdir(parents=True)
    other.write_text("half of a row")
    with sqlanon.connect(session, temporary=True) as db:
        before = dict(db.engine._session.conf.getAll)
        for turn, statement in enumerate(("catalog/insert", "catalog/append", "catalog/insert_secret")):
            text = f"INSERT INTO {name} SELECT {turn}"
            if few:
                with db.engine.few_rows():
                    db.engine.execute(Statement(statement, text))
            else:
                db.engine.execute(Statement(statement, text))
        assert other.exists()
        assert sorted(db.engine.fetch(f"SELECT n FROM {name}")) == [(0,), (1,), (2,)]
        assert dict(db.engine._session.conf.getAll) == before
