"""``sqlanon methods``: what is shown are the declarations and their markers."""

from __future__ import annotations

import json

import pytest

from sqlanon.declared import METHODS
from sqlanon.engines.lacks import FEATURES, LACKS
from tests.invoked import invoke


def run(*words: str, code: int = 0, width: int = 80) -> str:
    ended = invoke("methods", *words, COLUMNS=str(width))
    assert ended.exit_code == code, ended.output
    return ended.output


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_method_is_a_row(width: int) -> None:
    lines = run(width=width).partition("─\n")[2].splitlines()
    places = {name: at for at, line in enumerate(lines) if (name := line.partition(" ")[0]) in METHODS}
    assert set(places) == set(METHODS)
    (compared,) = (at for at, line in enumerate(lines) if line.startswith("to compare with:"))
    of_papers = {"agglomerative", "idistance", "idistance_fast", "koptimize", "matchings", "mdav", "tds", "topdown"}
    assert {name for name, at in places.items() if at > compared} == of_papers
    assert all(len(line) <= width for line in lines)


def test_one_method_with_the_reasons() -> None:
    shown = " ".join(run("fulldomain", width=200).split())
    assert "maximize no it keeps no bound on the loss (notimpl)" in shown
    assert "population yes" in shown
    alone = json.loads(run("fulldomain", "--json"))
    assert alone["methods"]["fulldomain"]["maximize"] == {
        "has": "no",
        "lacks": "notimpl",
        "why": "it keeps no bound on the loss",
    }


def test_engines_are_in_the_json() -> None:
    found = json.loads(run("--json"))
    assert set(found) == {"methods", "formats", "requirements", "engines", "lakes", "dbt"}
    assert list(found["engines"]) == list(LACKS)
    assert found["engines"]["Spark"]["tables"]["lacks"] == "notyet"
    assert len(found["engines"]["DuckDB"]) == len(FEATURES)


def test_no_such_method() -> None:
    assert "there is no such method (did you mean fulldomain?)" in run("fuldomain", code=2)
