"""Who is informed that kernels are compiled, and how far that is. Nothing here imports numba."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger("sqlanon.kernels")

EVERY = 5.0
"""Seconds between two messages."""


@dataclass(frozen=True, slots=True)
class CompilingState:
    """How far compiling is in this process.

    Attributes:
        done: functions that are compiled.
        total: those and the kernels that they call and that are not compiled yet, as far as it is known.
        seconds: that it took until now.
    """

    done: int
    total: int
    seconds: float


class Notes:
    """Messages about compiling: at the beginning, where it is more than a few functions, and every few seconds.

    Args:
        note: gets each message.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._last = float("-inf")

    def __call__(self, state: CompilingState) -> None:
        """Show how far it is, if it is time to."""
        now = time.monotonic()
        if now - self._last < EVERY or (state.total < 5 and state.seconds < 1):
            return
        self._last = now
        self._note(
            f"compiling kernels (the first time only): {state.done} of {state.total} functions, {state.seconds:.0f} s"
        )


_WARNED = Notes(lambda message: log.warning("%s", message))
_following: Callable[[CompilingState], None] = _WARNED
_done: set[str] = set()
_wanted: set[str] = set()
_outer = ""
_since = _seconds = 0.0


def follow(follower: Callable[[CompilingState], None] | None) -> None:
    """Name who is informed from now on, of all compiling in this process; None: the log, as warnings."""
    global _following  # noqa: PLW0603 - one for a process, as numba compiles one function at a time
    _following = follower or _WARNED


def want(names: set[str]) -> None:
    """Functions that will be compiled."""
    _wanted.update(names)


def begin(name: str) -> None:
    """A function begins to be compiled; those that it calls are next, within it."""
    global _outer, _since
    if not _outer:
        _outer, _since = name, time.monotonic()
    want({name})
    _following(read_compilations())


def end(name: str) -> None:
    """A function is compiled."""
    global _outer, _seconds
    _done.add(name)
    if name == _outer:
        _outer, _seconds = "", _seconds + time.monotonic() - _since
    _following(read_compilations())


def read_compilations() -> CompilingState:
    """Compilations in this process."""
    now = time.monotonic() - _since if _outer else 0.0
    return CompilingState(len(_done), len(_done | _wanted), _seconds + now)
