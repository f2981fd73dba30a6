"""Output of a command: text on stdout for humans or a single JSON object, progress on stderr.

No command writes to a stream by itself, so --json, --quiet and NO_COLOR hold everywhere.
"""

from __future__ import annotations

import json
import math
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sqlanon.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class _ClosableProgress(Progress, Protocol):
    def close(self) -> None: ...


@dataclass
class Screen:
    """The two streams of a command, as the options want them."""

    json: bool = False
    quiet: bool = False
    verbose: int = 0
    debug: bool = False
    confirmed: tuple[str, ...] = ()  # options that confirm limits of Spark, as they are written
    interrupted: int = 0  # the signal that asked to stop
    _shown: _ClosableProgress | None = None

    @cached_property
    def out(self) -> Console:
        """Stdout; 80 columns wide where there is no terminal."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """Stderr."""
        return _console(stderr=True)

    @property
    def silent(self) -> bool:
        """Whether text for humans is unwanted."""
        return self.json or self.quiet

    def show(self, *parts: RenderableType) -> None:
        """Print text for humans; strings keep their lines unbroken, so that commands can be pasted."""
        if self.silent:
            return
        for part in parts:
            if isinstance(part, str):
                self.out.print(part, markup=False, highlight=False, soft_wrap=True)
            else:
                self.out.print(part)

    def warn(self, warnings: Iterable[str], label: str = "") -> None:
        """Print a report's warnings on stderr where --quiet hides the report; the JSON form has them as a field."""
        if self.quiet and not self.json:
            from sqlanon.cli.show.text import clean

            before = f"{clean(label)}: " if label else ""
            for warning in warnings:
                sys.stderr.write(f"warning: {before}{clean(warning)}\n")
            sys.stderr.flush()

    def product(self, text: str) -> None:
        """Print a file that the user asked for, such as a policy: --quiet does not hide it."""
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def emit(self, report: Mapping[str, Any]) -> None:
        """Print the command's single JSON object."""
        if self.json:
            sys.stdout.write(json.dumps(_to_json(report), allow_nan=False) + "\n")
            sys.stdout.flush()

    def progress(self) -> Progress:
        """The object to which the library reports progress."""
        if self.silent and not self.verbose:
            return SilentProgress()
        if self._shown is None:
            from sqlanon.cli.progress import Bars, Lines

            bars = sys.stderr.isatty() and not self.verbose
            self._shown = Bars(self.err) if bars else Lines(sys.stderr)
        return self._shown

    def traceback(self, error: BaseException) -> None:
        """Print an exception with the causes; only ``--debug`` may, as it can quote data."""
        traceback.print_exception(error, file=sys.stderr)

    def close(self) -> None:
        """Take down live displays on the terminal."""
        if self._shown is not None:
            self._shown.close()


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Pipe(Console):
        """Lets a closed pipe through, which rich would turn into exit code 1: violated."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Pipe(stderr=stderr, highlight=False, emoji=False)


def _to_json(value: object) -> object:
    """A value as JSON knows it: numbers that JSON lacks become null, anything unknown becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) or hasattr(value, "__float__"):
        number = float(value)
        return number if math.isfinite(number) else None
    return str(value)
