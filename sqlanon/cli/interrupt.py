"""Signals that stop a command: remembered, because a driver may turn them into another error on the way out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen


_DEFAULTS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGQUIT: signal.SIG_DFL,
}
"""The signals that stop a command, with the handlers that may be replaced.

Handlers that ignore a signal, as under nohup, and those of other programs stay.
"""


class TerminationSignal(KeyboardInterrupt):
    """SIGTERM, as a scheduler or a container sends it, SIGHUP of a terminal that closes, or SIGQUIT.

    Attributes:
        number: the signal.
    """

    def __init__(self, number: signal.Signals = signal.SIGTERM) -> None:
        super().__init__()
        self.number = number


def make_interrupt(screen: Screen) -> KeyboardInterrupt:
    """The exception for the signal that the screen has noted."""
    noted = screen.interrupted
    return KeyboardInterrupt() if noted in (0, signal.SIGINT) else TerminationSignal(signal.Signals(noted))


@contextmanager
def watch_signals(screen: Screen) -> Iterator[None]:
    """Note on the screen which signal asked to stop, and leave through every ``finally``, as Python does for Ctrl-C."""

    def stop(number: int, _frame: FrameType | None) -> None:
        if screen.interrupted and signal.SIGINT not in (number, screen.interrupted):
            return  # a second signal, as SIGHUP after SIGTERM, does not cut short the cleanup of the first
        screen.interrupted = number
        raise make_interrupt(screen)

    in_main = threading.current_thread() is threading.main_thread()  # Python lets no other thread set handlers
    replaced = [number for number, usual in _DEFAULTS.items() if in_main and signal.getsignal(number) is usual]
    for number in replaced:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, _DEFAULTS[number])
