"""A process that makes a release of people and stops at a place, to be killed there, or its server."""

from __future__ import annotations

import sys
from typing import Any

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.engines.spark import engine, open_session
from sqlanon.errors import DatabaseError
from sqlanon.progress import SilentProgress
from tests.safety.people import RELEASE


class Places(SilentProgress):
    """Where a run is: stops at the first place of its words that comes, says so, and goes on when it is given a line.

    The words are places one after the other, each counted from the one before: ``snapshot`` and other stages begin, a
    statement such as ``publish/view`` is about to be sent.
    """

    words: tuple[str, ...] = ()

    def stage(self, release: str, stage: str) -> None:
        """See `Progress.stage`."""
        self.at(stage)

    def at(self, place: str) -> None:
        """The run is at a place."""
        if not self.words or place != self.words[0]:
            return
        Places.words = self.words[1:]
        if not self.words:
            print("here", flush=True)
            sys.stdin.readline()


class Stopping(engine.SparkEngine):
    """Spark that says which statement it is about to send."""

    def _frame(self, statement: Statement | str) -> Any:
        if isinstance(statement, Statement):
            PLACES.at(statement.name)
        return super()._frame(statement)


PLACES = Places()


def main(url: str, *words: str) -> None:
    """Release the people up to a place.

    Before the words of the place there may be ``in-database``: rows are then not worked on in memory of this process.
    Where there are no people yet, a first generation is released before that.
    """
    engine.SparkEngine = Stopping  # type: ignore[misc]
    open_session._TRIES = 3
    if words[0] == "in-database":
        engine.SparkEngine.most_rows, words = 0, words[1:]
    with sqlanon.connect(url, progress=PLACES) as db:
        if not db.engine.exists(db.engine.target("people")):
            write_people(db, 1)
            db.anonymize("people", **RELEASE)
            write_people(db, 2)
        Places.words = words
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
        "CREATE TABLE people AS SELECT id, id % 7 AS age, IF(id % 2 = 0, 'm', 'f') AS sex, IF(id % 3 = 0, 'flu', "
        f"'cold') AS illness, {generation} AS generation FROM range(1, {40 + generation + 1})"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
