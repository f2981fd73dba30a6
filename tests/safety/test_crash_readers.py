"""Killed by SIGKILL at every stage while four readers look.

They see the last release or the next, whole, and no error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.people import VERSIONS, assert_tidy, is_whole
from tests.safety.test_crash import MAIN_STOPS, STOPS, Place, killed_at
from tests.safety.test_readers import Readers
from tests.safety.worker import read_file, run_beside_readers

SWAP = ("swap", 1)
"""The views point at the new version, and the transaction has not ended."""
AT = pytest.mark.parametrize(
    "stops", [MAIN_STOPS, pytest.param(STOPS, marks=pytest.mark.thorough)], ids=["main", "all"]
)


def wrong(answers: list[Any]) -> list[Any]:
    return [answer for answer in answers if isinstance(answer, str) or not is_whole(tuple(answer))]


def unhurried(read: Callable[[], Any]) -> Callable[[], Any]:
    """A reader that leaves others some of the machine."""

    def reading() -> Any:
        time.sleep(0.02)
        return read()

    return reading


@pytest.mark.thorough
@AT
def test_postgres(make_url, start, stops):
    import psycopg

    place = Place(make_url(SERVER))
    place.write()
    place.run()
    sessions = [psycopg.connect(place.url, autocommit=True) for _ in range(2)]
    third = psycopg.connect(place.url)

    def inside_a_transaction() -> Any:
        with third.transaction():
            return third.execute(VERSIONS).fetchone()

    def anew() -> Any:
        with psycopg.connect(place.url, autocommit=True) as fresh:
            return fresh.execute(VERSIONS).fetchone()

    reads = [lambda session=session: session.execute(VERSIONS).fetchone() for session in sessions]
    with Readers(*map(unhurried, (*reads, inside_a_transaction, anew))) as readers:
        for stage, nth in [*stops, SWAP]:
            killed_at(place, start, stage, nth)
            assert place.seen() == 1
        place.assert_next_run_works()
    for session in (*sessions, third):
        session.close()
    assert wrong(readers.answers) == []
    assert {answer[1] for answer in readers.answers} == {1, place.generation}


@pytest.mark.thorough
@AT
def test_duckdb_processes_of_the_published_file(make_url, start, context, tmp_path, stops):
    place = Place(make_url(FILE), tmp_path / "out.duckdb")
    place.arguments |= {"publish_file": str(place.file)}
    place.write()
    place.run()
    ended = context.Event()
    pipes = [start(read_file, str(place.file), VERSIONS, ended)[1] for _ in range(4)]
    for stage, nth in [*stops, ("replace", 1)]:
        killed_at(place, start, stage, nth)
        assert place.seen() == 1
    killed_at(place, start, "replaced")
    assert place.seen() == place.generation
    place.assert_next_run_works()
    ended.set()
    for pipe in pipes:
        answers = hear(pipe)
        assert wrong(answers) == []
        assert answers[-1][1] == place.generation


@pytest.mark.thorough
@AT
def test_duckdb_connections_of_the_killed_process(make_url, start, tmp_path: Path, stops):
    """They die with it: what they saw until then they wrote down."""
    place = Place(make_url(FILE))
    place.write()
    place.run()
    for stage, nth in [*stops, SWAP]:
        place.write()
        said = tmp_path / f"{stage}_{nth}"
        process, pipe = start(run_beside_readers, place.url, place.arguments, stage, nth, VERSIONS, str(said))
        assert hear(pipe) == "here"
        wait_for(lambda said=said: said.read_bytes().count(b"\n") > 20)
        kill(process)
        answers = [json.loads(line) for line in said.read_text().splitlines()]
        assert len(answers) > 20
        assert wrong(answers) == []
        assert {answer[1] for answer in answers} == {1}
        assert place.seen() == 1
    place.assert_next_run_works()
    with sqlanon.connect(place.url) as db:
        assert_tidy(db)
