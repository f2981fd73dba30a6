"""The k-regular graph of rows and boxes whose pairs cost least.

A dynamic programme over the boxes that rows still need.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

from tests.oracle.divisions import wide
from tests.oracle.domains import Table


def pairs(table: Table, rows: Sequence[int]) -> int:
    """The sum over the other rows of a box of how wide each is together with the box's own row, which comes first."""
    return sum(wide(table, (rows[0], other)) for other in rows[1:])


def cheapest_pairs(table: Table, k: int) -> int:
    """The least sum of `pairs` over boxes that each have their own row; k^n states for n rows."""
    n = table.rows

    @cache
    def least(j: int, needs: tuple[int, ...]) -> int | None:
        """Of boxes ``j`` to the last, where row i goes to ``needs[i]`` more boxes of others."""
        if j == n:
            return 0
        best: int | None = None
        for others in combinations([i for i in range(n) if i != j and needs[i]], k - 1):
            after = least(j + 1, tuple(need - (i in others) for i, need in enumerate(needs)))
            if after is not None:
                found = after + pairs(table, (j, *others))
                best = found if best is None else min(best, found)
        return best

    found = least(0, (k - 1,) * n)
    assert found is not None
    return found
