"""A process that makes a release of people and stops before a statement, to be killed there, or its server."""

from __future__ import annotations

import sys
from typing import Any

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.engines.spark import engine, opening
from sqlanon.errors import DatabaseError
from tests.safety.people import RELEASE


class Stopping(engine.SparkEngine):
    """Spark that stops before a statement of a name, says so, and goes on when it is given a line.

    Attributes:
        place: the statement's name.
        nth: which of them, of those since the table of the release was written: a run first reconciles what the one before has left.
        left: how many of them it still runs.
    """

    place, nth, left = "", 1, 0

    def _frame(self, statement: Statement | str) -> Any:
        if isinstance(statement, Statement) and statement.name == "publish/table":
            type(self).left = self.nth - 1
        if isinstance(statement, Statement) and statement.name == self.place:
            if not type(self).left:
                print("here", flush=True)
                sys.stdin.readline()
            type(self).left -= 1
        return super()._frame(statement)


def main(url: str, place: str, nth: str) -> None:
    """Release the people up to the nth statement of a name, once the rows are written; of ``recode`` up to the first.

    Where there are no people yet, a first generation is released before that.
    """
    engine.SparkEngine = Stopping  # type: ignore[misc]
    opening._TRIES = 3
    with sqlanon.connect(url) as db:
        if not db.engine.exists(db.engine.target("people")):
            write_people(db, 1)
            db.anonymize("people", **RELEASE)
            write_people(db, 2)
        Stopping.place, Stopping.nth, Stopping.left = (
            place,
            int(nth),
            1000 * (not place.startswith("recode/")),
        )
        try:
            db.anonymize("people", **RELEASE)
        except DatabaseError as error:
            print(f"ended: {error}", flush=True)
        else:
            print("done", flush=True)


def write_people(db: Any, generation: int) -> None:
    """See `tests.safety.people.write_people`, in Spark's SQL."""
    db.engine.execute("DROP TABLE IF EXISTS people")
    db.engine.execute(
        "CREATE TABLE people AS SELECT id, id % 7 AS age, IF(id % 2 = 0, 'm', 'f') AS sex, IF(id % 3 = 0, 'flu', 'cold') AS illness, "
        f"{generation} AS generation FROM range(1, {40 + generation + 1})"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
