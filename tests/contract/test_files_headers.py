"""The first line of a CSV file names its columns.

A file with a title above it, without names, or without fields is refused, and no value is quoted.
"""

from __future__ import annotations

import csv
import gzip
import os
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sqlanon
from sqlanon.database import open_file

ROWS = "1,x,s3cret\n2,y,v\n3,z,w\n" * 4


def saved(tmp_path: Path, data: str | bytes, name: str = "in.csv") -> Path:
    path = tmp_path / name
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def names(path: Path, **how: object) -> list[str]:
    with open_file(path, **how) as file:
        return [column.name for column in file.database.engine.relation(file.table).columns]


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
@pytest.mark.parametrize(
    ("data", "how", "reported"),
    [
        ("Patients s3cret\na,s,c\n" + ROWS, {}, "first line has 1 field and the lines below 3.*tail -n .2"),
        ("Patients s3cret\n\na,s,c\n" + ROWS, {}, "first line has 1 field and the lines below 3.*tail -n .3"),
        ("Patients, s3cret\na,s,c\n" + ROWS, {}, "first line has 2 fields and the lines below 3"),
        ("Patients, s3cret\na;s;c\n" + ROWS.replace(",", ";"), {}, "first line has 1 field and the lines below 3"),
        ("Patients s3cret\na\ts\tc\n" + ROWS.replace(",", "\t"), {}, "first line has 1 field and the lines below 3"),
        ("Patients s3cret\na,s,c\n" + ROWS, {"delimiter": ","}, "first line has 1 field and the lines below 3"),
        ("Patients s3cret,,\na,s,c\n" + ROWS, {}, "no name for column 2, 3"),
        (",,\na,s,c\n" + ROWS, {}, "begins with an empty line"),
        ("Patients,s3cret,Berlin\na,s,c\n" + ROWS, {}, "second line is not like those below it"),
        ("a,s,c\nyears,kg,text\n" + ROWS, {}, "second line is not like those below it"),
        ("# s3cret\na,s,c\n" + ROWS, {}, "first line is a comment"),
        ("#s3cret\n#b\na,s,c\n" + ROWS, {}, "first line is a comment"),
        ("\na,s,c\n" + ROWS, {}, "begins with an empty line"),
        (" \t\na,s,c\n" + ROWS, {}, "begins with an empty line"),
        (ROWS, {}, "first line looks like data .field 1 is"),
        ("name,s3cret@x.org\n" + "b,c\nd,e\n" * 4, {}, "first line looks like data .field 2 is"),
        ("s3cret,1999-01-02\n" + "b,1999-01-03\nd,1999-01-04\n" * 4, {}, "looks like data .field 2 is"),
        ("s3cret,flu\n" + "ben,cold\nann,flu\n" * 4, {}, "first line looks like data, or is repeated"),
        ("a,s,c\n" + ROWS + "a,s,c\n" + ROWS, {}, "repeated below"),
        ("a,s,c\n" + ROWS * 50 + "a,s,c\n", {}, "first line is repeated below"),
        ("a,,c\n" + ROWS, {}, "no name for column 2"),
        ("a,s,A\n" + ROWS, {}, "twice: A, a"),
        ("a,s\n" + ROWS, {}, "first line has 2 fields and the lines below 3"),
        ("a^s\n1^s3cret\n2^y\n", {}, r"one column of whole lines.*--delimiter '\^'"),
        ("a:s\n1:s3cret\n2:y\n", {}, "one column of whole lines.*--delimiter ':'"),
        ("a s\n1 s3cret\n2 y\n", {}, "one column of whole lines.*--delimiter ' '"),
        ("a   s\n1   s3cret\n22  y\n", {}, "one column of whole lines.*tr -s"),
        ('"a,s"\n"1,s3cret"\n"2,y"\n', {}, r"one column of whole lines: each line is in quotes.*sed"),
        ('"a;s"\r\n"1;s3cret"\r\n"2;y"\r\n', {}, "one column of whole lines: each line is in quotes"),
        ('{"a": 1, "s": "s3cret"}\n{"a": 2, "s": "y"}\n', {}, "begins as JSON or XML"),
        ('[{"a": 1, "s": "s3cret"}]', {}, "begins as JSON or XML"),
        ("<html><table>s3cret</table>\n", {}, "begins as JSON or XML"),
        ("sep=;\na;s;c\n" + ROWS.replace(",", ";"), {}, "first line has 2 fields and the lines below 3"),
        ("a\x01s\n1\x01s3cret\n2\x01y\n", {}, "one column of whole lines"),
    ],
)
def test_a_first_line_that_names_no_columns(
    data: str, how: dict[str, str], reported: str, name: str, tmp_path: Path
) -> None:
    path = saved(tmp_path, data, name)
    with pytest.raises(sqlanon.SqlanonError, match=reported) as caught:
        names(path, **how)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "how", "wanted"),
    [
        ("a,s,c\n" + ROWS, {}, ["a", "s", "c"]),
        ("a;s\n" + "1,5;x\n2,5;y\n" * 3, {}, ["a", "s"]),
        ("a\ts\n" + "1\tx,y\n2\ty,z\n" * 3, {}, ["a", "s"]),
        ("a,s\n" + 'NA,"x; y"\n2,"z; w"\n3,"u; v"\n' * 3, {}, ["a", "s"]),
        ("a\nbig house\nsmall house\n", {}, ["a"]),
        ("time\n10:30\n11:30\n", {}, ["time"]),
        ("first name\nAnna Lee\nBen Low\n", {"delimiter": ","}, ["first name"]),
        ("a^s\n1^x\n2^y\n", {"delimiter": "^"}, ["a", "s"]),
        ('"a\n(years)",s\n1,x\n2,y\n', {}, ["a\n(years)", "s"]),
        ("age,smoker,sex\n1,smoker,f\n2,never,m\n", {}, ["age", "smoker", "sex"]),
        ("a,s\n", {}, ["a", "s"]),
        ("a,s\nx,1\n", {}, ["a", "s"]),
        ("#a,s\n1,x\n", {}, ["#a", "s"]),
        ("a,s\nNA,x\n1,y\n2,z\n", {}, ["a", "s"]),
        ("\ufeffa,s\r\n1,x\r\n2,y\r\n", {}, ["a", "s"]),
        ("q1a,2nd visit\n1,x\n2,y\n", {}, ["q1a", "2nd visit"]),
    ],
)
def test_a_first_line_that_names_the_columns(data: str, how: dict[str, str], wanted: list[str], tmp_path: Path) -> None:
    assert names(saved(tmp_path, data), **how) == wanted


TEXT = "a,b\nMüller,1\nJörg,2\ns3cret,3\n"


@pytest.mark.parametrize(
    ("data", "how", "reported"),
    [
        (TEXT.encode("cp1252"), {}, "line 2, byte 6 of the file, is not utf-8.*--encoding windows-1252"),
        (("x,y\n" + "1,2\n" * 600_000 + "é,3\n").encode("cp1252"), {}, "line 600002, byte 2400005 of the file"),
        ("a,b\n€,1\n".encode("cp1252"), {"encoding": "latin-1"}, "line 2, byte 5 .* --encoding windows-1252"),
        (
            "a,b\n\u0081,1\n".encode("latin-1"),
            {"encoding": "windows-1252"},
            "line 2, byte 5 of the file, is not windows-1252",
        ),
        (TEXT.encode(), {"encoding": "utf-16"}, "is not utf-16; it can be read with --encoding utf-8"),
        (TEXT.encode("utf-16"), {}, "byte 1 of the file.*--encoding utf-16"),
        ("a,b\ns3cret,1\n".encode("utf-16-le"), {}, "NUL characters.*--encoding utf-16-le"),
        (TEXT.encode("utf-16-le"), {}, "--encoding utf-16-le"),
        (TEXT.encode("utf-16") + b"x", {"encoding": "utf-16"}, "is not utf-16"),
        (b"PK\x03\x04\xff\xfes3cret", {}, "byte 5 of the file, is not utf-8; it is no text file"),
        (TEXT.encode("cp850"), {}, "byte 6 of the file"),
    ],
)
def test_another_encoding_is_refused_by_its_byte(
    data: bytes, how: dict[str, str], reported: str, tmp_path: Path
) -> None:
    with pytest.raises(sqlanon.SqlanonError, match=reported) as caught:
        names(saved(tmp_path, data), **how)
    assert "s3cret" not in str(caught.value)
    assert "Müller" not in str(caught.value)


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "latin-1", "utf-16", "utf-16-le", "cp850", "shift_jis"])
def test_an_encoding_that_is_advised_is_read(encoding: str, name: str, tmp_path: Path) -> None:
    letters = "ミサキ" if encoding == "shift_jis" else "Müller"
    source = saved(tmp_path, ("a,b\n" + f'{letters},1\n"x\ny",2\n' * 9).encode(encoding), name)
    out = tmp_path / "out.csv"
    sqlanon.anonymize(source, quasi="b", sensitive="a", k=2, to=out, encoding=encoding)
    with out.open(newline="", encoding="utf-8") as file:
        assert Counter(row["a"] for row in csv.DictReader(file)) == {letters: 9, "x\ny": 9}


def test_nothing_of_another_encoding_stays_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    names(saved(tmp_path, TEXT.encode("cp1252")), encoding="windows-1252")
    assert not [path for path in (tmp_path / "t").rglob("*") if path.is_file()]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "begin", ["", "a,s\n1,x\n", 'a,s\n1,"x', "a,s\n" + "1,x\n" * 300], ids=["first", "third", "quoted", "late"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_small_file_of_one_long_line_is_refused_early(begin: str, encoding: str, tmp_path: Path) -> None:
    """3 GB of zeros in 13 MB; the process may have less memory than a line needs."""
    path = tmp_path / "in.csv.gz"
    block = gzip.compress(b"0" * 50_000_000)
    path.write_bytes(gzip.compress(begin.encode()) + block * 60)
    code = (
        "import sys, resource\nfrom sqlanon.database import open_file\n"
        f"with open_file({str(path)!r}, encoding={encoding!r}) as file: pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert "has more than 2,000,000 characters" in ended.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_500_000  # kilobytes


@pytest.mark.parametrize("end", ["", "\n", ",x", ",x\n"])
def test_a_long_last_line_is_not_left_out(end: str, tmp_path: Path) -> None:
    """DuckDB reads the rows before it and says nothing."""
    path = saved(tmp_path, "a,s\n" + "1,x\n" * 300 + "0" * 40_000_000 + end)
    with pytest.raises(sqlanon.DatabaseError, match="line 302 has more than 2,000,000 characters"):
        names(path)
