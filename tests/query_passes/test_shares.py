"""The parts of a box are a distribution, whatever is known of its NULLs.

Shares are computed by the engine and added up here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.interval import Interval
from sqlanon.query.boxes.listed_boxes import Lookup
from sqlanon.query.boxes.outcomes import outcomes
from sqlanon.query.boxes.set_constants import SetConstants, unknown_share
from sqlanon.query.boxes.values_by_test import ValuesByTest
from sqlanon.query.logic.number_line import Comparison
from sqlanon.query.logic.value_tests import ValueTest
from sqlanon.query.release import Field
from sqlanon.query.sql.sqltree import Tree, column, number

STATES = ("none", "some", "all", "any")
"""Of a box: no NULL; any value or NULL; NULL alone; any value and no NULL."""


def computed(columns: dict[str, str], trees: list[Tree], row: dict[str, str]) -> list[float]:
    """Trees over the columns of a table ``v``, for one row."""
    given = ", ".join(f"CAST({row[name]} AS {kind}) AS {name}" for name, kind in columns.items())
    asked = ", ".join(f"CAST({tree.sql('duckdb')} AS DOUBLE)" for tree in trees)
    with sqlanon.connect("duckdb:///:memory:") as db:
        (found,) = db.engine.fetch(f"SELECT {asked} FROM (SELECT {given}) AS v")
    return [float(str(value)) for value in found]


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("mine", [0, 1, 3])
def test_in_a_box_that_is_not_known_every_group_counts_the_same(mine: int, null: bool) -> None:
    """Three groups of values, ``mine`` of them asked for, and NULL as a fourth."""
    tree = unknown_share(column("state", "v"), number(Fraction(1, 8)), mine, 3, null=null)
    shares = [computed({"state": "VARCHAR"}, [tree], {"state": f"'{state}'"})[0] for state in STATES]
    assert shares == pytest.approx([1 / 8, (mine + null) / 4, float(null), mine / 3])


def test_parts_of_a_set() -> None:
    field = Field("s", "quasi", "nominal", "text", "VARCHAR", ())
    box = Box("b", field, "set", {"set": column("s", "v")}, state=column("b_state", "v"))
    tests = [ValueTest(i, "b", box.value, Comparison(i, "=", at)) for i, at in enumerate("pq")]
    tests.append(ValueTest(2, "b", box.value, Comparison(2, "null")))
    domain = SetConstants(box, tests, "v")
    columns = {
        "s": "VARCHAR[]",
        "b_state": "VARCHAR",
        "b_c0": "BOOLEAN",
        "b_c1": "BOOLEAN",
        "b_size": "BIGINT",
    }
    parts = domain.parts()
    valued = [part for part in parts if part.group in domain._of]
    assert len(valued) == 3  # p, q, and all others
    for state, (members, has, size) in {
        "none": ("['p', 'r', 't', 'u']", ("TRUE", "FALSE"), 4),
        "some": ("NULL", ("NULL", "NULL"), "NULL"),
        "any": ("NULL", ("NULL", "NULL"), "NULL"),
        "all": ("NULL", ("NULL", "NULL"), "NULL"),
    }.items():
        row: dict[str, Any] = {
            "s": members,
            "b_state": f"'{state}'",
            "b_c0": has[0],
            "b_c1": has[1],
            "b_size": size,
        }
        shares = computed(columns, [part.share for part in valued], row)
        alone = computed(columns, [domain.share([part.group]) for part in valued], row)
        assert shares == pytest.approx(alone)
        assert sum(shares) == pytest.approx({"none": 1, "some": 3 / 4, "any": 1, "all": 0}[state])
        if state == "none":
            assert sorted(shares) == [0, 1 / 4, 3 / 4]


@pytest.mark.parametrize("op", ["<", "="])
def test_parts_of_an_interval(op: str) -> None:
    field = Field("a", "quasi", "ordered", "integer", "INTEGER", ())
    parts = {"lo": column("lo", "v"), "hi": column("hi", "v")}
    box = Box("b", field, "interval", parts, state=column("b_state", "v"), step=Fraction(1))
    domain = Interval(box, [Comparison(0, op, Fraction(12)), Comparison(1, "null")], "v")
    columns = {"b_lo": "INTEGER", "b_hi": "INTEGER", "b_state": "VARCHAR"}
    groups = [group for group in domain.groups if group in domain._pieces]
    assert len(groups) == 2
    for state, ends in {
        "none": ("10", "19"),
        "some": ("NULL", "NULL"),
        "any": ("NULL", "NULL"),
        "all": ("NULL", "NULL"),
    }.items():
        row = {"b_lo": ends[0], "b_hi": ends[1], "b_state": f"'{state}'"}
        whole = computed(columns, [domain.share([group]) for group in groups], row)
        assert sum(whole) == pytest.approx({"none": 1, "some": 2 / 3, "any": 1, "all": 0}[state])
        if state == "none":  # 10 and 11 of ten values, or 12 alone
            assert sorted(whole) == pytest.approx([0.2, 0.8] if op == "<" else [0.1, 0.9])
        listed = [part for part in domain.parts() if part.group in domain._pieces]
        if op == "<":
            assert sum(computed(columns, [part.share for part in listed], row)) == pytest.approx(sum(whole))


@pytest.mark.parametrize("comparisons", [[], [Comparison(0, "<", Fraction(12))]], ids=["no test", "one test"])
def test_null_is_a_part_of_an_interval_where_no_test_asks_for_it(comparisons: list[Comparison]) -> None:
    field = Field("a", "quasi", "ordered", "integer", "INTEGER", ())
    ends = {"lo": column("lo", "v"), "hi": column("hi", "v")}
    box = Box("b", field, "interval", ends, state=column("b_state", "v"), step=Fraction(1), beside=True)
    columns = {"b_lo": "INTEGER", "b_hi": "INTEGER", "b_state": "VARCHAR"}
    parts = Interval(box, comparisons, "v").parts()
    for state, known in {"none": 1, "ends": 1 / 2, "all": 0}.items():
        row = {"b_lo": "10", "b_hi": "19", "b_state": f"'{state}'"}
        shares = computed(columns, [part.share for part in parts], row)
        assert sum(shares) == pytest.approx(1)
        assert sum(shares[:-1]) == pytest.approx(known)


def test_what_can_hold_together_is_what_some_value_meets() -> None:
    """Of p, q, any other value and NULL; a test that is not a comparison may hold or not, whatever the value is."""
    compared = [("=", "p"), ("<>", "q"), ("null", None), ("known", None)]
    box = Box("b", Field("s", "quasi", "nominal", "text", "VARCHAR", ()), "set", {})
    tests = [ValueTest(i, "b", box.value, Comparison(i, op, at)) for i, (op, at) in enumerate(compared)]
    tests.append(ValueTest(9, "b", box.value))
    met = {"p": {0, 1, 3}, "q": {3}, "other": {1, 3}, "NULL": {2}}
    expected = {frozenset(ids | more) for ids in met.values() for more in (set(), {9})}
    found = outcomes(box, tests)
    assert found is not None
    assert (set(found), len(found)) == (expected, len(expected))


def test_parts_of_a_listed_box() -> None:
    """A node of a hierarchy that was looked up: half of it is p, a quarter q."""
    field = Field("s", "quasi", "hierarchy", "text", "VARCHAR", ())
    box = Box("b", field, "node", {"node": column("n", "v")}, state=column("b_state", "v"))
    tests = [ValueTest(i, "b", box.value, Comparison(i, "=", at)) for i, at in enumerate("pq")]
    tests.append(ValueTest(2, "b", box.value, Comparison(2, "null")))
    ways = [frozenset({0}), frozenset({1}), frozenset(), frozenset({2})]
    domain = Lookup(box, ValuesByTest(ways, tests), "v")
    columns = {"b_state": "VARCHAR"} | dict.fromkeys((f"b_s{i}" for i in range(4)), "DOUBLE")
    valued, null = domain.groups[:3], domain.groups[3]
    for state in STATES:
        shares = ["0.5", "0.25", "0.25", "0"] if state == "none" else ["NULL"] * 4
        row = {"b_state": f"'{state}'"} | {f"b_s{i}": share for i, share in enumerate(shares)}
        parts = computed(columns, [part.share for part in domain.parts() if part.group in valued], row)
        alone = computed(columns, [domain.share([group]) for group in valued], row)
        expected = {"none": [0.5, 0.25, 0.25], "some": [1 / 4] * 3, "any": [1 / 3] * 3, "all": [0.0] * 3}[state]
        assert parts == alone == pytest.approx(expected)
        assert computed(columns, [domain.share([null])], row) == [1 - sum(expected)]


def test_what_can_hold_together_on_a_line_is_what_some_number_meets() -> None:
    """No number is below 3 and above 5; NULL meets no comparison."""
    field = Field("a", "quasi", "ordered", "integer", "INTEGER", ())
    box = Box("b", field, "interval", {}, step=Fraction(1))
    means = {"<": int.__lt__, ">=": int.__ge__, ">": int.__gt__, "=": int.__eq__}
    compared = [("<", 3), (">=", 3), (">", 5), ("=", 4)]
    tests = [ValueTest(i, "b", box.value, Comparison(i, op, Fraction(at))) for i, (op, at) in enumerate(compared)]
    tests.append(ValueTest(9, "b", box.value, Comparison(9, "null")))
    met = {frozenset(i for i, (op, at) in enumerate(compared) if means[op](value, at)) for value in range(10)}
    found = outcomes(box, tests)
    assert found is not None
    assert (set(found), len(found)) == (met | {frozenset({9})}, len(met) + 1)
