"""Progress of long work on stderr: bars in a terminal, plain lines in a log. Counts and stage names only."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from sqlanon.errors import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

WORDS = {
    "state": "look up the catalog",
    "snapshot": "read the source",
    "profile": "count values",
    "encode": "number values",
    "method": "divide rows into classes",
    "recode": "generalize",
    "protect": "protect numbers of cells",
    "noise": "draw noise",
    "write": "put together the noisy tables",
    "outsiders": "readers of the view",
    "insiders": "persons alone in a cell",
    "verify": "verify",
    "publish": "publish",
    "cleanup": "drop scratch tables",
    "read": "read source and release",
    "compare": "compare rows with boxes",
    "versions": "compare versions",
    "compact": "write files anew",
}
"""The work of a stage, for readers; a stage that is not listed is shown by name."""
EVERY = 5.0
"""Seconds between two plain lines of a stage."""


class RemainingTime:
    """Remaining time of a count, at the pace since the first value.

    The pace leaves out the work of a stage before the first value.
    """

    LEAST = 3.0
    """Seconds before which a pace is chance."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A stage begins."""
        self._unit: str | None = None
        self._done = self._first = 0
        self._since = 0.0

    def amount(self, now: float, amount: int, total: int, unit: str) -> str:
        """Progress, and the remaining time as soon as it can be estimated.

        The time is that of a single count, as the stages after it have none yet.

        A count with a new unit or a lower value is a new count.
        """
        if self._unit != unit or amount < self._done:
            self._first, self._since = amount, now
        self._unit, self._done = unit, amount
        shown = format_amount(amount, total, unit)
        spent, progress = now - self._since, amount - self._first
        if not progress > 0 or amount >= total or spent < self.LEAST or progress * 50 < total:
            return shown
        return f"{shown}, about {format_duration(spent * (total - amount) / progress)} for the rest"


class Lines:
    """A line for each stage of a release, ``[patients] number values ...``, and another every few seconds inside it.

    The first line appears when the stage begins for the first time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._label = ""
        self._stage = ""
        self._last = 0.0
        self._begun: set[tuple[str, str]] = set()
        self._remaining = RemainingTime()

    def stage(self, release: str, stage: str) -> None:
        """Say that a stage begins."""
        self._label, self._stage, self._last = release, WORDS.get(stage, stage), time.monotonic()
        self._remaining.begin()
        if (release, stage) not in self._begun:
            self._begun.add((release, stage))
            self._write(f"[{release}] {self._stage} ...")

    def update(self, amount: int, total: int, unit: str) -> None:
        """Say how far the stage is, at most every few seconds."""
        now = time.monotonic()
        shown = self._remaining.amount(now, amount, total, unit)
        if now - self._last >= EVERY:
            self._last = now
            self._write(f"[{self._label}] {self._stage} {shown}")

    def note(self, message: str) -> None:
        """Say it."""
        self._write(f"[{self._label}] {message}" if self._label else message)

    def finish(self, release: str) -> None:
        """Nothing to say: the summary follows. Another run of the release begins anew."""
        self._begun = {stage for stage in self._begun if stage[0] != release}

    def close(self) -> None:
        """Nothing to take down."""

    def _write(self, line: str) -> None:
        self._stream.write(visible(line) + "\n")
        self._stream.flush()


class Bars:
    """A live bar for the current stage; it disappears when the release is done, as the summary repeats it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: RichProgress | None = None
        self._task: TaskID | None = None
        self._remaining = RemainingTime()

    def stage(self, release: str, stage: str) -> None:
        """Finish the bar of the stage before and begin the next."""
        live = self._start_bars()
        self._remaining.begin()
        if self._task is not None:
            live.remove_task(self._task)
        self._task = live.add_task(visible(f"[{release}] {WORDS.get(stage, stage)}"), total=None, amount="")

    def update(self, amount: int, total: int, unit: str) -> None:
        """Move the bar."""
        if self._live is not None and self._task is not None:
            length = total if total > 0 else None
            shown = self._remaining.amount(time.monotonic(), amount, total, unit)
            self._live.update(self._task, completed=amount, total=length, amount=shown)

    def note(self, message: str) -> None:
        """Print a line above the bar."""
        self._console.print(message, markup=False, highlight=False)

    def finish(self, release: str) -> None:
        """Take the bar down."""
        self.close()

    def close(self) -> None:
        """Take the bar down, also after a failure."""
        if self._live is not None:
            self._live.stop()
        self._live = self._task = None

    def _start_bars(self) -> RichProgress:
        if self._live is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._live = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[amount]}", markup=False),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._live.start()
        return self._live


def format_amount(amount: int, total: int, unit: str) -> str:
    """``1,200 of 5,000 rows``, or ``1,200 rows`` when the total is not known."""
    return f"{amount:,} of {total:,} {unit}" if total > 0 else f"{amount:,} {unit}"


def format_duration(seconds: float) -> str:
    """``9 s``, ``4 min``, ``2 h``: no more than is known."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
