"""Error of a search that leaves a cell without protection."""

from __future__ import annotations

from sqlanon.errors import InfeasibleError


class UnservedError(InfeasibleError):
    """A small cell is not protected.

    Attributes:
        margin: the place of the cell's margin, no value.
        exhausted: the search reached the cost limit; else no choice of hidden cells protects it.
        foreseen: it would have, and did not begin.
        able: about how many small cells a search may have that does not reach the limit; None: it is not known.
    """

    def __init__(self, margin: int, *, exhausted: bool, foreseen: bool = False, able: int | None = None) -> None:
        super().__init__("a small cell cannot be protected")
        self.margin, self.exhausted, self.foreseen, self.able = margin, exhausted, foreseen, able
