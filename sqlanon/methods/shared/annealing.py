"""Annealing of classes, block by block (see `kernels.anneal`), from the classes that there are or from smaller classes.

Blocks, steps and random streams are fixed by the rows alone, so that neither threads nor memory change the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.declared.trials import BLOCK, CLASSES
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.random import seed_state
from sqlanon.kernels.requirements import ITEMS, Demands
from sqlanon.kernels.rows import Rows
from sqlanon.kernels.runs import find_exact_runs
from sqlanon.kernels.unions import boxes_of, measure_of
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernels.anneal import UNIT, anneal
from sqlanon.methods.shared.kernels.dealt_halves import find_least_dealt, halve_dealt
from sqlanon.methods.shared.kernels.unite import unite_failing
from sqlanon.methods.shared.search_table import SearchTable, measure_lost

if TYPE_CHECKING:
    from sqlanon.arrays import Bits, Ints, Longs

STAGE, TOLLED_STAGE = 50, 100
"""Steps of a stage, for each row; with a toll, where they do not suffice for a whole cooling, fewer stages of more."""
STAGES, ANNEALED = 20, 16
"""Of a whole cooling, and of one of classes that were annealed before; with fewer steps, those of the end."""
MOST_STEPS = 8 * STAGE * STAGES
"""For each row, at most."""
BEGUN = 20_000_000
"""Steps of a start from smaller classes, at least, up to half a cooling."""
FEW_STEPS, MOST_ATTEMPTS = 1_000_000, 8
"""Small tables are annealed several times, with fewer steps than this together, and the best classes count."""
COUNTERS = 1 << 22
"""Counts of values of classes that are kept for tolls, at most."""
LARGE = 8, 5
"""Classes that have in the mean more than 8 / 5 of the rows that suffice are begun anew, from smaller classes."""
SMALL = 13, 10
"""Smaller classes have 13 / 10 of the rows that suffice."""
_FALLING = np.rint(-np.log((np.arange(1024) + 0.5) / 1024) * UNIT).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that are annealed together.

    Attributes:
        codes: int32[d, n].
        rows: the same for kernels.
        geometry: the attributes.
        demands: the requirements over these rows.
        key: int64[n], equal for rows that the requirements count alike.
        table: int64[keys], rows of each key in the whole table.
        least: no class of fewer rows meets the requirements.
    """

    codes: Ints
    rows: Rows
    geometry: Geometry
    demands: Demands
    key: Longs
    table: Longs
    least: int

    def measure_loss(self, group: Ints) -> int:
        """Rows x extents of classes."""
        return measure_lost(self.rows, self.geometry, group)

    def improve(self, group: Ints, steps: int, state: Bits, *, one_more: bool = False) -> Ints:
        """Classes that lose no more, after so many steps for each row.

        Args:
            group: int32[n], class of each row, 0 to the number of classes - 1; they meet the requirements.
            steps: for each row.
            state: of the random numbers.
            one_more: begin with a class more than there are, whatever their size.
        """
        begun = self._begin(group, self._count_smaller(group, one_more=one_more), steps, state)
        if begun is not None:
            group = begun
        group = self._cool(group, steps, STAGES if begun is None else ANNEALED, (0, 0), state)
        box, measure = boxes_of(self.rows.places), measure_of(self.geometry, self.rows.places.shape[1])
        halve_dealt(self.codes, box, self.rows.sets, measure, self.demands, self.key, group, self.least, state)
        return group

    def _count_smaller(self, group: Ints, *, one_more: bool) -> int:
        """Rows of smaller classes: more than would suffice if they had the shares of the table; 0: there are such."""
        n, classes = len(group), int(group.max(initial=-1)) + 1
        if one_more:
            return n // (classes + 1)
        mean = n // max(classes, 1)
        rows = int(find_least_dealt(self.demands, self.key, self.least, mean))
        return rows * SMALL[0] // SMALL[1] if rows * LARGE[0] <= mean * LARGE[1] else 0

    def _begin(self, group: Ints, rows: int, steps: int, state: Bits) -> Ints | None:
        """Classes from runs of so many rows; None: none lose less than those of ``group``.

        The runs may fail the requirements. They are annealed with a toll, and those that still fail are united.
        """
        n = len(group)
        if rows < self.least or n // rows * len(self.table) > COUNTERS or n < 2 * rows:
            return None
        first, _ = find_exact_runs(
            self.rows.places, self.rows.places, self.rows.sets, np.ones(n, np.int64), self.geometry, rows
        )
        begun = (np.cumsum(first) - 1).astype(np.int32)
        begun = self._cool(begun, max(steps, min(STAGE * STAGES, BEGUN // n)), STAGES, (1, 2), state)
        box, measure = boxes_of(self.rows.places), measure_of(self.geometry, self.rows.places.shape[1])
        if not unite_failing(box, self.rows.sets, measure, self.demands, begun, int(begun.max()) + 1):
            return None
        begun = _number_classes(begun)
        return begun if self.measure_loss(begun) < self.measure_loss(group) else None

    def _cool(self, group: Ints, steps: int, stages: int, toll: tuple[int, int], state: Bits) -> Ints:
        """Classes after annealing in so many stages at most, the last ones of a whole cooling.

        In a whole one the allowed cost of a step falls to a fiftieth, from half of a row's mean loss, and a toll rises
        a hundredfold, from a fraction of it.
        """
        classes = int(group.max(initial=-1)) + 1
        stage = TOLLED_STAGE if toll[0] and steps < STAGE * STAGES else STAGE
        stages = max(min(steps // stage, stages), 1)
        lost = self.measure_loss(group)
        if classes < 2 or steps == 0 or lost == 0:
            return group
        group, late = group.copy(), range(STAGES - stages, STAGES)
        warmth = [lost * 814**stage // (len(group) * 2 * 1000**stage) for stage in late]
        tolls = [
            (lost * toll[0] * 1274**stage // (len(group) * toll[1] * 1000**stage)) + 1 if toll[0] else 0
            for stage in late
        ]
        anneal(
            boxes_of(self.rows.places),
            self.rows.sets,
            measure_of(self.geometry, self.rows.places.shape[1]),
            self.demands,
            self.key,
            self.table,
            group,
            classes,
            np.array(warmth, np.int64),
            np.array(tolls, np.int64),
            steps * len(group) // stages,
            _FALLING,
            state,
        )
        return _number_classes(group)


def anneal_classes(table: SearchTable, group: Longs, steps: int) -> Longs:
    """The class of every row after annealing; never more loss.

    Args:
        table: the rows.
        group: int64[n], class of each row, 0 to the number of classes - 1, in an order of the classes in which near
            ones are similar.
        steps: for each row.

    Cost: O(rows of a class x d) a step, blocks on all threads.
    """
    context = table.context
    n, steps = len(group), min(steps, MOST_STEPS)
    key = _keys(table.demands(), n)
    whole = np.bincount(key).astype(np.int64)
    least = kernel_input.least_class(context)
    order = np.argsort(group, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(group)))
    most = min(BLOCK, CLASSES * least)
    marks = np.arange(0, n, most)
    cuts = np.unique(np.append(np.searchsorted(starts, marks), len(starts) - 1))

    def improve(number: int, span: tuple[int, int]) -> Ints:
        part = order[starts[span[0]] : starts[span[1]]]
        codes, rows, demands = table.take(part)
        block = Block(codes, rows, table.geometry, demands, key[part], whole, least)
        best = (group[part] - span[0]).astype(np.int32)
        for attempt in range(min(max(FEW_STEPS // max(len(part) * steps, 1), 1), MOST_ATTEMPTS)):
            stream = (context.search_seed, 1 << 20, number, *([attempt] if attempt else []))
            random_words = np.random.SeedSequence(stream).generate_state(1, np.uint64)
            improved = block.improve(best, steps, seed_state(int(random_words[0])), one_more=attempt % 2 == 1)
            if block.measure_loss(improved) < block.measure_loss(best):
                best = improved
        return best

    spans: Sequence[tuple[int, int]] = [(int(a), int(b)) for a, b in pairwise(cuts)]
    renumbered, past, rows_done = np.empty(n, np.int64), 0, 0
    with ThreadPoolExecutor(context.threads) as pool:
        parts: Iterator[Ints] = pool.map(improve, range(len(spans)), spans)
        for span, part in zip(spans, parts, strict=True):
            renumbered[order[starts[span[0]] : starts[span[1]]]] = part.astype(np.int64) + past
            past += int(part.max(initial=-1)) + 1
            rows_done += len(part)
            context.progress.update(rows_done, n, "rows annealed")
    return renumbered


def _keys(demands: Demands, n: int) -> Longs:
    """Equal numbers from 0 for rows that all requirements count alike."""
    columns = [
        demands.items[demands.start[c, ITEMS] : demands.start[c + 1, ITEMS]].reshape(n, -1)
        for c in range(len(demands.add))
    ]
    if not columns:
        return np.zeros(n, np.int64)
    return np.unique(np.concatenate(columns, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _number_classes(group: Ints) -> Ints:
    """The same classes without gaps between their numbers."""
    return np.unique(group, return_inverse=True)[1].astype(np.int32)
