"""Texts that a connection was sent before, as syntax trees: to parse a small statement takes as long as to run it."""

from __future__ import annotations

from collections.abc import Callable

import duckdb

KEPT = 256
"""So many texts are known at once; the text that was sent longest ago is forgotten first."""
LONGEST = 10_000
"""Length above which texts are parsed every time.

Longer trees would take memory, and their statements take longer than the parser.
"""


class ParsedStatements:
    """Parse trees of texts that are sent repeatedly.

    A run of a tree looks names up in the catalog, like a run of the text.
    """

    def __init__(self, parse: Callable[[str], list[duckdb.Statement]]) -> None:
        """Nothing is known yet.

        Args:
            parse: the driver's parser, which asks the database nothing.
        """
        self._parse = parse
        self._known: dict[str, str | duckdb.Statement | None] = {}

    def of(self, text: str) -> str | duckdb.Statement:
        """The object to execute for a text: the parse tree from the second time on.

        It is the text itself the first time, and for several statements.

        Raises:
            duckdb.Error: it does not parse.
        """
        if len(text) > LONGEST:
            return text
        if text not in self._known:
            self._known[text] = None
            if len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
            return text
        statement = self._known.pop(text)
        if statement is None:
            parsed = self._parse(text)
            statement = parsed[0] if len(parsed) == 1 else text
        self._known[text] = statement
        return statement

    def forget(self) -> None:
        """Forget all: a statement of the caller's may change how texts are read."""
        self._known.clear()
