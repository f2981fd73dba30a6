"""Bad input, each with its one clear message and its exit code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.conftest import HEADER, environment, make_duckdb, people, write_csv

FILE = ["--k", "2", "--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id", "--to", "out.csv"]


def refused(ended, code: int, *words: str) -> None:
    """The command ended with this code and one message that holds these words."""
    assert ended.code == code, ended.err
    assert ended.out == ""
    lines = [line for line in ended.err.splitlines() if not line.startswith("[")]
    assert lines[0].startswith("error: ")
    assert sum(line.startswith("error: ") for line in lines) == 1
    assert "Traceback" not in ended.err
    assert "unexpected" not in lines[0]
    for word in words:
        assert word in ended.err


def test_no_such_table(cli, warehouse):
    refused(cli("anonymize", "nobody", "--db", warehouse, "--qi", "age", "--k", "2"), 3, "nobody")
    refused(cli("audit", "nobody", "--db", warehouse), 3, "nobody")
    refused(cli("init", "nobody", "--db", warehouse), 3, "nobody")


def test_no_such_column(cli, people_csv):
    refused(cli("anonymize", people_csv, *FILE, "--insensitive", "weight"), 2, "weight")


def test_no_such_file(cli):
    refused(cli("anonymize", "nobody.csv", *FILE), 3, "nobody.csv")


def test_no_such_database(cli, tmp_path):
    refused(
        cli("anonymize", "people", "--db", f"duckdb:///{tmp_path}/none.duckdb", "--qi", "age", "--k", "2"),
        3,
        "none.duckdb",
    )
    assert not (tmp_path / "none.duckdb").exists()


def test_not_a_database(cli, tmp_path):
    (tmp_path / "w.duckdb").write_bytes(b"not a database" * 1000)
    refused(cli("releases", "--db", "duckdb:///w.duckdb"), 3, "w.duckdb")


def test_a_csv_is_not_a_database(cli, people_csv):
    """DuckDB would open it as one, in memory, and forget what was published."""
    refused(cli("releases", "--db", f"duckdb:///{people_csv}"), 3, "people.csv")


def test_no_server(cli):
    refused(cli("releases", "--db", "postgresql://me:hunter2@127.0.0.1:1/none"), 3)
    assert "hunter2" not in cli("releases", "--db", "postgresql://me:hunter2@127.0.0.1:1/none").err


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
OPENING = (["releases"], ["run"], ["anonymize", "people", "--k", "2", "--qi", "age", "--rest", "drop"])


@pytest.fixture
def holder(warehouse: str) -> Iterator[int]:
    """The number of another process, which holds the database."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, warehouse.removeprefix("duckdb:///")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
    finally:
        process.communicate()


@pytest.mark.usefixtures("policy")
def test_locked_database(cli, warehouse, holder):
    for command in OPENING:
        words = [*command, "--db", warehouse]
        refused(cli(*words), 3, str(holder))
        reported = cli(*words, "--json")
        assert reported.code == 3
        assert reported.json["error"]["kind"] == "LockedError"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command", [OPENING[0], *(pytest.param(one, marks=pytest.mark.thorough) for one in OPENING[1:])]
)
@pytest.mark.usefixtures("policy")
def test_locked_database_as_a_process(shell, warehouse, holder, command):
    refused(shell(*command, "--db", warehouse), 3, str(holder))


def test_empty_table(cli, tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, [])
    refused(cli("anonymize", "t.csv", *FILE, "--k", "2"), 4)


def test_empty_file(cli, tmp_path):
    (tmp_path / "t.csv").write_text("", encoding="utf-8")
    ended = cli("anonymize", "t.csv", *FILE, "--k", "2")
    refused(ended, ended.code)
    assert ended.code in (2, 3)


def test_one_row(cli, tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, people(1))
    refused(cli("anonymize", "t.csv", *FILE, "--k", "2", "--accept-unique", "disease"), 4, "1")
    ended = cli("anonymize", "t.csv", *FILE, "--k", "1", "--accept-unique", "disease", "--json")
    assert ended.code == 0, ended.out
    assert (ended.json["rows"], ended.json["classes"]) == (1, 1)


def test_all_null(cli, tmp_path):
    make_duckdb(
        tmp_path / "t.duckdb", "CREATE TABLE t AS SELECT NULL::INT AS a, NULL::TEXT AS b, 'x' AS s FROM range(9)"
    )
    words = ["anonymize", "t", "--db", "duckdb:///t.duckdb", "--qi", "a,b", "--sensitive", "s", "--k", "3"]
    ended = cli(*words, "--json")
    assert ended.code == 0, ended.out
    assert (ended.json["classes"], ended.json["loss"]["gcp"]) == (1, 0)
    refused(cli(*words, "--l", "2"), 4, "s")


def test_all_equal(cli, tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, [(n, 30, "1", "F", "xy"[n % 2]) for n in range(10)])
    ended = cli("anonymize", "t.csv", *FILE, "--k", "3", "--l", "2", "--json")
    assert ended.code == 0, ended.out
    assert (ended.json["classes"], ended.json["min_class"], ended.json["loss"]["gcp"]) == (1, 10, 0)


def test_k_of_one(cli, people_csv):
    ended = cli("anonymize", people_csv, *FILE, "--k", "1", "--json")
    assert ended.code == 0, ended.out
    assert ended.json["loss"]["gcp"] == 0


@pytest.mark.parametrize("k", ["0", "-3"])
def test_k_too_small(cli, people_csv, k):
    refused(cli("anonymize", people_csv, *FILE, "--k", k), 2, "--k")


def test_k_above_the_rows(cli, people_csv):
    refused(cli("anonymize", people_csv, *FILE, "--k", "61"), 4, "60")
    assert cli("anonymize", people_csv, *FILE, "--k", "61", "--json").json["error"]["kind"] == "InfeasibleError"


def test_l_above_what_the_column_allows(cli, people_csv):
    refused(cli("anonymize", people_csv, *FILE, "--l", "4"), 4, "disease", "3")


@pytest.mark.parametrize("role", ["--sensitive", "--identifier", "--insensitive"])
def test_quasi_with_a_second_role(cli, people_csv, role):
    refused(cli("anonymize", people_csv, *FILE, role, "age"), 2, "age")


def test_column_named_twice(cli, people_csv):
    refused(cli("anonymize", people_csv, *FILE, "--qi", "age"), 2, "age")


def test_two_columns_of_one_name(cli, tmp_path):
    write_csv(tmp_path / "t.csv", ("age", "AGE", "disease"), [(n % 3, n % 5, "xy"[n % 2]) for n in range(20)])
    ended = cli(
        "anonymize", "t.csv", "--qi", "age", "--sensitive", "disease", "--rest", "drop", "--k", "2", "--to", "o.csv"
    )
    if ended.code:  # either the engine distinguishes them, or one message says that it cannot
        refused(ended, 2, "age")


@pytest.mark.thorough
def test_identifier_that_repeats(cli, tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, [(row[0] // 2, *row[1:]) for row in people()])
    refused(cli("anonymize", "t.csv", *FILE, "--k", "5"), 2, "id", "--rows-are events")
    refused(cli("anonymize", "t.csv", *FILE, "--k", "5", "--rows-are", "events"), 1, "values of id", "person: id")
    ended = cli("anonymize", "t.csv", *FILE, "--k", "5", "--person", "id", "--json")
    assert ended.code == 0, ended.out
    assert ended.json["min_identifiers"]["id"] >= 5
    accepted = ["--rows-are", "events", "--persons", "ignored"]
    assert cli("anonymize", "t.csv", *FILE, "--k", "5", *accepted, "--json").json["warnings"] == []
    refused(cli("anonymize", "t.csv", *FILE, "--persons", "ignored"), 2, "--persons", "--rows-are events")
    assert cli("anonymize", "t.csv", *FILE, "--k", "5", "--accept-repeats", "id").code == 0


def test_unique_columns(cli, people_csv):
    words = ["--qi", "age,zip,sex", "--k", "5", "--to", "out.csv"]
    refused(cli("anonymize", people_csv, *words, "--insensitive", "id,disease"), 2, "id", "accept_unique")
    refused(cli("anonymize", people_csv, *words, "--sensitive", "id", "--insensitive", "disease"), 2, "accept_unique")
    assert cli("anonymize", people_csv, *words, "--insensitive", "id,disease", "--accept-unique", "id").code == 0


TREES = {
    "two parents": ("53700;low;*\n53701;low;*\n53700;high;*\n53702;high;*\n53703;high;*\n53704;high;*\n", 3),
    "a node with two parents": ("53700;a;x;*\n53701;a;y;*\n53702;b;y;*\n53703;b;y;*\n53704;b;y;*\n", 2),
    "two roots": ("53700;low;*\n53701;low;*\n53702;high;+\n53703;high;+\n53704;high;+\n", 3),
}


@pytest.mark.parametrize("tree", TREES)
def test_hierarchy(cli, people_csv, tmp_path, tree):
    text, line = TREES[tree]
    (tmp_path / "zip.csv").write_text(text, encoding="utf-8")
    ended = cli("anonymize", people_csv, *FILE, "--hierarchy", "zip=zip.csv")
    refused(ended, 2, "zip.csv")
    assert re.search(rf"zip\.csv:{line}\b|line {line}\b", ended.err)


def test_hierarchy_without_all_values(cli, people_csv, tmp_path):
    (tmp_path / "zip.csv").write_text("53700;*\n53701;*\n53702;*\n", encoding="utf-8")
    ended = cli("anonymize", people_csv, *FILE, "--hierarchy", "zip=zip.csv")
    refused(ended, 2, "zip.csv", "2")
    assert "53703" not in ended.err


def test_hierarchy_missing(cli, people_csv):
    refused(cli("anonymize", people_csv, *FILE, "--hierarchy", "zip=none.csv"), 2, "none.csv")


def test_unreadable_csv(cli, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"id,age,zip,sex,disease\n1,2,3,M,\xff\xfe\n" * 40)
    refused(cli("anonymize", "t.csv", *FILE), 3, "t.csv")
    (tmp_path / "t.parquet").write_bytes(b"not a parquet file at all")
    refused(cli("anonymize", "t.parquet", *FILE), 3, "t.parquet")


def test_output_that_cannot_be_written(cli, people_csv):
    words = [*FILE[:-1], "nowhere/out.csv"]
    ended = cli("anonymize", people_csv, *words)
    assert ended.code in (2, 3)
    refused(ended, ended.code, "nowhere")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot read keys.csv: No such file"),
        (b"", "keys.csv: no keys"),
        (b"id\n", "keys.csv: no keys"),
        (b"id\n5,6\n", "keys.csv: a line has more or fewer fields"),
        (b'id\n""\n', "keys.csv: a field is empty"),
        (b"id\n\xff\xfe\n", "keys.csv: no CSV file in UTF-8"),
    ],
)
@pytest.mark.usefixtures("policy")
def test_files_of_keys(cli, tmp_path, content, said):
    """Of ``erase``, before it connects."""
    if content is not None:
        (tmp_path / "keys.csv").write_bytes(content)
    refused(cli("erase", "people", "--key-file", "keys.csv"), 2, said)


@pytest.mark.usefixtures("policy")
def test_erase_of_a_release_that_the_policy_does_not_have(cli):
    refused(cli("erase", "nobody", "--key-file", "keys.csv"), 2, "error: no release nobody in the policy")


MISSING = [
    (("diff", "people@1", "nobody@1"), "nobody is not a release of this database; releases: people", "patients@2"),
    (("diff", "people@1", "people@7"), "people has no version 7; versions: 1", "people@1"),
    (("releases", "show", "people@7"), "people has no version 7; versions: 1", "people@1"),
    (("releases", "show", "nobody"), "nobody is not a release of this database; releases: people", "patients@2"),
    (
        ("releases", "a", "b"),
        "releases wants nothing, a NAME, or: show NAME@VERSION",
        "sqlanon releases show patients@2",
    ),
    (("rollback", "nobody"), "nobody is not a release of this database; releases: people", "rollback patients --to 1"),
    (
        ("rollback", "people@1"),
        "people@1 is not a release of this database; releases: people",
        "rollback patients --to 1",
    ),
    (("unpublish", "nobody"), "nobody is not a release of this database", "releases: people"),
    (("audit", "nobody"), "no table or view nobody", "such as main.patients"),
    (("query", "SELECT count(*) FROM nobody"), "no release goes by the name nobody", "release.people"),
    (
        ("query", "SELECT count(*) FROM people", "--release", "nobody"),
        "no release goes by the name nobody",
        "release.people",
    ),
    (("attack", "nobody"), "nobody is neither a published release nor the view of one", "there are: people"),
    (("evaluate", "nobody"), "nobody is neither a published release nor the view of one", "there are: people"),
    (
        ("report", "nobody", "-o", "x.html"),
        "nobody is neither a published release nor the view of one",
        "there are: people",
    ),
    (("hierarchy", "nobody", "zip"), "nobody is neither a published release nor the view of one", "there are: people"),
    (("run", "--select", "nobody"), "no release nobody in the policy", "it has: people"),
]
"""Commands with a name that there is not, what the error says, and a name or a command that there is."""


@pytest.mark.usefixtures("policy")
def test_names_that_there_are_not_end_with_those_that_there_are_or_an_example(cli):
    assert cli("run").code == 0
    for words, said, example in MISSING:
        ended = cli(*words)
        assert ended.code in (2, 3), words
        refused(ended, ended.code, said, example)
