"""``--format anatomy`` on files and tables: both tables are written, reported and audited."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import sqlanon
from tests.cli.conftest import HEADER, POLICY, people, write_csv
from tests.conftest import ready
from tests.engines import ENGINES, create_table

ROLES = ["--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id"]
FILE = [*ROLES, "--l", "3", "--format", "anatomy", "--method", "anatomy"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_file_becomes_two(cli, people_csv, tmp_path):
    """The second is overwritten together with the first, and never alone."""
    for _ in range(2):
        ended = cli("anonymize", people_csv, *FILE, "--to", "out.csv", "--json")
        assert ended.code == 0, ended.err
        report = ended.json
        assert (report["published"], report["published_sensitive"]) == ("out.csv", "out_sensitive.csv")
        rows, counted = rows_of(tmp_path / "out.csv"), rows_of(tmp_path / "out_sensitive.csv")
        assert Counter((row["age"], row["zip"], row["sex"]) for row in rows) == Counter(
            (str(age), place, sex) for _, age, place, sex, _ in people()
        )
        values = defaultdict(dict)
        for row in counted:
            values[row["group_id"]][row["disease"]] = int(row["count"])
        assert all(group == {"flu": 1, "asthma": 1, "ulcer": 1} for group in values.values())
        assert Counter(row["group_id"] for row in rows) == dict.fromkeys(values, 3)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == [
        "out.csv",
        "out_sensitive.csv",
    ]
    shown = cli("anonymize", people_csv, *FILE, "--to", "out.parquet")
    assert "out_sensitive.parquet, the sensitive values" in " ".join(shown.out.split())
    assert "presence is disclosed" in " ".join(shown.out.split())
    assert (tmp_path / "out_sensitive.parquet").exists()


def test_a_second_file_that_is_not_ours(cli, people_csv, tmp_path):
    (tmp_path / "out_sensitive.csv").write_text("theirs")
    ended = cli("anonymize", people_csv, *FILE, "--to", "out.csv")
    assert (ended.code, (tmp_path / "out_sensitive.csv").read_text()) == (2, "theirs")
    assert not (tmp_path / "out.csv").exists()
    assert cli("anonymize", people_csv, *ROLES, "--k", "2", "--to", "out.csv").code == 0
    source = write_csv(tmp_path / "new_sensitive.csv", HEADER, people())
    write_csv(tmp_path / "new.csv", HEADER, people())
    ended = cli("anonymize", source, *FILE, "--to", "new.csv")
    assert ended.code == 2
    assert "source itself" in ended.err
    assert rows_of(source)[0]["id"] == "1000"


def test_neither_file_without_the_other(cli, people_csv, tmp_path, monkeypatch):
    """A disk that is full at the second file leaves both as they were."""
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    assert cli("anonymize", people_csv, *FILE, "--to", "out.csv").code == 0
    before = [(tmp_path / name).read_bytes() for name in ("out.csv", "out_sensitive.csv")]
    export, seen = DuckDBEngine.export_file, []

    def failing(self, table, path):
        seen.append(table)
        if len(seen) == 2:
            raise sqlanon.DatabaseError("no space left")
        export(self, table, path)

    monkeypatch.setattr(DuckDBEngine, "export_file", failing)
    assert cli("anonymize", people_csv, *FILE, "--to", "out.csv").code == 3
    assert [(tmp_path / name).read_bytes() for name in ("out.csv", "out_sensitive.csv")] == before
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("out")]) == 2


@pytest.fixture(params=["duckdb", "postgres"])
def url(request, tmp_path, warehouse):
    """A database with the table of the other tests."""
    if request.param == "duckdb":
        yield warehouse
        return
    engine = ready(ENGINES[2])
    fresh = engine.fresh(tmp_path)
    types = dict(zip(HEADER, ("BIGINT", "INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"), strict=True))
    with sqlanon.connect(fresh) as db:
        create_table(db, "people", types, people())
    yield fresh
    engine.drop(fresh)


def test_a_table(cli, url):
    shown = cli("anonymize", "people", "--db", url, *FILE, "--to", "release.folk")
    assert shown.code == 0, shown.err
    said = " ".join(shown.out.split())
    assert "published as release.folk and release.folk_sensitive, the sensitive values of each group" in said
    assert "presence is disclosed" in said
    assert "the quasi columns are exact" in said
    assert "RCE 40.0, 0.6667 a row" in said  # n (1 - 1/l), the least there can be
    audit = cli("audit", "release.folk", "--db", url)
    assert audit.code == 0, audit.err
    said = " ".join(audit.out.split())
    assert "release.folk_sensitive: 20 groups of 3 to 3 rows" in said
    assert "presence is disclosed" in said
    listed = cli("releases", "--db", url)
    assert "exact" in listed.out
    assert cli("audit", "release.folk_sensitive", "--db", url).code == 2


def test_k_needs_a_word_on_presence(cli, url):
    ended = cli("anonymize", "people", "--db", url, *FILE, "--k", "2")
    assert ended.code == 2
    assert "presence" in ended.err
    ended = cli("anonymize", "people", "--db", url, *FILE, "--k", "2", "--presence", "disclosed", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["min_class"] == 3


def test_a_policy(cli, tmp_path, warehouse):
    """Planned, run and audited; an audit against the policy counts on both tables."""
    text = POLICY.format(url=warehouse)
    head = text.partition("    privacy:")[0]
    policy = head + "    privacy: {k: 2, l: 2, presence: disclosed}\n    method: anatomy\n    format: anatomy\n"
    (tmp_path / "anon.yml").write_text(policy, encoding="utf-8")
    planned = cli("plan")
    assert planned.code == 0, planned.err
    assert "presence is disclosed" in " ".join(planned.out.split())
    assert "release.people_sensitive" in planned.out
    assert cli("run", "--json").json["published_sensitive"] == "release.people_sensitive"
    audit = cli("audit", "release.people", "--json").json
    assert {item["name"]: item["satisfied"] for item in audit["requirements"]} == {
        "groups that agree": True,
        "k": True,
        "l": True,
    }
    (tmp_path / "anon.yml").write_text(policy.replace(", presence: disclosed", ""), encoding="utf-8")
    assert cli("plan").code == 2
    (tmp_path / "anon.yml").write_text(policy.replace("l: 2", "l: 5/2"), encoding="utf-8")
    refused = cli("plan")
    assert (refused.code, "whole number" in refused.err) == (2, True)
