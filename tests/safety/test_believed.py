"""Trust of a run in others.

Examples are a method's statement on its own rows, a format that is gone, and a batch of statements that fails.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.methods.base import Assignment
from sqlanon.table.scratch import Scratch
from tests.declared import declare
from tests.engines import create_table


class Careless:
    """Divides equal rows by their place in the source, and states that it divides none."""

    def refusal(self, _: object) -> None:
        """It takes everything."""

    def describe(self) -> str:
        """Its name."""
        return "careless"

    def assign(self, context: Any) -> Assignment:
        """Every four rows along the first column are a class."""
        made, work = context.scratch.table("assign"), context.encoded.work.name
        code = context.encoded.quasi[0].code
        context.scratch.engine.execute(
            f'CREATE TEMPORARY TABLE "{made.name}" AS SELECT rid, '
            f'CAST(FLOOR((ROW_NUMBER() OVER (ORDER BY "{code}", rid) - 1) / 4) AS INTEGER) AS class FROM "{work}"'
        )
        return Assignment(made, "kernel", divided=False)


def test_rows_of_equal_codes_are_divided_by_the_keyed_hash(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows in another order give the same classes, whatever the method states."""
    declare(monkeypatch, "careless", Careless)
    found = []
    for name, order in (("up", range(12)), ("down", reversed(range(12)))):
        create_table(db, name, {"q": "INTEGER", "c": "INTEGER"}, [(row // 6, row) for row in order])
        db.anonymize(
            name,
            quasi="q",
            insensitive="c",
            accept_unique="c",
            k=3,
            method="careless",
            name="same",
            publish="release.same",
            allow_weaker=True,
        )
        rows = db.engine.fetch("SELECT q_lo, q_hi, c FROM release.same")
        found.append(sorted(map(str, rows)))
        assert {row[:2] for row in rows} == {(0, 0), (0, 1), (1, 1)}
    assert found[0] == found[1]


def test_a_format_that_is_gone_stops_no_other_release(db: Any) -> None:
    create_table(db, "one", {"q": "INTEGER", "s": "TEXT"}, [(row, "ab"[row % 2]) for row in range(12)])
    create_table(db, "two", {"q": "INTEGER", "s": "TEXT"}, [(row, "ab"[row % 2]) for row in range(12)])
    db.anonymize("one", quasi="q", sensitive="s", k=3)
    (row,) = db.engine.fetch("SELECT policy FROM _sqlanon.catalog")
    kept = json.loads(str(row[0]))
    kept["format"]["kind"] = "gone"
    db.engine.execute(f"UPDATE _sqlanon.catalog SET policy = '{json.dumps(kept)}'")
    assert db.anonymize("two", quasi="q", sensitive="s", k=3).report.verified
    db.unpublish("one")
    assert not db.engine.exists(db.engine.target("release.one"))


def test_a_batch_that_fails_leaves_no_scratch_table(db: Any) -> None:
    made: list[Any] = []

    def failing() -> None:
        with Scratch(db.engine) as scratch:
            made.append(scratch.table("stage"))
            create = f'CREATE TEMPORARY TABLE "{made[0].name}" AS SELECT 42 AS raw'
            scratch.execute_all([Statement("made", create)])
            with scratch.together():
                scratch.execute_all([Statement("fails", "SELECT * FROM nowhere_at_all")])
                scratch.drop(made[0])

    with pytest.raises(sqlanon.DatabaseError):
        failing()
    assert not db.engine.exists(made[0])
