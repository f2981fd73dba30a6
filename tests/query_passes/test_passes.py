"""What each pass makes of a query is run, on every engine, and compared with the query over the source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.query.rewrite.box_rows import box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import final_select
from sqlanon.query.rewrite.sums import sums
from tests.query_passes.people import load
from tests.query_passes.queries import QUERIES
from tests.query_passes.render import collected, over_source, passes

Loaded = dict[str, tuple[Any, Any, Any]]
Blocks = Mapping[str, Mapping[str, exp.Expr]]


@pytest.fixture(scope="module")
def loaded(both_dbs: tuple[Any, ...]) -> Loaded:
    """A database of every family with the source and its release."""
    return {db.engine.dialect: (db, *load(db)) for db in both_dbs}


@pytest.fixture(scope="module")
def made_blocks(loaded: Loaded) -> Blocks:
    """The SQL of every pass, by query, as it is read again from its text."""
    db, released, joinable = loaded["duckdb"]
    made = {name: passes(db.engine, asked.text, released, joinable).rendered() for name, asked in QUERIES.items()}
    return {
        name: {title: tree(block.sql(dialect="duckdb")) for title, block in blocks.items()}
        for name, blocks in made.items()
    }


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


@pytest.mark.parametrize("name", QUERIES)
def test_boxes_are_those_of_the_columns_that_need_them(loaded: Loaded, name: str) -> None:
    db, released, joinable = loaded["duckdb"]
    made = passes(db.engine, QUERIES[name].text, released, joinable)
    assert {box.id: box.field.name for box in made.bound.scope.boxes.values()} == QUERIES[name].boxes


@pytest.mark.thorough
def test_passes_leave_what_they_were_given(loaded: Loaded) -> None:
    """Every value is frozen, and what is made of it a second time is the same."""
    db, released, joinable = loaded["duckdb"]
    for asked in QUERIES.values():
        made = passes(db.engine, asked.text, released, joinable)
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
@pytest.mark.parametrize("name", QUERIES)
def test_what_is_read_means_the_same_over_the_source(
    loaded: Loaded, made_blocks: Blocks, engine: str, name: str
) -> None:
    """The passes that read the query lose nothing: parsed, bound and collected give the answer of the text itself."""
    db = loaded[engine][0]
    asked, blocks = QUERIES[name], made_blocks[name]
    truth = run(db, tree(asked.text))
    assert truth
    for title in ("parsed", "bound", "collected"):
        if any(column.table == "_loose" for column in blocks[title].find_all(exp.Column)):
            continue
        found = run(db, over_source(blocks[title], "people", asked.boxes))
        rows = [[list(row.values()) for row in rows] for rows in (truth, found)]
        if "ORDER BY" not in asked.text:
            rows = [sorted(one, key=str) for one in rows]
        assert len(rows[0]) == len(rows[1]), title
        for one, two in zip(*rows, strict=True):
            assert all(same(a, b) for a, b in zip(one, two, strict=True)), (title, one, two)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("name", QUERIES)
def test_what_is_written_bounds_the_source(loaded: Loaded, made_blocks: Blocks, engine: str, name: str) -> None:
    """Rows, sums and the last SELECT run over the release; their bounds hold what the text gives over the source."""
    db = loaded[engine][0]
    asked = QUERIES[name]
    rows, groups, last = (made_blocks[name][title] for title in ("rows", "sums", "select"))
    counted = run(db, rows)
    assert all(not row["c0"] or row["p0"] for row in counted)
    assert all(0 <= float(row["s0"]) <= 1 for row in counted)
    assert all(float(row["s0"]) == 1 for row in counted if row["c0"])
    whole = last.copy()
    tables = [*rows.args["with_"].expressions, *groups.args["with_"].expressions]
    whole.set("with_", exp.With(expressions=[cte.copy() for cte in tables]))
    answer = run(db, whole)
    truth = run(db, tree(asked.text))
    bounded = [item.removesuffix("_undefined") for item in answer[0] if item.endswith("_undefined")]
    keys = [item for item in truth[0] if item not in bounded]
    certain = sum(bool(row["certain"]) for row in answer)
    assert certain <= len(truth)
    for row in truth:
        mine = [found for found in answer if all(same(found[key], row[key]) for key in keys)]
        if "LIMIT" in asked.text and not mine:
            continue
        (found,) = mine
        for item in bounded:
            low, high = found[f"{item}_low"], found[f"{item}_high"]
            if row[item] is None:
                assert found[f"{item}_undefined"] == 1
                continue
            assert low is None or float(low) <= float(row[item]) + 1e-9, (item, row, found)
            assert high is None or float(row[item]) <= float(high) + 1e-9, (item, row, found)
    for found in answer:
        if found["certain"]:
            assert any(all(same(found[key], row[key]) for key in keys) for row in truth)
