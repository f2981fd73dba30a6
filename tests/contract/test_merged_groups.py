"""Groups that are merged until their bounds are narrow: by hand, and by counts of the source."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from tests.contract.tiny_tables import plain_value


@pytest.fixture
def table(shared_db: Any) -> str:
    """A release of two clusters of ages, kinds, a cost with NULL, and dates."""
    rng, name = random.Random("merged"), f"t{random.Random('merged groups').randrange(10**9)}"
    if shared_db.engine.exists(shared_db.engine.target(name)):
        return name
    rows = [
        (
            rng.randint(20, 29) if i % 2 else rng.randint(50, 69),
            rng.choice("pqr"),
            rng.choice([None, 1, 2]),
            f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "xy"[i % 2],
        )
        for i in range(60)
    ]
    listed = ", ".join(
        f"({age}, '{kind}', {'NULL' if cost is None else cost}, DATE '{seen}', '{ill}')"
        for age, kind, cost, seen, ill in rows
    )
    run = shared_db.engine.execute
    run(f"CREATE TABLE {name} (age INTEGER, kind TEXT, cost INTEGER, seen DATE, ill TEXT)")
    run(f"INSERT INTO {name} VALUES {listed}")
    shared_db.anonymize(
        name,
        quasi=["age", "kind", "seen"],
        sensitive="ill",
        insensitive=["cost"],
        k=4,
        accept_unique=["cost"],
        name=name,
    )
    return name


@pytest.mark.cover
@pytest.mark.parametrize("percent", [30, 80])
@pytest.mark.parametrize("key", ["age", "kind", "seen", "cost", "floor(age / 5.0)"])
def test_merged_groups_are_narrow_and_hold_the_truth(shared_db: Any, table: str, key: str, percent: int) -> None:
    text = f"SELECT {key} AS g, count(*) AS n FROM {table} GROUP BY {key} ORDER BY 1"
    plain = shared_db.query(text)
    answer = shared_db.query(text, merge_narrow=percent)
    listed = [value for group in answer.merged for value in group]
    assert sorted(map(str, listed)) == sorted(str(row["g"]) for row in plain.rows)
    counted = dict(shared_db.engine.fetch(f"SELECT {key} AS g, count(*) FROM {table} GROUP BY 1"))
    truth = {plain_value(value): n for value, n in counted.items()}
    kept = [group for group in answer.merged if group != (None,)]
    if key != "kind":
        values = [value for group in kept for value in group]
        assert values == sorted(values)
    for row, group, certain in zip(answer.rows, answer.merged, answer.certain, strict=True):
        cell, n = row["n"], sum(truth.get(plain_value(value), 0) for value in group)
        assert cell.low <= n <= cell.high, (group, n)
        assert not certain or n > 0
        assert group == (None,) or len(kept) == 1 or cell.width <= percent / 100, group
        assert row["g"] == (group[0] if len(group) == 1 else f"{group[0]} .. {group[-1]}")


def test_clusters_are_found_and_their_bounds_are_no_sums_of_ends(shared_db: Any) -> None:
    """By hand: four rows from 23 to 31, four from 52 to 61; no class reaches into both."""
    db, name = shared_db, f"t{random.Random('clusters').randrange(10**9)}"
    cells = ", ".join(
        f"({age}, '{ill}')" for age, ill in zip((23, 25, 28, 31, 52, 55, 58, 61), "xyxyxyxy", strict=True)
    )
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {cells}) AS v(age, ill)")
    db.anonymize(name, quasi=["age"], sensitive="ill", k=4, accept_unique=["ill"], name=name)
    answer = db.query(f"SELECT age, count(*) AS n FROM {name} GROUP BY 1", merge_narrow=60)
    assert [row["age"] for row in answer.rows] == ["23 .. 31", "52 .. 61"]
    assert [(row["n"].low, row["n"].high, row["n"].width) for row in answer.rows] == [(4, 4, 0), (4, 4, 0)]
    assert answer.to_dict()["merged"] == [list(range(23, 32)), list(range(52, 62))]
    assert answer.to_dict()["rows"][0]["n"]["width"] == 0


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("SELECT count(*) AS n FROM {t}", "one term in GROUP BY"),
        ("SELECT age, kind, count(*) AS n FROM {t} GROUP BY 1, 2", "one term in GROUP BY"),
        ("SELECT count(*) AS n FROM {t} GROUP BY age", "one term in GROUP BY"),
        ("SELECT age, count(*) AS n FROM {t} GROUP BY age HAVING count(*) > 1", "without HAVING"),
        ("SELECT age, count(*) AS n FROM {t} GROUP BY age LIMIT 2", "without HAVING"),
        ("SELECT age, rank() OVER (ORDER BY count(*)) AS n FROM {t} GROUP BY age", "window"),
        ("SELECT age, count(*) AS n FROM {t} GROUP BY 1 UNION ALL SELECT 1, count(*) FROM {t}", "one SELECT"),
    ],
)
def test_other_queries_are_refused(shared_db: Any, table: str, asked: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        shared_db.query(asked.format(t=table), merge_narrow=50)


@pytest.mark.parametrize("percent", [0, -1, float("nan"), float("inf")])
def test_a_percentage_is_above_0(shared_db: Any, percent: float) -> None:
    with pytest.raises(PolicyError, match="merge_narrow"):
        shared_db.query("SELECT age, count(*) FROM t GROUP BY age", merge_narrow=percent)


def test_keys_without_constants_of_their_own_are_refused(shared_db: Any) -> None:
    """They are in no merged group, and are not counted as NULL."""
    name = f"t{random.Random('bytes').randrange(10**9)}"
    shared_db.engine.execute(f"CREATE TABLE {name} (age INTEGER, mark BYTEA)")
    shared_db.engine.execute(f"INSERT INTO {name} VALUES (20, 'a'), (25, 'b'), (30, NULL), (35, 'c')")
    shared_db.anonymize(name, quasi=["age"], insensitive=["mark"], k=4, accept_unique=["mark"], name=name)
    text = f"SELECT mark, count(*) AS n FROM {name} WHERE age < 30 GROUP BY mark"
    with pytest.raises(UnsupportedError, match="cannot be written as constants"):
        shared_db.query(text, merge_narrow=30)
