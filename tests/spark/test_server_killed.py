"""A server of Spark Connect that is killed during a run.

One error, and the next server's readers have a whole version.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.spark.conftest import free_port, missing
from tests.spark.test_kill import SWAPPED, assert_next_run

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def process(module: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """A module of these tests as a process with what it starts, killed at the end."""
    command = [sys.executable, "-W", "ignore", "-m", f"tests.spark.{module}", *map(str, words)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    ) as started:
        try:
            yield started
        finally:
            kill(started)


def kill(started: subprocess.Popen[str]) -> None:
    """At once, with what it has started."""
    try:
        os.killpg(started.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    started.wait()


def line(started: subprocess.Popen[str]) -> str:
    """The next line that it prints."""
    assert started.stdout is not None
    return started.stdout.readline().rstrip("\n")


@pytest.mark.skipif(missing() is not None, reason="Spark is not here")
def test_the_server_is_killed(tmp_path: Path) -> None:
    """When readers have the new version already, and the catalog does not say so yet."""
    port = free_port()
    url = f"sc://127.0.0.1:{port}/;accept_shared=true"
    with process("server", tmp_path, port) as server:
        assert line(server) == "ready"
        with process("killed", url, *SWAPPED) as client:
            assert line(client) == "here"
            kill(server)
            assert client.stdin is not None
            client.stdin.write("\n")
            client.stdin.flush()
            assert "the session or its server is gone; connect again, and run again" in line(client)
            assert client.wait() == 0
            assert line(client) == ""
    with process("server", tmp_path, port) as server:
        assert line(server) == "ready"
        assert_next_run(url)
