"""Many clients at once: right answers, one version in each, and no memory that stays."""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from sqlanon.serve.server import Limits
from tests.serve.conftest import FILE, SERVER, Place, Running, make_place, serving

CLIENTS, LONG = 50, 10_000
GROWTH = 48 << 20
"""Bytes that a process may grow by after it has warmed up: an answer that stays, thousands of times, takes more."""


def resident() -> int:
    """Bytes of memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def ask(running: Running, number: int, asks: int) -> Counter[float]:
    """One client's asks; gives how often each answer came."""
    table, found = running.place.source, Counter[float]()
    with running.connect() as connection:
        for i in range(asks):
            if (number + i) % 3 == 0:
                rows = connection.execute(
                    f"SELECT count(*) AS n, n_low, n_high FROM {table} WHERE age < %s", [20 + (number + i) % 24]
                ).fetchall()
                ((n, low, high),) = rows
                assert low <= n <= high
            elif (number + i) % 3 == 1:
                ((n,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
                found[n] += 1
            else:
                assert connection.execute("SELECT relname FROM pg_class").fetchall() == [(table,)]
    return found


def load(running: Running, clients: int, asks: int) -> Counter[float]:
    """Clients at once; gives how often each answer came."""
    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(lambda number: ask(running, number, asks // clients), range(clients)), Counter[float]())


def check_load(place: Place, asks: int) -> None:
    with serving(place, limits=Limits(CLIENTS, of_user=CLIENTS)) as running:
        load(running, CLIENTS, 300)
        before = resident()
        begun = time.monotonic()
        found = load(running, CLIENTS, asks)
        seconds = time.monotonic() - begun
        assert set(found) == {60.0}
        assert sum(found.values()) >= asks // CLIENTS // 3 * CLIENTS
        assert resident() - before < GROWTH, f"{(resident() - before) >> 20} MiB after {asks} asks in {seconds:.0f} s"


@pytest.mark.thorough
def test_clients_at_once(file_running: Running) -> None:
    """Few of them; memory is measured by the long test alone."""
    found = load(file_running, 8, 24)
    assert set(found) == {60.0}
    assert file_running.server._shared.room.taken == 0


@pytest.mark.thorough
def test_ten_thousand_asks(place: Place) -> None:
    check_load(place, LONG)


def publish_meanwhile(place: Place, running: Running, times: int) -> set[tuple[float, ...]]:
    """All answers of readers while versions are published: total, and its parts."""
    stop, found = threading.Event(), set()

    def read() -> None:
        with running.connect() as connection:
            while not stop.is_set():
                rows = connection.execute(f"SELECT ill, count(*) FROM {place.source} GROUP BY ill").fetchall()
                found.add(tuple(sorted(n for _, n in rows)))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        for i in range(times):
            rows = f"SELECT age, ill, cost, note || '.{i}' FROM {place.source} WHERE note NOT LIKE '%.%'"
            place.owner.engine.execute(f"INSERT INTO {place.source} {rows}")
            place.again()
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    return found


def check_versions(place: Place, times: int) -> None:
    with serving(place) as running:
        found = publish_meanwhile(place, running, times)
        assert found <= {(20.0 * n,) * 3 for n in range(1, times + 2)}
        with running.connect() as connection:
            answer = connection.execute(f"SELECT count(*) FROM {place.source}").fetchone()
        assert answer == (60.0 * (times + 1),)
        line = [one for one in running.lines() if one["event"] == "ask"][-1]
        versions = {one["version"] for one in running.lines() if one["event"] == "ask" and "rows" in one}
        assert line["version"] == max(versions) == times + 1


def test_an_answer_is_of_one_version(tmp_path: Path) -> None:
    with ExitStack() as stack:
        check_versions(make_place(SERVER, tmp_path, stack), 2)


@pytest.mark.thorough
def test_a_file_that_is_put_in_place_anew_is_served_anew(tmp_path: Path) -> None:
    with ExitStack() as stack:
        check_versions(make_place(FILE, tmp_path, stack), 2)


def test_a_release_that_is_withdrawn_is_one_clear_error(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = make_place(SERVER, tmp_path, stack)
        running = stack.enter_context(serving(place))
        connection = stack.enter_context(running.connect())
        assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)
        place.owner.unpublish(place.source)
        for _ in range(2):
            with pytest.raises(psycopg.errors.UndefinedTable) as caught:
                connection.execute(f"SELECT count(*) FROM {place.source}")
            assert "release" in (caught.value.diag.message_hint or "")
        place.again()
        running.server._shared.asking._listed_at = -1e9  # as seconds later
        assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)
