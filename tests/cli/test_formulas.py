"""CSV files: cells that a spreadsheet computes are named by their column, and quoted where that is asked for."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon

CELLS = [
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "-",
    "- 5",
    "--5",
    "+49 123",
    "-1-2",
    "=",
    "'=1",
    "''=1",
    "-5",
    "-5.25",
    "-1,234.50",
    "-1e5",
    "-.5",
    "5",
    "a=1",
    " =1",
    "'a",
    "",
    "Straße",
    "[-5, 3]",
    "{-5}",
]
FORMULAS = set(CELLS[: CELLS.index("=") + 1])
"""By the OWASP page on CSV injection: =, +, -, @, tab and line breaks at the beginning, in their wide forms too.

A negative number is none.
"""
PROTECTED = FORMULAS | {"'=1", "''=1"}


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE t (age INTEGER, note VARCHAR, plain VARCHAR, balance DOUBLE, "=sum" VARCHAR)')
        for at, cell in enumerate(CELLS * 2):
            connection.execute("INSERT INTO t VALUES (?, ?, 'x', ?, 'y')", [at // 5, cell, -at - 0.5])
    return f"duckdb:///{path}"


WORDS = [
    "--qi",
    "age",
    "--insensitive",
    "note,plain,balance,=sum",
    "--accept-unique",
    "note,balance",
    "--k",
    "2",
    "--name",
    "t",
]


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_formulas_are_named_by_their_column(cli: Any, source: str, tmp_path: Path) -> None:
    ended = cli("anonymize", "t", "--db", source, *WORDS, "--to", "out.csv", "--json")
    assert ended.code == 0
    warned = [line for line in json.loads(ended.out)["warnings"] if "formula" in line]
    assert len(warned) == 2
    assert f"column note: {2 * len(FORMULAS)} cells begin as a formula" in warned[0]
    assert "names of columns =sum" in warned[1]
    for cell in FORMULAS - {"=", "-"}:
        assert cell not in ended.out
    assert "--escape-formulas" in warned[0]
    assert sorted(row["note"] for row in cells(tmp_path / "out.csv")) == sorted(CELLS * 2)


def test_formulas_are_quoted(cli: Any, source: str, tmp_path: Path) -> None:
    """Each gets one ' more, and so does what looks like a quoted one: to drop it gives the text again."""
    ended = cli("anonymize", "t", "--db", source, *WORDS, "--to", "out.csv", "--escape-formulas", "--json")
    assert ended.code == 0
    assert not [line for line in json.loads(ended.out)["warnings"] if "formula" in line]
    rows = cells(tmp_path / "out.csv")
    assert sorted(row["note"] for row in rows) == sorted(
        [f"'{cell}" if cell in PROTECTED else cell for cell in CELLS] * 2
    )
    assert {row["plain"] for row in rows} == {"x"}
    assert {row["'=sum"] for row in rows} == {"y"}
    assert sorted(float(row["balance"]) for row in rows) == sorted(-at - 0.5 for at in range(2 * len(CELLS)))


@pytest.mark.thorough
def test_files_and_python(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        "age,note\n" + "".join(f"{i // 4},{cell}\n" for i, cell in enumerate(["=1", "b"] * 10))
    )
    words = ["anonymize", "in.csv", "--qi", "age", "--sensitive", "note", "--k", "2", "--json"]
    assert any("column note: 10 cells" in line for line in json.loads(cli(*words, "--to", "out.csv").out)["warnings"])
    assert cli(*words, "--to", "out.csv", "--escape-formulas").code == 0
    assert {row["note"] for row in cells(tmp_path / "out.csv")} == {"'=1", "b"}
    refused = cli(*words, "--to", "out.parquet", "--escape-formulas")
    assert refused.code == 2
    assert "is for .csv" in refused.out + refused.err
    assert not any("formula" in line for line in json.loads(cli(*words, "--to", "out.parquet").out)["warnings"])
    report = sqlanon.anonymize("in.csv", to="out.csv", quasi="age", sensitive="note", k=2, escape_formulas=True)
    assert report.warnings == ()
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE t AS SELECT i // 4 AS age, '=' || i % 2 AS note FROM range(20) AS r(i)")
        release = db.anonymize("t", quasi="age", sensitive="note", k=2)
        with pytest.warns(UserWarning, match="column note: 20 cells begin as a formula"):
            release.write(tmp_path / "w.csv")
        release.write(tmp_path / "w.csv", escape_formulas=True)
        assert {row["note"] for row in cells(tmp_path / "w.csv")} == {"'=0", "'=1"}
    with pytest.raises(sqlanon.PolicyError, match="escape_formulas is for files"):
        sqlanon.anonymize(duckdb.sql("SELECT 1 AS age FROM range(9)"), quasi="age", k=2, escape_formulas=True)


def test_sets_and_ranges_are_none(cli: Any, tmp_path: Path) -> None:
    """Their brackets come first; a class of one value is that value."""
    (tmp_path / "in.csv").write_text(
        "age,name\n" + "".join(f"{-i // 4},{'=a' if i < 10 else '+b'}\n" for i in range(20))
    )
    for form, wanted in (("ranges", False), ("labels", True)):
        words = ["anonymize", "in.csv", "--qi", "age,name", "--k", "2", "--format", form, "--to", "out.csv", "--json"]
        warned = [line for line in json.loads(cli(*words).out)["warnings"] if "formula" in line]
        begins = [row["name"] for row in cells(tmp_path / "out.csv") if row["name"][0] in "=+"]
        assert bool(warned) == bool(begins) == wanted
