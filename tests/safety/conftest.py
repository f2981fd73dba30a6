"""Processes to kill, databases that outlive a connection, and methods that do wrong."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ready
from tests.engines import ENGINES, TestEngine
from tests.safety.compaction import made

FILE, SERVER = ENGINES[1], ENGINES[2]

PATIENCE = 300.0
"""Seconds after which a test that waits fails: far more than any wait takes on a slow machine."""

Start = Callable[..., tuple[Any, Any]]
"""Starts a function of `worker` in a process of its own; gives the process and our end of its pipe."""


@cache
def forked() -> Any:
    """Processes are forked from one that has imported us and holds no database."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["tests.safety.preloaded"])
    return forks


@pytest.fixture(scope="session")
def context() -> Any:
    """See `forked`."""
    return forked()


@pytest.fixture
def start(context: Any) -> Iterator[Start]:
    """See `Start`; whatever still runs after the test is killed."""
    with ExitStack() as stack:

        def begin(target: Callable[..., None], *arguments: Any) -> tuple[Any, Any]:
            ours, theirs = context.Pipe()
            process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
            process.start()
            theirs.close()

            def end() -> None:
                process.kill()
                process.join()
                ours.close()

            stack.callback(end)
            return process, ours

        yield begin


def hear(pipe: Any) -> Any:
    """The next word of a worker."""
    assert pipe.poll(PATIENCE), "the worker said nothing"
    return pipe.recv()


def kill(process: Any) -> None:
    """SIGKILL, and wait until it is gone."""
    process.kill()
    process.join()


def wait_for(reached: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def make_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[TestEngine], str]]:
    """Makes empty databases that any process may open by URL; they go with the module."""
    directory: Path = tmp_path_factory.mktemp("databases")
    with ExitStack() as stack:

        def make(engine: TestEngine) -> str:
            url = ready(engine).fresh(directory)
            stack.callback(engine.drop, url)
            return url

        yield make


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, Path]:
    """A DuckDB file of one table: its URL and its path."""
    path = tmp_path / "x.duckdb"
    return made(path, "CREATE TABLE t AS SELECT range AS i FROM range(1000)"), path
