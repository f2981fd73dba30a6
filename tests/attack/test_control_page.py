"""The page and the JSON of attacks with a control group: what the control group predicts, and no value of a cell."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from sqlanon.report.control import write_control
from sqlanon.results import ControlledAttack, ControlReport
from tests.invoked import invoke

POLICY = """version: 1
connection: duckdb:///{file}
releases:
  - name: people
    source: main.people
    columns: {{age: quasi, zip: quasi, town: insensitive, disease: sensitive}}
    privacy: {{k: 5}}
    effort: fast
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as db:
        db.execute(
            "CREATE TABLE people AS SELECT 20 + i * 7 % 60 AS age, 'canary' || i * 11 % 37 AS zip, "
            "'canary' || i % 7 AS town, 'canary' || i * i % 3 AS disease FROM range(120) AS r(i)"
        )
    made = tmp_path / "anon.yml"
    made.write_text(POLICY.format(file=file))
    monkeypatch.chdir(tmp_path)
    return made


@pytest.mark.usefixtures("policy")
def test_the_control_group_predicts_and_no_value_is_shown() -> None:
    ended = invoke("attack", "people", "--control", "0.25", "--seed", "5", "--html", "page.html", "--json")
    assert ended.exit_code == 0, ended.stdout
    for one in json.loads(ended.stdout)["attacks"]:
        assert one["successes"] == pytest.approx(one["main"] * one["attempts"])
        assert one["expected"] == pytest.approx(one["control"] * one["attempts"])
    page = Path("page.html").read_text(encoding="utf-8")
    assert "What the control group predicts" in page
    assert "For readers" not in page
    assert "<script" not in page
    shown = invoke("attack", "people", "--control", "0.25", "--seed", "5")
    assert "canary" not in ended.stdout + ended.stderr + page + shown.stdout + shown.stderr


def test_the_page_has_each_figure() -> None:
    one = ControlledAttack("inference", "<b>", (), 200, 50, 0.5, 0.2, 0.1, 0.375, 0.25, 0.5, False, 100, 40.0)
    none = ControlledAttack("univariate", "alone", (), 0, 0, 0, 0, 0, 0, 0, 0, True, 0, 0)
    report = ControlReport("r", "s", "tree", "ranges", "persons", 200, 50, 200, 200, 0.2, 7, (one, none), ("why",), {})
    page = write_control(report)
    for text in (
        "&lt;b&gt;",
        "37.5 %",
        "25 % to 50 %",
        ">100<",
        ">40<",
        "drawn",
        "nothing to try",
        "Not measured: why",
    ):
        assert text in page
    assert page.count("<circle") == 1


@pytest.mark.usefixtures("policy")
def test_a_page_is_of_a_trial_and_new() -> None:
    assert "add --control 0.2" in invoke("attack", "people", "--html", "page.html").stderr
    assert "exists" in invoke("attack", "people", "--control", "0.2", "--html", "anon.yml").stderr
    assert not Path("page.html").exists()
