"""``init``, ``plan``, ``run``, ``audit``, ``releases``, ``clean``, ``schema`` over a policy file."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.conftest import make_duckdb

SECOND = """\
  - name: other
    source: main.people
    publish: other.people
    columns:
      id: {role: identifier}
      age: {role: quasi}
      disease: {role: sensitive}
    rest: drop
    privacy: {k: 6}
"""


@pytest.fixture
def two(policy):
    """A policy of two releases."""
    policy.write_text(policy.read_text(encoding="utf-8") + SECOND, encoding="utf-8")
    return policy


def test_init_plan_run_audit(cli, warehouse, tmp_path):
    proposed = cli("init", "--db", warehouse, "people")
    assert proposed.code == 0, proposed.err
    assert cli("init", "--db", warehouse, "people", "--json").json == {
        "policy": proposed.out,
        "refused": [],
        "warned": [],
    }
    (tmp_path / "anon.yml").write_text(proposed.out, encoding="utf-8")
    planned = cli("plan")
    assert planned.code == 0, planned.err


def test_init_writes_a_new_file_and_only_then(cli, warehouse, tmp_path):
    mine = tmp_path / "anon.yml"
    assert cli("init", "--db", warehouse, "nobody", "-o", "anon.yml").code == 3
    assert not mine.exists()
    ended = cli("init", "--db", warehouse, "people", "-o", "anon.yml")
    assert (ended.code, cli("plan").code) == (0, 0), ended.err
    assert "wrote anon.yml" in ended.out
    assert "sqlanon plan" in ended.out.replace(".venv/bin/", "")
    assert mine.read_text(encoding="utf-8") == cli("init", "--db", warehouse, "people").out
    mine.write_text("mine", encoding="utf-8")
    again = cli("init", "--db", warehouse, "people", "-o", "anon.yml")
    assert (again.code, again.out, mine.read_text(encoding="utf-8")) == (2, "", "mine")
    assert "is not overwritten" in again.err
    assert cli("init", "--db", warehouse, "people", "-o", "nowhere/anon.yml").code == 2


@pytest.mark.thorough
def test_init_of_a_file_is_a_command_that_runs(cli, tmp_path):
    rows = "".join(f"{n};{20 + n % 7};?;{'xyz'[n % 3]};{n % 4}\n" for n in range(80))
    (tmp_path / "odd name.csv").write_text('id;age;"zip, code";disease;a=b\n' + rows, encoding="utf-8")
    words = ["--delimiter", ";", "--null", "?", "--types", '"a=b"=VARCHAR']
    ended = cli("init", "odd name.csv", *words)
    assert ended.code == 0, ended.err
    assert "# age: quasi; others may know it" in ended.out
    line = ended.out.splitlines()[-1]
    following = shlex.split(line)
    done = cli(*following[following.index("anonymize") :])
    assert done.code == 0, done.err
    with (tmp_path / "odd name_anonymized.csv").open(encoding="utf-8") as file:
        assert "id" not in next(file).strip().split(",")
    assert cli("init", "--db", "duckdb:///x", "people", "--null", "?").code == 2
    assert cli("init", "people").code == 2


@pytest.mark.usefixtures("policy")
def test_plan(cli):
    report = cli("plan", "--json").json
    assert report["release"] == "people"
    assert {column["name"] for column in report["columns"]} == {"id", "age", "zip", "sex", "disease"}
    assert report["statements"]
    text = cli("plan")
    assert text.code == 0, text.err
    for word in ("people", "age", "identifier", "sensitive", "feasible", "--sql", "sqlanon"):
        assert word in text.out
    sql = cli("plan", "--sql").out
    assert sql.upper().count("SELECT") > text.out.upper().count("SELECT")
    assert cli("releases", "--json").json == {"releases": []}


@pytest.mark.usefixtures("policy")
def test_run_and_after(cli):
    report = cli("run", "--json").json
    assert (report["release"], report["published"], report["verified"], report["version"]) == (
        "people",
        "release.people",
        True,
        1,
    )
    again = cli("run")
    assert again.code == 0, again.err
    assert "unchanged, version 1 stays published" in again.out
    text = cli("run", "--full")
    assert text.code == 0, text.err
    assert "version 2" in text.out
    assert "audit release.people --sensitive disease" in text.out
    audit = cli("audit", "release.people", "--sensitive", "disease", "--json")
    assert audit.code == 0
    assert audit.json["k"] >= 5
    assert audit.json["requirements"]
    assert all(one["satisfied"] for one in audit.json["requirements"])
    listed = cli("releases", "people", "--json").json["releases"]
    assert sorted(row["version"] for row in listed) == [1, 2]
    assert "people" in cli("releases").out
    assert cli("clean", "--json").json == {"dropped": [], "compacted": None}
    assert cli("clean").out == "nothing to clean\n"


@pytest.mark.usefixtures("policy")
def test_audit_of_a_table(cli, warehouse):
    ended = cli("audit", "people", "--db", warehouse, "--qi", "age,zip", "--sensitive", "disease", "--json")
    assert ended.code == 0, ended.out
    report = ended.json
    assert report["quasi"] == ["age", "zip"]
    assert set(report["left_out"]) == {"id", "sex"}
    assert (report["rows"], report["k"], report["k_all"], report["requirements"]) == (60, 1, 1, [])
    text = cli("audit", "people", "--db", warehouse, "--qi", "age,zip", "--identifier", "id")
    assert text.code == 0, text.err
    assert "left out" in text.out
    assert "fewest distinct id" in text.out


def test_audit_violation(cli, policy):
    assert cli("run").code == 0
    policy.write_text(policy.read_text(encoding="utf-8").replace("k: 5", "k: 61"), encoding="utf-8")
    ended = cli("audit", "release.people", "--json")
    assert ended.code == 1
    assert not all(one["satisfied"] for one in ended.json["requirements"])
    assert "VIOLATED" in cli("audit", "release.people").out


@pytest.mark.thorough
@pytest.mark.usefixtures("two")
def test_together(cli):
    assert cli("run").code == 0
    report = cli("audit", "--together", "people", "other", "--json").json
    assert (report["matched"], report["unmatched"]) == (60, 0)
    assert report["k"] <= min(report["k_first"], report["k_second"])
    assert "together" in cli("audit", "--together", "people", "other").out


@pytest.mark.thorough
@pytest.mark.usefixtures("two")
def test_several(cli):
    planned = cli("plan", "--json").json["releases"]
    assert [one["release"] for one in planned] == ["people", "other"]
    ran = cli("run", "--json").json["releases"]
    assert [(one["release"], one["verified"]) for one in ran] == [("people", True), ("other", True)]
    assert cli("run", "--select", "other", "--json").json["release"] == "other"
    unknown = cli("run", "--select", "nobody")
    assert unknown.code == 2
    assert "people, other" in unknown.err


def test_a_failure_stops_no_other(cli, two):
    text = two.read_text(encoding="utf-8").replace("{k: 5, l: 2}", "{k: 500}")
    two.write_text(text, encoding="utf-8")
    ended = cli("run", "--json")
    assert ended.code == 4
    first, second = ended.json["releases"]
    assert (first["release"], first["error"]["exit_code"], second["verified"]) == ("people", 4, True)
    text = cli("run")
    assert text.code == 4
    assert text.err.count("error: people: ") == 1
    assert "other.people" in text.out


def test_a_failure_stops_what_reads_it(cli, two):
    text = two.read_text(encoding="utf-8").replace("{k: 5, l: 2}", "{k: 500}")
    chained = text.replace("- name: other\n    source: main.people", "- name: other\n    source: release.people")
    two.write_text(chained, encoding="utf-8")
    ended = cli("run", "--json")
    assert ended.code == 4
    _, second = ended.json["releases"]
    assert "people, which failed" in second["error"]["message"]


def test_policy_elsewhere(cli, policy, tmp_path, warehouse):
    elsewhere = tmp_path / "else where.yml"
    policy.rename(elsewhere)
    missing = cli("plan")
    assert missing.code == 2
    assert "anon.yml" in missing.err
    text = cli("plan", "-p", elsewhere)
    assert text.code == 0, text.err
    assert "-p 'else where.yml'" in text.out.replace(str(tmp_path) + "/", "")
    assert cli("releases").code == 2
    assert cli("releases", "-p", elsewhere).code == 0
    assert cli("releases", "--db", warehouse).code == 0


@pytest.mark.usefixtures("policy")
def test_db_overrides(cli, tmp_path):
    other = make_duckdb(tmp_path / "other.duckdb", "CREATE TABLE people AS SELECT 1 AS id")
    assert cli("plan", "--db", other).code != 0
    assert cli("plan").code == 0


def test_all_problems_of_a_policy(cli, policy):
    text = policy.read_text(encoding="utf-8").replace("role: quasi", "role: quasy").replace("k: 5", "k: none")
    policy.write_text(text, encoding="utf-8")
    ended = cli("plan")
    assert ended.code == 2
    assert ended.err.count("anon.yml:") == 4
    assert len(cli("plan", "--json").json["error"]["problems"]) == 4


def test_schema(cli):
    text = cli("schema")
    assert text.code == 0
    assert json.loads(text.out) == cli("schema", "--json").json
    assert json.loads(text.out)["type"] == "object"


@pytest.mark.parametrize("words", [["audit"], ["audit", "people", "--together", "a", "b"], ["audit", "people"]])
def test_usage(cli, words):
    assert cli(*words).code == 2


@pytest.mark.thorough
@pytest.mark.usefixtures("policy")
def test_quiet_shows_warnings(cli, warehouse):
    """On stderr, from every command that makes a report of a release; as JSON they are a field."""
    columns = ["--qi", "age,zip,sex", "--sensitive", "disease", "--identifier", "id"]
    asked = ["anonymize", "people", "--db", warehouse, "--name", "other", *columns]
    assert cli("run", "-q").err == ""
    other = cli(*asked, "--k", "5", "--to", "release.other", "-q")
    assert (other.code, other.out) == (0, "")
    assert other.err.startswith("warning: release people shows the same source")
    for command in (["run", "--full"], ["plan"]):
        ended = cli(*command, "-q")
        assert (ended.code, ended.out) == (0, "")
        assert ended.err.startswith("warning: people: release other shows the same source")
        reported = cli(*command, "-q", "--json")
        assert reported.err == ""
        assert any("release other shows the same source" in warning for warning in reported.json["warnings"])


def test_a_table_of_one_row(cli, tmp_path):
    make_duckdb(tmp_path / "one.duckdb", "CREATE TABLE people AS SELECT 1 AS id, 40 AS age, 'flu' AS disease")
    asked = ("--qi", "age", "--identifier", "id,disease")
    done = cli("anonymize", "people", "--db", "duckdb:///one.duckdb", *asked, "--k", "1")
    assert "1 row," in done.err + done.out
    assert "1 rows" not in done.err + done.out
    refused = cli("anonymize", "people", "--db", "duckdb:///one.duckdb", *asked, "--k", "2")
    assert "no release of main.people (1 row) reaches k = 2" in refused.err


TABLES = """\
version: 1
releases:
  - name: hospital
    person: id
    privacy: {k: 500}
    rest: drop
    tables:
      - {source: main.people, publish: r.people, columns: {id: pseudonym, age: quasi}}
      - {source: main.people, name: again, publish: r.again, columns: {id: pseudonym, age: quasi}}
"""


def test_tables_that_cannot_be_published_together_fail_once(cli, warehouse, tmp_path):
    (tmp_path / "anon.yml").write_text(TABLES, encoding="utf-8")
    ended = cli("run", "--db", warehouse)
    (line,) = [line for line in ended.err.splitlines() if "reaches k = 500" in line]
    assert (ended.code, line.count("hospital.")) == (4, 1)
    both = cli("run", "--db", warehouse, "--json").json["releases"]
    assert [one["error"]["kind"] for one in both] == ["InfeasibleError"] * 2
