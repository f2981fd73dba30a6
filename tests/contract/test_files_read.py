"""A file that is named is the file that is read, with all its rows."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import sqlanon
from sqlanon.formats.label_text import parse_label
from tests.contract.test_files_headers import saved


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


def read(path: Path, tmp_path: Path, **how) -> list[dict[str, str]]:
    """All of the file's column ``a``, released with k = 1."""
    sqlanon.anonymize(path, quasi=["a"], rest="drop", k=1, to=tmp_path / "out.csv", **how)
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
def test_a_type_that_fits_the_first_rows_only_is_guessed_again(tmp_path, name):
    path = saved(tmp_path, "a,s\n" + "true,x\n" * 26_086 + "maybe,x\n", name)
    assert {row["a"] for row in read(path, tmp_path)} == {"{true}", "{maybe}"}


@pytest.mark.parametrize(
    ("data", "how", "values"),
    [
        ("a,b\n1,x\n?,y\n,z\n", {"null": "?"}, {"1", ""}),
        ("a,b\n1,x\n?,y\nNA,z\n", {"null": ["?", "NA"]}, {"1", ""}),
        ("a;b\n1,5;x\n2,5;y\n", {"delimiter": ";"}, {"{1,5}", "{2,5}"}),
        ("a\tb\n1\tx\n2\ty\n", {"delimiter": "\\t"}, {"1", "2"}),
        ("a,b\n1,x\n2,y\n", {"types": {"a": "VARCHAR"}}, {"{1}", "{2}"}),
        ("a,b\nMüller,1\nJörg,2\n".encode("latin-1"), {"encoding": "latin1"}, {"{Müller}", "{Jörg}"}),
        ("a,b\nMüller,1\nJörg,2\n".encode("utf-16"), {"encoding": "UTF-16"}, {"{Müller}", "{Jörg}"}),
        ("a,b\n1,?\n3,4\n", {"types": {"b": "INTEGER"}, "null": "?"}, {"1", "3"}),
        ("\ufeffa,b\n1,x\n", {}, {"1"}),
        ("a,b\r1,x\r", {}, {"1"}),
        ('a,b\n5" pipe,3\n"x ""y""\nz",4\n', {}, {'{5" pipe}', '{x "y"\nz}'}),
    ],
)
def test_what_a_file_is_can_be_said(tmp_path, data, how, values):
    path = saved(tmp_path, data)
    found = [row.get("a_lo", row.get("a", "")) for row in read(path, tmp_path, **how)]
    quoted = {'{5" pipe}': '{"5\\" pipe"}', '{x "y"\nz}': '{"x \\"y\\"\\nz"}', "{1,5}": '{"1,5"}', "{2,5}": '{"2,5"}'}
    assert set(found) == {quoted.get(value, value) for value in values}


LONG = "a,b\n" + "1,2\n" * 50_000


@pytest.mark.parametrize(
    ("data", "how", "reported"),
    [
        ("a,b\n1,2\ns3cret,3\n", {"types": {"a": "INTEGER"}}, "line 3: column a is declared INTEGER"),
        ("a,b\n1,2\n3\ns3cret,5,6\n", {}, "line 3 has 1 fields and the header 2"),
        (LONG + "3,s3cret,6\n", {}, "line 50002 has 3 fields and the header 2"),
        (LONG + '1,"s3cret\n1,2\n', {}, "line 50002: a quoted field that does not end"),
        ('a,b\n1,"s3cret\n2,3\n', {}, "line 2: a quoted field"),
        ('a,b\n"1\n2",x\n3,"s3cret\n', {}, "line 4: a quoted field"),
        (
            "a,b\n1,2\n3,s3cret\xe9\n".encode("latin-1"),
            {},
            "line 3, byte 17 of the file, is not utf-8; .*--encoding windows-1252",
        ),
        (b"%PDF-1.4\n%\xe2\xe3s3cret\n", {}, "line 2, byte 11 of the file, is not utf-8"),
        (b"\x89PNG\x00s3cret\xff", {}, "line 1, byte 1 of the file, is not utf-8; it is no text file"),
        ("", {}, "is empty"),
        ("\n\n", {}, "begins with an empty line"),
        ("a,b\n", {}, "has no rows"),
        ("a,b\r\n1,s3cret\n3,4\r\n", {}, "one way to end a line"),
        ("a,b\n1,2\n", {"encoding": "klingon"}, "^encoding: .*utf-8, windows-1252, latin-1 and utf-16"),
        ("a,b\n1,2\n", {"delimiter": "||"}, "^delimiter: one character"),
        ("a,b\n1,2\n", {"null": "x,y"}, "null: a text with"),
        ("a,b\n1,2\n", {"types": {"zz": "DATE"}}, "types are given for zz"),
        ("a,b\n1,2\n", {"types": {"a": "INTEGR"}}, "a=INTEGR is no type"),
        ("a,b\n1,2\n", {"types": {"a": "INT); --"}}, "is no type"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line_and_no_value(tmp_path, data, how, reported):
    with pytest.raises(sqlanon.SqlanonError, match=reported) as caught:
        read(saved(tmp_path, data), tmp_path, **how)
    assert "s3cret" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("name", "reported"), [("broken.csv.gz", "not a whole gzip file"), ("broken.parquet", "as Parquet")]
)
def test_a_broken_file(tmp_path, name, reported):
    path = tmp_path / name
    path.write_bytes(gzip.compress(LONG.encode())[:100] if name.endswith("gz") else b"PAR1 broken")
    with pytest.raises(sqlanon.DatabaseError, match=reported):
        read(path, tmp_path)


def test_options_of_csv_are_not_for_parquet(tmp_path):
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(sqlanon.PolicyError, match="are for CSV"):
        read(path, tmp_path, null="?")


@pytest.mark.thorough
def test_sets_are_written_as_labels_write_them(tmp_path):
    """Every text comes back from the CSV, and Parquet keeps arrays."""
    import duckdb

    values = [
        "",
        "NULL",
        "*",
        " a",
        "a ",
        "a, b",
        "[a",
        "b]",
        "{c}",
        'say "x"',
        "n\nl",
        "\x1c",
        "\u2003x",
        "back\\slash",
        "é",
    ]
    source = tmp_path / "in.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(?) AS a, 1 AS s FROM range(4)", [values])
        connection.execute(f"COPY t TO '{source}'")
    rows = read(source, tmp_path)
    assert sorted(parse_label(row["a"]) for row in rows) == sorted(("set", (value,)) for value in values * 4)
    sqlanon.anonymize(source, quasi=["a"], rest="drop", k=6, to=tmp_path / "sets.csv")
    sqlanon.anonymize(source, quasi=["a"], rest="drop", k=6, to=tmp_path / "sets.parquet")
    with (tmp_path / "sets.csv").open(newline="", encoding="utf-8") as file:
        sets = sorted(parse_label(row["a"])[1] for row in csv.DictReader(file))
    with duckdb.connect() as connection:
        arrays = connection.execute(f"SELECT a FROM '{tmp_path / 'sets.parquet'}'").fetchall()
    assert sets == sorted(tuple(array) for (array,) in arrays)
    assert {len(one) for one in sets} - {1}
