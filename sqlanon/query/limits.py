"""Deadline and memory bound of a query, over the work here and in the engine."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlanon.errors import DatabaseError, PolicyError

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

SECONDS = 60.0
"""Seconds that a query may take, unless the caller passes another number."""

MEMORY = 2**30
"""Bytes by which a rewriting may grow this process."""

ROWS = 100_000
"""Rows of an answer, unless the caller passes another number."""

_PAUSE = 0.05
"""Seconds between two looks at clock and memory."""

_AGAIN = 0.25
"""Seconds between two cancellations of the engine's statement: if the statement has not begun, the next cancels it."""

_PLANNING = 4.5e-12
"""Processor seconds in which engines plan a statement, for the square of its characters: 4.5 s for a million.

DuckDB took 1.4 s for 558,000 characters and 16 s for 1,860,000. It does not end a statement while it plans it.
"""

_RESIDENT = Path("/proc/self/statm")


class _LimitExceededError(BaseException):
    """Raised in the thread of the query by the watcher.

    It is no `Exception`, so that no handler on the way catches it by mistake.
    """


class Limits:
    """Watches a query from a separate thread.

    At the deadline the engine's statement is cancelled, and a rewriting is interrupted by an exception in the query's
    thread: sqlglot's work has no place where a clock could be asked. Memory is that of this process while a rewriting
    runs; the memory of DuckDB's computation is limited by its own ``memory_limit``, and the length of texts by
    `sqlanon.query.parse.text_lengths`.

    Args:
        cancel: cancels the statement that the engine runs; called from another thread.
        seconds: the deadline from now; infinite: none.
        memory: bytes by which the process may grow during a rewriting.
        unwanted: whether nobody waits for the answer any more; asked every 50 ms, from another thread.
        rows: most rows of the answer.
    """

    def __init__(
        self,
        cancel: Callable[[], None],
        seconds: float,
        memory: int,
        unwanted: Callable[[], bool] | None = None,
        rows: int = ROWS,
    ) -> None:
        self._cancel, self._seconds, self._memory = cancel, seconds, memory
        self.rows = rows
        self._unwanted = unwanted
        self._deadline = time.monotonic() + seconds
        self._thread = threading.get_ident()
        self._guard = threading.Lock()
        self._limit = 0
        """Resident bytes at which a rewriting is interrupted; 0: none is running."""
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="sqlanon query limits", daemon=True)
        self._worked = [0.0, 0.0]
        """Seconds of rewriting, by the wall clock and by the processor."""
        self.reason: str | None = None
        """Which limit was exceeded, for the error; None: none was."""

    @property
    def seconds(self) -> float:
        """Seconds until the deadline."""
        return max(self._deadline - time.monotonic(), 0.001)

    @contextmanager
    def rewriting(self) -> Iterator[None]:
        """Context manager for pure Python work that the watcher may interrupt.

        Code inside must hold no resource; for calls of the engine there is `guard`.
        """
        self._interruptible(resident_bytes() + self._memory)
        before = _clocks()
        try:
            yield
        finally:
            self._interruptible(0)
            self._add_worked(before, 1)
        self._check()

    def _add_worked(self, before: tuple[float, float], sign: int) -> None:
        self._worked = [
            worked + sign * (now - then) for worked, now, then in zip(self._worked, _clocks(), before, strict=True)
        ]

    def check_planning(self, characters: int) -> None:
        """Stop a query where the engine would still plan its statement after the deadline, and not end it.

        What other programs of the machine take is known from the rewriting before.

        Args:
            characters: the length of the statement.
        """
        wall, processor = self._worked
        busy = max(wall / processor, 1.0) if processor > _PAUSE else 1.0
        if _PLANNING * characters**2 * busy > self.seconds:
            self.reason = (
                f"the query is {characters:,} characters of SQL with its bounds, which the database could not plan "
                f"within {self._seconds:g} seconds (--timeout, seconds=); ask for less at once, or allow more"
            )
            self._check()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A call of the engine during a rewriting: the statement is cancelled, and the call not interrupted."""
        limit = self._limit
        self._interruptible(0)
        before = _clocks()
        try:
            self._check()
            yield
        finally:
            if limit:
                self._add_worked(before, -1)
            self._interruptible(limit)
        self._check()

    def _interruptible(self, limit: int) -> None:
        self._limit = 0  # at once, whoever has the guard
        with self._guard:
            self._limit = limit
            if self.reason is not None:  # an exception that was not raised yet would be, later and elsewhere
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), None)

    def _check(self) -> None:
        if self.reason is not None:
            raise _LimitExceededError

    def start(self) -> None:
        """Begin to watch."""
        self._watcher.start()

    def stop(self) -> None:
        """Stop watching; afterwards nothing is cancelled or interrupted."""
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        cancelled = -math.inf
        while not self._ended.wait(_PAUSE):
            now = time.monotonic()
            with self._guard:
                limit = self._limit  # may become 0 at any moment
                if self._unwanted is not None and self._unwanted():
                    self.reason = "the query was cancelled"
                elif now >= self._deadline:
                    self.reason = (
                        f"the query took longer than {self._seconds:g} seconds (--timeout, seconds=) and was stopped; "
                        "ask for less, or allow more"
                    )
                elif limit and resident_bytes() > limit:
                    self.reason = (
                        f"rewriting the query took more than {self._memory >> 20:,} MiB of memory and was stopped; ask "
                        "for less at once"
                    )
                if self.reason is None:
                    continue
                if self._limit:  # again until it ends: an exception within a callback of the collector is ignored
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._thread), ctypes.py_object(_LimitExceededError)
                    )
                    continue
            if now - cancelled >= _AGAIN:
                self._cancel()
                cancelled = now


@contextmanager
def limit_query(
    cancel: Callable[[], None],
    seconds: float,
    memory: int = MEMORY,
    unwanted: Callable[[], bool] | None = None,
    rows: int = ROWS,
) -> Iterator[Limits]:
    """Hold a query to limits; see `Limits` for the arguments.

    Raises:
        PolicyError: ``seconds`` is no number above 0.
        DatabaseError: a limit was exceeded; the text says which.
    """
    if not seconds > 0:
        raise PolicyError(f"a query may take a number of seconds above 0, not {seconds:g}")
    limits = Limits(cancel, seconds, memory, unwanted, rows)
    limits.start()
    try:
        yield limits
    except BaseException as error:
        limits.stop()
        if limits.reason is None:
            raise
        raise DatabaseError(limits.reason) from error
    finally:
        limits.stop()


class _GuardedEngine:
    """An engine with calls outside of the rewriting."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine, self._limits = engine, limits

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the engine has
        attribute = getattr(self._engine, name)
        if not callable(attribute):
            return attribute

        def call(*args: Any, **keywords: Any) -> Any:  # noqa: ANN401
            with self._limits.asking():
                return attribute(*args, **keywords)

        return call


def guard(engine: Engine, limits: Limits) -> Engine:
    """The engine for use within `Limits.rewriting`."""
    return cast("Engine", _GuardedEngine(engine, limits))


def _clocks() -> tuple[float, float]:
    """Seconds by the wall clock, and of the processor by this thread."""
    return time.monotonic(), time.thread_time()


def resident_bytes() -> int:
    """Bytes of memory that this process has; where the system does not say it, the most that it had."""
    try:
        return int(_RESIDENT.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
