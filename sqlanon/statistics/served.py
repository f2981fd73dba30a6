"""How often each end of each small cell is served by witnesses, so that those that are not needed can be dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

Drop = Callable[[], None]
"""Takes witnesses away."""


class Served:
    """Counts of the witnesses that serve each end: for readers, and for each insider.

    Args:
        served: for each end bool[witnesses], the witnesses that serve it, and the same for insiders who have a part of
            the cell.
        unseen: bool[witnesses, insiders], the witness keeps everything that the insider knows.

    Cost: memory of ends by witnesses and by insiders.
    """

    def __init__(self, served: Iterable[tuple[Flags, Mapping[int, Flags]]], unseen: Flags) -> None:
        plain: list[Flags] = []
        by_persons: list[Flags] = []
        pairs: list[tuple[int, int]] = []
        for end, (serving, parts) in enumerate(served):
            plain.append(serving)
            by_persons += parts.values()
            pairs += [(end, person) for person in parts]
        many = len(unseen)
        self._plain = np.stack(plain) if plain else np.zeros((0, many), bool)
        self._unseen = unseen.astype(np.float32)
        # Where an insider has a part of the cell, a witness for others may not serve him.
        self._own = np.stack(by_persons) if by_persons else np.zeros((0, many), bool)
        self._left, self._left_own = self._plain.sum(axis=1), self._own.sum(axis=1)
        self._left_each = self._plain.astype(np.float32) @ self._unseen
        places = np.array(pairs, np.int64).reshape(-1, 2)
        self._left_each[places[:, 0], places[:, 1]] = np.inf

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
