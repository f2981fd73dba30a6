"""A file that is named is the file that is read, with all its rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import sqlanon


def write(path: Path, values: list[str], header: str = "n") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([header, "s"])
        writer.writerows((value, "ab"[i % 2]) for i, value in enumerate(values))
    return path


def released(path: Path, tmp_path: Path, quasi: str = "n") -> list[list[str]]:
    out = tmp_path / "out.csv"
    report = sqlanon.anonymize(path, quasi=[quasi], sensitive=["s"], k=2, to=out)
    with out.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert len(rows) == report.rows
    return rows


@pytest.mark.parametrize("name", ["p[1].csv", "p*.csv", "p?.csv", "[p].csv"])
def test_a_name_is_no_pattern(name, tmp_path):
    mine = write(tmp_path / name, [str(i) for i in range(30)])
    for other in ("p1.csv", "pp.csv", "p.csv"):
        write(tmp_path / other, ["77"] * 50)
    assert len(released(mine, tmp_path)) == 30


def test_lines_that_begin_with_a_hash_are_rows(tmp_path):
    values = [str(i % 5) for i in range(300)] + [f"#{i % 3}" for i in range(12)]
    assert len(released(write(tmp_path / "hash.csv", values), tmp_path)) == 312


def test_text_rows_do_not_become_the_header(tmp_path):
    values = ["x", "y"] * 10
    assert len(released(write(tmp_path / "text.csv", values), tmp_path)) == 20


def test_columns_that_differ_by_case_only(tmp_path):
    path = tmp_path / "case.csv"
    path.write_text("Age,age,s\n" + "1,2,a\n" * 9)
    with pytest.raises(sqlanon.PolicyError, match="twice"):
        sqlanon.anonymize(path, quasi=["age"], sensitive=["s"], k=2, to=tmp_path / "out.csv")


def test_a_first_line_of_data_is_not_taken_for_names(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("4711,flu\n" + "12,cold\n13,flu\n" * 9)
    with pytest.raises(sqlanon.PolicyError, match="looks like data") as caught:
        sqlanon.anonymize(path, quasi=["age"], sensitive=["s"], k=2, to=tmp_path / "out.csv")
    assert "4711" not in str(caught.value)
    assert "flu" not in str(caught.value)
