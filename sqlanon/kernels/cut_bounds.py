"""Lower bounds of sets of cut points: what each further cut would cost at least, of all cuts of a column in one pass."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.lattice import sorted_by_group
from sqlanon.kernels.tally import Ints, Longs


@njit(nogil=True, cache=True)
def cut_bounds(
    codes: Ints,
    most: int,
    rows: Longs,
    least: Longs,
    group: Ints,
    size: Longs,
    weight: Longs,
    k: int,
    full: int,
) -> npt.NDArray[np.int64]:
    """What dividing the groups at each cut of one column adds.

    Args:
        codes: int32[f], of the records; a cut c lies between the codes c - 1 and c.
        most: codes of the column.
        rows, least: int64[f], of each record its rows, and what they cost at least where their class has k rows.
        group: int32[f], the group of each record; groups are the classes without the cut.
        size, weight: int64[g], the sums of ``rows`` and ``least`` over each group.
        k: rows of a class, at least; those of a smaller one are suppressed.
        full: what a suppressed row costs.

    Returns:
        int64[3, most + 1], by cut: what the bound rises by, how many more rows are suppressed, and how many parts of divided groups
        have k rows.

    Cost: O(f + codes + groups), two counting sorts.
    """
    n, groups = len(codes), len(size)
    found = np.zeros((3, most + 1), np.int64)
    _, by_code = sorted_by_group(codes, n, most)
    _, order = sorted_by_group(group[by_code], n, groups)
    at = 0
    while at < n:
        g = group[by_code[order[at]]]
        whole, worth = size[g], weight[g]
        before, gone = (full * whole, whole) if whole < k else (worth, np.int64(0))
        left = below = np.int64(0)
        while at < n:
            i = by_code[order[at]]
            left += rows[i]
            below += least[i]
            at += 1
            if at == n:
                break
            then = by_code[order[at]]
            if group[then] != g:
                break
            first, past = codes[i] + 1, codes[then] + 1
            if first == past:
                continue
            right = whole - left
            cost = full * left if left < k else below
            cost += full * right if right < k else worth - below
            lost = (left if left < k else 0) + (right if right < k else 0)
            parts = (1 if left >= k else 0) + (1 if right >= k else 0)
            found[0, first] += cost - before
            found[0, past] -= cost - before
            found[1, first] += lost - gone
            found[1, past] -= lost - gone
            found[2, first] += parts
            found[2, past] -= parts
    for c in range(1, most + 1):
        for row in range(3):
            found[row, c] += found[row, c - 1]
    return found
