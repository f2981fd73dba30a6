"""Rows of written files that need care: wide integers, empty texts and NULL, one column; and killed processes."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest

import sqlanon
from sqlanon.engines.duckdb import file_columns
from tests.contract.test_written_files import made, released


def test_quasi_boxes_of_wide_integers_cover_their_rows(tmp_path: Path) -> None:
    wide = [10**30 + i for i in range(200)]
    with duckdb.connect(str(tmp_path / "s.duckdb")) as connection:
        connection.execute("CREATE TABLE t (big HUGEINT)")
        connection.executemany("INSERT INTO t VALUES (?)", [[value] for value in wide])
    with sqlanon.connect(f"duckdb:///{tmp_path}/s.duckdb") as db:
        release = db.anonymize("t", quasi="big", k=5)
        release.write(tmp_path / "out.parquet")
    boxes = Counter((row["big_lo"], row["big_hi"]) for row in pq.read_table(tmp_path / "out.parquet").to_pylist())
    assert sum(boxes.values()) == 200
    for (low, high), rows in boxes.items():
        assert sum(low <= value <= high for value in wide) >= rows >= 5


def test_empty_and_missing_sensitive_texts_are_not_merged(tmp_path: Path) -> None:
    with sqlanon.connect(made(tmp_path, {"x": ["'a'", "''"]})) as db:
        release = db.anonymize("t", quasi="age", sensitive="x", k=4)
        with pytest.raises(sqlanon.PolicyError, match="sensitive column x holds empty texts and NULL"):
            release.write(tmp_path / "out.csv")
        assert not list(tmp_path.glob("out*"))
        release.write(tmp_path / "out.parquet")


def test_rows_that_exchanged_values_are_other_rows() -> None:
    """Of some rows DuckDB's hashes with either of two values differ by the same number."""
    by = "CAST(HASH(n, 'flu') AS HUGEINT) - CAST(HASH(n, 'cold') AS HUGEINT)"
    query = f"SELECT MIN(n), MAX(n) FROM RANGE(60000) AS r(n) GROUP BY {by} HAVING COUNT(*) > 1"
    with duckdb.connect() as connection:
        pairs = connection.execute(query).fetchall()
        assert pairs
        for first, second in pairs:
            one, other = (
                file_columns._fingerprint(connection, f"(VALUES ({first}, '{a}'), ({second}, '{b}'))", ["col0", "col1"])
                for a, b in (("flu", "cold"), ("cold", "flu"))
            )
            assert one != other


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_process_that_is_killed_while_it_compares(tmp_path: Path, ending: str) -> None:
    """What is written is not seen: the older file stays whole, and the next run removes what was left."""
    url, target = made(tmp_path, {"x": ["'a'", "'b'"]}), tmp_path / f"out.{ending}"
    target.write_text("older")
    code = (
        "import os, signal, sys, sqlanon; from sqlanon.engines.duckdb import export, file_columns\n"
        "killed = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "export.check = file_columns.check = killed\n"
        "with sqlanon.connect(sys.argv[1]) as db:\n"
        "    db.anonymize('t', quasi='age', insensitive='x', accept_unique='x', k=4).write(sys.argv[2])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, url, str(target)], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert target.read_text() == "older"
    (left,) = tmp_path.glob("out.*.sqlanon-*")
    assert left.stat().st_mode & 0o777 == 0o700
    with sqlanon.connect(url) as db:
        released(db, ["x"]).write(target)
    assert target.stat().st_size > len("older")
    assert not list(tmp_path.glob("out.*.sqlanon-*"))


def test_rows_of_one_column_are_all_read(tmp_path: Path) -> None:
    """NULL alone would be an empty line, which Python's reader and that of pandas skip."""
    for texts, refused in (
        ("CASE WHEN i < 10 THEN 'a' END", False),
        ("CASE WHEN i < 5 THEN '' WHEN i < 15 THEN 'a' END", True),
    ):
        source = tmp_path / f"{refused}.duckdb"
        with duckdb.connect(str(source)) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT {texts} AS x FROM range(20) AS r(i)")
        with sqlanon.connect(f"duckdb:///{source}") as db:
            release = db.anonymize("t", quasi="x", format="points", k=2)
            if refused:
                with pytest.raises(
                    sqlanon.PolicyError,
                    match="column x holds empty texts and NULL, which a CSV file of one column",
                ):
                    release.write(tmp_path / "out.csv")
                continue
            release.write(tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(newline="") as file:
            assert Counter(row["x"] for row in csv.DictReader(file)) == {"a": 10, "": 10}
        assert pd.read_csv(tmp_path / "out.csv")["x"].isna().sum() == 10
        assert duckdb.sql(f"SELECT count(x), count(*) FROM '{tmp_path}/out.csv'").fetchall() == [(10, 20)]
