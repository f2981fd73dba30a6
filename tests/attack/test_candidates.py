"""Candidate releases side by side: figures by brute force, what is left, and what is written."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sqlanon.attack.candidates import QUERIES, measure_width
from sqlanon.errors import SqlanonError
from sqlanon.policy import load, loads
from sqlanon.report.candidates import draw_candidates
from sqlanon.results import Candidate, CandidatesReport
from tests.attack.spaces import make_space, make_trial
from tests.engines import create_table
from tests.invoked import invoke

POLICY = """version: 1
connection: duckdb:///{file}
releases:
  - name: people
    source: main.people
    columns:
      age: {{role: quasi}}
      zip: {{role: quasi}}
      disease: {{role: sensitive}}
    privacy: {{k: 5}}
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as db:
        db.execute(
            "CREATE TABLE people AS SELECT 20 + i * 7 % 60 AS age, 100 + i * 11 % 37 AS zip, "
            "'secret' || i * i % 3 AS disease FROM range(120) AS r(i)"
        )
    made = tmp_path / "anon.yml"
    made.write_text(POLICY.format(file=file))
    monkeypatch.chdir(tmp_path)
    return made


def test_width_of_exact_rows_is_0_and_of_one_class_all_rows() -> None:
    rows = [[i % 10, i % 7] for i in range(70)]
    exact = make_space(
        [[("range", (row[a], row[a], False)) for row in rows] for a in range(2)], [10, 7], [True] * 2, [False] * 2
    )
    assert measure_width(make_trial(exact, rows, rows[:1], "qq")) == 0
    whole = make_space([[("range", (0, 9, False))], [("set", range(7))]], [10, 7], [True, False], [False] * 2)
    trial = make_trial(whole._replace(members=np.array([70])), rows, rows[:1], "qq")
    # Each count is of at least 1 row and at most 70, and its bounds are 0 and 70.
    width = measure_width(trial)
    assert width is not None
    assert 1 < width < 70
    assert QUERIES >= 100
    assert measure_width(make_trial(exact, rows, rows[:1], "ii")) is None


def test_candidates_are_tried_and_one_is_written(policy: Path) -> None:
    pytest.importorskip("sklearn")
    asked = ("compare", "people", "--k", "4,10,500", "--method", "tree", "--seed", "3")
    made = json.loads(invoke(*asked, "--target", "disease", "--html", "map.html", "--json").stdout)
    by = {one["k"]: one for one in made["candidates"]}
    assert [one["number"] for one in made["candidates"]] == [1, 2, 3]
    assert by[4]["min_class"] >= 4
    assert by[10]["min_class"] >= 10
    assert by[4]["gcp"] < by[10]["gcp"]
    assert by[4]["width"] < by[10]["width"]
    assert by[10]["average_risk"] <= 0.1
    assert "500" in by[500]["refused"]
    assert 0 <= by[4]["auc"] <= 1
    page = Path("map.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "secret" not in page
    again = ("compare", "people", "--k", "500,10", "--method", "tree", "--seed", "3")
    written = invoke(*again, "--write", "chosen.yml", "--choose", "2", "--json")
    assert written.exit_code == 0, written.stderr
    assert [one["number"] for one in json.loads(written.stdout)["candidates"]] == [2]
    (spec,) = load("chosen.yml").releases
    assert (spec.privacy.k, spec.method.name, spec.refine) == (10, "tree", None)
    assert [column.name for column in spec.columns] == ["age", "zip", "disease"]
    with duckdb.connect(str(policy.parent / "people.duckdb"), read_only=True) as db:
        assert db.execute("SELECT table_schema, table_name FROM information_schema.tables").fetchall() == [
            ("main", "people")
        ]


@pytest.mark.usefixtures("policy")
def test_each_with_the_local_pass_as_well() -> None:
    ended = invoke("compare", "people", "--k", "5", "--method", "tree", "--refine", "--seed", "3", "--json")
    assert ended.exit_code == 0, ended.stderr
    assert [one["refine"] for one in json.loads(ended.stdout)["candidates"]] == [False, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--k", "0"), "whole numbers of at least 1"),
        (("--k", "ten"), "whole numbers of at least 1"),
        (("--method", "magic"), "there is no such method"),
        (("--target", "age"), "no column that is published as it is; there are: disease"),
        (("--control", "1"), "above 0 and below 1"),
        (("--seed", "-1"), "from 0"),
        (("--write", "x.yml"), "go together"),
        (("--write", "x.yml", "--choose", "9"), "from 1 to 1"),
        (("--k", "5,500", "--write", "x.yml", "--choose", "2"), "--choose 2: not possible, nothing is written"),
        (("--html", "anon.yml"), "exists"),
        (("--k", ",".join(map(str, range(2, 80)))), "more than 60"),
    ],
)
def test_bad_input_is_one_error(policy: Path, words: tuple[str, ...], message: str) -> None:
    ended = invoke("compare", *words)
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert ended.stderr.count("error:") == 1
    assert not Path("x.yml").exists()
    assert policy.exists()


def test_equal_points_have_one_label() -> None:
    made = [
        Candidate(number, 5, "tree", False, classes=2, gcp=gcp, width=0.1, average_risk=0.1, risk=0.2, attack="a")
        for number, gcp in ((1, 0.25), (2, 0.5), (3, 0.25))
    ]
    page = draw_candidates(CandidatesReport("people", "main.people", 0.2, 1, None, None, tuple(made)))
    assert page.count("<circle") == 2
    assert ">1, 3</text>" in page
    assert ">2</text>" in page


WORKLOAD = """version: 1
queries:
  - {name: all, sql: select count(*) as n from TABLE}
  - {name: half, sql: select count(*) as n from TABLE where age <= 4}
  - {name: by disease, sql: "select disease, count(*) as n from TABLE group by disease"}
  - {name: none, sql: "select corr(age, age) as r from TABLE"}
"""


def test_the_width_of_a_workload(shared_db: Any, tmp_path: Path) -> None:
    name = f"wide_{uuid.uuid4().hex[:10]}"
    create_table(
        shared_db, name, {"age": "INTEGER", "disease": "TEXT"}, [(i % 10, f"secret{i % 2}") for i in range(100)]
    )
    facts = f"name: {name}, source: {name}, columns: {{age: quasi, disease: sensitive}}"
    specs = [loads(f"version: 1\nreleases: [{{{facts}, privacy: {{k: {k}}}}}]", {}).releases[0] for k in (2, 80)]
    file = tmp_path / "workload.yml"
    file.write_text(WORKLOAD.replace("TABLE", name))
    made = shared_db.compare(specs, seed=1, workload=file)
    assert made.answers == "workload"
    # Exact: all rows, and each value of a column that is published as it is. One class from 0 to 9, each of which some
    # row has: from 1 to 79 rows of 80 are at most 4, by an estimate of 40. So the widths are 0, 78 / 40, 0, 0.
    file.write_text(WORKLOAD.replace("TABLE", name).split("  - {name: by")[0])
    (_, whole) = shared_db.compare(specs, seed=1, workload=file).candidates
    assert [one.refused_queries for one in made.candidates] == [1, 1]
    assert [one.width for one in made.candidates] == [0, 0]
    assert whole.width == pytest.approx(78 / 40 / 2)
    for text, said in (
        ("queries: [{name: q, sql: select count(*) from nowhere}]", "nowhere"),
        ("queries: [{name: q, sql: select count(*) from pg_class}]", "pg_class"),
        ("generators: [{kind: ranges, columns: [wrong]}]", "wrong"),
    ):
        file.write_text(f"version: 1\n{text}\n")
        with pytest.raises(SqlanonError, match=said):
            shared_db.compare(specs, seed=1, workload=file)
