"""MDAV, maximum distance to the average vector (Domingo-Ferrer & Mateo-Sanz 2002).

It makes clusters around the rows farthest from the mean.

A row is a point: a place on the axis of each ordered or hierarchy column, a code of each nominal column. Everything is
an integer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import SCALE, Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.requirements import Counters, Demands, make_counters, satisfied
from sqlanon.kernels.unions import Masks, Places, boxes_of
from sqlanon.methods.clustering.kernels.cluster import (
    Clusters,
    Count,
    Flag,
    Longs,
    add,
    begin,
    make_clusters,
    place_rest,
)


class Points(NamedTuple):
    """Rows as points.

    Attributes:
        at: int32[n, d], places from 0 to `SCALE`, or codes.
        codes: int64[d], of a nominal column how many codes it has; 0 for the others.
        weight: int64[d].
    """

    at: Places
    codes: Longs
    weight: Longs


@njit(nogil=True, cache=True)
def _squared_distance(points: Points, i: int, middle: Longs) -> int:
    """The weighted squared distance of a row from a point; different codes are the length of an axis apart."""
    total = np.int64(0)
    for a in range(len(middle)):
        step = np.int64(points.at[i, a]) - middle[a]
        if points.codes[a] > 0 and step != 0:
            step = np.int64(SCALE)
        total += points.weight[a] * step * step
    return total


@njit(nogil=True, cache=True)
def _mean(points: Points, free: Longs, left: int, middle: Longs) -> None:
    """Write the mean of the first ``left`` rows, rounded down; of codes the most frequent, of several the lowest."""
    for a in range(len(middle)):
        if points.codes[a] == 0:
            total = np.int64(0)
            for f in range(left):
                total += points.at[free[f], a]
            middle[a] = total // left
            continue
        count = np.zeros(points.codes[a], np.int64)
        for f in range(left):
            count[points.at[free[f], a]] += 1
        middle[a] = np.argmax(count)


@njit(nogil=True, cache=True)
def _farthest(points: Points, free: Longs, left: int, middle: Longs) -> int:
    """The place among the first ``left`` of the row farthest from a point; of several the first."""
    far, most = 0, np.int64(-1)
    for f in range(left):
        apart = _squared_distance(points, free[f], middle)
        if apart > most:
            far, most = f, apart
    return far


@njit(nogil=True, cache=True)
def _make_cluster(
    clusters: Clusters,
    g: int,
    far: int,
    points: Points,
    free: Longs,
    left: int,
    box: Places,
    sets: Masks,
    demands: Demands,
    numbers: Places,
    counters: Counters,
    rows: Longs,
    apart: Longs,
    stop: Flag,
) -> int:
    """Make cluster ``g`` of the row at ``far`` and of those nearest to it, until every requirement holds.

    Returns:
        How many rows it took from ``free``; 0: all are too few, or it was stopped, and it took none.
    """
    centre = np.empty(points.at.shape[1], np.int64)
    for a in range(len(centre)):
        centre[a] = points.at[free[far], a]
    for f in range(left):
        apart[f] = _squared_distance(points, free[f], centre)
    rows[0] = free[far]
    apart[far] = -1  # taken
    count, lawful = 1, demands.k <= 1 and satisfied(demands, numbers, rows[:1], counters)
    while not lawful and count < left and not stop[0]:
        near = -1
        for f in range(left):
            if apart[f] >= 0 and (near < 0 or apart[f] < apart[near]):
                near = f
        rows[count] = free[near]
        apart[near] = -1
        count += 1
        lawful = count >= demands.k and satisfied(demands, numbers, rows[:count], counters)
    if not lawful:
        return 0
    begin(clusters, g, box, sets, rows[0])
    for index in range(1, count):
        wide = measure_joint_width(clusters.box, clusters.mask, g, box, sets, rows[index], clusters.measure)
        add(clusters, g, box, sets, rows[index], wide)
    free_count = 0
    for f in range(left):
        if apart[f] >= 0:
            free[free_count] = free[f]
            free_count += 1
    return count


@njit(nogil=True, cache=True)
def cluster_by_mdav(
    points: Points,
    places: Places,
    sets: Masks,
    geometry: Geometry,
    demands: Demands,
    numbers: Places,
    group: npt.NDArray[np.int32],
    stop: Flag,
    progress: Count,
) -> int:
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        points: the rows; of equally good rows the first counts.
        places, sets, geometry: the same rows, see `Rows`, and the attributes: for the rows that are left over.
        demands, numbers: the requirements, and the number in them of every row.
        group: int32[n], written: the cluster of each row, in the order of their first rows.
        stop: once another thread sets it, this ends early, and ``group`` is not written.
        progress: int64[1], written: the number of rows in a cluster.

    Returns:
        The number of clusters; 0: it was stopped.

    While 3k rows are left: a cluster around the row r that is farthest from the mean of the rows left, and another
    around the row that is farthest from r; with 2k rows only that around r. The rest is a cluster, or goes to
    `place_rest` where it does not suffice.

    Cost: O(n^2 / k d) distances, and n^2 comparisons.
    """
    n, least, box = len(group), max(demands.k, 1), boxes_of(places)
    clusters = make_clusters(box, sets, geometry, n // least + 1)
    counters, rows, apart = make_counters(demands, n), np.empty(n, np.int64), np.empty(n, np.int64)
    middle = np.empty(points.at.shape[1], np.int64)
    free, remaining, classes, took = np.arange(n), n, 0, n
    while took > 0 and remaining >= 2 * least and not stop[0]:
        twice = remaining >= 3 * least
        _mean(points, free, remaining, middle)
        for _ in range(2 if twice else 1):
            if remaining < least:
                break
            far = _farthest(points, free, remaining, middle)
            for a in range(len(middle)):
                middle[a] = points.at[free[far], a]
            took = _make_cluster(
                clusters,
                classes,
                far,
                points,
                free,
                remaining,
                box,
                sets,
                demands,
                numbers,
                counters,
                rows,
                apart,
                stop,
            )
            if took == 0:
                break
            classes, remaining = classes + 1, remaining - took
            progress[0] = n - remaining
    if remaining > 0 and satisfied(demands, numbers, free[:remaining], counters):
        begin(clusters, classes, box, sets, free[0])
        for f in range(1, remaining):
            wide = measure_joint_width(clusters.box, clusters.mask, classes, box, sets, free[f], clusters.measure)
            add(clusters, classes, box, sets, free[f], wide)
        classes, remaining = classes + 1, 0
    return place_rest(clusters, classes, free[:remaining].copy(), box, sets, demands, numbers, group, stop)
