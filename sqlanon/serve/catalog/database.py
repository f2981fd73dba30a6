"""Questions to the catalog are answered by a process of its own, which is killed when it takes too much."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlanon.serve.catalog import content, functions
from sqlanon.serve.refusals import CANCELLED, NOT_SUPPORTED, TOO_MUCH, ServeError
from sqlanon.serve.released import Served
from sqlanon.serve.values import TEXT, Column, Result, type_named
from sqlanon.serve.variables import Variables

SECONDS = 5.0
"""Of a question, at most: others wait for the process meanwhile."""
_START_SECONDS = 60.0
_GRACE_SECONDS = 1.0
_KEPT = ("PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""Variables of the environment that the process gets: none has a secret."""
_LOST = ("TIMESTAMP", "DATE", "TIME", "DECIMAL", "INTERVAL", "BLOB", "UUID", "STRUCT", "MAP")
"""Types whose values are sent as text."""


class CatalogDatabase:
    """Answers questions to the catalog.

    Args:
        served: the tables that there are.
    """

    def __init__(self, served: Sequence[Served]) -> None:
        self.served = tuple(served)
        self.schemas = tuple(content.schemas(served))
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def fetch(self, text: str, seconds: float, rows: int) -> Result:
        """The rows of a rewritten question.

        Args:
            text: as `sqlanon.serve.catalog.rewrite.rewritten` makes it.
            seconds: the deadline, `SECONDS` at most.
            rows: at most.

        Raises:
            ServeError: it cannot be answered, takes too long, or has more rows.
        """
        limit = min(seconds, SECONDS)
        if not self._guard.acquire(timeout=seconds):
            raise ServeError(CANCELLED, f"the question waited longer than {seconds:g} seconds for others")
        try:
            if self._process is None or self._process.poll() is not None:
                self._start()
            answer = self._asked({"text": text, "seconds": limit, "rows": rows}, limit + _GRACE_SECONDS)
        finally:
            if self._closed:  # by a session that knows newer releases, while this one was about to ask
                self._end()
            self._guard.release()
        if answer.get("late"):
            raise ServeError(CANCELLED, f"the question to the catalog took longer than {limit:g} seconds")
        if "error" in answer:
            # There is nothing in that database but names of releases.
            raise ServeError(NOT_SUPPORTED, f"the catalog does not answer this: {answer['error']}")
        found = answer["rows"]
        if len(found) > rows:
            raise ServeError(TOO_MUCH, f"an answer has at most {rows:,} rows; add a LIMIT")
        columns = tuple(
            Column(name, TEXT if kind.startswith(_LOST) else type_named(kind)) for name, kind in answer["columns"]
        )
        return Result(f"SELECT {len(found)}", columns, found)

    def close(self) -> None:
        """End the process."""
        with self._guard:
            self._closed = True
            self._end()

    def _start(self) -> None:
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sqlanon.serve.catalog.worker"],
            # -P: nothing is imported from the folder that the server was started in, which others may write.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,  # a Ctrl-C is for the server, which ends this process
        )
        statements: list[tuple[str, list[object]]] = [
            (text, []) for text in (*content.definitions(), *functions.definitions())
        ]
        statements += content.inserts(self.served, Variables("", self.schemas[0], {}))
        problem = self._asked({"statements": statements}, _START_SECONDS).get("error")
        if problem:
            raise ServeError(NOT_SUPPORTED, f"the catalog cannot be made: {problem}")

    def _asked(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """One line to the process, and one from it; it is ended where none comes."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            line = _line(process.stdout.fileno(), time.monotonic() + seconds)
        except OSError:
            line = b""
        if not line:
            self._end()
            return {"error": "it took too much time or memory"}
        found: dict[str, Any] = json.loads(line)
        return found

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _line(source: int, until: float) -> bytes:
    """A line from a pipe; empty: it did not come in time."""
    found = bytearray()
    while not found.endswith(b"\n"):
        ready, _, _ = select.select([source], [], [], max(until - time.monotonic(), 0.0))
        data = os.read(source, 1 << 16) if ready else b""
        if not data:
            return b""
        found += data
    return bytes(found)
