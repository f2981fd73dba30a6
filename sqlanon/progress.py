"""Progress of long work: a protocol the library calls and the command line implements.

Only counts and stage names pass here, never a value.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlanon.usage import Meter, Part

STAGES = ("state", "snapshot", "profile", "encode", "method", "recode", "verify", "publish", "cleanup")
"""The stages of one run, in order; ``seconds`` of a report has one entry each, and ``total``."""


class Progress(Protocol):
    """Progress of a run for a screen or a log."""

    def stage(self, release: str, stage: str) -> None:
        """A stage of a release begins."""

    def update(self, done: int, total: int, unit: str) -> None:
        """Inside the stage, ``done`` of ``total`` units are finished."""

    def note(self, message: str) -> None:
        """Something worth a line of its own, such as a first compilation."""

    def finish(self, release: str) -> None:
        """The release is done, well or not."""


class SilentProgress:
    """Shows nothing: the library's default."""

    def stage(self, release: str, stage: str) -> None:
        """Ignore it."""

    def update(self, done: int, total: int, unit: str) -> None:
        """Ignore it."""

    def note(self, message: str) -> None:
        """Ignore it."""

    def finish(self, release: str) -> None:
        """Ignore it."""


class Stopwatch:
    """Times the stages of one run and reports them to a `Progress`."""

    def __init__(self, release: str, progress: Progress, meter: Meter | None = None) -> None:
        """Start it.

        Args:
            release: the release's name.
            progress: gets the stages.
            meter: of the run; what the engines do in a stage is charged to it.
        """
        self._release = release
        self._progress = progress
        self.meter = meter or Meter()
        self._start = time.perf_counter()
        self.seconds: dict[str, float] = {}
        self.current = ""

    @contextmanager
    def stage(self, name: str, shown: str | None = None) -> Iterator[Progress]:
        """Time one stage; stages of the same name add up.

        Args:
            name: one of `STAGES`.
            shown: the name for the progress, where the work of the stage is another one.
        """
        self._progress.stage(self._release, shown or name)
        before, self.current = self.current, name
        start = time.perf_counter()
        try:
            with self.meter.measure(Part(self._release, name)):
                yield self._progress
        finally:
            self.current = before
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def total(self) -> dict[str, float]:
        """Seconds per stage and ``total`` since the stopwatch was made."""
        return {**self.seconds, "total": time.perf_counter() - self._start}
