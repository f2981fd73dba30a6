"""Calculations and text over tiny releases against every consistent source, as the source's own engine answers them."""

from __future__ import annotations

import random
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import InfeasibleError
from tests.oracle import queries, sources
from tests.properties.strategies import FEW

TYPES = {"a": "INTEGER", "h": "TEXT", "d": "TEXT", "c": "INTEGER", "f": "DOUBLE PRECISION"}
KEYS = ([], [], ["h"], ["upper(h)"], ["upper(d)"], ["CASE WHEN h = 'éa' THEN 1 ELSE 0 END"])
TREE = "éa;é;*\néb;é;*\nÉa;É;*\n"


class Own:
    """The engine of a `Database`, asked as `sources.outcomes` asks a connection."""

    def __init__(self, db: Any) -> None:
        self._db = db

    def execute(self, query: str) -> Own:
        self._rows = self._db.engine.fetch(query)
        return self

    def fetchall(self) -> list[Any]:
        return self._rows


def table(rng: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """A random source."""
    return [
        (
            rng.choice([0, 1, 1, 2]),
            rng.choice(["éa", "éa", "éb", "Éa"]),
            rng.choice(["é", "É", "z", None]),
            rng.choice([-2, 1, 2, 4, None]),
            rng.choice([0.1, 0.2, 0.7, 1e15, -1e15]),
        )
        for _ in range(rows)
    ]


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "anatomy"])
@FEW
@given(seed=st.integers(0, 2**32))
def test_calculations_hold_for_every_consistent_source(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, seed: int
) -> None:
    rng = random.Random(seed)
    name = f"t{uuid.uuid4().hex[:12]}"
    load(shared_db, name, list(TYPES.items()), table(rng, rng.randint(3, 5)))
    tree = tmp_path / "h.csv"
    tree.write_text(TREE, encoding="utf-8")
    privacy = {"distinct_l": 2} if kind == "anatomy" else {"k": 2}
    hierarchies = {} if kind == "anatomy" else {"h": tree}
    try:
        shared_db.anonymize(
            name,
            quasi=["a", "h"],
            sensitive="d",
            insensitive=["c", "f"],
            accept_unique=["c", "d", "f"],
            format=kind,
            hierarchies=hierarchies,
            **privacy,
        )
    except InfeasibleError:
        return
    rows, facts = sources.read(shared_db, f"release.{name}")
    own = [fact for fact in facts if fact["column_name"]]
    if kind == "anatomy":
        parts = sources.ways_of_groups(rows, sources.rows_of(shared_db, f"release.{name}_sensitive"), own, "d")
    else:
        parts = sources.ways_of(rows, own, {"a": range(3)})
    names = [fact["column_name"] for fact in own]
    count = sources.enumerate_sources(side_by_side, TYPES, names, parts, 400)
    if count is None:
        return
    listed = side_by_side.execute("SELECT * EXCLUDE (part) FROM t").fetchall()
    shared_db.engine.execute("DROP TABLE IF EXISTS t")
    load(shared_db, "t", [("sid", "INTEGER"), *((n, TYPES[n]) for n in names)], listed)
    keys = rng.choice(KEYS)
    select = ", ".join(queries.CALCULATED.values())
    truth = sources.outcomes(Own(shared_db), select, "", keys)
    holds = sources.attaining(rows, facts, parts)
    consistent = frozenset(sid for sid in range(count) if holds(sid))
    truth = sources.only(truth, consistent)
    shown = [f"k{i}" for i in range(len(keys))]
    items = [f"{key} AS {short}" for key, short in zip(keys, shown, strict=True)]
    items += [f"{text} AS {short}" for short, text in queries.CALCULATED.items()]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    answer = shared_db.query(f"SELECT {', '.join(items)} FROM {name}{group}")
    asked = list(queries.CALCULATED)
    wrong = queries.problems(answer, truth, len(consistent), asked, shown, known=False, weighed=False, listed=True)
    exact = [
        f"{short} is said to be exact"
        for key, found in truth.items()
        for row in answer.rows
        if tuple(row[k] for k in shown) == key
        for i, short in enumerate(asked)
        if row[short].exact and {_number(values[i]) for values in found.values()} - {row[short].low}
    ]
    assert wrong + exact == [], (keys, rows)


def _number(value: Any) -> float | None:
    """A cell as answers hold it, where a decimal with a fraction is a double."""
    return None if value is None else float(value)


def load(db: Any, name: str, columns: list[tuple[str, str]], rows: list[tuple[Any, ...]]) -> None:
    """A table whose text has the collation of the database, as a user's has."""
    db.engine.execute(f"CREATE TABLE {name} ({', '.join(f'{n} {kind}' for n, kind in columns)})")
    db.engine.load_rows(db.engine.target(f"{name}_rows"), columns, rows)
    db.engine.execute(f"INSERT INTO {name} SELECT * FROM {name}_rows")
    db.engine.execute(f"DROP TABLE {name}_rows")
