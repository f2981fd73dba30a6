"""The largest earth mover's distance of a class to its table, at the cost of the values that classes have.

Verification looks at every value in every class (`sqlanon.privacy.closeness.measure`); a raw table has too many of
both. Li, Li and Venkatasubramanian 2007, section 4: by equal distance the sum of the excesses of a class; by ordered
distance the sum of |C(v) - F(v)| over all but the last of m values by m - 1, C and F being the cumulated shares of
class and table. C is constant between two values of the class and F rises, so that each such stretch is added up by
prefix sums of F, on both sides of where F passes C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.privacy.counts import Counts


def find_farthest(counts: Counts, *, ordered: bool) -> float:
    """The largest distance of a class; ``ordered``: by ordered distance, else by equal distance.

    Args:
        counts: rows of every value in every class, of at least one row.
        ordered: the values are numbered in their order.
    """
    import numpy as np

    whole = counts.whole.astype(np.float64)
    total, last = whole.sum(), len(whole) - 1
    share = counts.n / counts.size
    if not ordered:
        over = np.maximum(share - whole[counts.value] / total, 0)
        return float(np.add.reduceat(over, counts.start).max())
    if last == 0:
        return 0.0
    cumulated = np.cumsum(whole) / total
    before = np.concatenate([[0.0], np.cumsum(cumulated)])
    ends = np.append(counts.start[1:], len(counts.n))
    # Engines give the values of a class in any order.
    by = np.lexsort((counts.value, np.repeat(counts.start, ends - counts.start)))
    value, n = counts.value[by], counts.n[by]
    # C after each value of a class, up to the next one, or up to the last value of the table.
    sums = np.cumsum(n)
    level = (sums - np.repeat(sums[counts.start] - n[counts.start], ends - counts.start)) / counts.size
    first = np.minimum(value, last)
    past = np.append(value[1:], last)
    past[ends - 1] = last
    middle = np.clip(np.searchsorted(cumulated, level), first, past)
    moved = level * (2 * middle - first - past) + before[first] - 2 * before[middle] + before[past]
    each = np.add.reduceat(moved, counts.start) + before[value[counts.start]]
    return float(each.max() / last)
