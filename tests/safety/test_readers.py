"""Readers see the old release or the new one, whole, while runs replace it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import sqlanon
from tests.safety.conftest import FILE, SERVER, hear
from tests.safety.people import RELEASE, ROWS, VERSIONS, assert_tidy, is_whole, write_people
from tests.safety.worker import read_file

RUNS = 5
CHANGES = {
    "same_columns": [{}] * RUNS,
    "changed_columns": [
        {"format": "labels"},
        {"format": "points"},
        {"mean": "age", "k": 5},
        {"quasi": "age", "rest": "drop"},
        {},
    ],
}
WIDE = "SELECT count(*), min(generation), max(generation), count(DISTINCT r) FROM release.people AS r"


class Readers:
    """Threads that read before the block, over and over in it, and after it; every answer is kept, an error too."""

    def __init__(self, *reads: Any) -> None:
        self.answers: list[Any] = []
        self._end = threading.Event()
        self._begun = [threading.Event() for _ in reads]
        self._threads = [
            threading.Thread(target=self._loop, args=each) for each in zip(reads, self._begun, strict=True)
        ]

    def _loop(self, read: Any, begun: threading.Event) -> None:
        last = False
        while True:
            try:
                self.answers.append(read())
            except Exception as error:  # noqa: BLE001 - any error is a finding
                self.answers.append(f"{type(error).__name__}: {error}")
            begun.set()
            if last:
                break
            last = self._end.wait(0.005)  # the run needs the interpreter as well

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        for begun in self._begun:
            begun.wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()


def runs(db: Any, changes: list[dict[str, Any]], **more: Any) -> None:
    for generation, change in enumerate(changes, 1):
        write_people(db.engine, generation)
        db.anonymize("people", allow_weaker=True, **RELEASE | change | more)


def first(db: Any, **more: Any) -> None:
    write_people(db.engine, 0)
    db.anonymize("people", **RELEASE | more)


def check(answers: list[Any]) -> None:
    """Nothing but whole generations, in order of time for any one reader, and more than one of them."""
    wrong = [answer for answer in answers if isinstance(answer, str) or not is_whole(answer[:3])]
    assert not wrong, wrong[:3]
    assert len({answer[1] for answer in answers}) > 1, len(answers)


@pytest.mark.parametrize("change", CHANGES)
def test_postgres(make_url, change):
    import psycopg

    url = make_url(SERVER)
    with sqlanon.connect(url) as db, psycopg.connect(url, autocommit=True) as one, psycopg.connect(url) as two:
        two.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        first(db)

        def single() -> Any:
            return one.execute(VERSIONS).fetchone()

        def inside_a_transaction() -> Any:
            with two.transaction():
                return two.execute(WIDE).fetchone()

        def anew() -> Any:
            with psycopg.connect(url, autocommit=True) as fresh:
                return fresh.execute(VERSIONS).fetchone()

        with Readers(single, inside_a_transaction, anew) as readers:
            runs(db, CHANGES[change])
        check(readers.answers)
        assert_tidy(db)


@pytest.mark.thorough
def test_postgres_query_in_the_middle(make_url):
    """A reader in the middle of a result keeps its version; the run waits a little for it, and then swaps."""
    import psycopg

    url = make_url(SERVER)
    with sqlanon.connect(url) as db, psycopg.connect(url) as reader:
        first(db)
        seen: list[Any] = []

        def finish() -> None:
            seen.extend(cursor.fetchall())
            reader.rollback()

        with reader.cursor("slow") as cursor:
            cursor.itersize = 1
            cursor.execute("SELECT generation FROM release.people")
            seen.append(cursor.fetchone())
            timer = threading.Timer(2, finish)
            timer.start()
            runs(db, [{}])
            timer.join()
        assert seen == [(0,)] * ROWS
        assert db.engine.fetch(VERSIONS) == [(ROWS + 1, 1, 1)]


@pytest.mark.parametrize("change", CHANGES)
def test_duckdb_connections_of_one_process(make_url, change):
    url = make_url(FILE)
    with sqlanon.connect(url, threads=1) as db:
        first(db)
        one, two = db.engine._connection.cursor(), db.engine._connection.cursor()

        def inside_a_transaction() -> Any:
            two.execute("BEGIN TRANSACTION")
            try:
                before = two.execute(VERSIONS).fetchone()
                assert two.execute(VERSIONS).fetchone() == before
                return before
            finally:
                two.execute("ROLLBACK")

        with Readers(lambda: one.execute(VERSIONS).fetchone(), inside_a_transaction) as readers:
            runs(db, CHANGES[change])
        check(readers.answers)
        assert_tidy(db)


@pytest.mark.thorough
def test_duckdb_processes_of_another_file(make_url, start, context, tmp_path):
    url, file = make_url(FILE), tmp_path / "out.duckdb"
    with sqlanon.connect(url) as db:
        first(db, publish_file=str(file))
        ended = context.Event()
        pipes = [start(read_file, str(file), VERSIONS, ended)[1] for _ in range(2)]
        runs(db, CHANGES["same_columns"][:5], publish_file=str(file))
        ended.set()
        for pipe in pipes:
            answers = hear(pipe)
            assert not [a for a in answers if isinstance(a, str) or not is_whole(a)]
            assert answers[-1][1] == 5
        assert_tidy(db)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.duckdb"]
