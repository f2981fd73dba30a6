"""Every model of the registry, measured on tables that no policy speaks of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from sqlanon.declared import REQUIREMENTS
from tests.engines import create_table
from tests.invoked import invoke
from tests.oracle import risk as oracle

COLUMNS = {"zip": "VARCHAR(9)", "age": "INTEGER", "disease": "VARCHAR(20)", "cost": "INTEGER"}
# Li, Li and Venkatasubramanian 2007, table 3: classes of salaries (in thousands) and diseases.
PAPER = [
    ("476**", 2, "gastric ulcer", 3),
    ("476**", 2, "gastritis", 4),
    ("476**", 2, "stomach cancer", 5),
    ("4790*", 4, "gastritis", 6),
    ("4790*", 4, "flu", 11),
    ("4790*", 4, "bronchitis", 8),
    ("476**", 3, "bronchitis", 7),
    ("476**", 3, "pneumonia", 9),
    ("476**", 3, "stomach cancer", 10),
]


def random_rows(seed: int, n: int = 40) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [
        (
            rng.choice(["a", "*", None]),
            rng.choice([1, None]),
            rng.choice(["flu", "flu", "hiv", "*", None]),
            rng.choice([1, 2, 2, 7, None]),
        )
        for _ in range(n)
    ]


def figures(report: Any, column: str) -> dict[tuple[str, str], Any]:
    return {(one.model, one.form): one.reached for one in report.models if one.column == column}


def check(db: Any, rows: list[tuple[Any, ...]]) -> None:
    """Every figure of a table against the oracle."""
    table = f"t_{uuid4().hex[:8]}"
    create_table(db, table, COLUMNS, rows)
    report = db.assess(table, quasi=["zip", "age"], sensitive=["disease", "cost"])
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    for column, is_ordered in (("disease", False), ("cost", True)):
        wanted = oracle.models(named, ["zip", "age"], column, is_ordered=is_ordered)
        found = figures(report, column)
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert found[key] == (None if value is None else pytest.approx(float(value), rel=1e-8)), key
    assert {one.model for one in report.models} == {one.name for one in REQUIREMENTS.own if not one.population}
    sizes = [len(members) for members in oracle.classes(named, ["zip", "age"])]
    assert (report.rows, report.classes) == (len(rows), len(sizes))
    assert figures(report, None)["k", ""] == min(sizes)
    assert report.not_measured == ()


def test_the_example_of_the_paper(shared_db: Any) -> None:
    """Li et al. 2007, section 4.2: the first class of salaries is 0.375 from the table, and no other farther."""
    table = f"t_{uuid4().hex[:8]}"
    create_table(shared_db, table, COLUMNS, PAPER)
    report = shared_db.assess(table, quasi=["zip", "age"], sensitive=["cost", "disease"])
    assert figures(report, "cost")["t", "ordered"] == pytest.approx(0.375)
    assert figures(report, "disease")["l", ""] == 3
    check(shared_db, PAPER)


def test_random_tables(shared_db: Any) -> None:
    """NULL and ``*`` are values."""
    check(shared_db, random_rows(1))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 30))
def test_more_random_tables(shared_db: Any, seed: int) -> None:
    check(shared_db, random_rows(seed, 8 + 3 * seed))


@pytest.mark.thorough
def test_few_rows(shared_db: Any) -> None:
    """One row; one class; no row."""
    check(shared_db, [("a", 1, "flu", 3)])
    check(shared_db, [("a", 1, "flu", 3), ("a", 1, "hiv", 5)])
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, [])
    report = shared_db.assess(table, quasi=["zip"], sensitive=["cost"])
    assert (report.rows, report.classes, report.models) == (0, 0, ())


def test_bad_columns(shared_db: Any) -> None:
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, PAPER)
    with pytest.raises(sqlanon.PolicyError, match="there is no column nope; columns: zip, age"):
        shared_db.assess(table, quasi=["nope"])
    with pytest.raises(sqlanon.PolicyError, match="age cannot have two roles"):
        shared_db.assess(table, quasi=["age"], sensitive=["Age"])


def command(*words: str) -> Any:
    return invoke("audit", *words)


def written(tmp_path: Path, rows: list[tuple[Any, ...]]) -> Path:
    path = tmp_path / "patients.csv"
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


@pytest.mark.thorough
def test_a_file_has_the_figures_of_its_table(tmp_path: Path) -> None:
    """The JSON of a CSV file is the report that Python gives of the same rows in a table."""
    path = written(tmp_path, PAPER)
    ended = command(str(path), "--qi", "zip,age", "--sensitive", "disease,cost", "--json")
    assert ended.exit_code == 0
    found = json.loads(ended.stdout)
    assert found["table"] == found["risk"]["table"] == str(path)
    with sqlanon.connect("duckdb:///:memory:") as db:
        create_table(db, "t", COLUMNS, PAPER)
        report = db.assess("t", quasi=["zip", "age"], sensitive=["disease", "cost"]).to_dict()
    assert found["risk"]["models"] == list(report["models"])
    shown = command(str(path), "--qi", "zip,age", "--sensitive", "disease,cost").stdout
    assert "t (ordered)" in shown
    assert "0.375" in shown


def test_bad_files(tmp_path: Path) -> None:
    path = written(tmp_path, PAPER)
    (tmp_path / "notes.txt").write_text("x")
    for words, said in (
        ([str(tmp_path / "gone.csv")], "gone.csv"),
        ([str(tmp_path / "notes.txt")], "files are .csv, .csv.gz, .parquet"),
        ([str(path), "-p", "anon.yml"], "leave -p out"),
        ([str(path), "--qi", "nope"], "there is no column nope"),
        (["t", "--db", "duckdb:///:memory:", "--delimiter", ";"], "--delimiter is for CSV files"),
    ):
        ended = command(*words)
        assert ended.exit_code in (2, 3)
        assert said in ended.stderr.replace("\n", " ")
