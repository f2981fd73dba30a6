"""Python and command-line arguments: the same spec and the same checks as a file."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon.column_spec import ColumnSpec
from sqlanon.errors import PolicyError
from sqlanon.policy import load, release
from sqlanon.spec import FormatSpec, MethodSpec, PrivacySpec, ReleaseSpec

ROLES: dict[str, Any] = {"source": "main.patients", "quasi": ["age", "zip"]}
BASE: dict[str, Any] = {**ROLES, "k": 3}
MISSING_K = (
    "k: is missing; Rows in a class, at least; 1 publishes rows as they are. Required, except with `maximize` (see "
    "`at_least`), with the format anatomy, and beside a requirement over a population."
)
DUAL: dict[str, Any] = {"max_loss": 0.3, "maximize": "k", "at_least": {"k": 2}}


def reported(**arguments: Any) -> list[str]:
    with pytest.raises(PolicyError) as raised:
        release(**{**(ROLES if arguments.get("maximize") else BASE), **arguments})
    return raised.value.problems


def test_the_smallest_call() -> None:
    assert release(source='"my schema".patients', quasi="age", k=1) == ReleaseSpec(
        name="patients", source='"my schema".patients', columns=(ColumnSpec("age", "quasi"),), privacy=PrivacySpec(k=1)
    )


def test_arguments_and_file_give_the_same_spec(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("1;a;*\n2;a;*\n")
    (tmp_path / "size.txt").write_text("S\nM\nL\n")
    (tmp_path / "anon.yml").write_text("""\
version: 1
releases:
  - name: r
    source: main.t
    publish: out.v
    publish_file: out.duckdb
    rest: drop
    rows_are: events
    persons: ignored
    readers: [anna, ben]
    dimensions: [regions, ref.sites]
    columns:
      age: {role: quasi, weight: 3}
      zip: {role: quasi, hierarchy: zip.csv}
      size: {role: quasi, ordered: size.txt}
      grade: {role: quasi, ordered: [1, 2, 3]}
      diagnosis: {role: sensitive, accept_unique: true}
      salary: sensitive
      name: {role: identifier, accept_repeats: true}
      cost: insensitive
    privacy: {k: 5, l: 5/2, distinct_l: 3, joint: yes}
    method: mondrian:variant=relaxed,cut=median
    format: {kind: ranges, mean: age}
    execution: kernel
    memory: 1GiB
    seed: 42
    refine: {window: 5, passes: 2, search: 3}
    key: [name, number]
    every: 24h
    keep: 5
    history: {max_failing: 0}
  - name: dual
    source: main.t
    publish: out.dual
    columns: {age: quasi, zip: quasi, diagnosis: sensitive}
    privacy: {max_loss: {per_class_ncp: 3/10}, max_extent: {zip: 0.5, age: 10}, maximize: l, at_least: {k: 2, l: 3}}
    refine: no
    refresh: {mode: full}
""")
    spec = release(
        source="main.t",
        quasi=["age", "zip", "size", "grade"],
        sensitive=("diagnosis", "salary"),
        identifiers="name",
        insensitive=["cost"],
        rest="drop",
        k=5,
        l=2.5,
        distinct_l=3,
        joint=True,
        hierarchies={"zip": tmp_path / "zip.csv"},
        ordered={"size": str(tmp_path / "size.txt"), "grade": [1, "2", 3]},  # type: ignore[list-item]
        weights={"age": 3},
        method={"name": "mondrian", "variant": "relaxed", "cut": "median"},
        mean="age",
        execution="kernel",
        memory=2**30,
        seed=42,
        refine={"window": 5, "passes": 2, "search": 3},
        rows_are="events",
        persons="ignored",
        accept_unique=["diagnosis"],
        accept_repeats=["name"],
        publish="out.v",
        publish_file=Path("out.duckdb"),
        readers=["anna", "ben"],
        dimensions=["regions", "ref.sites"],
        name="r",
        key=["name", "number"],
        every="1d",
        keep=5,
        max_failing=0,
    )
    dual = release(
        source="main.t",
        quasi=["age", "zip"],
        sensitive="diagnosis",
        max_loss=0.3,
        max_extent={"zip": Decimal("0.5"), "age": np.int64(10)},  # type: ignore[dict-item]
        maximize="l",
        at_least={"k": 2, "l": "3"},
        refine=False,
        publish="out.dual",
        name="dual",
    )
    assert load(tmp_path / "anon.yml", {}).releases == (spec, dual)


@pytest.mark.parametrize(
    ("given_l", "exact"),
    [
        (2.5, Fraction(5, 2)),
        (2.1, Fraction(21, 10)),
        ("7/3", Fraction(7, 3)),
        (Fraction(7, 3), Fraction(7, 3)),
        (Decimal("1.50"), Fraction(3, 2)),
        (3, Fraction(3)),
        (np.float64(2.1), Fraction(21, 10)),
        (np.int64(4), Fraction(4)),
    ],
)
def test_l_is_taken_by_its_decimal_text(given_l: Any, exact: Fraction) -> None:
    assert release(**BASE, sensitive="d", l=given_l).privacy.l == exact


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_every_fraction_is_exact(numerator: int, denominator: int) -> None:
    asked = Fraction(max(numerator, denominator), min(numerator, denominator))
    assert release(**BASE, sensitive="d", l=asked).privacy.l == asked if max(numerator, denominator) < 10**9 else True


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sensitive": "age"}, "sensitive: the column age is also listed in quasi; each column has one role"),
        (
            {"identifiers": ["x"], "insensitive": ["x"]},
            "insensitive: the column x is also listed in identifiers; each column has one role",
        ),
        ({"quasi": ["age", "age"]}, "quasi: the column age is listed twice; each column has one role"),
        ({"quasi": []}, "quasi: no quasi column; at least one column with the role quasi"),
        ({"quasi": [""]}, 'quasi[""]: a column without a name; a column\'s name'),
        ({"sensitive": 5}, "sensitive: not a list of columns; a column's name or a list of names"),
        ({"sensitive": ["a", 5]}, "sensitive: a column's name is not text; a column's name or a list of names"),
        (
            {"weights": {"agee": 2}},
            (
                "weights: the column agee has no role (did you mean age?); a column of quasi, sensitive, identifiers "
                "or insensitive"
            ),
        ),
        ({"weights": [("age", 2)]}, "weights: not a mapping; column: value pairs"),
        ({"weights": {"age": 0}}, "weights[age]: too small; a whole number from 1 to 1024"),
        ({"weights": {"age": True}}, "weights[age]: not a whole number; a whole number from 1 to 1024"),
        ({"weights": {"age": 1000, "zip": 25}}, "quasi: the weights sum to 1025; at most 1024 in all"),
        ({"sensitive": "d", "weights": {"d": 2}}, "weights[d]: the column is sensitive; weight is for quasi columns"),
        (
            {"insensitive": "d", "ordered": {"d": "alphabetical"}},
            "ordered[d]: the column is insensitive; ordered is for quasi and sensitive columns",
        ),
        ({"hierarchies": {"zip": "no.csv"}}, "hierarchies[zip]: no.csv: cannot be read (No such file or directory)"),
        (
            {"ordered": {"zip": ["a", "a"]}},
            (
                "ordered[zip]: a value is listed twice; alphabetical, declared, a list of different values, or a file "
                "with one value per line"
            ),
        ),
        (
            {"identifiers": "name", "accept_unique": "name"},
            (
                "accept_unique[name]: the column is identifier; accept_unique is for quasi, sensitive and insensitive "
                "columns"
            ),
        ),
        (
            {"accept_repeats": "nobody"},
            "accept_repeats: the column nobody has no role; a column of quasi, sensitive, identifiers or insensitive",
        ),
        ({"k": 0}, "k: too small; a whole number of at least 1"),
        ({"k": True}, "k: not a whole number; a whole number of at least 1"),
        ({"k": 2.5}, "k: not a whole number; a whole number of at least 1"),
        ({"k": None}, MISSING_K),
        ({"k": None, "sensitive": "d", "l": 3, "distinct_l": 2}, MISSING_K),
        ({"persons": "ignored"}, "persons: the rows are persons; persons goes with rows_are: events"),
        ({"persons": "some", "rows_are": "events"}, "persons: not a word known here; one of rows, whole, ignored"),
        (
            {"persons": "whole", "rows_are": "events"},
            "persons: persons: whole without person; name the column of the person: person: patient_id",
        ),
        ({"l": 2}, "l: no sensitive column; l needs a column with the role sensitive"),
        (
            {"sensitive": "d", "l": float("nan")},
            "l: not a number or fraction; a number of at least 1, such as 2.5 or 5/2",
        ),
        ({"sensitive": "d", "l": True}, "l: not a number or fraction; a number of at least 1, such as 2.5 or 5/2"),
        (
            {"sensitive": "d", "l": 2, "joint": True},
            "joint: fewer than two sensitive columns; joint needs two columns with the role sensitive",
        ),
        ({"k": 1, **DUAL}, "k: cannot be combined with maximize; put it under at_least"),
        ({"k": 3, **DUAL}, "k: cannot be combined with maximize; put it under at_least"),
        (
            {"k": True, **DUAL},
            [
                "k: not a whole number; a whole number of at least 1",
                "k: cannot be combined with maximize; put it under at_least",
            ],
        ),
        ({"sensitive": "d", "l": 3, **DUAL}, "l: cannot be combined with maximize; put it under at_least"),
        ({**DUAL, "max_loss": -0.1}, "max_loss: too small; a number of at least 0 and at most 1, such as 0.3 or 3/10"),
        (
            {**DUAL, "max_loss": "much"},
            "max_loss: not a number or fraction; a number of at least 0 and at most 1, such as 0.3 or 3/10",
        ),
        (
            {**DUAL, "max_loss": True},
            "max_loss: not a number or fraction; a number of at least 0 and at most 1, such as 0.3 or 3/10",
        ),
        (
            {**DUAL, "max_extent": {"agee": 3}},
            "max_extent[agee]: a column that is not listed (did you mean age?); quasi columns: age, zip",
        ),
        ({**DUAL, "max_extent": {5: 3}}, "max_extent[5]: a column that is not listed; quasi columns: age, zip"),
        (
            {**DUAL, "max_extent": {"age": float("inf")}},
            "max_extent[age]: not a number or fraction; a number of at least 0, such as 0.3 or 3/10",
        ),
        ({**DUAL, "max_extent": ["age"]}, "max_extent: a list is not allowed; key: value pairs, such as {age: 10}"),
        ({**DUAL, "maximize": "t"}, "maximize: not a word known here; one of k, l"),
        (
            {**DUAL, "maximize": None},
            [
                "max_loss: maximize is missing; max_loss goes with maximize: k or maximize: l",
                "at_least: maximize is missing; at_least goes with maximize: k or maximize: l",
            ],
        ),
        (
            {**DUAL, "max_loss": None},
            (
                "maximize: nothing bounds the loss; maximize goes with max_loss: {per_class_ncp: 0.3} or max_extent: "
                "{column: 10} or both"
            ),
        ),
        (
            {**DUAL, "at_least": None},
            "at_least: is missing; maximize: k needs the least k that is accepted, such as at_least: {k: 2}",
        ),
        ({**DUAL, "at_least": {"k": 2, "t": 0.1}}, "at_least[t]: unknown key; the keys here are k, l"),
        ({**DUAL, "at_least": {"k": 0}}, "at_least[k]: too small; a whole number of at least 1"),
        ({"presence": "disclosed"}, "presence: the format is ranges; presence: disclosed goes with the format anatomy"),
        ({"refine": {"window": 0}}, "refine[window]: too small; a whole number from 1 to 1000"),
        ({"refine": {"search": 1001}}, "refine[search]: too large; a whole number from 0 to 1000"),
        ({"requirements": 20}, "requirements: not a mapping; requirement: value pairs"),
        ({"refine": 20}, "refine: neither true nor false; true, false or key: value pairs"),
        ({"mean": ["age"], "k": 4}, "mean: k is below 5; means need k of at least 5"),
        (
            {"mean": ["agee"], "k": 5},
            "mean: a column that is not listed (did you mean age?); quasi columns without hierarchy: age, zip",
        ),
        (
            {"mean": "age", "k": 5, "format": "labels"},
            "mean: the format is labels: its columns are texts; means go with the format ranges",
        ),
        (
            {"format": "rangs"},
            "format: not a word known here (did you mean ranges?); one of ranges, labels, points, suppressed, anatomy",
        ),
        ({"format": {"kind": "ranges", "x": 1}}, "format[x]: unknown key; the keys here are kind, mean"),
        (
            {"method": "mondrian:cut"},
            (
                "method: its options cannot be read; a name, name:option=value,option=value, or a mapping with name "
                "and options"
            ),
        ),
        (
            {"method": "mondrian:=x"},
            (
                "method: its options cannot be read; a name, name:option=value,option=value, or a mapping with name "
                "and options"
            ),
        ),
        (
            {"method": {"name": "mondrian", "cut": []}},
            "method[cut]: a list is not allowed; one text, number, true or false",
        ),
        ({"rest": "ignore"}, "rest: not a word known here; one of error, drop, keep"),
        (
            {"source": ""},
            (
                "source: not the name of a table or view; table or schema.table, on Spark catalog.schema.table too; a "
                'part that holds a dot or a quote is double-quoted: schema."my.table"; or delta:PATH, '
                "iceberg:CATALOG/namespace.table, parquet:GLOB"
            ),
        ),
        (
            {"source": "a.b.c.d"},
            (
                "source: not the name of a table or view; table or schema.table, on Spark catalog.schema.table too; a "
                "part "
                'that holds a dot or a quote is double-quoted: schema."my.table"; or delta:PATH, '
                "iceberg:CATALOG/namespace.table, parquet:GLOB"
            ),
        ),
        ({"publish": "main.patients"}, "publish: the same name as the source; another view"),
        ({"name": ""}, "name: empty text; text"),
        ({"memory": "much"}, "memory: not a size; a size such as 4GB or 512MiB, or a number of bytes"),
        ({"seed": -1}, "seed: too small; a whole number of at least 0"),
        ({"readers": ["a", "a"]}, "readers: a name is listed twice; a name or a list of different names"),
        (
            {"key": "age"},
            (
                "key: the column age is quasi, so it is published; identifier or pseudonym columns, or columns that "
                "rest: drop leaves out"
            ),
        ),
        (
            {"key": "other", "rest": "keep"},
            "key: the column other is not listed, and rest: keep publishes it; identifier columns",
        ),
        ({"max_failing": 0}, "max_failing: without key the rows of two versions cannot be matched; together with key"),
        ({"max_failing": -1, "key": "id"}, "max_failing: too small; a whole number of at least 0"),
        ({"every": "24"}, "every: not a time span; a number with its unit: 30m, 24h, 7d or 2w"),
        ({"every": "0h"}, "every: too small; a number with its unit: 30m, 24h, 7d or 2w"),
        ({"keep": 0}, "keep: too small; a whole number of at least 1"),
        ({"expire": True}, "expire: the history of a lake table, and no key names one; leave it out"),
    ],
)
def test_one_problem(arguments: dict[str, Any], problem: str | list[str]) -> None:
    assert reported(**arguments) == ([problem] if isinstance(problem, str) else problem)


def test_every_problem_comes_at_once() -> None:
    problems = reported(
        k=0, sensitive=["age", "d"], weights={"d": 2, "q": 1}, format="x", mean="nobody", rest="x", method=""
    )
    assert [problem.split(":")[0] for problem in problems] == [
        "sensitive",
        "weights",
        "rest",
        "k",
        "method",
        "format",
        "weights[d]",
        "mean",
    ]


def test_method_and_format_defaults() -> None:
    spec = release(**BASE)
    assert spec.method == MethodSpec("tree", {})
    assert spec.format == FormatSpec("ranges", ())
    assert spec.publish is None


@pytest.mark.parametrize("call", ["run", "plan", "preview"])
def test_a_path_is_no_release(call: str) -> None:
    with sqlanon.connect("duckdb:///:memory:") as db, pytest.raises(PolicyError, match=r"this is a str; .*load_policy"):
        getattr(db, call)("anon.yml")
