"""A lineage that an earlier version began.

Its classes hide the ends beside NULLs for good, and later ones show them.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.frozen.wards import FRESH, Rows, seen, spec_of, ward, write


def with_nulls(rows: Rows) -> Rows:
    """Every fifth patient has no age."""
    return {number: (None if number % 5 == 0 else row[0], *row[1:]) for number, row in rows.items()}


def test_old_classes_keep_their_cells_and_new_ones_show_ends(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, table = random.Random(9), f"ends_{next(FRESH)}"
    spec, source = spec_of(table, k=4, l=None), with_nulls(ward(draw, 20))
    write(shared_db, table, source)
    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.formats.ranges._has_ends_beside_null", lambda _: False)
        shared_db.run(spec)
    states = f"SELECT COUNT(*), COUNT(age_lo) FROM release.{table} WHERE age_null = 'some'"
    before = seen(shared_db, table)
    (old,) = shared_db.engine.fetch(states)
    assert old[0] > 0 == old[1]
    source |= {number + 100: row for number, row in with_nulls(ward(draw, 21)).items()}
    write(shared_db, table, source)
    report = shared_db.run(spec)
    assert report.lineage.published > 20
    assert not before - seen(shared_db, table)
    (both,) = shared_db.engine.fetch(states)
    assert both[0] - old[0] == both[1] > 0
    ages = {number: row[0] for number, row in source.items()}
    truth = sum(age is not None and age > 40 for age in ages.values())
    cell = shared_db.query(f"SELECT count(*) AS n FROM {table} WHERE age > 40").rows[0]["n"]
    assert cell.low <= truth <= cell.high
    beyond = shared_db.query(f"SELECT count(*) AS n FROM {table} WHERE age > 1000").rows[0]["n"]
    assert (beyond.low, beyond.high) == (0, old[0])
    assert all(one.failing == 0 for one in shared_db.history(table))
    assert not any(one.exceeded for one in shared_db.attack(table).linkage)
