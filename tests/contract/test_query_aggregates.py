"""The registry of aggregates against every consistent source of tiny tables.

Every form of every aggregate, alone, in quotients and under conditions and groups, is asked of small releases written
by hand; the engine computes it over each source that is consistent with the release. A new aggregate is tested with
its forms, and nothing is written here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from sqlanon.query.functions.aggregates import AGGREGATES, AggregateDefinition
from sqlanon.query.functions.definition import Form
from sqlanon.query.rewrite import solve_classes
from sqlanon.query.rewrite.aggregate_kinds import KINDS
from tests.contract.tiny_tables import CONDITIONS, Asked, Table, ask, drawn, keys_of
from tests.covering import seeds

ADDED = [one for one in AGGREGATES if one.adds]


def named(definition: AggregateDefinition) -> str:
    return definition.name


def forms_of(definition: AggregateDefinition, family: str) -> list[Form]:
    return [form for form in definition.asked if not form.engines or family in form.engines]


def written(rng: random.Random, form: Form, table: Table) -> str | None:
    """A form over columns of a table; None: the table has none of the kinds."""
    text = form.text.replace("{c}", "c")
    for at, kinds in enumerate(form.kinds):
        fitting = [name for name, kind in table.kinds.items() if kind in kinds]
        if not fitting:
            return None
        text = text.replace(("{x}", "{y}")[at], rng.choice(fitting))
    return text


def filtered(rng: random.Random, table: Table, text: str) -> str:
    """The aggregate, sometimes with a condition of its own."""
    if rng.random() < 0.6 or "WITHIN" in text or "median" in text or "quantile" in text:
        return text
    return f"{text} FILTER (WHERE {condition(rng, table)})"


def condition(rng: random.Random, table: Table, depth: int = 1, name: str = "") -> str:
    """A condition of one column, or AND and OR of several."""
    if depth and rng.random() < 0.4:
        parts = [condition(rng, table, depth - 1) for _ in range(2)]
        return f"({parts[0]} {rng.choice(['AND', 'OR'])} {parts[1]})"
    name = name or rng.choice([*table.kinds, "c", "d"])
    return rng.choice(CONDITIONS[{"c": "whole", "d": "letter"}.get(name) or table.kinds[name]]).format(x=name)


def run(db: Any, definition: AggregateDefinition, seed: str, tables: int, queries: int) -> Asked:
    """Random queries of every form of an aggregate."""
    rng, found = random.Random(seed), Asked()
    for form in forms_of(definition, db.engine.dialect):
        for _ in range(tables):
            with drawn(db, rng, form.kinds) as table:
                for _ in range(queries):
                    text = written(rng, form, table)
                    assert text is not None
                    ask(db, table, filtered(rng, table, text), where_of(rng, table), keys_of(rng, table), found)
    return found


def where_of(rng: random.Random, table: Table) -> str:
    return condition(rng, table) if rng.random() < 0.6 else ""


def ratios(db: Any, seed: str, tables: int, queries: int) -> Asked:
    """Random quotients of two aggregates that add up, and CASE around them."""
    rng, found = random.Random(seed), Asked()
    for _ in range(tables):
        with drawn(db, rng, ()) as table:
            for _ in range(queries):
                parts: list[str] = []
                while len(parts) < 2:
                    form = rng.choice([form for one in ADDED for form in forms_of(one, db.engine.dialect)])
                    text = written(rng, form, table)
                    parts += [] if text is None else [filtered(rng, table, text)]
                made = rng.choice(
                    [
                        "1.0 * {0} / nullif({1}, 0)",
                        "100.0 * {0} / nullif(count(*), 0)",
                        "1.0 * count(*) FILTER (WHERE {p}) / nullif(count(*), 0)",
                        "1.0 * count(*) FILTER (WHERE {p}) / nullif(count(*) FILTER (WHERE {q}), 0)",
                        "avg(CASE WHEN {p} THEN 1.0 ELSE 0.0 END)",
                        "sum(CASE WHEN {p} THEN 1 WHEN {q} THEN c ELSE 0 END)",
                        "CASE WHEN {0} > 2 THEN 1 ELSE 0 END",
                    ]
                ).format(*parts, p=condition(rng, table), q=condition(rng, table))
                ask(db, table, made, where_of(rng, table), keys_of(rng, table), found)
    return found


def test_every_kind_has_bounds() -> None:
    assert {one.kind for one in AGGREGATES} | {"rows", "distinct"} <= KINDS.keys()
    assert all(one.asked for one in AGGREGATES)


@pytest.mark.parametrize("definition", AGGREGATES, ids=named)
def test_bounds_hold_in_every_consistent_source(shared_db: Any, definition: AggregateDefinition) -> None:
    queries = 6 if definition.kind == "native" else 2  # many conditions leave rows uncertain, which these refuse
    found = run(shared_db, definition, definition.name, 1, queries)
    assert found.wrong == []
    assert found.answered > 0 or not forms_of(definition, shared_db.engine.dialect), found.refused


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("definition", AGGREGATES, ids=named)
def test_bounds_hold_in_every_consistent_source_of_many(shared_db: Any, definition: AggregateDefinition) -> None:
    found = run(shared_db, definition, f"{definition.name} many", 20, 8)
    assert found.wrong == []


@pytest.mark.parametrize("tables", [1, pytest.param(5, marks=pytest.mark.thorough)])
def test_bounds_of_quotients_and_cases_hold(shared_db: Any, tables: int) -> None:
    found = ratios(shared_db, "ratios", tables, 4)
    assert found.wrong == []
    assert found.answered > found.asked / 2, found.refused


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_many_quotients_and_cases_hold(shared_db: Any, seed: int) -> None:
    found = ratios(shared_db, f"ratios {seed}", 40, 10)
    assert found.wrong == []


def shares(db: Any, seed: str, tables: int, queries: int) -> Asked:
    """Random shares of rows, and counts, of classes that attain their ends; each condition asks one column."""
    rng, found = random.Random(seed), Asked()
    for _ in range(tables):
        with drawn(db, rng, (("whole", "text"), ("whole", "text")), attains=True) as table:
            for _ in range(queries):
                first, second = rng.sample([condition(rng, table, 0, name) for name in ("a", "b", "d")], 2)
                asked = rng.choice(
                    [
                        ("1.0 * count(*) FILTER (WHERE {0}) / nullif(count(*), 0)", "{1}"),
                        ("1.0 * count(*) FILTER (WHERE {0}) / nullif(count(*), 0)", ""),
                        ("count(*)", "{0} AND {1}"),
                        ("count(*)", "{0} OR NOT {1}"),
                        ("count(*) FILTER (WHERE {0})", "{1}"),
                    ]
                )
                texts = [text.format(first, second) for text in asked]
                ask(db, table, texts[0], texts[1], rng.choice([None, "d", "a", "b"]), found)
    return found


MIXED = [
    "({a} AND {d}) OR {b}",
    "{a} OR {d}",
    "({a} AND {b}) OR {a2}",
    "({a} AND {b}) OR ({a2} AND {b2})",
    "({a} AND {d}) OR ({b} AND {d2})",
    "({a} AND {d}) OR ({a2} AND {d2})",
    "({a} OR {d}) AND ({b} OR {d2})",
    "({a} AND {b} AND {d}) OR ({a2} AND {b2})",
]
"""Conditions on two columns with boxes, a and b, and an exact one."""


def grouped_by_conditions(db: Any, seed: str, tables: int, queries: int) -> Asked:
    """Random groups by conditions on one column, alone, in CASE, and two of them side by side."""
    rng, found = random.Random(seed), Asked()
    for _ in range(tables):
        with drawn(db, rng, [("decimal", "double"), ("decimal", "double", "whole", "date", "text")]) as table:
            for _ in range(queries):
                name, other = rng.sample("ab", 2)
                one, two = (condition(rng, table, 0, name) for _ in range(2))
                keys: list[Any] = [f"({one})", f"coalesce({one}, {two})", (f"({one})", f"{name} IS NULL")]
                keys += [f"CASE WHEN {one} THEN 1 WHEN {two} THEN 2 END", (f"CASE WHEN {one} THEN 1 END", f"({two})")]
                keys += [f"CASE WHEN c = 1 THEN 5 WHEN {one} THEN 1 ELSE 0 END", (f"({one})", "d")]
                aggregate = rng.choice(["count(*)", f"count({name})", f"min({name})", f"count({other})", "sum(c)"])
                ask(db, table, aggregate, where_of(rng, table), rng.choice(keys), found)
    return found


@pytest.mark.parametrize("seed", seeds(2))
def test_groups_by_conditions_hold(shared_db: Any, seed: int) -> None:
    found = grouped_by_conditions(shared_db, f"conditions {seed}", 1, 8)
    assert found.wrong == []
    assert found.answered > found.asked / 2, found.refused


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(2, 5))
def test_more_groups_by_conditions_hold(shared_db: Any, seed: int) -> None:
    found = grouped_by_conditions(shared_db, f"conditions {seed}", 20, 12)
    assert found.wrong == []


COUNTED = ("count(*)", "count(*)", "count(c)", "1.0 * count(*) FILTER (WHERE {}) / count(*)")


def mixed(db: Any, seed: str, tables: int, queries: int, aggregates: Sequence[str] = COUNTED) -> Asked:
    """Random counts and shares under conditions in which columns occur several times, and next to an exact column."""
    rng, found = random.Random(seed), Asked()
    for _ in range(tables):
        with drawn(db, rng, (("whole", "text"), ("whole", "text")), attains=True) as table:
            for _ in range(queries):
                words = {name: condition(rng, table, 0, name[0]) for name in ("a", "a2", "b", "b2", "d", "d2")}
                where = rng.choice(MIXED).format(**words)
                aggregate = rng.choice(aggregates)
                if "{}" in aggregate:
                    ask(db, table, aggregate.format(where), "", rng.choice([None, "d"]), found)
                else:
                    ask(db, table, aggregate, where, rng.choice([None, "d", "a", "b"]), found)
    return found


@pytest.mark.parametrize("seed", seeds(2))
def test_counts_of_mixed_conditions_are_as_narrow_as_possible(shared_db: Any, seed: int) -> None:
    found = mixed(shared_db, f"mixed {seed}", 2, 5)
    assert found.wrong == []
    assert found.wide == []
    assert found.cells > 5


def test_values_of_ranges_are_counted_next_to_rows_that_the_solver_counts(shared_db: Any) -> None:
    found = mixed(shared_db, "mixed values", 2, 4, ["count(*) + count(a) * 100", "count(b) - count(*)"])
    assert found.wrong == []
    assert found.cells > 5


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(2, 5))
def test_more_counts_of_mixed_conditions_are_as_narrow_as_possible(shared_db: Any, seed: int) -> None:
    found = mixed(shared_db, f"mixed {seed}", 20, 10)
    assert found.wrong == []
    assert found.wide == []


def test_beyond_its_limit_the_solver_is_not_used_and_the_text_says_so(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve_classes, "MOST_CLASSES", 0)
    found = mixed(shared_db, "mixed 0", 1, 3)
    assert found.wrong == []
    rng = random.Random("limit")
    with drawn(shared_db, rng, (("whole",), ("whole",)), attains=True) as table:
        text = f"SELECT count(*) AS n FROM {table.name} WHERE (a < 2 AND d = 'k') OR (b > 0 AND d = 'l')"
        answer = shared_db.query(text)
        assert answer.sql.startswith("-- bounds by closed forms, not by the exact solver: a condition cuts more than 0")
        assert not answer.rows[0]["n"].tight
        monkeypatch.undo()
        assert shared_db.query(text).rows[0]["n"].tight


@pytest.mark.parametrize("seed", seeds(2))
def test_counts_and_shares_of_two_columns_are_as_narrow_as_possible(shared_db: Any, seed: int) -> None:
    """Where classes attain their ends, each bound is reached by a consistent source: nothing narrower is sound."""
    found = shares(shared_db, f"shares {seed}", 3, 6)
    assert found.wrong == []
    assert found.wide == []
    assert found.cells > 10


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(2, 6))
def test_more_counts_and_shares_are_as_narrow_as_possible(shared_db: Any, seed: int) -> None:
    found = shares(shared_db, f"shares {seed}", 40, 10)
    assert found.wrong == []
    assert found.wide == []
