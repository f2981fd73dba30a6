"""Classes that hold NULL beside values and show their ends, by brute force.

Every tiny class, and every source that what is published allows.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import duckdb
import pytest

from tests.oracle import queries, sources
from tests.oracle.attacks import Column, covers
from tests.oracle.divisions import partitions

VALUES = (None, 1, 2, 4)
TYPES = {"a": "INTEGER", "b": "INTEGER", "d": "TEXT", "c": "INTEGER"}
COUNTS = {
    "n": "count(*)",
    "na": "count(a)",
    "nf": "count(*) FILTER (WHERE a > 1)",
    "ng": "count(*) FILTER (WHERE a IS NULL OR a > 3)",
    "nh": "count(*) FILTER (WHERE coalesce(a, 3) = 3)",
    "sa": "sum(a)",
    "xa": "avg(a)",
    "ma": "min(a)",
    "xb": "max(a)",
    "sd": "sum(coalesce(a, 0) + c)",
    "da": "count(DISTINCT a)",
    "xe": "sum(CASE WHEN a < 3 THEN c ELSE NULL END)",
    "xf": "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)",
    "nk": "count(CASE WHEN a >= 2 THEN 1 END)",
}
WHERE = [
    "TRUE",
    "a IS NULL",
    "a IS NOT NULL",
    "a < 3",
    "NOT (a = 2)",
    "coalesce(a, 2) > 1",
    "a % 2 = 0",
    "a > 1 AND c > 1",
    "abs(a - 2) < 1 OR a IS NULL",
    "a IS DISTINCT FROM 4",
    "a + c > 3",
]
KEYS = [[], ["a"], ["a IS NULL"], ["coalesce(a, 2)"], ["floor(a / 2.0)"]]


def classes(rows: int) -> list[tuple[int | None, ...]]:
    """Every class of so many rows that has NULL and a value."""
    every = combinations_with_replacement(VALUES, rows)
    return [one for one in every if None in one and any(value is not None for value in one)]


def released(db: Any, rows: Sequence[Sequence[Any]], k: int, **more: Any) -> str:
    """Release rows of ``a`` (or ``a`` and ``b``), with a sensitive ``d`` and an insensitive ``c`` that counts them.

    Returns the name of the release.
    """
    name = f"e{uuid.uuid4().hex[:12]}"
    own = ["a", "b"][: len(rows[0])]
    made = [(*row, "xy"[i % 2], i) for i, row in enumerate(rows)]
    db.engine.load_rows(db.engine.target(name), [(n, TYPES[n]) for n in [*own, "d", "c"]], made)
    db.anonymize(name, quasi=own, sensitive="d", insensitive=["c"], accept_unique=["c", "d"], k=k, **more)
    return name


def check_class(db: Any, connection: duckdb.DuckDBPyConnection, values: tuple[int | None, ...], asked: int) -> None:
    """One class: what is published, and the answers of some queries against every source that it allows."""
    name = released(db, [(value,) for value in values], len(values))
    rows, facts = sources.read(db, f"release.{name}")
    known = [value for value in values if value is not None]
    assert {(row["a_lo"], row["a_hi"], row["a_null"]) for row in rows} == {(min(known), max(known), "some")}
    own = [fact for fact in facts if fact["column_name"]]
    parts = sources.ways_of(rows, own, queries.ANYTHING)
    count = sources.enumerate_sources(connection, TYPES, [fact["column_name"] for fact in own], parts)
    assert count is not None
    holds = sources.attaining(rows, facts, parts)
    consistent = frozenset(sid for sid in range(count) if holds(sid))
    assert consistent
    rng = random.Random(repr(values))
    for where, keys in [("TRUE", []), *rng.sample(list(product(WHERE, KEYS)), asked)]:
        known_here = [one for one in COUNTS if not (keys and ("coalesce" in COUNTS[one] or one == "xf"))]
        listed = {one: COUNTS[one] for one in dict.fromkeys(["ma", "xb", *rng.sample(known_here, 3)])}
        every = sources.outcomes(connection, ", ".join(listed.values()), f"WHERE {where}", keys)
        items = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        items += [f"{text} AS {short}" for short, text in listed.items()]
        group = " GROUP BY 1" if keys else ""
        text = f"SELECT {', '.join(items)} FROM {name} WHERE {where}{group}"
        answer = db.query(text)
        truth = sources.only(every, consistent)
        named = [f"k{i}" for i in range(len(keys))]
        found = queries.problems(answer, truth, len(consistent), list(listed), named, known=False)
        found += loose(answer, truth, len(consistent), list(listed), named)
        assert found == [], (found, text, values)
        if not keys and where == "TRUE":  # by no more than what is published
            cell = answer.rows[0]
            assert (cell["ma"].low, cell["xb"].high) == (min(known), max(known))
            assert not answer.unlisted_groups


def loose(answer: Any, truth: sources.Truth, count: int, names: list[str], keys: list[str]) -> list[str]:
    """Bounds that are called tight, and that no source reaches."""
    found = []
    for row in answer.rows:
        seen = truth.get(tuple(row[key] for key in keys), {})
        for i, name in enumerate(names):
            values = [own[i] for own in seen.values()] + [0 if name[0] in "nd" else None] * (count - len(seen))
            numbers = [float(value) for value in values if value is not None]
            cell = row[name]
            if cell.tight and numbers and (cell.low, cell.high) != pytest.approx((min(numbers), max(numbers))):
                found.append(f"{name}: [{cell.low}, {cell.high}] is not tight: [{min(numbers)}, {max(numbers)}]")
    return found


@pytest.mark.parametrize("values", [(None, 1), (None, 2, 4), (None, None, 1, 4)], ids=str)
def test_answers_hold_for_every_source(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, values: tuple[int | None, ...]
) -> None:
    check_class(shared_db, side_by_side, values, 3)


@pytest.mark.thorough
@pytest.mark.parametrize("values", [one for rows in (2, 3, 4) for one in classes(rows)], ids=str)
def test_answers_hold_for_every_source_of_every_class(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, values: tuple[int | None, ...]
) -> None:
    check_class(shared_db, side_by_side, values, 12)


def shown(rows: Sequence[Sequence[int | None]]) -> dict[str, Any]:
    """What a class publishes, by its definition."""
    found: dict[str, Any] = {}
    for name, cells in zip("ab", zip(*rows, strict=True), strict=False):
        known = [value for value in cells if value is not None]
        ends = (min(known), max(known)) if known else (None, None)
        state = "none" if len(known) == len(cells) else "some" if known else "all"
        found |= {f"{name}_lo": ends[0], f"{name}_hi": ends[1], f"{name}_null": state}
    return found


def fewest(rows: Sequence[Sequence[int | None]], published: Sequence[dict[str, Any]]) -> int:
    """The fewest published rows that fit what is known of a real person, by any of its columns."""
    columns = [Column(name, "number") for name in "ab"[: len(rows[0])]]
    return min(
        sum(all(covers("ranges", columns[i], row, person[i]) for i in known) for row in published)
        for person in rows
        for n in range(1, len(columns) + 1)
        for known in combinations(range(len(columns)), n)
    )


@pytest.mark.parametrize("k", [2, 3])
def test_a_person_has_k_candidates_whatever_the_classes_are(k: int) -> None:
    """Every table of up to six rows of one column, and four of two, in every division into classes of at least k."""
    tables: list[Sequence[Sequence[int | None]]] = [
        [(value,) for value in one] for rows in range(k, 7) for one in combinations_with_replacement((None, 1, 2), rows)
    ]
    tables += [
        one
        for rows in range(k, 5)
        for one in combinations_with_replacement(list(product((None, 1, 2), repeat=2)), rows)
    ]
    asked = 0
    for table in tables:
        for division in partitions(range(len(table)), lambda part: len(part) >= k):
            published = [shown([table[i] for i in part]) for part in division for _ in part]
            assert fewest(table, published) >= k, (table, division)
            asked += 1
    assert asked > 500


@pytest.mark.parametrize("method", ["tree", "mondrian"])
@pytest.mark.parametrize(
    "rows",
    [
        [(None,), (1,), (2,), (2,), (4,), (9,), (9,)],
        [(None, 1), (1, None), (2, 2), (None, None), (7, None), (8, 3), (None, 3), (8, 4)],
    ],
    ids=["one column", "two columns"],
)
def test_a_release_gives_k_candidates_and_attack_finds_no_fewer(shared_db: Any, rows: Any, method: str) -> None:
    name = released(shared_db, rows, 2, method=method)
    published = sources.rows_of(shared_db, f"release.{name}")
    assert any(row["a_null"] == "some" and row["a_lo"] is not None for row in published)
    least = fewest(rows, [dict(row) for row in published])
    assert least >= 2
    found = shared_db.attack(name).linkage
    assert min(one.fewest for one in found if not one.errors) == least
