"""Rows of the source compared with the boxes of the release, by the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags, Ints, Longs
    from sqlanon.attack.kernels.cover_bits import Boxes
    from sqlanon.attack.material import Counts, Material
    from sqlanon.progress import Progress

MOST_MISTAKES = 30_000_000_000
"""Additions for wrong values, at most."""
STEPS = 500_000_000
"""Comparisons between two updates of the progress."""


@dataclass(frozen=True, slots=True)
class VictimBoxes:
    """Victims and their boxes.

    Attributes:
        at: int64[r + 1], where the boxes of a tuple's victims begin in ``own``.
        own: int32, the box of some of them; ``times`` int64 how many they are.
        box_of: the box of every class of the private tables.
    """

    at: Longs
    own: Ints
    times: Longs
    box_of: dict[int, int]


class BoxIndex:
    """The published boxes as the kernels compare rows with them.

    Args:
        material: source and release.
        reporter: gets how many rows are compared.
    """

    def __init__(self, material: Material, reporter: Progress) -> None:
        covered, cells = material.covered, material.cells
        self.material, self.reporter = material, reporter
        columns = len(cells)
        self.low, self.high = np.zeros(cells.shape, np.int32), np.zeros(cells.shape, np.int32)
        self.null = np.zeros(cells.shape, np.bool_)
        sets: list[Flags] = []
        for a in range(columns):
            if covered.size[a]:
                sets.append(self._sets(a))
                # Nothing is wanted of a cell without a code: its ends are 0 and size - 1.
                self.low[a] = sets[-1].argmax(axis=1)[cells[a]]
                self.high[a] = (covered.size[a] - 1 - sets[-1][:, ::-1].argmax(axis=1))[cells[a]]
            else:
                sets.append(np.zeros((0, 0), np.bool_))
                cell = covered.start[a] + cells[a]
                self.low[a], self.high[a], self.null[a] = covered.low[cell], covered.high[cell], covered.null[cell]
        # Code by code: the kernels ask one code of all cells.
        self._by_code = np.concatenate([np.zeros(0, np.bool_), *(flags.T.ravel() for flags in sets)])
        self._kinds = np.array([len(flags) for flags in sets], np.int64)
        self._start = np.cumsum([0, *(flags.size for flags in sets)])[:-1].astype(np.int64)

    def boxes(self, place: Longs) -> Boxes:
        """The boxes as the kernels read them, where ``place`` is the bit of every column."""
        from sqlanon.attack.kernels.cover_bits import Boxes

        material = self.material
        return Boxes(
            self.low,
            self.high,
            self.null,
            material.cells,
            self._start,
            self._kinds,
            self._by_code,
            place,
            material.members,
        )

    def widths(self) -> Longs:
        """How many codes the cells of each box cover, summed over the columns."""
        widths = np.zeros(len(self.material.members), np.int64)
        for a in range(len(self.material.cells)):
            widths += self._codes(a)
        return widths

    def _codes(self, a: int) -> Longs:
        """How many codes each box's cell of a column covers."""
        if self.material.covered.size[a]:
            sizes: Longs = self._sets(a).sum(axis=1).astype(np.int64)[self.material.cells[a]]
            return sizes
        codes: Longs = np.maximum(self.high[a].astype(np.int64) - self.low[a] + 1, 0) + self.null[a]
        return codes

    def _sets(self, a: int) -> Flags:
        """Which codes each cell of a column of sets covers, bool[cells, codes]."""
        covered, kinds = self.material.covered, int(self.material.cells[a].max(initial=-1)) + 1
        size, first = int(covered.size[a]), int(covered.start[a])
        return covered.bits[first : first + kinds * size].reshape(kinds, size)

    def owners(self, codes: Ints, begins: Longs, rows: Longs) -> tuple[Longs, Longs]:
        """Boxes with as many rows as a group that cover all of it, the box that covers least first.

        Args:
            codes: int32[n, d], tuples group by group.
            begins: int64[g + 1], where each group begins.
            rows: int64[g], how many rows it has.

        Returns:
            Boxes group by group, and where each group's begin, int64[g + 1].
        """
        from sqlanon.attack.kernels.cover_bits import find_owners

        members = self.material.members
        order = np.lexsort((self.widths(), members))
        first, past = (np.searchsorted(members[order], rows, side).astype(np.int64) for side in ("left", "right"))
        return find_owners(self.boxes(np.arange(len(codes.T))), codes, begins, order, first, past)

    def blocks(self, steps: int = 0) -> list[tuple[int, int]]:
        """The rows in parts of `STEPS` comparisons; ``steps``: cost of a row in addition to those with the boxes."""
        rows = len(self.material.tuples)
        step = max(1, STEPS // max(self.low.size + steps, 1))
        return [(first, min(first + step, rows)) for first in range(0, rows, step)]

    def count_candidates(self, place: Longs, width: int) -> tuple[Longs, Doubles]:
        """Fewest candidates and summed chance for every set of known columns; see the kernel."""
        from sqlanon.attack.kernels.linkage import count_candidates

        material, boxes = self.material, self.boxes(place)
        fewest, chance = np.full(1 << width, np.iinfo(np.int64).max), np.zeros(1 << width)
        for first, past in self.blocks(width << width):
            count_candidates(boxes, material.tuples[first:past], material.victims[first:past], fewest, chance)
            self.reporter.update(past, len(material.tuples), "rows")
        return fewest, chance

    def guess_values(self, counts: Counts) -> tuple[Longs, Longs]:
        """Of each row that is known by all columns: its candidates' most frequent value, and its candidates."""
        values, number = np.unique(counts.value, return_inverse=True)
        starts = np.searchsorted(counts.group, np.arange(len(self.material.members) + 1)).astype(np.int64)
        top, every, _ = self._guess(starts, number.astype(np.int32), counts.times, len(values), show=False)
        return top, every

    def present(self, candidates: Longs, value: Ints, values: int) -> Flags:
        """The sensitive values of each row's candidates, bool[r, values].

        ``candidates``: where the values of each box begin in ``value``.
        """
        return self._guess(candidates, value, np.ones(len(value), np.int64), values, show=True)[2]

    def _guess(
        self, candidates: Longs, value: Ints, times: Longs, values: int, *, show: bool
    ) -> tuple[Longs, Longs, Flags]:
        from sqlanon.attack.kernels.linkage import count_top_values

        material, boxes = self.material, self.boxes(np.arange(len(self.material.cells)))
        rows = len(material.tuples)
        top, every = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        has = np.zeros((rows, values if show else 0), np.bool_)
        for first, past in self.blocks():
            part = slice(first, past)
            count_top_values(
                boxes, material.tuples[part], candidates, value, times, values, top[part], every[part], has[part]
            )
            self.reporter.update(past, rows, "rows")
        return top, every, has

    def measure_mistakes(self, place: Longs, columns: int, ties: VictimBoxes) -> tuple[Doubles, Doubles] | None:
        """Summed and highest expected success with a single wrong value, for every set of known columns.

        It is None if the computation is too much work.
        """
        from sqlanon.attack.kernels.mistakes import add_mistaken_success

        material, boxes = self.material, self.boxes(place)
        if self._additions(columns, ties) > MOST_MISTAKES:
            return None
        often = [
            np.bincount(material.tuples[:, a], material.victims, domain.codes).astype(np.int64)
            for a, domain in enumerate(material.quasi)
        ]
        begin = np.cumsum([0, *(len(codes) for codes in often)])
        chance, best = np.zeros(1 << columns), np.zeros(1 << columns)
        rows = len(material.tuples)
        step = max(1, rows // 100)
        for first in range(0, rows, step):
            past = min(first + step, rows)
            add_mistaken_success(
                boxes,
                material.tuples[first:past],
                ties.at[first : past + 1],
                ties.own,
                ties.times,
                begin,
                np.concatenate(often),
                columns,
                chance,
                best,
            )
            self.reporter.update(past, rows, "rows")
        return chance, best

    def _additions(self, columns: int, ties: VictimBoxes) -> float:
        """Upper bound of the cost of `measure_mistakes`: passes over the boxes, and sums over supersets by code."""
        from sqlanon.attack.kernels.mistakes import AT_ONCE

        boxes, sets = len(self.material.members), self.material.covered.size > 0
        additions = 0.0
        for a in range(len(sets)):
            codes = self._codes(a)[ties.own].astype(np.float64)
            passes = codes if sets[a] else np.ceil(codes / AT_ONCE)
            additions += float(passes.sum()) * boxes + float(codes.sum()) * columns * (1 << columns) / 2
        return additions

    def count_persons(self, place: Longs, width: int, box: Longs, person: Ints) -> tuple[Longs, Doubles]:
        """Fewest persons and summed chance for every set of known columns; each person of a box once, by box."""
        from sqlanon.attack.kernels.linkage import count_candidate_persons

        material, boxes = self.material, self.boxes(place)
        starts = np.searchsorted(box, np.arange(len(material.members) + 1)).astype(np.int64)
        fewest, chance = np.full(1 << width, np.iinfo(np.int64).max), np.zeros(1 << width)
        for first, past in self.blocks(len(person) + (width << width)):
            part = slice(first, past)
            count_candidate_persons(
                boxes,
                material.tuples[part],
                material.victims[part],
                starts,
                person,
                int(person.max(initial=-1)) + 1,
                fewest,
                chance,
            )
            self.reporter.update(past, len(material.tuples), "rows")
        return fewest, chance
