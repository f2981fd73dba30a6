"""Queries over a release whose rows stay as they were published: bounds of the rows as published, and of the source."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest

from sqlanon.query.refusal import RefusedQueryError
from tests.covering import seeds
from tests.frozen.wards import patient, spec_of, ward, write

FRESH = count()


def test_a_class_that_rows_leave_attains_nothing(shared_db: Any) -> None:
    """Its box stays when the row goes that had an end of it."""
    table = f"ends_{next(FRESH)}"
    write(shared_db, table, ward(random.Random(1), 30))
    spec = spec_of(table, rows=60)
    shared_db.run(spec)
    metadata = f"SELECT published FROM release.{table}_metadata WHERE column_name = ''"
    assert "attained" not in shared_db.engine.fetch(metadata)[0][0]


@pytest.mark.parametrize("seed", seeds(20, 2))
def test_bounds_hold_for_the_source(shared_db: Any, seed: int) -> None:
    """Whatever came, went and changed since its rows were published."""
    draw, table = random.Random(seed), f"ask{seed}_{next(FRESH)}"
    spec, source = spec_of(table, rows=60), ward(draw, 30)
    write(shared_db, table, source)
    shared_db.run(spec)
    for number in draw.sample(sorted(source), 4):
        del source[number]
    for number in draw.sample(sorted(source), 6):
        source[number] = patient(draw)
    source |= {number: patient(draw) for number in range(100, 100 + draw.randrange(9))}
    write(shared_db, table, source)
    report = shared_db.run(spec).lineage
    for age in (0, 20, 45, 90):
        where = f"age < {age} AND ill = 'flu'"
        text = f"SELECT COUNT(*) AS n FROM {table} WHERE {where}"
        truth = shared_db.engine.fetch(text)[0][0]
        answer = shared_db.query(text, as_of_source=True)
        (cell,) = (row["n"] for row in answer.rows)
        assert cell.low <= truth <= cell.high
        assert not cell.tight
        published = shared_db.query(text).rows[0]["n"]
        assert (cell.low, cell.high) == (
            max(published.low - report.retained - report.stale, 0),
            published.high + report.stale + report.unpublished,
        )
        assert answer.unlike is not None
        assert (answer.unlike.retained, answer.unlike.stale) == (report.retained, report.stale)


def test_what_has_no_bounds_of_the_source(shared_db: Any) -> None:
    table = f"ask_{next(FRESH)}"
    write(shared_db, table, ward(random.Random(1), 20))
    shared_db.run(spec_of(table))
    for text in (
        "SELECT AVG(age) AS a FROM {}",
        "SELECT ill, COUNT(*) AS n FROM {} GROUP BY ill",
        "SELECT COUNT(DISTINCT ill) AS n FROM {}",
    ):
        with pytest.raises(RefusedQueryError, match="--as-of-source"):
            shared_db.query(text.format(table), as_of_source=True)
    union = f"SELECT 'none' AS ill UNION ALL SELECT ill FROM {table} GROUP BY ill"
    assert shared_db.query(union).unlike == shared_db.query(f"SELECT count(*) FROM {table}").unlike


@pytest.mark.thorough
def test_an_attack_says_why_rows_left_out_are_not_measured(shared_db: Any) -> None:
    """Nothing is gone: a frozen release never has a table that ties its rows to those of the source."""
    table = f"attacked_{next(FRESH)}"
    write(shared_db, table, ward(random.Random(1), 30))
    shared_db.run(spec_of(table, rows=60))
    (why,) = (line for line in shared_db.attack(table).not_measured if line.startswith("rows left out"))
    assert "gone" not in why
    assert "frozen release has no table" in why
