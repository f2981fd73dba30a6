"""NULL and ``*`` as any value: every row compared with every other in Python."""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import sqlanon
from sqlanon.risk import wildcard
from tests.engines import create_table

COLUMNS = {"a": "INTEGER", "b": "VARCHAR(9)", "c": "VARCHAR(9)"}
ROWS = [(1, "x", "*"), (None, "x", "*"), (1, "*", None), (2, "y", "*"), (2, None, "*")]


def fits(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(a in (None, "*") or b in (None, "*") or a == b for a, b in zip(one, other, strict=True))


def check(db: Any, rows: list[tuple[Any, ...]], threshold: float) -> Any:
    create_table(db, table := f"t_{uuid4().hex[:8]}", COLUMNS, rows)
    report = db.assess(table, threshold=threshold, null_is="wildcard")
    counts = [sum(fits(row, other) for other in rows) for row in rows]
    found = report.wildcard
    assert (found.smallest, found.unique_rows) == (min(counts), counts.count(1))
    assert found.highest == 1 / min(counts)
    assert found.average == pytest.approx(sum(1 / n for n in counts) / len(rows))
    assert found.above == pytest.approx(sum(1 / n > threshold for n in counts) / len(rows))
    assert found.optimistic
    assert found.highest <= report.prosecutor.highest
    return found


def test_by_hand(shared_db: Any) -> None:
    """Compatible with 3, 4, 3, 2 and 3 rows; the five rows are five classes where NULL and ``*`` are values."""
    found = check(shared_db, ROWS, 0.4)
    assert found.average == pytest.approx((1 / 3 + 1 / 4 + 1 / 3 + 1 / 2 + 1 / 3) / 5)
    assert found.above == 1 / 5


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_random_tables(shared_db: Any, seed: int) -> None:
    rng = random.Random(seed)
    values = (1, 2, 3, None), ("x", "y", "*", None), ("p", "q", "*")
    check(shared_db, [tuple(map(rng.choice, values)) for _ in range(3 + 5 * seed)], 0.2)


def test_both_ways_count_the_same() -> None:
    """By patterns of NULL, and pair by pair."""
    rng = np.random.default_rng(1)
    codes = np.unique(rng.integers(0, 4, (300, 5)), axis=0)
    n = rng.integers(1, 9, len(codes))
    masks, pattern = np.unique(codes != 0, axis=0, return_inverse=True)
    one = wildcard._by_pattern(codes, n, masks, pattern.ravel())
    assert (one == wildcard._by_pair(codes, n)).all()
    assert (one == wildcard.count_compatible(codes, n)).all()


@pytest.mark.thorough
def test_what_is_refused(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    create_table(shared_db, table := f"t_{uuid4().hex[:8]}", COLUMNS, ROWS * 2)
    with pytest.raises(sqlanon.PolicyError, match="null_is is value or wildcard"):
        shared_db.assess(table, null_is="anything")
    with pytest.raises(sqlanon.PolicyError, match="counts rows, not persons"):
        shared_db.assess(table, null_is="wildcard", identifiers=["c"])
    shared_db.anonymize(table, quasi="a", k=2, rest="drop", publish=f"release.{table}", name=table)
    with pytest.raises(sqlanon.PolicyError, match="is for tables of others"):
        shared_db.assess(f"release.{table}", null_is="wildcard")
    monkeypatch.setattr(wildcard, "MOST_KEYS", 4)
    with pytest.raises(sqlanon.UnsupportedError, match="5 combinations of quasi values are more than 4"):
        shared_db.assess(table, null_is="wildcard")
