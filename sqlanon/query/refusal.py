"""Refusal of a query: the piece of SQL underlined, and the reason. Never a silently wrong number."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from sqlanon.errors import UnsupportedError
from sqlanon.results.figures import clean


class RefusedQueryError(UnsupportedError):
    """The query, or a piece of it, has no answer over this release.

    The message underlines the piece and gives the reason.

    Attributes:
        place: the text that was asked, and the character at which the piece begins; None: not known.
    """

    place: tuple[str, int] | None = None


def refuse(text: str, node: exp.Expr | None, reason: str) -> NoReturn:
    """Raise `RefusedQueryError` for a piece of the analyst's SQL.

    Args:
        text: the whole query as it was written.
        node: the piece, as parsed from ``text``; None: the whole.
        reason: reason for the refusal, and the SQL to write instead.

    Raises:
        RefusedQueryError: always.
    """
    error = RefusedQueryError([reason, *(underline(text, node) if text.strip() else ())])
    error.place = (text, _span(text, node)[0])
    raise error


def underline(text: str, node: exp.Expr | None) -> tuple[str, str]:
    """The line of the query with the piece, and a line of carets below it.

    Each character of the query stays a single character there.
    """
    start, end = _span(text, node)
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : len(text) if last < 0 else last]
    stop = min(end, first + len(line))
    return f"  {clean(line.replace(chr(9), ' '))}", f"  {' ' * (start - first)}{'^' * max(stop - start, 1)}"


def _span(text: str, node: exp.Expr | None) -> tuple[int, int]:
    """Where the piece begins and ends; sqlglot knows the places of names, functions and constants only."""
    places = [
        (part.meta["start"], part.meta["end"] + 1)
        for part in (node.walk() if node is not None else ())
        if "start" in part.meta
    ]
    if not places:
        stripped = text.strip()
        start = text.find(stripped)
        return start, start + len(stripped)
    start, end = min(a for a, _ in places), max(b for _, b in places)
    end += 2 if text.startswith("()", end) else 0
    open_ = text.count("(", start, end) - text.count(")", start, end)
    while open_ > 0 and end < len(text):
        open_ += (text[end] == "(") - (text[end] == ")")
        end += 1
    return start, end
