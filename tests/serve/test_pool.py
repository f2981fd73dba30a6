"""What few serve all: no user has all of it, a wait ends with its time or its cancellation, and nothing is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from sqlanon.serve.catalog import database
from sqlanon.serve.pool import Pool
from sqlanon.serve.refusals import ServeError
from tests.serve.conftest import Running, turn

SLOW = "SELECT count(*) FROM generate_series(1, 1000000000000) AS a, pg_type AS b"
"""A question to the catalog that ends at its limit of time."""


class Things:
    """Numbers that are made and ended."""

    def __init__(self, most: int, stamp: list[int] | None = None) -> None:
        self.made, self.ended = 0, []
        of = [0] if stamp is None else stamp
        self.pool = Pool(self._make, self.ended.append, most, (KeyError,), lambda: of[0])

    def _make(self) -> int:
        self.made += 1
        return self.made


def test_one_user_never_has_all() -> None:
    pool = Things(3).pool
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(pool.take(turn()))
        with pytest.raises(ServeError, match="waited longer"), pool.take(turn(0.01)):
            pass
        stack.enter_context(pool.take(turn(0.01, "bea")))
        with pytest.raises(ServeError, match="waited longer"), pool.take(turn(0.01, "cid")):
            pass
        with pool.take(turn(0.01, "")):  # the server's own
            pass
    with Things(1).pool.take(turn(0.01)):
        pass


def test_a_thing_is_used_again_until_it_is_spoiled() -> None:
    things = Things(2)
    for error, made, ended in ((ValueError, 1, []), (KeyError, 1, [1]), (KeyboardInterrupt, 2, [1, 2])):
        with pytest.raises(error), things.pool.take(turn()):
            raise error
        assert (things.made, things.ended) == (made, ended)
    with things.pool.take(turn()):
        things.pool.retire()
        assert things.ended == [1, 2]
    assert things.ended == [1, 2, 3]
    things.pool.close()
    with pytest.raises(ServeError, match="stopping"), things.pool.take(turn()):
        pass


def test_things_of_another_stamp_are_ended_before_the_next_is_made() -> None:
    stamp = [0]
    things = Things(3, stamp)
    with things.pool.take(turn()):
        stamp[0] = 1
        with pytest.raises(ServeError, match="waited longer"), things.pool.take(turn(0.05, "bea")):
            pass
    assert things.ended == [1]
    with things.pool.take(turn()) as thing:
        assert thing == 2


def test_the_next_is_made_when_the_last_has_ended() -> None:
    """A DuckDB file that was put in place anew is not the new one while anybody has the old one open."""
    stamp, open_ = [0], set()

    def make() -> int:
        assert open_ <= {stamp[0]}
        open_.add(stamp[0])
        return stamp[0]

    def end(thing: int) -> None:
        time.sleep(0.05)
        open_.discard(thing)

    pool = Pool(make, end, 3, (), lambda: stamp[0])
    with ThreadPoolExecutor(1) as other:
        with pool.take(turn()):
            stamp[0] = 1
            asked = other.submit(lambda: pool.take(turn(user="bea")).__enter__())
            time.sleep(0.1)
        assert asked.result() == 1


def test_a_wait_ends_with_its_cancellation() -> None:
    pool = Things(1).pool
    waiting = turn()
    with pool.take(turn()):
        timer = threading.Timer(0.1, waiting.cancel.request)
        timer.start()
        with pytest.raises(ServeError, match="user request"), pool.take(waiting):
            pass
    with pool.take(turn(0.01)):
        pass


@pytest.fixture
def asking(running: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[psycopg.Connection]]:
    """Sessions of one user that ask slow questions to the catalog, which end by being cancelled alone."""
    monkeypatch.setattr(database, "SECONDS", 3600.0)
    with ExitStack() as stack:
        sessions = [stack.enter_context(running.connect()) for _ in range(5)]
        threads = [threading.Thread(target=answered, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        catalog = running.server._shared.catalog()
        while catalog._processes._users["ann"] < 3:
            assert all(thread.is_alive() for thread in threads)
            time.sleep(0.01)
        yield sessions
        for session in sessions:
            session.cancel_safe()
        for thread in threads:
            thread.join(600)  # less than the limit of such a question
            assert not thread.is_alive()


def answered(session: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled):
        session.execute(SLOW)


def test_slow_questions_to_the_catalog_hold_nobody_else_up_and_are_cancelled(
    running: Running, asking: list[psycopg.Connection]
) -> None:
    with psycopg.connect(running.url("bea", "other%20word")) as connection:
        assert connection.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)
    assert running.server._shared.catalog()._processes._users["ann"] == 3  # none of theirs has ended
    assert asking
