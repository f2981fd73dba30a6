"""Releases of counts in policy files: what they mean, and one error for each mistake."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import loads, schema
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.statistics.protections import read_stored_statistics
from sqlanon.statistics_spec import StatisticsSpec, StatisticsTable

GOOD: dict[str, Any] = {
    "name": "admissions",
    "source": "hospital.stays",
    "person": "pid",
    "statistics": {
        "columns": {"region": {}, "sex": {}, "age": {"hierarchy": "steps:5,20"}},
        "tables": [{"name": "a", "by": ["region", "sex"]}, {"name": "b", "by": ["sex", "age"]}],
        "measures": {"n": "count"},
        "protect": {"persons": 10},
    },
}


def text_of(**changed: Any) -> str:
    """The policy, with other values at paths such as ``statistics__protect``; None takes a key away."""
    import copy
    import json

    made = copy.deepcopy(GOOD)
    for path, value in changed.items():
        *above, last = path.split("__")
        place = made
        for part in above:
            place = place[part]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return json.dumps({"version": 1, "releases": [made]})


def problems_of(**changed: Any) -> list[str]:
    with pytest.raises(PolicyError) as raised:
        loads(text_of(**changed), {})
    return raised.value.problems


def test_what_a_policy_means() -> None:
    (spec,) = loads(text_of(), {}).releases
    assert spec.statistics == StatisticsSpec(
        (StatisticsTable("a", ("region", "sex")), StatisticsTable("b", ("sex", "age"))),
        (("n", "count"),),
        10,
        "alone",
        "none",
    )
    assert (spec.publish, spec.person, spec.rest) == ("release.admissions", ("pid",), "drop")
    assert [(column.name, column.role) for column in spec.columns] == [
        ("region", "quasi"),
        ("sex", "quasi"),
        ("age", "quasi"),
        ("pid", "identifier"),
    ]
    assert redact(spec)["statistics"]["threshold"] == 10


def test_margins_that_must_be_shown() -> None:
    (spec,) = loads(text_of(statistics__protect__show=[{"Sex": 0, "age": 1}, "total"]), {}).releases
    assert spec.statistics is not None
    assert spec.statistics.show == ((("age", 1), ("sex", 0)), ())
    assert read_stored_statistics(redact(spec)["statistics"]).show == spec.statistics.show


ONE: dict[str, Any] = {"statistics__tables": [{"name": "a", "by": ["region", "sex", "age"]}]}
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no person": ({"person": None}, "person: is missing"),
    "privacy": ({"privacy": {"k": 5}}, "privacy is about rows and their classes"),
    "a method": ({"method": "tree"}, "method is about rows and their classes"),
    "a format": ({"format": "ranges"}, "format is about rows and their classes"),
    "another file": ({"publish_file": "x.duckdb"}, "publish_file is about rows and their classes"),
    "frozen versions": ({"refresh": {"mode": "frozen"}}, "cohort is missing"),
    "an unknown key": ({"statistics__column": {}}, "unknown key"),
    "no table": ({"statistics__tables": []}, "the list is empty"),
    "a table of no list": ({"statistics__tables": "a"}, "not a list"),
    "a column that is none": (
        {"statistics__tables": [{"name": "a", "by": ["region", "sex", "age", "ages"]}]},
        "ages is not a column of statistics (did you mean age?)",
    ),
    "a column twice": ({"statistics__tables": [{"name": "a", "by": ["region", "Region"]}]}, "a column is named twice"),
    "a table's name twice": (
        {"statistics__tables": [{"name": "a", "by": ["region", "sex"]}, {"name": "a", "by": ["sex", "age"]}]},
        "the name of another table",
    ),
    "a column of no table": ({"statistics__tables": [{"name": "a", "by": ["region", "sex"]}]}, "no table counts by"),
    "the person as a column": ({"person": "sex"}, "the column of the person"),
    "a sum without a range": ({"statistics__measures__cost": {"sum": "cost", "p_percent": 10}}, "range: is missing"),
    "a sum without p": ({"statistics__measures__cost": {"sum": "cost", "range": [0, 9]}}, "p_percent: is missing"),
    "sums alone": (
        {"statistics__measures": {"cost": {"sum": "cost", "range": [0, 9], "p_percent": 10}}},
        "sums without a number of rows or persons",
    ),
    "negative sums": (
        {"statistics__measures__cost": {"sum": "cost", "range": [-9, 9], "p_percent": 10}},
        "negative values, which hide large contributions",
    ),
    "absolute sums of no negative value": (
        {"statistics__measures__cost": {"sum": "cost", "range": [0, 9], "p_percent": 10, "absolute": True}},
        "no negative values",
    ),
    "a sum of a dimension": (
        {"statistics__measures__cost": {"sum": "Age", "range": [0, 9], "p_percent": 10}},
        "a column by which tables count",
    ),
    "a sum of the person": (
        {"statistics__measures__cost": {"sum": "pid", "range": [0, 9], "p_percent": 10}},
        "the column of the person",
    ),
    "rounding next to rows": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "round", "base": 5}, "together": ["patients"]},
        "it is built for hidden cells alone",
    ),
    "rounding in several versions": (
        {
            **ONE,
            "statistics__protect": {"persons": 5, "method": "round", "base": 5},
            "refresh": {"mode": "frozen", "cohort": {"persons": 20}},
        },
        "versions are built for hidden cells alone",
    ),
    "a count with a range": ({"statistics__measures__m": {"count": "count", "range": [0, 9]}}, "range of a number of"),
    "a range of one end": (
        {"statistics__measures__cost": {"sum": "cost", "range": [9, 0], "p_percent": 10}},
        "not two",
    ),
    "p that is too precise": (
        {"statistics__measures__cost": {"sum": "cost", "range": [0, 9], "p_percent": 1.234}},
        "too precise",
    ),
    "a dominance rule without a share": (
        {"statistics__measures__cost": {"sum": "cost", "range": [0, 9], "p_percent": 10, "dominance": {"n": 2}}},
        "share: is missing",
    ),
    "no measure": ({"statistics__measures": {}}, "no measure"),
    "a measure called as a column": ({"statistics__measures": {"Sex": "count"}}, "two columns of the view"),
    "a measure called status": ({"statistics__measures": {"status": "count"}}, "two columns of the view"),
    "a measure called as the end of another": (
        {
            "statistics__protect__bounds": "exact",
            "statistics__measures": {"n": "count", "n_tight": {"sum": "cost", "range": [0, 9], "p_percent": 10}},
        },
        "two columns of the view would be called n_tight",
    ),
    "one person": ({"statistics__protect__persons": 1}, "too small"),
    "no persons": ({"statistics__protect": {}}, "persons: is missing"),
    "an unknown method": ({"statistics__protect__method": "swap"}, "suppress, cell_key, round"),
    "no deviation": ({"statistics__protect__method": "cell_key"}, "deviation: is missing"),
    "no base": ({"statistics__protect__method": "round"}, "base: is missing"),
    "a base of hidden cells": ({"statistics__protect__base": 5}, "base is of another method than suppress"),
    "bounds of rounded cells": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "round", "base": 5, "bounds": "exact"}},
        "bounds is of another method than round",
    ),
    "small cells above the base": (
        {**ONE, "statistics__protect": {"persons": 6, "method": "round", "base": 5}},
        "persons is at most base",
    ),
    "a variance that no noise has": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "cell_key", "deviation": 2, "variance": 4}},
        "no such noise of mean 0",
    ),
    "a rule with a variance": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "cell_key", "rule": "10_5", "variance": 4}},
        "a rule has none",
    ),
    "noise of linked tables": (
        {"statistics__protect": {"persons": 5, "method": "cell_key", "deviation": 5, "variance": 3}},
        "no table has all columns",
    ),
    "noise of nobody": (
        {
            **ONE,
            "null_person": "distinct",
            "statistics__protect": {"persons": 5, "method": "cell_key", "deviation": 5, "variance": 3},
        },
        "the noise of a cell depends on who is in it",
    ),
    "hidden zeros": ({"statistics__protect__zeros": "small"}, "shown"),
    "narrow intervals": ({"statistics__protect__interval": "width"}, "full"),
    "a margin of another column": ({"statistics__protect__show": [{"regions": 0}]}, "did you mean region?"),
    "a level that a column has not": ({"statistics__protect__show": [{"region": 1}]}, "no such level below its total"),
    "a level of no number": (
        {"statistics__protect__show": [{"age": "x"}]},
        "a whole number of at least 0, or leave the column out",
    ),
    "a margin of no table": (
        {"statistics__protect__show": [{"region": 0, "age": 1}]},
        "no table has region, age together",
    ),
    "a margin twice": ({"statistics__protect__show": ["total", {}]}, "named twice"),
    "a margin that is a column": ({"statistics__protect__show": ["region"]}, "not a margin"),
    "a margin alone": ({"statistics__protect__show": {"region": 0}}, "a list of margins"),
    "no margins": ({"statistics__protect__show": []}, "the list is empty"),
    "margins of rounded cells": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "round", "base": 5, "show": ["total"]}},
        "show is of another method than round",
    ),
    "margins of cells with noise": (
        {**ONE, "statistics__protect": {"persons": 5, "method": "cell_key", "rule": "10_5", "show": ["total"]}},
        "show is of another method than cell_key",
    ),
    "lineages that end, with sums": (
        {
            "refresh": {"mode": "frozen", "cohort": {"persons": 20}, "lineage": "90d"},
            "statistics__measures__cost": {"sum": "cost", "range": [0, 9], "p_percent": 10},
        },
        "new lineages are not built with sums",
    ),
    "lineages that end, without versions": ({"refresh": {"lineage": "90d"}}, "mode is missing"),
    "a cohort of few persons": (
        {"refresh": {"mode": "frozen", "cohort": {"persons": 5}}, "statistics__protect": {"persons": 5}},
        "while no version follows, readers know that fewer than 5 persons are new",
    ),
    "other values": (
        {"statistics__columns__age": {"hierarchy": {"groups": {"x": ["1"]}, "other": "1"}}},
        "counts of values that are not listed",
    ),
    "releases beside": ({"together": ["patients", "visits"]}, "several releases of rows: next to all of them"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_error(mistake: str) -> None:
    changed, text = MISTAKES[mistake]
    found = problems_of(**changed)
    assert len(found) == 1, found
    assert text in found[0]


def test_the_schema_has_releases_of_counts() -> None:
    assert {"StatisticsReleaseModel", "StatisticsModel", "ProtectModel"} <= set(schema()["$defs"])
