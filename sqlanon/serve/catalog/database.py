"""Questions to the catalog are answered by processes; a process that takes too much is killed."""

from __future__ import annotations

import datetime
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlanon.serve.cancel import LOOK_SECONDS
from sqlanon.serve.catalog import content, functions
from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.pool import Pool, Turn
from sqlanon.serve.refusals import CANCELLED, NOT_SUPPORTED, TOO_MUCH, ServeError
from sqlanon.serve.values import TEXT, Column, Result, find_type
from sqlanon.serve.variables import Variables

SECONDS = 5.0
"""Of a question, at most."""
PROCESSES = 4
"""That answer at once, at most; they are started as they are needed."""
_START_SECONDS = 60.0
_GRACE_SECONDS = 1.0
_KEPT = ("PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""Variables of the environment that the process gets: none has a secret."""
_MOMENTS: Mapping[str, Callable[[str], object]] = {
    "DATE": datetime.date.fromisoformat,
    "TIMESTAMP": datetime.datetime.fromisoformat,
    "TIMESTAMP WITH TIME ZONE": lambda text: datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC),
}
"""Types with values that come as texts, and are read again."""
_LOST = ("TIMESTAMP_", "TIME", "DECIMAL", "INTERVAL", "BLOB", "UUID", "STRUCT", "MAP")
"""Types with values that are sent as text."""


class CatalogDatabase:
    """Answers questions to the catalog.

    Args:
        served: the tables that there are.
    """

    def __init__(self, served: Sequence[ServedTable]) -> None:
        self.served = tuple(served)
        self.schemas = tuple(content.schemas(served))
        self._processes = Pool(lambda: Process(self.served), Process.end, PROCESSES)

    def fetch(self, text: str, turn: Turn, rows: int) -> Result:
        """The rows of a rewritten question.

        Args:
            text: as `sqlanon.serve.catalog.rewrite.rewritten` makes it.
            turn: who asks, and until when: for `SECONDS` at most once a process has it.
            rows: at most.

        Raises:
            ServeError: it cannot be answered, takes too long, was cancelled, or has more rows.
        """
        with self._processes.take(turn) as process:
            limit = min(turn.seconds, SECONDS)
            answer = process.ask({"text": text, "seconds": limit, "rows": rows}, limit + _GRACE_SECONDS, turn)
        if answer.get("late"):
            raise ServeError(CANCELLED, f"the question to the catalog took longer than {limit:.3g} seconds")
        if "error" in answer:
            # There is nothing in that database but names of releases.
            raise ServeError(NOT_SUPPORTED, f"the catalog does not answer this: {answer['error']}")
        fetched = answer["rows"]
        if len(fetched) > rows:
            raise ServeError(TOO_MUCH, f"an answer has at most {rows:,} rows; add a LIMIT")
        columns = tuple(
            Column(name, TEXT if kind.startswith(_LOST) and kind not in _MOMENTS else find_type(kind))
            for name, kind in answer["columns"]
        )
        moments = [(i, _MOMENTS[kind]) for i, (_, kind) in enumerate(answer["columns"]) if kind in _MOMENTS]
        for row in fetched:
            for i, reader in moments:
                row[i] = None if row[i] is None else reader(row[i])
        return Result(f"SELECT {len(fetched)}", columns, fetched)

    def close(self) -> None:
        """End the processes; those that answer, or are asked yet, when they have answered."""
        self._processes.retire()


class Process:
    """A process with the catalog, for a single question at a time; restarted if it has ended.

    Args:
        served: the served tables.
    """

    def __init__(self, served: tuple[ServedTable, ...]) -> None:
        self._served = served
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Any], seconds: float, turn: Turn) -> dict[str, Any]:
        """The answer to a question; a process that gives none in time is killed.

        Raises:
            ServeError: the client does not want it any more, or the process does not start.
        """
        if self._process is None or self._process.poll() is not None:
            self._start(turn)
        return self._ask(question, seconds, turn)

    def _start(self, turn: Turn) -> None:
        self.end()
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
        statements += content.inserts(self._served, Variables("", content.schemas(self._served)[0], {}))
        problem = self._ask({"statements": statements}, _START_SECONDS, turn).get("error")
        if problem:
            self.end()
            raise ServeError(NOT_SUPPORTED, f"the catalog cannot be made: {problem}")

    def _ask(self, question: Mapping[str, Any], seconds: float, turn: Turn) -> dict[str, Any]:
        """Send a line to the process, and read a line; the process is killed where none comes."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            line = _line(process.stdout.fileno(), time.monotonic() + seconds, turn)
        except OSError:
            line = b""
        if not line:
            self.end()
            turn.cancel.check()
            return {"error": "it took too much time or memory"}
        answer: dict[str, Any] = json.loads(line)
        if answer.get("ended"):
            self.end()
        return answer

    def end(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _line(source: int, until: float, turn: Turn) -> bytes:
    """A line from a pipe; empty: it did not come in time, or nobody wants it any more."""
    line = bytearray()
    while not line.endswith(b"\n"):
        remaining = max(until - time.monotonic(), 0.0)
        ready, _, _ = select.select([source], [], [], min(remaining, LOOK_SECONDS))
        if not ready and remaining and not turn.cancel.is_wanted():
            continue
        data = os.read(source, 1 << 16) if ready else b""
        if not data:
            return b""
        line += data
    return bytes(line)
