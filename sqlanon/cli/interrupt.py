"""Ctrl-C: remembered, because a driver may turn it into an error of its own on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen


@contextmanager
def watched(screen: Screen) -> Iterator[None]:
    """Note on the screen that the user asked to stop, and stop as Python would."""

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        screen.interrupted = True
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    try:
        if before is signal.default_int_handler:  # neither ignored, as under nohup, nor somebody else's
            signal.signal(signal.SIGINT, stop)
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
