"""Errors as the command line reports them: kind, message and exit code, as text on stderr or JSON on stdout.

The text of an exception that sqlanon did not raise on purpose is never printed, because it may quote a cell
value; ``--debug`` shows it, with traceback and causes.
"""

from __future__ import annotations

import json as json_text
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from sqlanon.cli.interrupt import TerminationSignal
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError, visible
from sqlanon.results.figures import clean

INTERRUPTED = 130
PIPE = 141
UNEXPECTED = 3


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, ready to be reported.

    Attributes:
        kind: the error's class, such as ``PolicyError``.
        message: problem, place and advice; several lines when a policy has several problems.
        exit_code: exit code of the command.
        problems: each problem of a policy.
        hint: a line for humans only.
        error: the exception, for ``--debug``.
    """

    kind: str
    message: str
    exit_code: int
    problems: tuple[str, ...] = ()
    hint: str = ""
    error: BaseException | None = None

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        body: dict[str, object] = {"kind": self.kind, "message": self.message, "exit_code": self.exit_code}
        if self.problems:
            body["problems"] = list(self.problems)
        return body


def describe(error: BaseException) -> Failure:
    """The form of an exception on the screen without ``--debug``."""
    if isinstance(error, TerminationSignal):
        message = f"stopped by {error.number.name}; nothing is half published"
        return Failure("Interrupted", message, 128 + error.number, error=error)
    if isinstance(error, KeyboardInterrupt):
        message = "stopped by Ctrl-C; nothing is half published"
        return Failure("Interrupted", message, INTERRUPTED, error=error)
    following = f"next: {error.following}" if isinstance(error, SqlanonError) and error.following else ""
    if isinstance(error, PolicyError):
        problems = tuple(error.problems)
        return Failure(type(error).__name__, str(error), error.exit_code, problems, following, error)
    if isinstance(error, SqlanonError):
        # An error of ours as the cause: the message has the reason already.
        quoted = error.__cause__ is not None and not isinstance(error.__cause__, SqlanonError)
        hint = "--debug shows the database's own message; it may quote data."
        hint = following or (hint if quoted and isinstance(error, DatabaseError) else "")
        return Failure(type(error).__name__, str(error), error.exit_code, hint=hint, error=error)
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return Failure(type(error).__name__, visible(f"{error.filename}: {error.strerror}"), UNEXPECTED, error=error)
    message = f"unexpected {type(error).__name__}{_find_place(error)}: a defect of sqlanon"
    hint = "--debug shows the traceback; it may quote data."
    return Failure("UnexpectedError", message, UNEXPECTED, hint=hint, error=error)


def report(failure: Failure, *, json: bool, debug: bool) -> int:
    """Print a failure and return the exit code."""
    if debug and failure.error is not None:
        traceback.print_exception(failure.error, file=sys.stderr)
    if json:
        sys.stdout.write(json_text.dumps({"error": failure.to_dict()}) + "\n")
        sys.stdout.flush()
    else:
        report_text(failure, debug=debug)
    return failure.exit_code


def report_text(failure: Failure, *, debug: bool, label: str = "") -> None:
    """Print a failure for humans on stderr."""
    before = visible(f"{label}: ") if label else ""  # problems of a release may name it themselves: once is enough
    if len(failure.problems) > 1:
        lines = [f"error: {before}{len(failure.problems)} problems"]
        lines += [f"  {problem.removeprefix(before)}" for problem in failure.problems]
    else:
        lines = [f"error: {before}{failure.message.removeprefix(before)}"]
    if failure.hint and not debug:
        lines.append(failure.hint)
    # A name in a message may hold control sequences of a terminal.
    sys.stderr.write("".join(f"{clean(line)}\n" for line in "\n".join(lines).split("\n")))
    sys.stderr.flush()


def leave_pipe() -> None:
    """The reader of stdout went away: write the rest, and Python's flush at exit, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _find_place(error: BaseException) -> str:
    """File and line in sqlanon that raised, which say nothing about the data."""
    home = Path(__file__).parent.parent
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(home):
            return f" at {path.relative_to(home.parent)}:{frame.lineno}"
    return ""
