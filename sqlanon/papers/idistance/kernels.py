"""iDistance keys: the nearest centre, then the distance from it (Zhang et al. 2005; Ghinita et al. 2009, section 6).

Centres come from clustering a sample and are numbered along the Hilbert curve. Everything is integers: distances in
positions carry `FRACTION` binary digits, so that no platform's square root can change an order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.methods.onedim.kernels.hilbert import make_hilbert_keys

CENTRES = 512
SAMPLE = 10
"""Centres by default, and per cent of the rows they are found from (section 7.1)."""

FRACTION = 8
"""Binary digits of a distance behind the point."""

_AXIS_BITS = 20

MOST_AXES = 127
"""Squared distances of more axes, `FRACTION` digits included, do not fit 64 bits: d x 2^(2 * 20 + 16) < 2^63."""

MOST_SAMPLED = 50_000
"""Rows of a sample, at most: more cost time and hardly move the centres."""


def choose_sample_size(rows: int, centres: int = CENTRES) -> int:
    """Rows to find the centres from: 10 %, at least as many as there are centres, if there are."""
    return min(max(rows * SAMPLE // 100, min(rows, centres)), MOST_SAMPLED)


@njit(nogil=True, cache=True)
def _root(number: int) -> int:
    """The integer square root."""
    root = np.int64(np.sqrt(np.float64(number)))
    while root * root > number:
        root -= 1
    while (root + 1) * (root + 1) <= number:
        root += 1
    return root


@njit(nogil=True, cache=True)
def find_nearest(
    points: npt.NDArray[np.int32],
    centres: npt.NDArray[np.int32],
    which: npt.NDArray[np.int32],
    square: npt.NDArray[np.int64],
) -> None:
    """The nearest centre of every point by Euclidean distance; ties: the first.

    Args:
        points: int32[n, d], 0 to 2^20 an axis.
        centres: int32[c, d].
        which: int32[n], written: the centre.
        square: int64[n], written: the squared distance.

    Cost: O(n c d) at worst; a sum that has lost is not finished, and the last point's centre is tried first, so that
    points near their neighbours in the order cost less.
    """
    n, d = points.shape
    last = 0
    for i in range(n):
        best, last_choice = np.int64(0), last
        for j in range(d):
            gap = np.int64(points[i, j]) - centres[last, j]
            best += gap * gap
        for c in range(len(centres)):
            total = np.int64(0)
            for j in range(d):
                gap = np.int64(points[i, j]) - centres[c, j]
                total += gap * gap
                if total > best:
                    break
            if total < best or (total == best and c < last_choice):
                best, last_choice = total, c
        which[i], square[i], last = last_choice, best, last_choice


def find_centres(sample: npt.NDArray[np.int32], count: int = CENTRES, rounds: int = 8) -> npt.NDArray[np.int32]:
    """Centres of a sample by Lloyd's iteration on integers, numbered along the Hilbert curve.

    Args:
        sample: int32[m, d], 0 to 2^20 an axis, in any order: the result does not depend on it.
        count: centres wanted; fewer if the sample has fewer distinct points.
        rounds: iterations, at most.

    Returns:
        int32[<= count, d]. It begins with distinct points of the sample, evenly along the curve; a centre's mean is
        rounded down; a centre without points stays where it is.
    """
    points, weight = np.unique(sample, axis=0, return_counts=True)
    along = _order_on_curve(points)
    points, weight = points[along], weight[along]
    count = min(count, len(points))
    centres = points[np.arange(count) * len(points) // count].astype(np.int32)
    which, square = np.empty(len(points), np.int32), np.empty(len(points), np.int64)
    for _ in range(rounds):
        find_nearest(points, centres, which, square)
        rows = np.bincount(which, weight, count).astype(np.int64)
        means = centres.copy()
        for j in range(points.shape[1]):
            sums = np.zeros(count, np.int64)
            np.add.at(sums, which, points[:, j].astype(np.int64) * weight)
            means[rows > 0, j] = sums[rows > 0] // rows[rows > 0]
        if np.array_equal(means, centres):
            break
        centres = means
    centres = np.unique(centres, axis=0)
    return centres[_order_on_curve(centres)]


def _order_on_curve(points: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Positions of distinct points in the order of the curve."""
    keys = make_hilbert_keys(np.minimum(points, (1 << _AXIS_BITS) - 1).astype(np.uint32), _AXIS_BITS)
    columns = (keys,) if keys.ndim == 1 else tuple(keys.T[::-1])
    return np.lexsort((*points.T[::-1], *columns))


@njit(nogil=True, cache=True)
def make_distance_keys(
    points: npt.NDArray[np.int32], centres: npt.NDArray[np.int32], out: npt.NDArray[np.int64]
) -> None:
    """Keys: the centre's number x `find_offset`, plus the distance from it.

    Args:
        points: int32[n, d], 0 to 2^20 an axis, d up to `MOST_AXES`.
        centres: int32[c, d], in order.
        out: int64[n], written.

    Cost: see `find_nearest`.
    """
    n = len(points)
    which, square = np.empty(n, np.int32), np.empty(n, np.int64)
    find_nearest(points, centres, which, square)
    step = find_offset(points.shape[1])
    for i in range(n):
        out[i] = which[i] * step + _root(square[i] << (2 * FRACTION))


@njit(nogil=True, cache=True)
def find_offset(d: int) -> int:
    """The factor of a centre's number: more than any distance of two points of up to `MOST_AXES` axes."""
    return _root((np.int64(d) << 40) << (2 * FRACTION)) + 1
