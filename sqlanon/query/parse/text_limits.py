"""Refuses texts before they are parsed.

They are too long or too deep, or have characters or numbers that nothing here can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.query.refusal import RefusedQueryError

MOST_CHARACTERS = 100_000
"""Of a query."""


def check_text(text: str) -> None:
    """Refuse a text that is too long, or has characters that no database takes.

    Raises:
        RefusedQueryError: see above.
    """
    if len(text) > MOST_CHARACTERS:
        raise RefusedQueryError(
            f"a query has at most {MOST_CHARACTERS:,} characters, this one {len(text):,}; join a table of the values "
            "instead"
        )
    if "\0" in text:
        raise RefusedQueryError("the query has a NUL character; leave it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RefusedQueryError(
            f"the query has half a character (a surrogate) at position {error.start + 1}; leave it out"
        ) from error


@contextmanager
def readable() -> Iterator[None]:
    """Refuse a query with deeper nesting, or larger numbers, than Python and the libraries take."""
    try:
        yield
    except RecursionError as error:
        raise RefusedQueryError(
            "the query nests too deeply, or chains too many OR, AND or + (some hundreds); write IN (..) for a chain of "
            "OR, or ask in parts"
        ) from error
    except (ArithmeticError, ValueError) as error:
        raise RefusedQueryError(
            "a number or a name of the query cannot be read here; write numbers of a few hundred digits at most"
        ) from error
