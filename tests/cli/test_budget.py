"""``sqlanon budget`` and ``run --spend``: what they show and refuse."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.invoked import invoke

pytest.importorskip("opendp")

POLICY = """\
version: 1
connection: duckdb:///w.duckdb
budgets:
  - {name: people, persons: {stays: pid}, epsilon: 1, anchor: people.anchor}
releases:
  - name: monthly
    source: stays
    every: 30d
    statistics:
      budget: people
      epsilon: 0.5
      tables: [{by: sex}]
      groups: {sex: [F, M]}
      measures: {n: rows}
      contributions: {groups: 1, rows: 1}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "anon.yml").write_text(POLICY)
    with duckdb.connect("w.duckdb") as db:
        db.execute("CREATE TABLE stays AS SELECT i AS pid, ['F', 'M'][1 + i % 2] AS sex FROM range(50) AS r(i)")
    return tmp_path


def test_a_budget_is_spent_shown_and_raised(folder: Path) -> None:
    assert "0 of epsilon 1 spent, 1 left" in invoke("budget").stdout
    assert invoke("run", "-q").exit_code == 0
    assert "not due yet" in invoke("run").stdout
    assert "asked for with --spend" in invoke("run", "--spend").stdout
    shown = invoke("budget", "people").stdout
    assert "1 of epsilon 1 spent" in shown
    assert shown.count("published") == 2
    spent = invoke("run", "--spend")
    assert (spent.exit_code, "Nothing was read or spent" in spent.stderr) == (4, True)
    raised = invoke("budget", "raise", "people", "--epsilon", "2", "--because", "a second study")
    assert "a second study" in raised.stdout
    (folder / "anon.yml").write_text(POLICY.replace("epsilon: 1,", "epsilon: 2,"))
    assert invoke("run", "--spend", "-q").exit_code == 0


WRONG = {
    ("budget", "others"): "others is no budget of the policy; budgets: people",
    ("budget", "raise", "others", "--because", "x"): "others is no budget of the policy",
    ("budget", "raise", "people"): "--because records why",
    ("budget", "raise", "people", "--epsilon", "-1", "--because", "x"): "--epsilon: too small",
    ("budget", "raise", "people", "--epsilon", "9", "--because", "x"): "nothing was spent yet: change the policy",
    ("budget", "people", "--epsilon", "2"): "go with: sqlanon budget raise NAME",
    ("budget", "lower", "people"): "budget wants nothing, a NAME, raise NAME or recover NAME",
    ("budget", "recover", "people", "--because", "x"): "the anchor has nothing that this database lacks",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_is_one_error(words: tuple[str, ...], folder: Path) -> None:
    assert folder
    ended = invoke(*words)
    assert ended.exit_code == 2
    assert WRONG[words] in ended.stderr
    assert ended.stderr.count("error:") == 1


def test_spend_is_for_statistics_with_a_budget(folder: Path) -> None:
    (folder / "rows.yml").write_text(
        "version: 1\nconnection: duckdb:///w.duckdb\nreleases:\n  - {name: rows, source: stays, columns: {pid: "
        "identifier, sex: quasi}, privacy: {k: 5}}\n"
    )
    ended = invoke("run", "-p", "rows.yml", "--spend")
    assert (ended.exit_code, "--spend is for statistics with a budget" in ended.stderr) == (2, True)
    assert "the policy has no budgets" in invoke("budget", "-p", "rows.yml").stdout
