"""The search where more than k is asked: whatever is asked, verification finds it met, and no more is lost."""

from __future__ import annotations

import random
from typing import Any

import pytest

ASKED: dict[str, dict[str, Any]] = {
    "l": {"l": 2},
    "joint": {"l": "5/4", "joint": True, "sensitive": ["s", "r"]},
    "t": {"t": "0.3"},
    "recursive": {"recursive_cl": {"c": 3, "l": 2}},
    "alpha of a value": {"alpha": {"max": "0.6", "values": ["a"]}},
    "beta": {"beta": {"basic": "1/2"}},
    "entropy_l": {"entropy_l": 2},
    "persons rows": {"t": "0.4", "person": "pid", "persons": "rows"},
    "persons whole": {"l": "3/2", "person": "pid", "persons": "whole"},
    "weights": {"t": "0.3", "weights": {"x": 3}},
}


@pytest.fixture(scope="module")
def drawn() -> str:
    """Rows with NULLs, in which the sensitive value depends on x."""
    rng, rows = random.Random(9), []
    for at in range(160):
        x = rng.randint(0, 99)
        z = "NULL" if rng.random() < 0.05 else f"'{rng.choice('pqrst')}'"
        value = rng.choice("aaabc" if x < 50 else "abccc")
        rows.append(f"({at // 2}, {x}, {rng.randint(0, 9)}, {z}, '{value}', '{rng.choice('uvw')}')")
    return ", ".join(rows)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_search_keeps_what_is_asked_and_loses_no_more(shared_db: Any, drawn: str, asked: str) -> None:
    table = "annealed_" + asked.replace(" ", "_")
    shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    shared_db.engine.execute(
        f"CREATE TABLE {table} (pid integer, x integer, y integer, z varchar(1), s varchar(1), r varchar(1))"
    )
    shared_db.engine.execute(f"INSERT INTO {table} VALUES {drawn}")
    given = {"sensitive": "s", "identifiers": "pid", "insensitive": "r", **ASKED[asked]}
    if given["sensitive"] != "s":
        del given["insensitive"]
    if "person" not in given:
        given["accept_repeats"] = "pid"
    plain = shared_db.anonymize(table, quasi=["x", "y", "z"], k=4, **given)
    found = shared_db.anonymize(table, quasi=["x", "y", "z"], k=4, refine={"search": 40}, **given)
    assert found.report.verified
    assert all(one.satisfied for one in found.report.requirements)
    assert found.audit().satisfied
    if given.get("persons") != "whole":  # whose sum is over persons
        assert found.report.loss.gcp <= plain.report.loss.gcp + 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize("asked", [{"l": 2}, {"t": "0.3"}], ids=str)
def test_high_loses_no_more_than_normal(shared_db: Any, drawn: str, asked: dict[str, Any]) -> None:
    table = f"annealed_high_{next(iter(asked))}"
    shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    shared_db.engine.execute(
        f"CREATE TABLE {table} (pid integer, x integer, y integer, z varchar(1), s varchar(1), r varchar(1))"
    )
    shared_db.engine.execute(f"INSERT INTO {table} VALUES {drawn}")
    normal, high = (
        shared_db.anonymize(table, quasi=["x", "y", "z"], k=4, sensitive="s", rest="drop", effort=word, **asked).report
        for word in ("normal", "high")
    )
    assert high.verified
    assert high.loss.gcp <= normal.loss.gcp + 1e-12
    assert high.search["trials"] > normal.search["trials"]
