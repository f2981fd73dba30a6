"""The one tree of errors. Each carries the exit code of the command line and a text with fault, place and remedy.

No text here ever holds a cell value. Driver messages quote values, so a driver error is kept as
``__cause__`` and printed only with ``--debug``.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self


def visible(text: str) -> str:
    r"""A text on one line: line breaks and whatever else cannot be printed become escapes.

    Example:
        >>> print(visible("no column two\nlines"))
        no column two\nlines
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


class SqlanonError(Exception):
    """Base of every error that sqlanon raises on purpose.

    Since names in its text may contain anything, each problem is one printable line.

    Args:
        problems: one line each: place, fault, allowed values.

    Attributes:
        problems: the same, with escapes for characters that cannot be printed.
        options: of a run that would succeed; the command line prints that command.
        following: that command, where the command line knows it.
    """

    exit_code = 2
    options: tuple[str, ...] = ()
    following: str = ""

    def __init__(self, problems: str | Sequence[str] = ()) -> None:
        lines = [problems] if isinstance(problems, str) else problems
        self.problems = [visible(line) for line in lines]
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problems,), self.__dict__

    def with_advice(self, *options: str) -> Self:
        """The same error, with options of a run that would do it."""
        self.options = options
        return self


class PolicyError(SqlanonError):
    """The policy (file, options or Python arguments) is wrong. One error may hold many problems."""

    exit_code = 2


class GuardError(PolicyError):
    """A guard of the policy stopped the release; the text names the opt-out."""


class SchemaChangedError(PolicyError):
    """The source has a new column that the policy does not name.

    Nothing is published by default.
    """


class DatabaseError(SqlanonError):
    """The database refused or could not be reached. The driver's own text is in ``__cause__``.

    Attributes:
        advice: remedy for a connection that could not be opened, without any part of its URL; empty: nothing is
            known.
    """

    exit_code = 3
    advice: str = ""


class LockedError(DatabaseError):
    """Another process or session holds the database file, or runs the same release."""


class DependentsError(DatabaseError):
    """Objects of the user depend on a view that would have to be dropped. Nothing was changed."""


class UnsupportedError(SqlanonError):
    """The engine, method or format lacks an ability; the text names one that has it."""

    exit_code = 2


class TemplateError(SqlanonError):
    """A SQL template of ours is broken: a defect of sqlanon, not of the user."""

    exit_code = 3


class InfeasibleError(SqlanonError):
    """No release of this table can meet the requirement; the text gives the largest feasible value."""

    exit_code = 4


class PrivacyViolation(SqlanonError):
    """Verify or audit found a requirement violated. Nothing was published."""

    exit_code = 1


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Raise `DatabaseError` for errors of the operating system while a file, or a folder next to it, is written."""
    try:
        yield
    except OSError as error:
        raise DatabaseError(
            f"cannot write {path}: {error.strerror or type(error).__name__}; "
            f"{_ADVICE.get(error.errno or 0, 'check the disk')}, and run again; what readers have is whole"
        ) from error


_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free space there"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "give this user the right to write in that folder"),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "make the folder"),
}
