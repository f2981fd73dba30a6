"""Counts the witnesses that serve each end of each small cell, so that unneeded witnesses are dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


Drop = Callable[[], None]
"""Takes witnesses away."""


class WitnessCounts:
    """Counts of the witnesses that serve each end: for readers, and for each insider.

    Args:
        plain: bool[ends, witnesses], the witnesses that serve an end.
        unseen: bool[witnesses, insiders], the witness keeps everything that the insider knows.
        by_insider: bool[pairs, witnesses], those that serve an insider with a part of the cell; others may not do it.
        pairs: int64[pairs, 2], the end and the insider.

    Cost: memory of ends by witnesses and by insiders.
    """

    def __init__(
        self, plain: Flags, unseen: Flags, by_insider: Flags | None = None, pairs: Longs | None = None
    ) -> None:
        self._plain = plain
        self._unseen = unseen.astype(np.float32)
        self._own = np.zeros((0, len(unseen)), bool) if by_insider is None else by_insider
        self._places = np.zeros((0, 2), np.int64) if pairs is None else pairs
        self._left, self._left_own = self._plain.sum(axis=1), self._own.sum(axis=1)
        self._left_each = self._plain.astype(np.float32) @ self._unseen
        self._left_each[self._places[:, 0], self._places[:, 1]] = np.inf

    @property
    def unserved(self) -> Flags:
        """bool[ends], which are not served, for readers or for an insider."""
        unserved: Flags = (self._left <= 0) | (self._left_each <= 0).any(axis=1)
        unserved[self._places[self._left_own <= 0, 0]] = True
        return unserved

    def drop_each(self, order: Longs) -> Flags:
        """Take witnesses away one after another, as far as all is served without them; return which are left."""
        remaining = np.ones(len(self._unseen), bool)
        for witness in order.tolist():
            remaining[witness] = not self.drop(np.array([witness]))
        return remaining

    def without(self, witnesses: Longs) -> Drop | None:
        """What takes some away; None: an end is not served without them.

        Args:
            witnesses: those of them that were not taken away yet.
        """
        less = self._plain[:, witnesses]
        left_own = self._left_own - self._own[:, witnesses].sum(axis=1)
        left_plain = self._left - less.sum(axis=1)
        if (left_plain <= 0).any() or (left_own <= 0).any():
            return None
        rows = np.flatnonzero(less.any(axis=1))
        each = self._left_each[rows] - less[rows].astype(np.float32) @ self._unseen[witnesses]
        if (each <= 0).any():
            return None

        def drop() -> None:
            self._left, self._left_own, self._left_each[rows] = left_plain, left_own, each

        return drop

    def drop(self, witnesses: Longs) -> bool:
        """Take some away, if all is served without them.

        Args:
            witnesses: those of them that were not taken away yet.

        Returns:
            whether they were.
        """
        drop = self.without(witnesses)
        if drop is not None:
            drop()
        return drop is not None
