"""The search for the best set of cut points column by column, where the domain is small (ours).

The columns are divided one after the other, each in all ways that may be part of a better set. A lower bound of a way
is the sum of lower bounds of the intervals, where in each interval the remaining columns are divided as is best for
the interval's rows alone (`kernels.cut_slabs`). No set costs less: the cost of a set is the sum over the intervals of
the cost of the other columns' cuts in them, as a class is in one interval and costs by rows and box alone. The ways
of a column come by ascending sums: they are the paths from the first code to the end, the shortest first. Of the last
column the sums are the costs of the sets.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sqlanon.papers.koptimize.kernels.cut_slabs import NEVER, Price, bound_slabs

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.papers.koptimize.cut_sets import CutSets


MOST_STEPS = 1_000_000_000
"""Largest number of boxes in the bounds of the first column: all combinations of intervals of the columns.

To add up that many takes some seconds.
"""
STEPS = 25_000
"""Boxes that take about as long as a set of cuts."""
PAIRS = 1_000
"""Pairs of codes of a column that take about as long, where its ways are listed."""
MOST_COUNTS = 1 << 22
"""Combinations of codes, and for ``cm`` of sensitive values, at most: a count is kept of each."""
MOST_WAITING = 1_000_000
"""Ways of a column that wait to be finished, at most. Each takes about 0.3 KiB."""

_Chain = tuple[int, "_Chain"] | None
"""Codes, the last first."""


class Search(Protocol):
    """Who looks for the best set."""

    best: tuple[int, Flags] | None

    def look(self, sets: int) -> None:
        """Count work that takes as long as so many sets."""

    def compare(self, cuts: Flags) -> None:
        """Note a set, if it is better than the best."""


class ExhaustedError(Exception):
    """No more sets may be looked at."""


class ColumnSearch:
    """The enumeration of a table's sets.

    Args:
        sets: the table's sets of cuts.
        most: rows that may be suppressed.
        search: has the best set so far.

    Attributes:
        fits: whether the domain is small enough.
        bound: after `run`, a lower bound of the cost of all sets but the best.
    """

    def __init__(self, sets: CutSets, most: int, search: Search) -> None:
        self._sets, self._most, self._search = sets, most, search
        # Columns of many codes first: a later column may be divided otherwise in each interval of those before
        # it.
        self._order = np.argsort([-codes for codes in sets.codes], kind="stable")
        self._sizes = np.array(sets.codes, np.int64)[self._order]
        self._values = max(sets.records.values.shape[1], 1)
        self._base = sets.base - int(sets.metric == "c_avg" and sets.starred and most > 0)
        counts = math.prod(self._sizes.tolist()) * self._values
        self.fits = len(self._sizes) > 0 and self._steps(0, 1) <= MOST_STEPS and counts <= MOST_COUNTS
        self.bound = 0

    def run(self, most: int) -> bool:
        """Look at sets until none can be better, or until ``most`` steps are used up.

        Returns whether none can be better.
        """
        sets, d = self._sets, len(self._sizes)
        self._left = most
        longest = int(self._sizes.max())
        self._widths = np.zeros((d, longest, longest), np.int64)
        for index, j in enumerate(self._order):
            first, last = np.triu_indices(sets.codes[j])
            self._widths[index, first, last] = sets.widths(j, first, last)
        place = np.ravel_multi_index(tuple(sets.records.codes[self._order]), tuple(self._sizes))
        counts = np.zeros((1, math.prod(self._sizes.tolist()), self._values), np.int64)
        counts[0, place] = sets.records.values if sets.metric == "cm" else sets.records.rows[:, None]
        try:
            self._divide(0, counts, np.zeros(1, np.int64), [])
        except ExhaustedError:
            return False
        return True

    def _steps(self, column: int, groups: int) -> int:
        boxes = math.prod(int(r) * (int(r) + 1) // 2 for r in self._sizes[column:])
        return int(groups * self._values * boxes)

    def _divide(self, column: int, counts: Longs, width: Longs, chosen: list[list[int]]) -> None:
        """Look at all sets with the chosen intervals in the first ``column`` columns: their first codes, but for 0.

        Args:
            column: the column, in the order of the search.
            counts: int64[groups, cells, v], as `bound_slabs` takes them; groups are the classes by the chosen
                intervals.
            width: int64[groups].
            chosen: of each column before it.
        """
        size = int(self._sizes[column])
        took = 1 + self._steps(column, len(counts)) // STEPS + size * (size + 1) // 2 // PAIRS
        self._spend(took)
        self._search.look(took)
        costs = bound_slabs(counts, self._sizes[column:], width, self._widths[column:], self._price())
        for cost, starts in self._ways(costs):
            if self._no_better(cost):
                return
            if column == 0:
                self.bound = cost
            if column == len(self._sizes) - 1:
                self._spend(1)
                self._search.compare(self._cuts([*chosen, starts]))
                continue
            sums = np.add.reduceat(counts.reshape(len(counts), size, -1), starts, axis=1)
            groups = sums.reshape(len(counts) * len(starts), -1, self._values)
            last = np.array([*starts[1:], size]) - 1
            wider = (width[:, None] + self._widths[column, starts, last]).ravel()
            some = groups.any(axis=(1, 2))
            self._divide(column + 1, np.ascontiguousarray(groups[some]), wider[some], [*chosen, starts])

    def _spend(self, sets: int) -> None:
        self._left -= sets
        if self._left < 0:
            raise ExhaustedError

    def _price(self) -> Price:
        """The present costs of classes: a set that suppresses more rows than this is no better than the best."""
        sets, most = self._sets, self._most
        if self._search.best is not None and sets.full:
            kept_rows = min(sets.k, sets.full) if sets.metric == "dm" else 0
            if sets.full > kept_rows:
                most = min(most, max(self._search.best[0] - kept_rows * sets.rows, 0) // (sets.full - kept_rows))
        return Price(sets.price, sets.k, sets.full, most)

    def _no_better(self, cost: int) -> bool:
        return self._search.best is not None and cost >= self._search.best[0]

    def _ways(self, costs: Longs) -> Iterator[tuple[int, list[int]]]:
        """The ways to divide a column, by ascending costs: each as the first codes of the intervals."""
        size, never = len(costs), int(NEVER)
        onward = [[(b + 1, int(costs[a, b])) for b in range(a, size) if costs[a, b] != NEVER] for a in range(size)]
        costs_left = [never] * size + [0]
        for a in reversed(range(size)):
            costs_left[a] = min(
                (cost + costs_left[b] for b, cost in onward[a] if costs_left[b] != never), default=never
            )
        if costs_left[0] == never:
            return
        # The intervals after each code, those first with which the rest costs least; of these the longest, which
        # suppress fewer rows.
        ranked = [
            sorted((cost + costs_left[b], -b, cost) for b, cost in some if costs_left[b] != never) for some in onward
        ]
        # The way to a code is followed by its interval of a rank: bound, code (of equal bounds the farthest first),
        # order of entry, rank, the cost of the way, and the first codes, each with those before it.
        waiting: list[tuple[int, int, int, int, int, _Chain]] = [(costs_left[0] + self._base, 0, 0, 0, 0, None)]
        entered = 0
        while waiting:
            if len(waiting) > MOST_WAITING:
                raise ExhaustedError
            bound, a, _, rank, spent, starts = heapq.heappop(waiting)
            if self._no_better(bound):
                return
            a = -a
            while a < size:
                if rank + 1 < len(ranked[a]):
                    then = spent + ranked[a][rank + 1][0] + self._base
                    if not self._no_better(then):
                        entered += 1
                        heapq.heappush(waiting, (then, -a, entered, rank + 1, spent, starts))
                _, onto, cost = ranked[a][rank]
                starts, spent, a, rank = (a, starts), spent + cost, -onto, 0
            yield bound, _list_chain(starts)

    def _cuts(self, chosen: list[list[int]]) -> Flags:
        cuts = self._sets.none()
        for j, starts in zip(self._order, chosen, strict=True):
            cuts[self._sets.numbers(int(j), starts[1:])] = True
        return cuts


def _list_chain(chain: _Chain) -> list[int]:
    cuts = []
    while chain is not None:
        code, chain = chain
        cuts.append(code)
    return cuts[::-1]
