"""Method ``sequential``: rows move between clusters while an objective falls.

The method is that of Goldberger & Tassa 2010, sections 6.3 and 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import least_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.methods.clustering.blocks import Block
    from sqlanon.privacy.base import Requirement

MOST_VALUES = 256
"""Sensitive values that the objectives pmi and mixed count, at most."""
_WORDS = 5
"""Words of 64 bits of a set, at most: 256 values and NULL."""


class Sequential:
    """Clusters dealt out, then improved row by row.

    Args:
        start: ``random``: rows are dealt out in a random order; ``tree``: along the order `tree`, and nothing is drawn.
        objective: the cost to lower: ``loss``, ``mi``, ``pmi`` or ``mixed``.
        w: percent that mi weighs in ``mixed``.
        runs: number of starts; the least cost counts.
        alpha: percent of k: rows of a cluster at the start.
        omega: percent of k from which on clusters are split.
        block: rows that are clustered together.
    """

    def __init__(self, start: str, objective: str, w: int, runs: int, alpha: int, omega: int, block: int) -> None:
        self.start, self.objective, self.w, self.runs = start, objective, w, runs
        self.alpha, self.omega, self.block = alpha, omega, block

    @property
    def _weights(self) -> tuple[int, int]:
        """Weights of F(R) and F(R, s), see `kernels.class_costs`."""
        return {"loss": (0, 0), "mi": (1, 0), "pmi": (1, 1), "mixed": (100, 100 - self.w)}[self.objective]

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.clustering.blocks import lacks_memory

        values = problem.sensitive[0].codes if self._weights[1] else 1
        if values > MOST_VALUES:
            return (
                f"method sequential: objective={self.objective} counts at most {MOST_VALUES} sensitive values, and "
                f"there are {values}; use objective=loss or mi"
            )
        memory = self._estimate_memory(problem.requirements, min(problem.rows, self.block), len(problem.quasi), values)
        # The table's counts while they are cumulated.
        counts = sum(domain.codes for domain in problem.quasi) * (values + 1) * 16
        return lacks_memory("sequential", problem, memory + counts)

    def _estimate_memory(self, requirements: Sequence[Requirement], rows: int, d: int, values: int) -> int:
        """Bytes for the clusters of a block of so many rows, at most."""
        first = max(1, (self.alpha * max(least_rows(requirements), 1) + 50) // 100)
        clusters = 2 * (rows // first + 1)
        # Of a cluster four codes, sets, two costs and the counts of each column, and two numbers of each value.
        return clusters * (d * (32 + 8 * _WORDS + 4 * (values + 1)) + 16 * values)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b d / (alpha k)) a pass with blocks of b rows, and the order's."""
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow
        from sqlanon.kernels.random import seed_state
        from sqlanon.methods.clustering.blocks import in_blocks
        from sqlanon.methods.clustering.kernels.sequential import cluster_in_sequence
        from sqlanon.methods.clustering.objective import objective_of

        expect(grow, cluster_in_sequence)
        blocks = in_blocks(context, "sequential", self.block)
        loaded, values = blocks.loaded, context.encoded.sensitive
        n, part = len(loaded.rid), self._weights[1]
        sensitive = loaded.sensitive[0].astype(np.int64) if part else np.zeros(n, np.int64)
        codes = values[0].codes if part else 1
        objective = objective_of(loaded.geometry, loaded.codes, sensitive, codes, *self._weights)
        key = np.zeros(n, np.int64)
        if len(blocks.demands.add):  # the sensitive values together, numbered in their order
            for column, domain in zip(loaded.sensitive, values, strict=False):
                key = np.unique(key * domain.codes + column, return_inverse=True)[1].astype(np.int64)
        rows_only, is_random = blocks.demands._replace(k=1), self.start == "random"

        def work(block: Block) -> int:
            numbers, best = block.rows.number, -1
            for run in range(self.runs):
                if block.stop[0]:
                    break
                state = np.random.SeedSequence((context.search_seed, block.number, run)).generate_state(1, np.uint64)
                group = np.empty_like(block.group)
                cost = cluster_in_sequence(
                    block.rows.codes,
                    sensitive[numbers],
                    key[numbers],
                    objective,
                    block.demands,
                    rows_only,
                    numbers,
                    self.alpha,
                    self.omega,
                    is_random,
                    seed_state(int(state[0])),
                    group,
                    block.stop,
                    block.done,
                )
                if best < 0 or cost < best:
                    best = int(cost)
                    block.group[:] = group
            return int(block.group.max(initial=-1)) + 1

        largest = max(stop - start for start, stop in blocks.cuts)
        memory = self._estimate_memory(context.requirements, largest, len(loaded.codes), codes)
        return blocks.cluster_blocks(work, memory, "rows looked at", each=0)
