"""Minimum perfect matching of two sides of equal size, by shortest augmenting paths.

See Kuhn 1955, and Jonker and Volgenant 1987.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

_FAR = np.int64(1) << 40


@njit(nogil=True, cache=True)
def match_points(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], partner: npt.NDArray[np.int64]) -> int:
    """Pair points so that the coordinates in which partners differ are as few as possible.

    Args:
        left, right: int64[n, d], the points of both sides.
        partner: int64[n], written: the point of ``right`` that each of ``left`` gets.

    Returns:
        The sum of the differing coordinates over all pairs.

    Cost: O(n^3) and O(n^2 d) at worst, memory O(n). Potentials keep every reduced cost at 0 or more; each point of the
    left side is added by the shortest path to a point that has no partner.
    """
    n, d = left.shape
    of_left, of_right = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    owner, before = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    # Points are numbered from 1; 0 on the right is where a path begins.
    for i in range(1, n + 1):
        owner[0], column = i, np.int64(0)
        least, visited = np.full(n + 1, _FAR, np.int64), np.zeros(n + 1, np.bool_)
        while True:
            visited[column] = True
            row, step, nearest = owner[column], _FAR, np.int64(0)
            for j in range(1, n + 1):
                if visited[j]:
                    continue
                apart = -of_left[row] - of_right[j]
                for a in range(d):
                    apart += left[row - 1, a] != right[j - 1, a]
                if apart < least[j]:
                    least[j], before[j] = apart, column
                if least[j] < step:
                    step, nearest = least[j], j
            for j in range(n + 1):
                if visited[j]:
                    of_left[owner[j]] += step
                    of_right[j] -= step
                else:
                    least[j] -= step
            column = nearest
            if owner[column] == 0:
                break
        while column != 0:
            owner[column] = owner[before[column]]
            column = before[column]
    total = np.int64(0)
    for j in range(1, n + 1):
        partner[owner[j] - 1] = j - 1
        for a in range(d):
            total += left[owner[j] - 1, a] != right[j - 1, a]
    return total
