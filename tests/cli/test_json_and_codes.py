"""Output of every command with ``--json``, as docs/json.md lists it, and the exit codes.

The codes are the same everywhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests import invoked
from tests.cli.conftest import run
from tests.project.tree import ROOT

POLICY = """\
version: 1
connection: duckdb:///w.duckdb
releases:
  - name: people
    source: people
    publish: release.people
    columns:
      id: {role: identifier}
      age: {role: quasi}
      sex: {role: quasi}
      ill: {role: sensitive}
    privacy: {k: 5}
"""
NOISY = """\
version: 1
connection: duckdb:///w.duckdb
budgets: [{name: people, persons: {people: id}, epsilon: 4}]
releases:
  - name: noisy
    source: people
    every: 1d
    statistics:
      budget: people
      epsilon: 1
      tables: [{by: [sex]}]
      groups: {sex: [F, M]}
      measures: {n: rows}
      contributions: {groups: 1, rows: 1}
"""
ASKED = ("--qi", "age,sex", "--sensitive", "ill", "--identifier", "id", "--k", "5")
WALK: dict[str, tuple[str, ...]] = {
    "init": ("init", "people", "--db", "duckdb:///w.duckdb"),
    "plan": ("plan",),
    "preview": ("preview", "--rows", "2"),
    "anonymize": ("anonymize", "people.csv", *ASKED, "--to", "out.csv"),
    "run": ("run",),
    "audit": ("audit", "release.people"),
    "audit --find-qi": ("audit", "people", "--find-qi"),
    "audit --statistics": ("audit", "--statistics", "counts.csv", "--persons", "4"),
    "audit --known": ("audit", "people", "--known", "2"),
    "attack": ("attack", "people"),
    "attack --control": ("attack", "people", "--control", "0.2"),
    "query": ("query", "select count(*) as n from people where age < 30"),
    "evaluate": ("evaluate", "people"),
    "compare": ("compare", "--k", "5"),
    "compare --epsilon": ("compare", "--policy", "noisy.yml", "--epsilon", "1"),
    "report": ("report", "people", "--md", "-o", "report.md"),
    "evidence": ("evidence", "people", "-o", "evidence.zip"),
    "budget": ("budget",),
    "releases": ("releases",),
    "releases show": ("releases", "show", "people@1"),
    "approve": ("approve", "people", "--by", "Ann", "--until", "9999-12-31"),
    "approvals": ("approvals",),
    "revoke": ("revoke", "people", "--by", "Ann"),
    "diff": ("diff", "people@1", "people@2"),
    "rollback": ("rollback", "people"),
    "unpublish": ("unpublish", "people"),
    "clean": ("clean",),
    "install-functions": ("install-functions",),
    "methods": ("methods",),
    "warm": ("warm", "."),
}
"""One command after the other; before ``diff`` the release is made once more."""

DATABASES: dict[str, tuple[str, ...]] = {
    "init": ("t",),
    "anonymize": ("t", *ASKED),
    "plan": (),
    "preview": (),
    "run": (),
    "audit": ("t",),
    "attack": ("people",),
    "query": ("select 1 from t",),
    "serve": (),
    "mcp": (),
    "evaluate": ("people",),
    "compare": (),
    "report": ("people", "--md", "-o", "new.md"),
    "evidence": ("people", "-o", "new.zip"),
    "budget": (),
    "releases": (),
    "approve": ("people", "--by", "Ann", "--until", "9999-12-31"),
    "approvals": (),
    "revoke": ("people", "--by", "Ann"),
    "diff": ("a@1", "a@2"),
    "rollback": ("people",),
    "unpublish": ("people",),
    "clean": (),
    "install-functions": (),
    "erase": ("people", "--key-file", "keys.csv"),
    "hierarchy": ("people", "age"),
}
"""Arguments of every command that takes --db."""


def commands() -> set[str]:
    return set(invoked.commands().commands)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("json")
    (home / "anon.yml").write_text(POLICY)
    (home / "noisy.yml").write_text(NOISY)
    (home / "keys.csv").write_text("id\n1\n")
    (home / "counts.csv").write_text("sex,n\nF,\nM,\nTotal,90\n")
    made = (
        "SELECT i AS id, 20 + i % 30 AS age, ['F', 'M'][1 + i % 2] AS sex, ['flu', 'cold', 'ache'][1 + i % 3] AS ill "
        "FROM range(120) AS r(i)"
    )
    with duckdb.connect(str(home / "w.duckdb")) as db:
        db.execute(f"CREATE TABLE people AS {made}")
        db.execute(f"COPY people TO '{home / 'people.csv'}' (HEADER)")
    return home


@pytest.fixture(scope="module")
def printed(folder: Path) -> dict[str, dict[str, Any]]:
    """The object that each command prints."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, words in WALK.items():
            if name == "diff":
                assert run("run", "--full", "--json").code == 0
            ended = run(*words, "--json")
            assert ended.code == 0, (name, ended)
            found[name] = ended.json
    return found


def kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return {str: "text", int: "number", float: "number", list: "list", dict: "object"}[type(value)]


def documented() -> dict[str, dict[str, str]]:
    """Command -> key -> types, as the page's tables have them."""
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        name = section.splitlines()[0].strip("`")
        found[name] = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", section, flags=re.MULTILINE))
    return found


@pytest.mark.thorough
def test_every_command_prints_what_the_page_lists(printed):
    page = documented()
    assert set(page) == set(printed)
    for name, value in printed.items():
        assert set(page[name]) == set(value), name
        for key, cell in value.items():
            assert kind(cell) in page[name][key].split(", "), (name, key)


def test_the_walk_and_the_page_leave_no_command_out():
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    elsewhere = {"hierarchy", "demo", "dbt", "erase", "schema", "serve", "mcp"}
    assert commands() == {name.split(" ")[0] for name in WALK} | elsewhere
    for name in elsewhere:
        assert f"`{name}`" in text


@pytest.mark.parametrize("name", sorted(DATABASES))
def test_no_database_is_3_and_no_option_is_2(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for more, code in ((("--db", "duckdb:///missing.duckdb"), 3), (("--no-such-option",), 2)):
        ended = run(name, *DATABASES[name], *more, "--json")
        assert ended.code == code == ended.json["error"]["exit_code"], ended
        plain = run(name, *DATABASES[name], *more)
        assert plain.code in ({code} if name != "preview" else {code, 2})


def test_every_command_that_takes_a_database_is_tried():
    taking = {
        name
        for name, command in invoked.commands().commands.items()
        if any("--db" in option.opts for option in command.params)
    }
    assert taking == set(DATABASES)


@pytest.mark.parametrize(
    "words",
    [("plan",), ("preview",), ("run",), ("anonymize", "people", *ASKED[:-1], "500", "--db", "duckdb:///w.duckdb")],
    ids=lambda words: words[0],
)
def test_what_cannot_be_reached_is_4(words, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    policy = tmp_path / "much.yml"
    policy.write_text(
        POLICY.replace("k: 5", "k: 500")
        .replace("people\n    source", "much\n    source")
        .replace("release.people", "release.much")
    )
    more = () if words[0] == "anonymize" else ("-p", str(policy))
    ended = run(*words, *more, "--json")
    assert ended.code == 4 == ended.json["error"]["exit_code"], ended


def test_what_is_violated_is_1(folder, tmp_path, monkeypatch):
    """A table that a policy publishes, changed by hand so that it falls short of k."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("x.duckdb") as db:
        db.execute("CREATE SCHEMA release")
        db.execute(
            "CREATE TABLE release.people AS SELECT i AS age_lo, i AS age_hi, ['F'] AS sex, 'flu' AS ill FROM range(20) "
            "AS r(i)"
        )
    ended = run("audit", "release.people", "-p", str(folder / "anon.yml"), "--db", "duckdb:///x.duckdb", "--json")
    assert ended.code == 1, ended
