"""A reader of published counts and sums who may contribute himself: every table that he cannot rule out, one by one.

It sees what the view has, knows the range of a row and the rows of one person, and shares no code with sqlanon. For
tiny tables; every row is at least ``low`` and at most ``high``.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

Cell = tuple[object, ...]
FAR = 10**9
"""More than any contribution."""
MOST = 5000
"""Tables of one measure that are tried, fewer than."""
MOST_PAIRS = 1_500_000
"""Pairs of a table of counts and one of sums."""


def tables(
    cells: Mapping[Cell, int | None],
    within: Mapping[Cell, Sequence[int]],
    box: Sequence[tuple[int, int]],
    least: int | None = None,
) -> Iterator[tuple[int, ...]]:
    """All tables with the shown numbers.

    Args:
        cells: the published cells; None: hidden.
        within: of each cell its places.
        box: the least and the greatest number of each place.
        least: the least number of a hidden cell.
    """
    ends = {cell: max(within[cell]) for cell in cells}
    table: list[int] = []

    def extend(place: int) -> Iterator[tuple[int, ...]]:
        if place == len(box):
            yield tuple(table)
            return
        low, high = box[place]
        for value in range(low, high + 1):
            table.append(value)
            for cell, end in ends.items():
                if end == place:
                    total, shown = sum(table[at] for at in within[cell]), cells[cell]
                    if (shown is not None and total != shown) or (
                        shown is None and least is not None and total < least
                    ):
                        break
            else:
                yield from extend(place + 1)
            table.pop()

    yield from extend(0)


def _agrees(
    table: Sequence[int], cells: Mapping[Cell, int | None], within: Mapping[Cell, Sequence[int]], least: Sequence[int]
) -> bool:
    """Whether a table has the shown numbers, and so many of each place."""
    return all(a >= b for a, b in zip(table, least, strict=True)) and all(
        shown is None or sum(table[at] for at in within[cell]) == shown for cell, shown in cells.items()
    )


class TooManyError(Exception):
    """There are too many tables to try."""


class Reader:
    """What a person, or somebody without rows, can rule out.

    Args:
        counts: the published numbers of rows.
        sums: the published sums.
        within: of each cell its places.
        own: of each place the values of the reader's own rows.
        limits: least and greatest value of a row; number of rows of a place that are tried.
        able: the tables of counts that other releases leave; None: there are none.
    """

    def __init__(
        self,
        counts: Mapping[Cell, int | None],
        sums: Mapping[Cell, int | None],
        within: Mapping[Cell, Sequence[int]],
        own: Mapping[int, Sequence[int]],
        limits: tuple[int, int, int],
        able: Collection[tuple[int, ...]] | None = None,
    ) -> None:
        self.low, self.high, most = limits
        places = 1 + max(place for some in within.values() for place in some)
        self.own = [(len(own.get(place, ())), sum(own.get(place, ()))) for place in range(places)]
        count_box = [(max(1, rows), most) for rows, _ in self.own]
        total = next((value for cell, value in sums.items() if value is not None and len(within[cell]) == places), None)
        if total is None or self.low < 0:
            total = self.high * most * places
        box = [
            (value + self.low * (most - rows) * (self.low < 0), min(value + self.high * (most - rows), total))
            for rows, value in self.own
        ]
        some, other = (
            list(itertools.islice(found, MOST))
            for found in (
                tables(counts, within, count_box, 1)
                if able is None
                else (one for one in able if _agrees(one, counts, within, [rows for rows, _ in self.own])),
                tables(sums, within, box),
            )
        )
        if max(len(some), len(other)) == MOST or len(some) * len(other) > MOST_PAIRS:
            raise TooManyError
        n = np.array(some, np.int64).reshape(-1, 1, places)
        x = np.array(other, np.int64).reshape(1, -1, places)
        rows, own_sums = (np.array(of, np.int64) for of in zip(*self.own, strict=True))
        others, left = n - rows, x - own_sums
        agree = ((self.low * others <= left) & (left <= self.high * others)).all(axis=2)
        first, second = np.nonzero(agree)
        # What others than the reader have, of each source that he cannot rule out.
        self.others, self.left = others[first, 0], left[0, second]
        self.counts, self.sums = n[first, 0], x[0, second]

    def bounds_of(self, places: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest contribution of one other person with rows in all of these places.

        How many rows the person has is not known, but for one in each; the other rows may be of others.
        """
        possible = (self.others[:, places] >= 1).all(axis=1)
        down, up = (np.zeros(int(possible.sum()), np.int64) for _ in range(2))
        for place in places:
            others, left = self.others[possible, place], self.left[possible, place]
            least, most = np.full(len(others), FAR), np.full(len(others), -FAR)
            for k in range(1, int(others.max()) + 1):
                able = others >= k
                low, high = (
                    (self.low * k, left - self.high * (others - k)),
                    (self.high * k, left - self.low * (others - k)),
                )
                least = np.where(able, np.minimum(least, np.maximum(*low)), least)
                most = np.where(able, np.maximum(most, np.minimum(*high)), most)
            down, up = down + least, up + most
        return int(down.min()), int(up.max())

    def sums_of(self, places: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest sum of some places."""
        found = self.sums[:, places].sum(axis=1)
        return int(found.min()), int(found.max())


def close_to(value: int, bounds: tuple[int, int], percent: int, room: tuple[int, int]) -> bool:
    """Whether bounds of a contribution are within so many percent of it, where its range does not say so.

    Args:
        value: the contribution.
        bounds: what a reader has.
        percent: p.
        room: the least and the greatest contribution by its rows and their range.
    """
    part = Fraction(percent * abs(value), 100)
    return bounds[1] < min(value + part, room[1]) or bounds[0] > max(value - part, room[0])
