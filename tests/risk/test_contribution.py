"""What a column adds to the risk, against the definition counted row by row."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sqlanon.risk import contribution
from sqlanon.risk.contribution import measure_contributions
from tests.engines import create_table

KINDS = {"a": "INTEGER", "b_lo": "INTEGER", "b_hi": "INTEGER", "c": "VARCHAR(9)"}
KNOWN = {"a": ["a"], "b": ["b_lo", "b_hi"], "c": ["c"]}


def by_definition(rows, columns):
    """The highest and the mean risk of the rows, of those columns."""
    places = [list(KINDS).index(part) for column in columns for part in KNOWN[column]]
    shown = [tuple(row[place] for place in places) for row in rows]
    sizes = Counter(shown)
    risks = [1 / sizes[one] for one in shown]
    return max(risks), sum(risks) / len(risks)


@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(3))
def test_alone_and_left_out(shared_db, seed):
    draw = random.Random(seed)
    rows = [
        (draw.choice([None, 1, 2]), (low := draw.randrange(3)), low + draw.randrange(2), draw.choice(["x", "y"]))
        for _ in range(50)
    ]
    name = f"contribution{seed}"
    create_table(shared_db, name, KINDS, rows)
    table = shared_db.engine.relation(name).ref
    found = measure_contributions(shared_db.engine, table, KNOWN, len(rows))
    every = by_definition(rows, KNOWN)
    assert [one.column for one in found] == list(KNOWN)
    for one in found:
        without = by_definition(rows, [column for column in KNOWN if column != one.column])
        assert (one.alone.highest, one.alone.mean) == pytest.approx(by_definition(rows, [one.column]))
        assert one.added.highest == pytest.approx(every[0] - without[0])
        assert one.added.mean == pytest.approx(every[1] - without[1])


def test_one_column_and_none(shared_db, monkeypatch):
    create_table(shared_db, "contribution_one", {"a": "INTEGER"}, [(1,), (1,), (2,)])
    table = shared_db.engine.relation("contribution_one").ref
    (one,) = measure_contributions(shared_db.engine, table, {"a": ["a"]}, 3)
    assert (one.alone.highest, one.added.highest) == pytest.approx((1, 1 - 1 / 3))
    assert measure_contributions(shared_db.engine, table, {}, 3) is None
    monkeypatch.setattr(contribution, "MOST_NUMBERS", 2)
    assert measure_contributions(shared_db.engine, table, {"a": ["a"]}, 3) is None
