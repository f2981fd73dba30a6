"""Logging for the command line: the ``sqlanon`` loggers on stderr, at INFO with -v and DEBUG with -vv.

The root logger is never touched, and exception texts attached to a record, which may quote data, are reduced to
their types unless ``--debug`` is given.
"""

from __future__ import annotations

import logging
import sys
from types import TracebackType

from sqlanon.results.figures import clean


class _Formatter(logging.Formatter):
    def __init__(self, *, debug: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S")
        self._debug = debug

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name logging calls
        """One line: a name in it may hold line breaks, or control sequences of a terminal."""
        return clean(super().formatMessage(record))

    def formatException(  # noqa: N802 - the name logging calls
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        if self._debug:
            return super().formatException(ei)
        return f"({ei[0].__name__ if ei[0] else 'no error'}; --debug shows it)"


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Ours, so that a second command in the same process replaces it."""


def configure(verbose: int, *, debug: bool) -> None:
    """Send the ``sqlanon`` loggers to stderr as loud as asked; 0 leaves them silent."""
    logger = logging.getLogger("sqlanon")
    for handler in [handler for handler in logger.handlers if isinstance(handler, _Handler)]:
        logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    if verbose:
        shown = _Handler(sys.stderr)
        shown.setFormatter(_Formatter(debug=debug))
        logger.addHandler(shown)
        logger.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
