"""Keys of groups of every kind against every consistent source of tiny tables.

A key is an expression like any other: columns with ranges and sets, their NULL, steps, CASE, parts of dates, and
several of these together. The engine groups each source that is consistent with a release by the same key.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.contract.test_query_aggregates import where_of
from tests.contract.tiny_tables import Asked, ask, drawn

ALONE = {
    "whole": [
        "{x}",
        "{x} IS NULL",
        "{x} > 1",
        "{x} % 2",
        "floor({x} / 2.0)",
        "CASE WHEN {x} > 1 THEN 'high' WHEN {x} IS NULL THEN 'none' ELSE 'low' END",
        "CASE WHEN {x} > 1 AND d = 'k' THEN 'both' WHEN c = 1 THEN d END",
        "CASE WHEN {x} BETWEEN 0 AND 1 THEN {x} ELSE c END",
        "coalesce({x}, 9)",
    ],
    "decimal": ["CASE WHEN {x} > 0.5 THEN 1 ELSE 0 END", "floor({x})", "{x} IS NULL"],
    "double": ["floor({x})", "floor({x} / 2.0) * 2", "CASE WHEN {x} > 0 THEN 'more' END", "{x} IS NULL"],
    "date": [
        "{x}",
        "date_trunc('month', {x})",
        "extract(year FROM {x})",
        "CASE WHEN {x} < DATE '2024-12-31' THEN 'before' ELSE 'then' END",
    ],
    "text": ["{x}", "CASE WHEN {x} IN ('p', 'q') THEN 'pq' ELSE {x} END", "upper({x})", "{x} || d"],
}
"""By the kind of a column, keys that read it, and exact columns beside it."""
STEPS_ALONE = ("decimal", "double")
"""Kinds without countable values, which are grouped by steps alone: other keys are refused."""
EXACT = ["c", "d", "CASE WHEN c = 1 THEN d END", "c % 2", "coalesce(c, -1)"]
DATES = [
    ("extract(year FROM {x})", "extract(month FROM {x})"),
    ("extract(year FROM {x})", "extract(isodow FROM {x})"),
    ("date_trunc('year', {x})", "{x}"),
]
"""Two keys of one column of dates."""
AGGREGATES = ["count(*)", "count(c)", "sum(c)", "max(c)", "count(*) FILTER (WHERE d = 'k')"]


def look(db: Any, kind: str, seed: str, tables: int, queries: int) -> Asked:
    """Random tables of a kind, grouped by each of its keys, by two of them, and with an exact one beside."""
    rng, found = random.Random(f"{kind} {seed}"), Asked()
    for _ in range(tables):
        with drawn(db, rng, ((kind,),)) as table:
            other = [text.format(x="b") for text in ALONE[table.kinds["b"]]]
            own = [text.format(x="a") for text in ALONE[kind]]
            listed = [(rng.choice(own),), (rng.choice(own), rng.choice(EXACT)), (rng.choice(own), rng.choice(other))]
            if kind == "date":
                listed.append(tuple(text.format(x="a") for text in rng.choice(DATES)))
            for keys in rng.sample(listed, min(queries, len(listed))):
                where = where_of(rng, table) if rng.random() < 0.5 else ""
                ask(db, table, rng.choice(AGGREGATES), where, keys, found)
    return found


@pytest.mark.parametrize("kind", ALONE)
def test_groups_by_keys_of_every_kind_hold_in_every_consistent_source(shared_db: Any, kind: str) -> None:
    found = look(shared_db, kind, "few", 1, 4)
    assert found.wrong == []
    assert found.answered > 0 or kind in STEPS_ALONE, found.refused


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("kind", ALONE)
def test_groups_by_many_keys_hold_in_every_consistent_source(shared_db: Any, kind: str) -> None:
    found = look(shared_db, kind, "many", 40, 4)
    assert found.wrong == []
    assert found.answered > 20, found.refused
