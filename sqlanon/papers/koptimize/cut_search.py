"""The search for the best set of cut points: set enumeration with lower bounds.

The idea is that of K-Optimize: R. J. Bayardo and R. Agrawal, *Data Privacy through Optimal k-Anonymization*, ICDE 2005.
A subtree has a *head*, the cuts that are chosen, and a *tail*, those that may be added. Rows that the finest set of the
subtree, head and tail together, keeps in one class are never divided, and rows of a class below k under the head are
suppressed in the whole subtree; a lower bound for the others is in `kernels.cut_bounds`. Of every cut of the tail the
same bound is made with the cut in the head: where that is no better than the best set so far the cut leaves the tail,
as does a cut that makes no class of k rows, and the bounds are made again.

Where the domain is small, `cut_columns` searches first, with half of the sets, and by LM `interval_search` before it.
Ours: these searches; bounds of groups; the tail by ascending bounds; the starts; and that the second half of the sets
is taken by the lowest bound, so that the bound that is left rises where the search ends early.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.papers.koptimize.cut_columns import ColumnSearch
from sqlanon.papers.koptimize.cut_sets import CutSets, Records
from sqlanon.papers.koptimize.interval_search import find_intervals, fits_intervals
from sqlanon.papers.koptimize.kernels.cut_bounds import bound_of_groups, cut_bounds, sum_groups
from sqlanon.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_OPEN = 100_000
"""Largest number of subtrees in the queue by bound; beyond it, the lowest is searched depth-first.

Each takes about 1 KiB.
"""

_OFTEN = 256
"""Sets between two reports of progress."""
EXCHANGED = 100
"""Sets for every cut that the start looks at to exchange cuts of the best set for others, at most."""


@dataclass(slots=True)
class Subtree:
    """Sets that have all of ``head`` and some of ``tail``.

    Attributes:
        head: bool[cuts].
        tail: cuts by ascending ``bounds``; the child of a cut has it in the head, and the later cuts in the tail.
        bounds: lower bounds of the cost of each child's sets.
        records: the table's rows as the finest set groups them; None: they are to be grouped again.
        at: the child that is looked at next.
    """

    head: Flags
    tail: Longs
    bounds: Longs
    records: Records | None
    at: int = 0

    @property
    def bound(self) -> int | None:
        """A lower bound of the cost of the remaining children's sets; None: no child is left."""
        return int(self.bounds[self.at]) if self.at < len(self.tail) else None


class CutSearch:
    """The enumeration, and the best set so far.

    Args:
        sets: the table's sets of cuts.
        most: rows that may be suppressed.
        progress: gets counts of sets.

    Attributes:
        best: the least score, with the set.
        looked: the number of sets that were looked at.
        bound: after `run`, a lower bound of the cost of any set.
    """

    def __init__(self, sets: CutSets, most: int, progress: Progress | None = None) -> None:
        self._sets, self._most, self._progress, self._total = sets, most, progress or SilentProgress(), 0
        # A cut that makes no class of k rows may still bring starred rows to k, and lets other classes lose less.
        self._prunes_useless = sets.metric != "loss" and (most == 0 or not sets.starred)
        self.best: tuple[int, Flags] | None = None
        self.looked = 0
        self.bound = 0

    def run(self, most: int) -> bool:
        """Look at sets until none can be better, or at ``most`` of them. Returns whether the best set is proven."""
        limit, self._total, low = self._most, most, 0
        if fits_intervals(self._sets, limit):
            low = self._search_intervals(most)
            if self.best is not None and low >= self.best[0]:
                self.bound = self.best[0]
                return True
        columns = ColumnSearch(self._sets, limit, self)
        if limit:
            # Sets that suppress nothing are few, and the best of them is a better start than the others.
            self._most = 0
            self._start_from(most // 4)
            if not columns.fits:
                self._enumerate(most // 4)
            self._most = limit
        self._start_from(most)
        if columns.fits:
            if columns.run((most - self.looked) // 2):
                self.bound = self.best[0] if self.best is not None else 0
                return True
            low = max(low, columns.bound)
            self._improve(most)
        proven = self._enumerate(most)
        self.bound = max(self.bound, low)
        return proven

    def look(self, sets: int) -> None:
        """Count work that takes as long as so many sets."""
        before, self.looked = self.looked, self.looked + sets
        if self.looked // _OFTEN > before // _OFTEN:
            self._progress.update(self.looked, self._total, "sets of cuts")

    def compare(self, cuts: Flags) -> None:
        """Look at a set: it is noted if it is the best."""
        self._try_change(cuts, [])

    def _search_intervals(self, most: int) -> int:
        """Look at sets interval by interval, with half of the sets; a bound that no set costs less than."""
        if self._most:
            # The best set that suppresses nothing is a better start than the others.
            self._try_intervals(most // 8, 0)
        self._greedy()
        self._improve(most // 8)
        return self._try_intervals((most - self.looked) // 2, self._most)

    def _try_intervals(self, most: int, most_gone: int) -> int:
        best = None if self.best is None else self.best[0]
        better, bound, took = find_intervals(self._sets, best, most, most_gone)
        self.look(took)
        if better is not None:
            self.compare(better)
        return bound

    def _start_from(self, most: int) -> None:
        self._greedy()
        self._descend(self._sets.none(), [], most)
        self._improve(most)
        self._exchange(min(most // 4, self.looked + EXCHANGED * self._sets.count))

    def _enumerate(self, most: int) -> bool:
        """Look at all sets that may be better; see `run`."""
        depth_first = (self.looked + most) // 2
        stack, added = [self._look(self._sets.none(), None, None)], 0
        heap: list[tuple[int, int, Subtree]] = []
        while stack or heap:
            if not stack:
                stack.append(heapq.heappop(heap)[2])
            top = stack[-1]
            bound = top.bound
            if bound is None or (self.best is not None and bound >= self.best[0]):
                stack.pop()
                continue
            if self.looked >= most:
                bounds_left = [two.bound for two in stack] + [two[0] for two in heap]
                self.bound = min(
                    [*(bound for bound in bounds_left if bound is not None), *([self.best[0]] if self.best else [])]
                )
                return self.best is not None and self.bound >= self.best[0]
            head = top.head.copy()
            head[top.tail[top.at]] = True
            top.at += 1
            stack.append(self._look(head, top.tail[top.at :], top.records))
            if self.looked >= depth_first and len(heap) < MOST_OPEN:
                if len(stack) == 2 and top.bound is not None:
                    # Without the cut of the child the finest set is coarser, and the bounds are higher.
                    stack[0] = self._look(top.head, np.sort(top.tail[top.at :]), None)
                for two in stack:
                    bound = two.bound
                    if bound is not None and (self.best is None or bound < self.best[0]):
                        two.records, added = None, added + 1
                        heapq.heappush(heap, (bound, added, two))
                stack.clear()
        self.bound = self.best[0] if self.best is not None else 0
        return True

    def _look(self, head: Flags, tail: Longs | None, records: Records | None) -> Subtree:
        """Compare the head with the best set, and return the subtree without cuts that cannot be better.

        ``tail`` None means all cuts.
        """
        sets, k, full = self._sets, self._sets.k, self._sets.full
        records = records if records is not None else sets.records
        tail = tail if tail is not None else np.arange(sets.count, dtype=np.int64)
        first = True
        while True:
            self.look(1)
            cuts = head.copy()
            cuts[tail] = True
            _, records = sets.group_rows(cuts, records)
            least = sets.least(cuts, records)
            label, classes = sets.group_rows(head, records)
            gone = int(classes.rows[classes.rows < k].sum())
            if first:
                self._compare(head, classes)
                first = False
            sums = sum_groups(label, len(classes.rows), records.rows, least, k)
            base = sets.base + bound_of_groups(sets.kind, sums, k, full)
            if sets.metric == "c_avg" and sets.starred and self._most:
                base -= 1  # starred rows are one more class
            bounds = np.zeros(len(tail), np.int64)
            keep = np.zeros(len(tail), np.bool_)
            for j in np.unique(sets.column[tail]):
                own_places = np.flatnonzero(sets.column[tail] == j)
                bound = cut_bounds(
                    records.codes[j], sets.codes[j], records.rows, least, label, sums, sets.kind, k, full
                )[:, sets.cut[tail[own_places]]]
                bounds[own_places] = base + bound[0]
                keep[own_places] = gone + bound[1] <= self._most
                if self._prunes_useless:
                    keep[own_places] &= bound[2] > 0
            if self.best is not None:
                keep &= bounds < self.best[0]
            if keep.all():
                # Cuts with the lowest bounds first: good sets are found soon, and rule out others.
                order = np.lexsort((tail, bounds))
                return Subtree(head, tail[order], bounds[order], records)
            tail = tail[keep]

    def _compare(self, head: Flags, classes: Records) -> int | None:
        """The cost of a set, noted if it is the best; see `CutSets.score`."""
        score = self._sets.score(head, classes, self._most)
        if score is not None and (self.best is None or score < self.best[0]):
            self.best = score, head
        return score

    def _greedy(self) -> None:
        """A start: the cut of the least bound is added while there is such a cut."""
        step = self._look(self._sets.none(), None, None)
        while len(step.tail):
            head = step.head.copy()
            head[step.tail[0]] = True
            step = self._look(head, np.sort(step.tail[1:]), step.records)

    def _descend(self, head: Flags, barred: list[int], most: int) -> None:
        """Another start: add to ``head`` the cut that lowers the cost most, as long as there is such a cut.

        ``barred`` cuts are never added.
        """
        score, better = self._try_change(head, []), True
        while better:
            better, best_cut = False, -1
            for cut in np.flatnonzero(~head):
                if self.looked >= most:
                    return
                change = self._try_change(head, [int(cut)]) if cut not in barred else None
                if change is not None and (score is None or change < score):
                    score, best_cut, better = change, int(cut), True
            if better:
                head[best_cut] = True

    def _improve(self, most: int) -> None:
        """Change the best set while it gets better. Cost: cuts x records a round."""
        better = self.best is not None
        while better:
            better = False
            for changed in self._changes():
                if self.looked >= most:
                    return
                assert self.best is not None
                before = self.best[0]
                self._try_change(self.best[1], changed)
                better |= self.best[0] < before

    def _exchange(self, most: int) -> None:
        """Replace one cut of the best set, or all of a column, by others, while the set improves.

        Cost: cuts^2 x records a round.
        """
        better = self.best is not None
        while better:
            better = False
            assert self.best is not None
            cuts = np.flatnonzero(self.best[1])
            column = self._sets.column[cuts]
            for cuts_taken in [
                *([int(cut)] for cut in cuts),
                *(cuts[column == j].tolist() for j in np.unique(column)),
            ]:
                if self.looked >= most:
                    return
                before, head = self.best[0], self.best[1].copy()
                head[cuts_taken] = False
                self._descend(head, cuts_taken, most)
                if self.best[0] < before:
                    self._improve(most)
                    better = True
                    break

    def _try_change(self, head: Flags, cuts: list[int]) -> int | None:
        """Look at a set that has these cuts where ``head`` has not, and the other way round."""
        self.look(1)
        head = head.copy()
        head[cuts] = ~head[cuts]
        return self._compare(head, self._sets.group_rows(head, self._sets.records)[1])

    def _changes(self) -> Iterator[list[int]]:
        """Each cut alone, and each two neighbouring cuts of a column, so that a cut moves by one value."""
        for cut in range(self._sets.count):
            yield [cut]
        for cut in range(1, self._sets.count):
            if self._sets.column[cut] == self._sets.column[cut - 1]:
                assert self.best is not None
                if self.best[1][cut] != self.best[1][cut - 1]:
                    yield [cut - 1, cut]
