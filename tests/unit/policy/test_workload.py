"""Workload files: what they become, and every problem with its line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import load_workload
from sqlanon.workload_spec import GeneratorSpec, QuerySpec, WorkloadSpec

GOOD = """\
version: 1
seed: 7
queries:
  - {name: young, sql: select count(*) from people where age < 35}
generators:
  - equality
  - {kind: ranges, dimensions: 3, selectivity: 0.05, columns: [age, zip], queries: 10, sensitive: illness}
  - {kind: aggregates, measures: cost, by: sex, name: costs}
  - {kind: datacube, level: 1, answers: true}
  - kind: joint
"""

BAD = """\
version: 2
sed: 3
queries:
  - name: a
    sql: select 1
  - name: a
    sql: ""
  - name: a
    sql: select 2
generators:
  - kind: ranges
    dimensions: 0
    selectivity: 0
    level: 2
  - kind: datacub
  - [equality]
  - {kind: datacube, answers: perhaps}
  - {kind: joint, name: all}
"""


def problems(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_workload(path)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


def test_a_workload(tmp_path: Path) -> None:
    path = tmp_path / "workload.yml"
    path.write_text(GOOD)
    assert load_workload(path) == WorkloadSpec(
        (QuerySpec("young", "select count(*) from people where age < 35"),),
        (
            GeneratorSpec("equality", "equality"),
            GeneratorSpec(
                "ranges",
                "ranges",
                columns=("age", "zip"),
                queries=10,
                dimensions=3,
                selectivity=Fraction(1, 20),
                sensitive="illness",
            ),
            GeneratorSpec("costs", "aggregates", measures=("cost",), by=("sex",)),
            GeneratorSpec("datacube 1", "datacube", level=1, answers=True),
            GeneratorSpec("joint", "joint"),
        ),
        7,
    )


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    found = problems(tmp_path / "w.yml", BAD)
    assert [problem.split(":")[0] for problem in found] == [
        "1",
        "2",
        "7",
        "8",
        "12",
        "13",
        "14",
        "15",
        "16",
        "17",
        "18",
    ]
    reported = "\n".join(found)
    for words in (
        "1: version: too large; 1",
        "sed: unknown key (did you mean seed?)",
        "queries[a].sql: empty text",
        "the name of the item in line 4 again",
        "generators[0].dimensions: too small; a whole number of at least 1",
        "generators[0].selectivity: too small",
        "generators[0].level: unknown key",
        "generators[1].kind: not a kind of generator; one of equality, ranges",
        "generators[2]: no kind of generator",
        "generators[3].answers: neither true nor false",
        "generators[all].name: reports use this name themselves",
    ):
        assert words in reported


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("- a\n", "not a mapping"),
        ("version: 1\n", "nothing to ask"),
        ("version: 1\nqueries: select 1\n", "queries: not a list"),
    ],
)
def test_what_is_no_workload(tmp_path: Path, text: str, words: str) -> None:
    assert words in problems(tmp_path / "w.yml", text)[0]


@pytest.mark.parametrize(
    ("share", "words"), [("0.00", "too small"), ("0/3", "too small"), ("-1", "too small"), ("1.01", "too large")]
)
def test_selectivity_is_a_share(tmp_path: Path, share: str, words: str) -> None:
    text = f"version: 1\ngenerators: [{{kind: ranges, selectivity: {share}}}]\n"
    assert f"generators[0].selectivity: {words}" in problems(tmp_path / "w.yml", text)[0]
