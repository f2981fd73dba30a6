"""Infinite times and those before year 1, which Python lacks.

Frames, files, queries, previews and evaluations show them like the database.
"""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.engines import PAIR, create_table
from tests.workloads import ask_few

TYPES = {"DATE": "", "TIMESTAMP": " 10:00:00", "TIMESTAMPTZ": " 10:00:00+00"}
ROWS = 60


def filled(db: Any, kind: str) -> tuple[str, list[str]]:
    """A table of such times, each in 12 rows, and what the database writes for each."""
    bc = f"0044-03-15{TYPES[kind]} BC" if db.engine.dialect == "postgres" else f"0044-03-15 (BC){TYPES[kind]}"
    values = ["-infinity", bc, "2020-01-01", "2020-06-01", "infinity"]
    rows = [(i % 2, values[i % 5]) for i in range(ROWS)]
    table = create_table(db, f"endless_{kind.lower()}", {"q": "INTEGER", "x": kind}, rows)
    return table, values


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("engine", PAIR, ids=lambda one: one.name)
def test_times_that_python_has_none_of(
    connect_module: Any, engine: Any, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_few(monkeypatch)
    db = connect_module(engine)
    table, values = filled(db, kind)
    release = db.anonymize(table, quasi=["q", "x"], k=6, name=f"endless_{kind.lower()}")

    def low_and_high(sql: str) -> list[tuple[str, str]]:
        return [(str(row["v"].low), str(row["v"].high)) for row in release.query(sql.format(t=table)).rows]

    assert low_and_high("SELECT min(x) AS v FROM {t}") == [("-infinity", "-infinity")]
    assert low_and_high("SELECT max(x) AS v FROM {t}") == [("infinity", "infinity")]
    before_1 = low_and_high("SELECT max(x) AS v FROM {t} WHERE x < '0001-06-01'")
    assert before_1[0][1].startswith("0044-03-15")
    assert low_and_high("SELECT max(x) AS v FROM {t} WHERE x < '2020-03-01'")[0][1].startswith("2020-01-01")
    assert low_and_high("SELECT min(x) AS v FROM {t} GROUP BY q") == [("-infinity", "-infinity")] * 2
    with pytest.raises(sqlanon.SqlanonError, match=r"column x .*has (infinite ends|no countable values)"):
        release.query(f"SELECT x, count(*) AS n FROM {table} GROUP BY x")
    for frame in (release.to_pandas()["x_lo"], release.to_polars()["x_lo"]):
        found = Counter(str(value)[:10] for value in frame)
        assert found == Counter(value[:10] for value in values for _ in range(12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        assert Counter(row["x_hi"][:10] for row in csv.DictReader(file)) == found
    assert release.evaluate() is not None
    assert len(db.preview(release.spec, rows=ROWS).pairs) == ROWS


@pytest.mark.parametrize("last", ["9999-12-31", "0001-01-01"])
def test_the_last_day_of_python_is_a_day(connect_module: Any, last: str) -> None:
    db = connect_module(PAIR[0])
    table = create_table(db, f"ends_{last[:4]}", {"x": "DATE"}, [(last,)] * 8)
    release = db.anonymize(table, quasi="x", k=2, name=f"ends_{last[:4]}")
    assert str(release.query(f"SELECT max(x) AS v FROM {table}").rows[0]["v"].high) == last


def test_negative_intervals_are_written(connect_module: Any, tmp_path: Path) -> None:
    """Parquet has none; they are text there."""
    import duckdb

    for engine in PAIR:
        db = connect_module(engine)
        rows = [(i % 2, ("-1 month", "-5 days", "3 hours")[i % 3]) for i in range(24)]
        table = create_table(db, "spans", {"q": "INTEGER", "x": "INTERVAL"}, rows)
        release = db.anonymize(table, quasi="q", sensitive="x", k=4, name="spans")
        release.write(tmp_path / "out.parquet")
        query = f"SELECT CAST(x AS INTERVAL) AS x, count(*) FROM '{tmp_path / 'out.parquet'}' GROUP BY 1"
        with duckdb.connect() as connection:
            wanted = "SELECT x::INTERVAL AS x, 8 FROM (VALUES ('-1 month'), ('-5 days'), ('3 hours')) AS t(x)"
            assert connection.execute(f"({query}) EXCEPT ({wanted})").fetchall() == []
