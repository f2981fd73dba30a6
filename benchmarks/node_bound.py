"""How much every release of nodes loses at least, beside ARX's local recoding: LM, as a proof by duality.

Give every row a number so that in no box of nodes with k rows or more the mean of the k greatest numbers exceeds the
box's LM. A class has k rows or more, so that its numbers sum up to no more than its rows times the LM of its box, and
all numbers to no more than the loss of any release whose classes are published as nodes. This is the dual of the
linear program that chooses classes. The numbers are found by steps: they grow where all boxes allow it, and fall in
boxes that do not. No row is suppressed in the releases that are bounded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from benchmarks.local_recoding import Tree, recode_locally
from benchmarks.peers import BELOW, CASES, sampled
from benchmarks.record import RESULTS, Record, options
from benchmarks.search import processor_seconds
from examples.sources import DataMissingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS, GROWTH, SLOWER, FALL = 40, 0.15, 10, 0.3
"""Steps; the growth of the first one; steps until it has halved; the exponent by which numbers fall."""
POLISHED, POLISH = 15, 0.02
"""Last steps, from the best numbers, and their growth."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """All boxes of nodes with k rows or more.

    Attributes:
        rows: int64[t], rows of each different row of the table.
        box: int32[nodes, t], of each node of the lattice and different row the box; -1: it has fewer than k rows.
        lost: float64[boxes], LM of each box.
    """

    rows: NDArray[np.int64]
    box: NDArray[np.int32]
    lost: NDArray[np.float64]

    def narrowest(self) -> NDArray[np.float64]:
        """LM of the narrowest box of each different row: numbers that no box forbids."""
        least = np.ones(len(self.rows))
        for box in self.box:
            least = np.minimum(least, np.where(box >= 0, self.lost[box], 1))
        return least


def list_boxes(leaves: NDArray[np.int64], trees: Sequence[Tree], k: int) -> Boxes:
    """The boxes of a table int64[d, n] of leaf numbers. Cost: nodes of the lattice x rows, also in memory."""
    records, count = np.unique(leaves, axis=1, return_counts=True)
    boxes, losses, past = list[Any](), list[Any](), 0
    for levels in product(*(range(len(tree.nodes)) for tree in trees)):
        key = np.zeros(len(count), np.int64)
        for record, tree, level in zip(records, trees, levels, strict=True):
            key = key * (int(tree.nodes[level].max()) + 1) + tree.nodes[level][record]
        _, first, label = np.unique(key, return_index=True, return_inverse=True)
        large = np.bincount(label, weights=count) >= k
        if large.any():
            number = np.where(large, past + np.cumsum(large) - 1, -1)
            boxes.append(number[label].astype(np.int32))
            lost = sum(tree.lost[level][record] for record, tree, level in zip(records, trees, levels, strict=True))
            losses.append(lost[first[large]] / len(trees))
            past += int(large.sum())
    return Boxes(count.astype(np.int64), np.array(boxes), np.concatenate(losses))


@numba.njit
def _allow(
    box: NDArray[np.int32],
    lost: NDArray[np.float64],
    rows: NDArray[np.int64],
    number: NDArray[np.float64],
    order: NDArray[np.int64],
    k: int,
) -> NDArray[np.float64]:
    """The numbers made smaller, so that no box forbids them.

    ``order``: of the rows, by falling numbers. The k greatest numbers of a box that forbids them are made smaller by
    one factor, and the others to what the k-th is then, at most.
    """
    taken, total, last = np.zeros(len(lost), np.int64), np.zeros(len(lost)), np.zeros(len(lost))
    for own in box:
        for i in order:
            b = own[i]
            if b >= 0 and taken[b] < k:
                more = min(rows[i], k - taken[b])
                taken[b] += more
                total[b] += more * number[i]
                last[b] = number[i]
    allowed = number.copy()
    for own in box:
        for i in range(len(rows)):
            b = own[i]
            if b >= 0 and total[b] > k * lost[b]:
                factor = k * lost[b] / total[b]
                most = factor * max(number[i], last[b])
                allowed[i] = min(allowed[i], most)
    return allowed


def bound_loss(boxes: Boxes, k: int) -> float:
    """LM of any release is not below this. Cost: two passes over `Boxes.box` for each step."""
    best, best_numbers = 0.0, boxes.narrowest()

    def lessen(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal best, best_numbers
        allowed = _allow(boxes.box, boxes.lost, boxes.rows, numbers, np.argsort(-numbers, kind="stable"), k)
        if allowed @ boxes.rows > best:
            best, best_numbers = float(allowed @ boxes.rows), allowed
        return allowed / np.maximum(numbers, 1e-12)

    numbers = best_numbers
    for step in range(STEPS):
        factor = lessen(numbers)
        numbers = np.where(factor < 1, numbers * factor**FALL, numbers * (1 + GROWTH / (1 + step / SLOWER)))
    for _ in range(POLISHED):
        lessen(np.minimum(best_numbers * (1 + POLISH), 1))
    return best / float(boxes.rows.sum())


def main(words: list[str] | None = None) -> int:
    """Bound every cell of nodes."""
    parser = options(__doc__, None)
    parser.add_argument("--k", default="100,50,25,10,5", help="comma list")
    args = parser.parse_args(words)
    record, results = Record("node_bound"), list[dict[str, Any]]()
    for k in map(int, args.k.split(",")):
        for case in CASES:
            if case.sets or k not in case.k:
                continue
            try:
                with sampled(case) as sample:
                    leaves, trees = sample.leaves, sample.trees
            except DataMissingError as missing:
                print(missing)
                return 0
            before = processor_seconds()
            bound, peer = bound_loss(list_boxes(leaves, trees, k), k), recode_locally(leaves, trees, k).loss
            results.append(
                {
                    "table": case.table,
                    "rows": case.rows,
                    "k": k,
                    "bound": bound,
                    "peer": peer,
                    "below_at_most": 1 - bound / peer,
                    "reachable": bound <= (1 - BELOW) * peer,
                    "processor_seconds": processor_seconds() - before,
                }
            )
            print(
                f"{case.table} {case.rows:,} k={k}: {bound:.4f}, {1 - bound / peer:.1%} below ARX at most", flush=True
            )
            record.write(args.out or RESULTS / "node_bound.json", results=results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
