"""Boxes of their own on the command line: what the commands that a run proposes answer."""

from __future__ import annotations

import shlex

import duckdb
import pytest

import sqlanon
from sqlanon.errors import PolicyError
from tests.cli.conftest import make_duckdb

OWN = [
    "--qi",
    "age,zip",
    "--sensitive",
    "disease",
    "--identifier",
    "id",
    "--k",
    "2",
    "--method",
    "freeform",
    "--boxes",
    "own",
]
POLICY = """
version: 1
connection: {url}
releases:
  - name: people
    source: people
    publish: shared.people
    {file}
    columns:
      id: {{role: identifier}}
      age: {{role: quasi}}
      zip: {{role: quasi}}
      disease: {{role: sensitive}}
    rest: drop
    privacy: {{k: 2, boxes: own}}
    method: freeform
"""


def warehouse(tmp_path, name="w"):
    return make_duckdb(
        tmp_path / f"{name}.duckdb",
        "CREATE TABLE people AS SELECT i AS id, i * 7 % 11 AS age, i * 5 % 3 AS zip, 'd' || i % 4 AS disease FROM "
        "range(12) AS r(i)",
    )


def proposed(ended):
    """The words of every command that is proposed."""
    assert ended.code == 0, ended.err
    lines = [shlex.split(line) for line in ended.out.partition("next:")[2].strip().splitlines()]
    return [words[next(at for at, word in enumerate(words) if word in ("audit", "releases")) :] for words in lines]


@pytest.mark.thorough
def test_what_anonymize_proposes_can_be_run(cli, tmp_path):
    url = warehouse(tmp_path)
    audit, releases = proposed(cli("anonymize", "people", "--db", url, *OWN, "--rest", "drop", "--to", "shared.people"))
    checked = cli(*audit)
    assert (checked.code, "by the certificate: 2" in checked.out) == (0, True)
    assert cli(*releases).code == 0
    filed = cli(
        "anonymize",
        "people",
        "--db",
        url,
        *OWN,
        "--rest",
        "drop",
        "--name",
        "filed",
        "--to",
        "shared.filed",
        "--publish-file",
        "out.duckdb",
    )
    assert [words[0] for words in proposed(filed)] == ["releases"]


@pytest.mark.thorough
def test_what_run_proposes_can_be_run(cli, tmp_path):
    for name, file in (("plain", ""), ("filed", "publish_file: out.duckdb")):
        policy = tmp_path / f"{name}.yml"
        policy.write_text(POLICY.format(url=warehouse(tmp_path, name), file=file))
        audit, releases = proposed(cli("run", "-p", policy))
        checked = cli(*audit)
        assert (checked.code, "by the certificate: 2" in checked.out) == (0, True)
        assert cli(*releases).code == 0


def test_an_audit_of_two_releases_fails_where_rows_have_fewer_candidates(cli, tmp_path):
    """It fails like an audit of one release that violates its policy.

    It passes if one of the releases is a single class of all rows.
    """
    url = warehouse(tmp_path)
    for name, quasi in (("one", "age,zip"), ("two", "zip")):
        made = cli(
            "anonymize",
            "people",
            "--db",
            url,
            *OWN[2:],
            "--qi",
            quasi,
            "--rest",
            "drop",
            "--name",
            name,
            "--to",
            f"shared.{name}",
        )
        assert made.code == 0, made.err
    ended = cli("audit", "--together", "one", "two", "--db", url, "--json")
    (asked,) = ended.json["requirements"]
    assert (ended.json["rows_below"] > 0, asked["asked"], asked["reached"] < 2) == (True, 2, True)
    assert ended.code == 1
    assert "A requirement is VIOLATED." in cli("audit", "--together", "one", "two", "--db", url).out
    classes = ["--method", "tree", "--sensitive", "disease", "--identifier", "id", "--rest", "drop"]
    made = cli(
        "anonymize", "people", "--db", url, "--qi", "age", *classes, "--name", "all", "--to", "shared.all", "--k", "12"
    )
    assert made.code == 0, made.err
    whole = cli("audit", "--together", "one", "all", "--db", url, "--json")
    assert (whole.code, whole.json["rows_below"], whole.json["k"]) == (0, 0, 2)


ROUTE = "sqlanon anonymize TABLE --db duckdb:///FILE.duckdb --to out.parquet"


def test_a_file_or_a_frame_has_no_secret_that_stays(cli, tmp_path):
    """Each release would draw another secret, so that few rows would fit all boxes of a row."""
    (tmp_path / "in.csv").write_text(
        "id,age,zip,disease\n" + "".join(f"{i},{i % 7},{i % 3},d{i % 4}\n" for i in range(30))
    )
    ended = cli("anonymize", "in.csv", *OWN, "--to", "out.csv")
    assert (ended.code, ended.err.count("error:")) == (2, 1)
    assert "own is not for a file: nothing keeps the secret" in ended.err
    assert ROUTE in ended.err
    assert not (tmp_path / "out.csv").exists()
    asked = {"quasi": "age", "sensitive": "disease", "k": 2, "method": "freeform", "boxes": "own"}
    frame = duckdb.sql("SELECT i % 7 AS age, 'd' || i % 4 AS disease FROM range(30) AS r(i)").to_arrow_table()
    with pytest.raises(PolicyError, match="own is not for a frame: nothing keeps the secret"):
        sqlanon.anonymize(frame, **asked)
    # A database in memory has no table to name on the command line, whether or not a file has that name.
    for source in ("people", "in.csv", '"in.csv"'):
        ended = cli("anonymize", source, "--db", "duckdb:///:memory:", *OWN, "--to", "out.csv")
        assert (ended.code, "no table or view" in ended.err) == (3, True)


@pytest.mark.parametrize("file", ["out.csv", "out.parquet"])
def test_the_secret_stays_in_the_database_of_a_table(cli, tmp_path, file):
    """The route that the refusal names: an unchanged source gives the same file, and one with other candidates none."""
    url, out = warehouse(tmp_path), tmp_path / file
    words = ("anonymize", "people", "--db", url, *OWN, "--rest", "drop", "--to", file)
    found = []
    for _ in range(3):
        ended = cli(*words)
        assert ended.code == 0, ended.err
        found.append(out.read_bytes())
        out.unlink()
    assert found[0] == found[1] == found[2]
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        assert connection.execute("SELECT count(DISTINCT secret), count(*) FROM _sqlanon.secrets").fetchone() == (1, 1)
        connection.execute("UPDATE people SET age = 11 - age")
    ended = cli(*words)
    assert (ended.code, out.exists()) == (2, False)
    assert "may be left with fewer than k" in ended.err
