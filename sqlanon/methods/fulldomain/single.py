"""``search: single``: K-Optimize, the best single-dimensional partition of ordered columns.

R. J. Bayardo and R. Agrawal, *Data Privacy through Optimal k-Anonymization*, ICDE 2005. A solution is a set of cut points, each between two neighbouring values of a column. Sets are enumerated depth-first: a node has a *head*,
the cuts that are chosen, and a *tail*, those that may be added below it. Classes below k are suppressed, and charged for. A row costs at
least what it costs in the finest partition of the subtree, head and tail together, and if its class under the head is below k it is
suppressed in the whole subtree. Of every cut of the tail the same bound is made with the cut in the head: where that is no better
than the best solution the cut leaves the tail, as does one that makes no class of k rows, and the bounds are made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.cut_bounds import cut_bounds
from sqlanon.kernels.extent import SCALE
from sqlanon.kernels.lattice import add_up, group, maps_of, room_of
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain.cells import Cells, arranged, attach
from sqlanon.methods.shared.compiling import note_compiling
from sqlanon.privacy import least_rows
from sqlanon.table.encode import by_code

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.engines.base import TableRef

    Ints = npt.NDArray[np.int32]
    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_OFTEN = 256
"""Sets between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Records:
    """Rows that no solution of a subtree divides.

    Attributes:
        codes: int32[d, f], of one row of each.
        rows: int64[f].
        values: int64[f, c], rows by sensitive value, for ``cm``; else no columns.
    """

    codes: Ints
    rows: Longs
    values: Longs


@dataclass(frozen=True, slots=True)
class Subtree:
    """Sets that have all of ``head`` and some of ``tail``; ``bound``: none costs less."""

    head: Flags
    tail: Longs
    records: Records
    bound: int


class Single:
    """The enumeration, and the best set so far.

    Args:
        context: the run.
        metric: ``dm``, ``cm`` or ``loss``.
        records: the table grouped by its codes.
    """

    def __init__(self, context: Context, metric: str, records: Records) -> None:
        quasi = context.encoded.quasi
        self._metric, self._records = metric, records
        self._k, self._most = least_rows(context.requirements), context.most_unassigned
        self._starred = context.suppression is None or context.suppression.rows == "starred"
        # A cut that makes no class of k rows may still bring starred rows to k, and lets other classes lose less.
        self._prunes_useless = metric != "loss" and (self._most == 0 or not self._starred)
        self.rows = context.encoded.rows
        self.codes = [domain.codes for domain in quasi]
        # A cut c of column j, 1 <= c < codes, is number start[j] + c - 1.
        sizes = [max(codes - 1, 0) for codes in self.codes]
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._column = np.repeat(np.arange(len(quasi)), sizes)
        self._cut = np.concatenate(
            [np.arange(1, size + 1) for size in sizes] or [np.zeros(0, np.int64)]
        ).astype(np.int64)
        self._weights = [domain.reading.spec.weight for domain in quasi]
        self._null = [domain.has_null for domain in quasi]
        self._places: list[Longs] = []
        for domain, (code, position) in zip(quasi, by_code(context.scratch, "table/domain_positions", quasi, "int32"), strict=True):  # fmt: skip
            self._places.append(np.zeros(domain.codes, np.int64))
            self._places[-1][code] = position
        self.full = {"dm": self.rows, "cm": 1, "loss": SCALE * sum(self._weights)}[metric]
        self._room = room_of(len(records.rows), maps_of(self._maps(np.zeros(len(self._cut), np.bool_))).words)
        self.best: tuple[int, Flags] | None = None
        self.looked = 0
        self.bound = 0

    def parts(self, cuts: Flags) -> list[Ints]:
        """Of every column and code the number of its interval."""
        found = []
        for j, codes in enumerate(self.codes):
            own = cuts[self._start[j] : self._start[j + 1]]
            found.append(np.concatenate([[0], np.cumsum(own)])[:codes].astype(np.int32))
        return found

    def _maps(self, cuts: Flags) -> list[Ints]:
        return [part[None] for part in self.parts(cuts)]

    def grouped(self, cuts: Flags, records: Records) -> tuple[Ints, Records]:
        """The class of each record, and the classes as records."""
        n, room = len(records.rows), self._room
        room.rows[:n] = np.arange(n, dtype=np.int32)
        maps = maps_of(self._maps(cuts))
        groups = group(records.codes, n, maps, np.zeros(len(self.codes), np.int16), room)
        add_up(n, groups, room, records.rows)
        label, first = room.group[:n].copy(), room.first[:groups]
        values = np.zeros((groups, records.values.shape[1]), np.int64)
        if values.shape[1]:
            np.add.at(values, label, records.values)
        made = Records(np.ascontiguousarray(records.codes[:, first]), room.size[:groups].copy(), values)
        return label, made

    def cost(self, cuts: Flags, records: Records) -> Longs:
        """What the rows of each record cost in a class of its own that has k rows, at the intervals of ``cuts``."""
        if self._metric == "dm":
            return records.rows * np.maximum(records.rows, self._k)
        if self._metric == "cm":
            return np.asarray(records.rows - records.values.max(axis=1), np.int64)
        total = np.zeros(len(records.rows), np.int64)
        for j, part in enumerate(self.parts(cuts)):
            total += self.extent(j, part)[records.codes[j]] * self._weights[j]
        return total * records.rows

    def extent(self, j: int, part: Ints) -> Longs:
        """Of every code of a column the extent of its interval; NULL with a value is as wide as the column."""
        first = np.searchsorted(part, part, side="left")
        last = np.searchsorted(part, part, side="right") - 1
        wide = np.asarray(self._places[j][last] - self._places[j][first], np.int64)
        if self._null[j]:
            wide[(first == 0) & (last > 0)] = SCALE
            wide[last == 0] = 0
        return wide

    def shown(self, score: int) -> str:
        """A cost, for notes: as reports measure it."""
        return f"{score}" if self._metric == "dm" else f"{score / (self.full * max(self.rows, 1)):.4f}"

    def run(self, most: int) -> bool:
        """Look at sets until none can be better, or at ``most`` of them. Returns whether the best is proven.

        Afterwards ``bound`` is what no set costs less than.
        """
        tail = np.arange(len(self._cut), dtype=np.int64)
        root = Subtree(np.zeros(len(tail), np.bool_), tail, self._records, 0)
        limit = self._most
        if limit:
            # Sets that suppress nothing are few, and the best of them is a better start than the others.
            self._most = 0
            self._start_from(root, most // 4)
            self._enumerate(root, most // 4)
            self._most = limit
        self._start_from(root, most)
        return self._enumerate(root, most)

    def _start_from(self, root: Subtree, most: int) -> None:
        self._greedy(root)
        self._descend(most)
        self._improve(most)

    def _enumerate(self, root: Subtree, most: int) -> bool:
        """Look at all sets of a subtree that may be better; see `run`."""
        stack = [root]
        while stack:
            if self.looked >= most:
                left = [one.bound for one in stack]
                self.bound = min([*left, *([self.best[0]] if self.best else [])])
                return self.best is not None and self.bound >= self.best[0]
            one = stack.pop()
            if self.best is not None and one.bound >= self.best[0]:
                continue
            made, bounds = self._looked(one)
            # Cuts with the lowest bounds first: good sets are found soon, and rule out others.
            order = np.lexsort((made.tail, bounds))
            tail = made.tail[order]
            for at in reversed(range(len(tail))):
                head = made.head.copy()
                head[tail[at]] = True
                stack.append(Subtree(head, tail[at + 1 :], made.records, int(bounds[order[at]])))
        self.bound = self.best[0] if self.best is not None else 0
        return True

    def _greedy(self, root: Subtree) -> None:
        """A start: the cut of the least bound is added while there is one."""
        one = root
        while True:
            made, bounds = self._looked(one)
            if not len(made.tail):
                return
            at = int(np.argmin(bounds))
            head = made.head.copy()
            head[made.tail[at]] = True
            one = Subtree(head, np.delete(made.tail, at), made.records, int(bounds[at]))

    def _descend(self, most: int) -> None:
        """Another start: from no cut the one that lowers the cost most is added, while one does."""
        head, better = np.zeros(len(self._cut), np.bool_), True
        score: int | None = None
        while better:
            better, chosen = False, -1
            for cut in np.flatnonzero(~head):
                if self.looked >= most:
                    return
                self.looked += 1
                with_it = head.copy()
                with_it[cut] = True
                _, classes = self.grouped(with_it, self._records)
                few = classes.rows < self._k
                own = self._compare(with_it, classes, few, int(classes.rows[few].sum()))
                if own is not None and (score is None or own < score):
                    score, chosen, better = own, int(cut), True
            if better:
                head[chosen] = True

    def _improve(self, most: int) -> None:
        """Add, remove or move single cuts of the best set while it gets better. Cost: cuts x records a round."""
        better = self.best is not None
        while better:
            better = False
            for changed in self._changes():
                if self.looked >= most:
                    return
                assert self.best is not None
                head, before = self.best[1].copy(), self.best[0]
                head[changed] = ~head[changed]
                self.looked += 1
                _, classes = self.grouped(head, self._records)
                few = classes.rows < self._k
                self._compare(head, classes, few, int(classes.rows[few].sum()))
                better |= self.best[0] < before

    def _changes(self) -> Iterator[list[int]]:
        """Each cut alone, and each two neighbouring ones of a column, so that a cut moves by one value."""
        for cut in range(len(self._cut)):
            yield [cut]
        for cut in range(1, len(self._cut)):
            if self._column[cut] == self._column[cut - 1]:
                assert self.best is not None
                if self.best[1][cut] != self.best[1][cut - 1]:
                    yield [cut - 1, cut]

    def _looked(self, one: Subtree) -> tuple[Subtree, Longs]:
        """Compare the head with the best set; the subtree without the cuts that cannot be better, and the bound with each that is left."""
        self.looked += 1
        tail, records, first = one.tail, one.records, True
        while True:
            cuts = one.head.copy()
            cuts[tail] = True
            _, records = self.grouped(cuts, records)
            least = self.cost(cuts, records)
            label, classes = self.grouped(one.head, records)
            few = classes.rows < self._k
            gone = int(classes.rows[few].sum())
            if first:
                self._compare(one.head, classes, few, gone)
                first = False
            weight = np.zeros(len(classes.rows), np.int64)
            np.add.at(weight, label, least)
            base = int(weight[~few].sum()) + self.full * gone
            bounds = np.zeros(len(tail), np.int64)
            keep = np.zeros(len(tail), np.bool_)
            for j in np.unique(self._column[tail]):
                own = np.flatnonzero(self._column[tail] == j)
                made = cut_bounds(
                    np.ascontiguousarray(records.codes[j]), self.codes[j], records.rows, least, label, classes.rows, weight, self._k, self.full
                )[:, self._cut[tail[own]]]  # fmt: skip
                bounds[own] = base + made[0]
                keep[own] = gone + made[1] <= self._most
                if self._prunes_useless:
                    keep[own] &= made[2] > 0
            if self.best is not None:
                keep &= bounds < self.best[0]
            if keep.all():
                return Subtree(one.head, tail, records, base), bounds
            tail = tail[keep]

    def _compare(self, head: Flags, classes: Records, few: Flags, gone: int) -> int | None:
        """What a set costs, noted if it is the best; None: it suppresses more than it may."""
        # Starred rows are one class, which has k rows as well.
        if gone > self._most or (self._starred and 0 < gone < self._k):
            return None
        score = int(self.cost(head, classes)[~few].sum()) + self.full * gone
        if self.best is None or score < self.best[0]:
            self.best = score, head
        return score


def read_records(context: Context, metric: str) -> tuple[Records, Cells]:
    """The table grouped by its quasi codes, with the sensitive values of each for ``cm``."""
    encoded = context.encoded
    columns = encoded.quasi + (encoded.sensitive[:1] if metric == "cm" else ())
    made = context.scratch.sql(
        "cells/count", work=encoded.work, columns=[column.code for column in columns], cells=None
    )
    *codes, rows = context.scratch.fetch_arrays(made, [*(column.code_array for column in columns), "int64"])
    cells = arranged(codes, rows, len(encoded.quasi))
    if metric != "cm":
        return Records(cells.codes, cells.rows, np.zeros((len(cells.rows), 0), np.int64)), cells
    begins = np.ones(len(cells.rows), np.bool_)
    begins[1:] = (cells.codes[:, 1:] != cells.codes[:, :-1]).any(axis=0)
    label, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
    values = np.zeros((len(first), encoded.sensitive[0].codes), np.int64)
    np.add.at(values, (label, cells.sensitive[0]), cells.rows)
    own = Cells(np.ascontiguousarray(cells.codes[:, first]), [], values.sum(axis=1))
    return Records(own.codes, own.rows, values), own


def assign(context: Context, metric: str, most: int) -> Assignment:
    """The best set of cuts, or the best of ``most``.

    Raises:
        InfeasibleError: no set keeps within the limit of suppressed rows.
    """
    note_compiling(context.progress, cut_bounds, group)
    records, cells = read_records(context, metric)
    search = Single(context, metric, records)
    proven = search.run(most)
    if search.best is None:
        raise InfeasibleError(
            "fulldomain: no set of cuts has suppressed rows that are a class of k rows within the limit: raise limit, or say rows: left_out"
        )
    score, head = search.best
    label, classes = search.grouped(head, records)
    few = classes.rows < least_rows(context.requirements)
    order = np.lexsort(list(reversed(classes.codes)))
    order = order[~few[order]]
    starred = context.suppression is None or context.suppression.rows == "starred"
    number = np.full(len(few), len(order) if starred else -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    kept = np.flatnonzero(number[label] >= 0)
    table, _ = attach(context, cells, kept.astype(np.int32), number[label][kept], cells.rows[kept])
    star = len(order) if starred and few.any() else None
    found = (
        f"{search.looked} sets of cuts were looked at, {int(head.sum())} of {len(head)} cuts are published"
    )
    notes = [
        f"fulldomain: {found}; {metric} {search.shown(score)}" + (", the least of all" if proven else "")
    ]
    if not proven:
        gap = (score - search.bound) / max(score, 1)
        notes.append(f"fulldomain: the search ended there, as nodes: {most} says; no set costs less than {search.shown(search.bound)}, {gap:.2%} below")  # fmt: skip
    spans = _spans(
        context, search, head, classes, order, int(classes.rows[few].sum()) if star is not None else 0
    )
    left = context.suppression is not None and not starred and context.most_unassigned > 0
    return Assignment(
        table, "kernel", tuple(notes), spans=spans, divided=False, unassigned=left, starred=star
    )


def _spans(
    context: Context, search: Single, head: Flags, classes: Records, order: npt.NDArray[np.intp], starred: int
) -> TableRef:
    """The intervals of the classes, and of as many starred rows, if there are any, the whole domain: as recode/spans makes them."""
    star = [starred] if starred else []
    columns: dict[str, npt.NDArray[np.generic]] = {
        "class": np.arange(len(order) + len(star), dtype=np.int32),
        "n": np.append(classes.rows[order], star).astype(np.int64),
    }
    for j, (domain, part) in enumerate(zip(context.encoded.quasi, search.parts(head), strict=True)):
        own = part[classes.codes[j][order]]
        low = np.searchsorted(part, own, side="left")
        high = np.searchsorted(part, own, side="right") - 1
        columns[f"lo_{domain.code}"] = np.append(low, [0] * len(star)).astype(np.int32)
        columns[f"hi_{domain.code}"] = np.append(high, [len(part) - 1] * len(star)).astype(np.int32)
    table = context.scratch.table("spans")
    context.scratch.engine.load_arrays(table, columns)
    return table
