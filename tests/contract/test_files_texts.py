"""What is read of a CSV file is what is written in it: a type is guessed only where every value reads back to its text.

The expected values are the texts of the file, as Python's csv module reads them.
"""

from __future__ import annotations

import csv
import random
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.database import open_file

ROWS = 12


def write(path: Path, values: list[str], delimiter: str = ",") -> Path:
    """A file of a column ``x`` with these values in turn, and one that says nothing."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["x", "g"])
        writer.writerows((values[i % len(values)], "ab"[i % 2]) for i in range(max(ROWS, len(values))))
    return path


def texts(path: Path, column: str = "x") -> Counter[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(row[column] for row in csv.DictReader(file))


CODES = [
    ["01.02.50", "13.02.51", "01.02.49"],
    ["1E5", "100000"],
    ["1e5", "2e7"],
    ["1.1", "1.10"],
    ["1", "1.0"],
    ["1-2-3", "4-5-6"],
    ["007", "7"],
    ["01234", "99999"],
    ["+5", "5"],
    ["-0", "0"],
    ["-0.0", "0.0"],
    ["1_000", "1000"],
    ["0x10", "16"],
    ["inf", "1.5"],
    ["nan", "1.5"],
    ["Infinity", "-1"],
    ["true", "TRUE"],
    ["True", "False"],
    ["t", "f"],
    ["yes", "no"],
    ["01/02/2020", "03/04/2020"],
    ["2020-01-01", "1-2-2020"],
    ["25-Mar-84", "01-Apr-51"],
    ["25-Mar-1984", "25/Apr/1984"],
    ["25-Mar-1984", "31-Feb-1984"],
    ["25-Mai-1984", "01-Dez-1951"],
    ["12ABC1984", "13ABC1984"],
    ["May 2020", "June 2020"],
    ["2020-01-01", "2020-01-01 00:00:00"],
    ["2020-01-01T10:00:00+02:00", "2020-01-01T08:00:00+00:00"],
    ["2020-02-30", "2020-01-01"],
    ["0.1234567890123456789", "0.12345678901234567891"],
    ["123456789012345678901234567890123456789012", "1"],
    ["9007199254740993.5", "9007199254740992.25"],
    ["1,234", "1234"],
    ["$5", "5"],
    ["12%", "12"],
    ["1,5", "1,50"],
    ["5 ", " 5"],
    [".5", "0.5"],
    ["5.", "5"],
    ["1 000", "1000"],
    ["10:00", "10:00:00"],
    ["epoch", "2020-01-01"],
    ["00001231", "12"],
    ["1/2", "3/4"],
    ["--", "5"],
    ["# 1", "#2"],
    ["NULL", "null"],
    ["é", "e\u0301"],
    ["a\u00a0", "a"],
    ["", "q"],
]
TYPED = [
    (["5", "-7", "0"], "integer"),
    (["1234567890123456789", "1"], "integer"),
    (["12345678901234567890", "12345678901234567891"], "integer"),
    (["1.5", "-2.25", "0.1"], "float"),
    (["1.5", "2"], "float"),
    (["1.5e-07", "2.5e-09"], "float"),
    (["12.50", "7.00"], "decimal"),
    (["9007199254740993.50", "9007199254740992.50"], "decimal"),
    (["true", "false"], "boolean"),
    (["2020-01-01", "1999-12-31"], "date"),
    (["31.12.1999", "01.02.2020"], "date"),
    (["1/13/2020", "12/1/2020"], "date"),
    (["13/01/2020", "12/02/2020"], "date"),
    (["2020/01/02", "2020/03/04"], "date"),
    (["2020-01-01", "2020-1-2"], "date"),
    (["15.3.1950", "05.3.1950", "5.12.2001"], "date"),
    (["3/25/1984", "03/5/1984"], "date"),
    (["25-Mar-1984", "1-May-2001"], "date"),
    (["25-MAR-1984", "01-MAY-2001"], "date"),
    (["25MAR1984", "01MAY2001"], "date"),
    (["25 Mar 1984", "1 May 2001"], "date"),
    (["March 25, 1984", "May 1, 2001"], "date"),
    (["25MAR1984:10:00:00", "01MAY2001:23:59:59"], "timestamp"),
    (["3/25/1984 01:30 PM", "3/5/1984 11:20 AM"], "timestamp"),
    (["3/25/1984 9:05", "3/5/1984 23:59"], "timestamp"),
    (["2020-01-01 10:00:00", "2020-01-02 23:59:59.5"], "timestamp"),
    (["2020-01-01T10:00:00Z", "2020-01-02T11:00:00Z"], "timestamp"),
    (["31.12.1999 23:59", "01.02.2020 00:00"], "timestamp"),
    ([" 5", " 7"], "integer"),
]


@pytest.mark.parametrize("values", [*CODES, *(values for values, _ in TYPED)], ids=str)
@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_sensitive_and_insensitive_columns_are_published_to_the_letter(
    values: list[str], role: str, tmp_path: Path
) -> None:
    source, out = write(tmp_path / "in.csv", values), tmp_path / "out.csv"
    given = {role: "x", "k": 2} | ({"accept_unique": "x"} if role == "insensitive" else {})
    sqlanon.anonymize(source, quasi="g", to=out, **given)
    assert texts(out) == texts(source)


@pytest.mark.parametrize("values", CODES, ids=str)
def test_codes_stay_text_and_stay_different(values: list[str], tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", values)
    assert read(source) == ("text", len(set(values) - {""}))


@pytest.mark.parametrize(("values", "wanted"), TYPED, ids=str)
def test_numbers_and_dates_are_found_and_stay_different(values: list[str], wanted: str, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", values)
    assert read(source) == (wanted, len(set(values)))


def read(path: Path, **how: Any) -> tuple[str, int]:
    """The kind of the column where it is generalized, and how many different values it has."""
    with open_file(path, **how) as file:
        engine = file.database.engine
        found = engine.relation(file.table).columns[0]
        (profile,) = (one for one in file.database.profile(file.table) if one.name == "x")
    return found.kind, profile.distinct


def test_of_dates_zeros_before_a_day_and_capitals_do_not_count(tmp_path: Path) -> None:
    assert read(write(tmp_path / "zeros.csv", ["05.3.1950", "5.03.1950", "15.3.1950"])) == ("date", 2)
    assert read(write(tmp_path / "months.csv", ["05-MAR-1950", "5-Mar-1950", "15-mar-1950"])) == ("date", 2)


@pytest.mark.thorough
def test_texts_of_any_kind_are_published_to_the_letter(tmp_path: Path) -> None:
    """Random columns of texts that look like numbers, dates and codes."""
    draw = random.Random(20)
    pool = [value for values in CODES for value in values] + [value for values, _ in TYPED for value in values]
    for _ in range(15):
        few = draw.sample(pool, draw.randint(1, 4))
        values = [*few[:2], *few[:2]] + [draw.choice(few) for _ in range(40)]  # no names in the second line alone
        source, out = write(tmp_path / "in.csv", values), tmp_path / "out.csv"
        sqlanon.anonymize(source, quasi="g", sensitive="x", k=2, to=out)
        assert texts(out) == texts(source)
        if "" not in values:
            assert read(source)[1] == len(set(values))


@pytest.mark.parametrize(
    ("values", "delimiter", "options", "wanted"),
    [
        (["1", "NA", "3", "4", "5"], ",", ["--null NA"], "integer"),
        (["1.5", "-", "2.5", "4.5"], ",", ["--null=-"], "float"),
        (["1,5", "2,75", "3"], ";", ["--decimal ,"], "float"),
        (["1.234,50", "12.345,75", "5,25"], ";", ["--decimal ,", "--ignore ."], "float"),
        (["1,234", "12,345", "999", "1,234,567"], ";", ["--ignore ,"], "integer"),
        (["$5", "$7.50", "$1"], ",", ["--ignore '$'"], "float"),
        (["5 €", "7 €"], ",", ["--ignore €"], "integer"),
        (["12%", "7.5%"], ",", ["--ignore %"], "float"),
        (["$1,234.50", "$12.25", "n/a"], ",", ["--null n/a", "--ignore ,", "--ignore '$'"], "float"),
        (["+5", "6"], ",", ["--types x=BIGINT"], "integer"),
        (["007", "8"], ",", ["--types x=BIGINT"], "integer"),
        (["1.1", "1.10"], ",", ["--types x=DOUBLE"], "float"),
        (["01/02/2020", "03/04/2020"], ",", ["--date-format %d/%m/%Y"], "date"),
        (["2020-01-01", "NA", "2020-01-03"], ",", ["--null NA"], "date"),
        (["2020-01-01T10:00:00+02:00", "2020-01-02T10:00:00+01:00"], ",", ["--types x=TIMESTAMPTZ"], "timestamp"),
        (["25-Mar-1984", "NA", "01-May-2001"], ",", ["--null NA"], "date"),
        (["10'000", "12'000"], ",", ["""--ignore "'" """], "integer"),
    ],
    ids=str,
)
def test_what_is_almost_a_number_or_a_date_is_named_with_the_option_that_helps(
    values: list[str], delimiter: str, options: list[str], wanted: str, tmp_path: Path
) -> None:
    source, out = write(tmp_path / "in.csv", values, delimiter), tmp_path / "out.csv"
    report = sqlanon.anonymize(source, quasi="x", insensitive="g", k=2, to=out)
    (warned,) = [line for line in report.warnings if line.startswith("column x stays text")]
    named = " ".join(shlex.split(warned[warned.index("--") :]))
    how: dict[str, Any] = {"null": [], "ignore": []}
    for option in options:
        given = shlex.split(option)
        assert " ".join(given) in named
        name, _, value = " ".join(given)[2:].replace("=", " ", 1 if "types" not in option else 0).partition(" ")
        if name in ("null", "ignore"):
            how[name].append(value)
        elif name == "types":
            how["types"] = dict([value.split("=")])
        else:
            how[name.replace("-", "_")] = value
    assert read(source, **how)[0] == wanted
    missing = {"NA", "-", "n/a"} & set(values)
    for value in {value for value in values if len(value) > 1} - missing:
        assert f" {value} " not in f" {warned} ", "no value of the file is shown"


@pytest.mark.parametrize(
    "values",
    [["5", "7"], ["red", "blue"], ["1-2-3", "4-5-6"], ["Anna B", "Ben 2"], ["10-20", "20-30"], ["A1", "B2"]],
    ids=str,
)
def test_nothing_is_said_of_other_columns(values: list[str], tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", values)
    report = sqlanon.anonymize(source, quasi="x", insensitive="g", k=2, to=tmp_path / "out.csv")
    assert not [line for line in report.warnings if "stays text" in line]


@pytest.mark.parametrize(
    ("values", "kind", "reported"),
    [
        (["1.5", "2"], "INTEGER", "line 2: column x is declared INTEGER"),
        (["1.25", "2"], "DECIMAL(9,1)", "declared DECIMAL"),
        (["2020-01-01 10:00:00", "2020-01-01"], "DATE", "declared DATE"),
        (["01/02/2020", "q"], "DATE", "--date-format"),
    ],
    ids=str,
)
def test_a_declared_type_rounds_nothing(values: list[str], kind: str, reported: str, tmp_path: Path) -> None:
    with pytest.raises(sqlanon.DatabaseError, match=reported):
        read(write(tmp_path / "in.csv", values), types={"x": kind})


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        (["1.0", "2"], "INTEGER", ["1", "2"]),
        (["1.50", "2"], "DECIMAL(9,1)", ["1.5", "2.0"]),
        (["007", " 8"], "BIGINT", ["7", "8"]),
        (["31.12.1999", "01.02.2020"], "DATE", ["1999-12-31", "2020-02-01"]),
    ],
    ids=str,
)
def test_a_declared_type_is_published(values: list[str], kind: str, wanted: list[str], tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.csv", values), tmp_path / "out.csv"
    sqlanon.anonymize(source, quasi="g", sensitive="x", k=2, to=out, types={"x": kind})
    assert sorted(texts(out)) == wanted


@pytest.mark.parametrize(
    ("how", "reported"),
    [
        ({"decimal": ",,"}, "^decimal: the one mark"),
        ({"decimal": "5"}, "^decimal: the one mark"),
        ({"ignore": "12"}, "^ignore: "),
        ({"ignore": "."}, "^ignore: "),
        ({"date_format": "%d.%m.%y"}, "^date_format: .*four digits"),
        ({"date_format": "dd.mm.yyyy"}, "^date_format: "),
    ],
)
def test_options_that_cannot_be(how: dict[str, str], reported: str, tmp_path: Path) -> None:
    with pytest.raises(sqlanon.PolicyError, match=reported):
        read(write(tmp_path / "in.csv", ["5"]), **how)


def test_marks_that_do_not_divide_thousands_are_no_number(tmp_path: Path) -> None:
    """With --ignore , the text 1,5 is not 15."""
    source = write(tmp_path / "in.csv", ["1,5", "2,75"], ";")
    assert read(source, ignore=",") == ("text", 2)


def test_a_column_that_is_dropped_is_not_looked_at(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("x,date,date2\n" + "1,2020-13-99,1\n2,x,2\n" * 6)
    report = sqlanon.anonymize(source, quasi="x", rest="drop", k=2, to=out)
    assert not report.warnings or not any("date" in line for line in report.warnings)
    assert texts(out, "x_lo") == Counter({"1": 6, "2": 6})
