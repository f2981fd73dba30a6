"""One session of Spark for a process of tests.

Its catalog is in memory, its event log is read by the tests of what it shows.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.engines import required
from tests.spark.small import settings


def pytest_itemcollected(item: pytest.Item) -> None:
    """A session takes as long to start as hundreds of other tests: what needs one is a thorough test."""
    if {"session", "connect_url"} & set(getattr(item, "fixturenames", ())):
        item.add_marker("thorough")


@pytest.fixture(autouse=True)
def _in_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are worked on by Spark, but in modules that say BROUGHT: it is Spark that is tested here."""
    if missing() is None and not getattr(request.module, "BROUGHT", False):
        from sqlanon.engines.spark.engine import SparkEngine

        monkeypatch.setattr(SparkEngine, "most_rows", 0)


def missing() -> str | None:
    """Why Spark cannot run here."""
    for package in ("pyspark", "pyarrow"):
        if not find_spec(package):
            return f"the package {package} is not installed"
    from sqlanon.engines.spark.open_session import explain_missing_java

    return explain_missing_java()


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session logs its events: the SQL and the plans of everything that runs."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def port() -> int:
    """Where the session serves Spark Connect."""
    return free_port()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def connect_url(session: Any, port: int) -> str:  # noqa: ARG001 - the server must be there
    """The URL of the session as a server of Spark Connect, whose catalog is the session's."""
    return f"sc://127.0.0.1:{port}/;accept_shared=true;temporary=true"


@pytest.fixture(scope="session")
def session(events: Path, port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session; skipped where Spark is missing, and a failure where it is required."""
    if reason := missing():
        (pytest.fail if required("spark") else pytest.skip)(f"spark: {reason}")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    own = settings(folder, port) | {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{events}",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # A task that fails is tried once more.
    builder = SparkSession.builder.master("local[2,2]").appName("tests")
    for key, value in own.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def run_apart(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own: Java serves one catalog on disk in each."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *words],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
