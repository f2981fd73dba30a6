"""Tables that are declared to be stored as runs: rows, types and order are those of a table made by the query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.release.publish import run_lengths
from tests.contract.cases import release_rows
from tests.contract.samples import MIXED

RUNS = " USING COMPRESSION RLE"

KINDS = {
    "TINYINT": "n % 5",
    "UBIGINT": "n % 5",
    "DOUBLE": "CASE WHEN n % 9 = 0 THEN -0.0 ELSE n % 5 END",
    "DECIMAL(9,2)": "n % 5",
    "BOOLEAN": "n % 2 = 0",
    "DATE": "DATE '2020-01-01' + CAST(n % 5 AS INTEGER)",
    "TIMESTAMP": "TIMESTAMP '2020-01-01' + to_days(CAST(n % 5 AS INTEGER))",
    "VARCHAR": "'v' || n % 5",
}
"""Types of columns that are declared, and how a value is made of a number."""

OTHERS = {
    "VARCHAR COLLATE NOCASE": "'v' || n % 5",
    "HUGEINT": "n % 5",
    "ENUM('v0', 'v1', 'v2')": "'v' || n % 3",
    "TIME": "TIME '01:00:00'",
    "STRUCT(a INTEGER)": "{'a': n % 5}",
}
"""Types of columns with which the query makes the table."""


def declare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of any number of rows and classes."""
    monkeypatch.setattr(run_lengths, "MANY_ROWS", 0)
    monkeypatch.setattr(run_lengths, "LONG", 1)


def test_a_release_is_the_same(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = release_rows(shared_db, MIXED, tmp_path, format="ranges")[0]
    declare(monkeypatch)
    assert release_rows(shared_db, MIXED, tmp_path, format="ranges")[0] == plain


def release_kinds(path: Path, kinds: dict[str, str], role: str) -> tuple[str, list[Any]]:
    """The statement that would make the published table, and its rows in the order in which they are stored."""
    names = [f"seen{i}" for i in range(len(kinds))]
    columns: dict[str, Any] = {"quasi": ["age"]} | {role: [*(["age"] if role == "quasi" else []), *names]}
    with duckdb.connect(str(path)) as connection:
        types = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        connection.execute(f"CREATE TABLE people (age SMALLINT, {types})")
        connection.execute(f"INSERT INTO people SELECT n % 7, {', '.join(kinds.values())} FROM range(60) AS t(n)")
    with sqlanon.connect(f"duckdb:///{path}") as db:
        db.anonymize("people", method="mondrian", k=4, **columns)
    with duckdb.connect(str(path)) as connection:
        made = connection.execute(
            "SELECT table_name, sql FROM duckdb_tables() WHERE schema_name = '_sqlanon' AND table_name LIKE '%_v1'"
        ).fetchone()
        assert made is not None
        return made[1].replace(made[0], "t"), connection.execute(f'SELECT * FROM _sqlanon."{made[0]}"').fetchall()


def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: dict[str, str], role: str) -> bool:
    """Whether the table was declared; it is the one that the query makes."""
    plain = release_kinds(tmp_path / "plain.duckdb", kinds, role)
    declare(monkeypatch)
    declared = release_kinds(tmp_path / "declared.duckdb", kinds, role)
    assert RUNS not in plain[0]
    assert (declared[0].replace(RUNS, ""), repr(declared[1])) == (plain[0], repr(plain[1]))
    return RUNS in declared[0]


@pytest.mark.parametrize("role", ["quasi", "insensitive", "sensitive"])
def test_types_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    assert compare(tmp_path, monkeypatch, KINDS, role)


@pytest.mark.parametrize("kind", OTHERS)
def test_other_types_are_not_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    assert not compare(tmp_path, monkeypatch, {kind: OTHERS[kind]}, "insensitive")


def test_few_rows_and_small_classes_are_not_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"DATE": KINDS["DATE"]}
    assert RUNS not in release_kinds(tmp_path / "few.duckdb", kinds, "quasi")[0]
    monkeypatch.setattr(run_lengths, "MANY_ROWS", 0)
    monkeypatch.setattr(run_lengths, "LONG", 60)
    assert RUNS not in release_kinds(tmp_path / "small.duckdb", kinds, "quasi")[0]
