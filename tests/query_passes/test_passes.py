"""Fixtures of the passes: what each makes of a query, as text, and what that gives when it runs, against the source."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.query.rewrite.box_rows import box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import final_select
from sqlanon.query.rewrite.sums import sums
from tests.query_passes.people import load
from tests.query_passes.render import BLOCKS, Passes, collected, over_source, passes

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.sql"))
FIELDS = {"k1": "age", "k2": "sex"}


def blocks(path: Path) -> dict[str, str]:
    """The blocks of a fixture, by name."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name = line.removeprefix("-- ")
        if line.startswith("-- ") and name in BLOCKS:
            found[name] = []
        elif found:
            found[list(found)[-1]].append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


@pytest.fixture(scope="module")
def loaded(both_dbs: tuple[Any, ...]) -> dict[str, tuple[Any, Any, Any]]:
    """A database of every family with the source and its release."""
    return {db.engine.dialect: (db, *load(db)) for db in both_dbs}


def tree(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, read="duckdb")


def run(db: Any, block: exp.Expr) -> list[dict[str, Any]]:
    """The rows of a block on this engine, which may be another than the one that it was written for."""
    made = block.copy()
    for table in made.find_all(exp.Table):
        table.set("catalog", None)
        if table.db == "main":  # DuckDB's own name of it
            table.set("db", None)
    text = made.sql(dialect=db.engine.dialect)
    names = [item.alias_or_name for item in made.expressions] if isinstance(made, exp.Select) else []
    return [
        dict(zip(names, row, strict=True)) if names and "*" not in names else dict(enumerate(row))
        for row in db.engine.fetch(text)
    ]


def fields(made: Passes) -> dict[str, str]:
    return {box.id: box.field.name for box in made.bound.scope.boxes.values()}


def boxes_of(path: Path) -> dict[str, str]:
    """The source columns of a fixture's boxes: as its first line lists them."""
    first = path.read_text(encoding="utf-8").splitlines()[1]
    listed = first.removeprefix("-- boxes:").strip()
    return dict(part.split(" ") for part in listed.split(", ")) if listed else {}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_every_pass_makes_what_the_fixture_says(loaded: dict[str, tuple[Any, Any, Any]], path: Path) -> None:
    db, released, joinable = loaded["duckdb"]
    expected = blocks(path)
    made = passes(db.engine, expected["input"], released, joinable)
    assert fields(made) == boxes_of(path)
    for name, block in made.rendered().items():
        assert block.sql(dialect="duckdb", pretty=True, max_text_width=120) == expected[name], name


@pytest.mark.thorough
def test_passes_leave_what_they_were_given(loaded: dict[str, tuple[Any, Any, Any]]) -> None:
    """Every value is frozen, and what is made of it a second time is the same."""
    db, released, joinable = loaded["duckdb"]
    for path in FIXTURES:
        made = passes(db.engine, blocks(path)["input"], released, joinable)
        before = {name: block.sql(dialect="duckdb") for name, block in made.rendered().items()}
        rows = box_rows(made.bound.scope, made.plan)
        groups = sums(made.bound.scope, made.plan, rows)
        again = replace(made, rows=rows, groups=groups, final=final_select(made.bound, made.plan, rows, groups))
        for value in (made, again):
            assert {name: block.sql(dialect="duckdb") for name, block in value.rendered().items()} == before
        plan = collect(made.bound)
        assert collected(made.bound, plan).sql(dialect="duckdb") == before["collected"]
        for value in (
            made.query,
            made.bound,
            made.bound.scope,
            made.plan,
            made.plan.outputs,
            made.rows,
            made.final,
        ):
            with pytest.raises(FrozenInstanceError):
                value.text = ""  # type: ignore[union-attr]


def same(first: Any, second: Any) -> bool:
    if first is None or second is None or isinstance(first, str):
        return bool(first == second)
    return math.isclose(float(first), float(second), rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_what_is_read_means_the_same_over_the_source(
    loaded: dict[str, tuple[Any, Any, Any]], engine: str, path: Path
) -> None:
    """The passes that read the query lose nothing: parsed, bound and collected give the answer of the text itself."""
    db = loaded[engine][0]
    expected = blocks(path)
    truth = run(db, tree(expected["input"]))
    assert truth
    for name in ("parsed", "bound", "collected"):
        if "_loose" in expected[name]:
            continue
        found = run(db, over_source(tree(expected[name]), "people", boxes_of(path)))
        rows = [[list(row.values()) for row in rows] for rows in (truth, found)]
        if "ORDER BY" not in expected["input"]:
            rows = [sorted(one, key=str) for one in rows]
        assert len(rows[0]) == len(rows[1]), name
        for one, two in zip(*rows, strict=True):
            assert all(same(a, b) for a, b in zip(one, two, strict=True)), (name, one, two)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_what_is_written_bounds_the_source(loaded: dict[str, tuple[Any, Any, Any]], engine: str, path: Path) -> None:
    """Rows, sums and the last SELECT run over the release; their bounds hold what the text gives over the source."""
    db = loaded[engine][0]
    expected = blocks(path)
    rows, groups, last = (tree(expected[name]) for name in ("rows", "sums", "select"))
    counted = run(db, rows)
    assert all(not row["c0"] or row["p0"] for row in counted)
    assert all(0 <= float(row["s0"]) <= 1 for row in counted)
    assert all(float(row["s0"]) == 1 for row in counted if row["c0"])
    whole = last.copy()
    tables = [*rows.args["with_"].expressions, *groups.args["with_"].expressions]
    whole.set("with_", exp.With(expressions=[cte.copy() for cte in tables]))
    answer = run(db, whole)
    truth = run(db, tree(expected["input"]))
    bounded = [name.removesuffix("_undefined") for name in answer[0] if name.endswith("_undefined")]
    keys = [name for name in truth[0] if name not in bounded]
    certain = sum(bool(row["certain"]) for row in answer)
    assert certain <= len(truth)
    for row in truth:
        mine = [found for found in answer if all(same(found[key], row[key]) for key in keys)]
        if "LIMIT" in expected["input"] and not mine:
            continue
        (found,) = mine
        for name in bounded:
            low, high = found[f"{name}_low"], found[f"{name}_high"]
            if row[name] is None:
                assert found[f"{name}_undefined"] == 1
                continue
            assert low is None or float(low) <= float(row[name]) + 1e-9, (name, row, found)
            assert high is None or float(row[name]) <= float(high) + 1e-9, (name, row, found)
    for found in answer:
        if found["certain"]:
            assert any(all(same(found[key], row[key]) for key in keys) for row in truth)
