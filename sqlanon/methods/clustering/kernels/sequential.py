"""Sequential clustering (Goldberger & Tassa 2010, Algorithms 1 to 3), with repairs.

It always ends, and l is kept from the start.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import shuffle
from sqlanon.kernels.requirements import Counters, Demands, make_counters
from sqlanon.methods.clustering.kernels.balanced_start import deal, link_rows, start
from sqlanon.methods.clustering.kernels.class_costs import (
    ClusterSlots,
    Codes,
    Longs,
    Objective,
    find_cheapest_cluster,
    make_lone_slot,
    make_priced,
    may_exchange,
    move_row,
    price_slot,
)
from sqlanon.methods.clustering.kernels.cluster import Count, Flag
from sqlanon.methods.clustering.kernels.exchange import Partners, exchange, make_partners

MOST_PASSES = 50
"""Passes over the rows before small clusters unite, at most, and as many afterwards."""
LEAST_GAIN = 1000
"""A pass that gains no more than this part of the cost, and after which no cluster is split, is the last."""
_ANY = np.int64(2**62)


@njit(nogil=True, cache=True)
def _pass(
    clusters: ClusterSlots,
    objective: Objective,
    codes: Codes,
    value: Longs,
    order: Longs,
    used: int,
    leave: bool,
    seen: Longs,
    bound: Longs,
    partners: Partners,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
    stop: Flag,
    progress: Count,
) -> None:
    """Move every row, in an order, to the cluster where the cost falls most.

    A row that is alone and must ``leave`` moves to the cluster where the cost rises least.

    Where there are requirements beyond k, a row that the cluster cannot spare is exchanged for another; not by
    objectives that count sensitive values, which would take several times as long.

    Args:
        clusters, objective, codes, value, order, used, leave: the clusters, and the rows to move.
        seen: int64[n], the last look at each row, on the clock of ``clusters``. Clusters that were not priced again
            since then are not looked at: none of them that may take the row gets dearer by less than ``bound``.
        bound: int64[n], see there; where the row's cluster was not priced again either, the saving by leaving it.
        partners: for exchanges.
        demands, numbers, counters, room, stop, progress: as in `cluster_in_sequence`.
    """
    single, rest = len(clusters.size) - 2, len(clusters.size) - 3
    for i in order:
        if stop[0]:
            return
        progress[0] += 1
        g, most, since = clusters.cluster[i], _ANY, np.int64(-1)
        if not (leave and clusters.size[g] == 1):
            if clusters.when[g] <= seen[i]:
                most = bound[i]
            else:
                if clusters.size[g] > 1 and not may_exchange(clusters, g, i, -1, demands, numbers, counters, room):
                    if len(demands.add) > 0 and objective.part == 0:
                        exchange(clusters, objective, codes, value, partners, i, demands, numbers, counters, room)
                    continue
                price_slot(clusters, objective, codes, value, g, i, rest)
                most = clusters.cost[g] - clusters.cost[rest]
            if most <= 0 and objective.part == 0:
                continue
            if most <= bound[i]:
                since = seen[i]
        make_lone_slot(clusters, objective, codes, value, i, single)
        h, least = find_cheapest_cluster(
            clusters, objective, single, i, g, 0, used, since, most, demands, numbers, counters, room
        )
        seen[i], bound[i] = clusters.when[-1], most if h < 0 else least
        if h < 0:
            continue
        move_row(clusters, i, h)
        price_slot(clusters, objective, codes, value, g, -1, g)
        price_slot(clusters, objective, codes, value, h, -1, h)


@njit(nogil=True, cache=True)
def _split(
    clusters: ClusterSlots,
    objective: Objective,
    codes: Codes,
    value: Longs,
    key: Longs,
    used: int,
    large: int,
    at_random: bool,
    state: npt.NDArray[np.uint64],
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
    stop: Flag,
) -> int:
    """Split every cluster of more than ``large`` hundredths of a row in two, where the cost does not rise.

    Returns the number of slots in use.
    """
    first, second, slots = len(clusters.size) - 3, len(clusters.size) - 4, len(clusters.size) - 4
    for g in range(used):
        if stop[0]:
            break
        n = clusters.size[g]
        if 100 * n <= large:
            continue
        h = 0
        while h < used and clusters.size[h] > 0:
            h += 1
        if h == slots:
            return used
        rows, part, count = np.empty(n, np.int64), np.empty(n, np.int64), 0
        i = clusters.head[g]
        while i >= 0:
            rows[count] = i
            count += 1
            i = clusters.after[i]
        rows = np.sort(rows)
        if at_random:
            shuffle(state, rows)
        deal(rows, key, 2, part)
        link_rows(clusters, rows, part, np.array([first, second]))
        price_slot(clusters, objective, codes, value, first, -1, first)
        price_slot(clusters, objective, codes, value, second, -1, second)
        rows_only = (
            clusters.cost[first] + clusters.cost[second] <= clusters.cost[g]
            and may_exchange(clusters, first, -1, -1, demands, numbers, counters, room)
            and may_exchange(clusters, second, -1, -1, demands, numbers, counters, room)
        )
        link_rows(clusters, rows, part if rows_only else np.zeros(n, np.int64), np.array([g, h]))
        if rows_only:
            used = max(used, h + 1)
            price_slot(clusters, objective, codes, value, g, -1, g)
            price_slot(clusters, objective, codes, value, h, -1, h)
    return used


@njit(nogil=True, cache=True)
def _unite(
    clusters: ClusterSlots,
    objective: Objective,
    codes: Codes,
    value: Longs,
    used: int,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
    stop: Flag,
) -> None:
    """Unite every cluster that fails the requirements with the cheapest partner, the cheapest union first."""
    small, near, price = np.zeros(used, np.bool_), np.full(used, -1, np.int64), np.zeros(used, np.int64)
    for x in range(used):
        if stop[0]:
            return
        small[x] = clusters.size[x] > 0 and not may_exchange(clusters, x, -1, -1, demands, numbers, counters, room)
    stale = small.copy()
    while True:
        best = -1
        for x in range(used):
            if not small[x]:
                continue
            if stop[0]:
                return
            if stale[x]:
                near[x], price[x] = find_cheapest_cluster(
                    clusters, objective, x, -1, x, 0, used, -1, _ANY, demands, numbers, counters, room
                )
                price[x] -= clusters.cost[x]
                stale[x] = False
            if near[x] >= 0 and (best < 0 or price[x] < price[best]):
                best = x
        if best < 0:
            return
        h, i = near[best], clusters.head[best]
        last = i
        while last >= 0:
            clusters.cluster[last] = h
            if clusters.after[last] < 0:
                clusters.after[last] = clusters.head[h]
                break
            last = clusters.after[last]
        clusters.head[h], clusters.head[best] = i, -1
        price_slot(clusters, objective, codes, value, h, -1, h)
        price_slot(clusters, objective, codes, value, best, -1, best)
        small[best] = False
        small[h] = not may_exchange(clusters, h, -1, -1, demands, numbers, counters, room)
        stale[h] = True
        for x in range(used):
            if stop[0]:
                return
            if not small[x] or stale[x]:
                continue
            if near[x] == h or near[x] == best:
                stale[x] = True
                continue
            _, dear = find_cheapest_cluster(
                clusters,
                objective,
                x,
                -1,
                x,
                h,
                h + 1,
                -1,
                price[x] + clusters.cost[x] + 1,
                demands,
                numbers,
                counters,
                room,
            )
            dear -= clusters.cost[x]
            if dear < price[x] or (dear == price[x] and h < near[x]):
                near[x], price[x] = h, dear


@njit(nogil=True, cache=True)
def cluster_in_sequence(
    codes: Codes,
    value: Longs,
    key: Longs,
    objective: Objective,
    demands: Demands,
    diversity: Demands,
    numbers: Codes,
    alpha: int,
    omega: int,
    at_random: bool,
    state: npt.NDArray[np.uint64],
    group: Codes,
    stop: Flag,
    progress: Count,
) -> int:
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        codes: int32[n, d or more].
        value: int64[n], the sensitive value that ``objective`` counts, else 0.
        key: int64[n], values to deal out evenly: the sensitive ones, where requirements look at them.
        objective: the costs of classes.
        demands: the requirements.
        diversity: the same without k: clusters meet it from the start.
        numbers: the number in the requirements of every row.
        alpha, omega: percent of k: rows of a cluster at the start, and those from which on a cluster is split.
        at_random: rows are dealt in a random order, and moved in another; else as they come.
        state: of the random numbers.
        group: int32[n], written: the cluster of each row, in the order of their first rows.
        stop: once another thread sets it, this ends early, with clusters that may not meet the requirements.
        progress: int64[1], added to: the looks of all passes at a row.

    Returns:
        The cost of the clusters, if it was not stopped.

    There are never more than twice as many clusters as rows suffice for at the start.

    Cost: O(n^2 d / (alpha k)) a pass, at most `MOST_PASSES` before and after clusters unite; with requirements beyond k
    also the size of a cluster where it is the best so far, and exchanges, which compare rows with those of their key:
    O(n^2 / keys) steps a pass if keys are equally frequent, O(n^2 d / k) for clusters, and most of the time where keys
    are few.
    """
    n, k = len(codes), max(demands.k, 1)
    t = max(1, n // max(1, (alpha * k + 50) // 100))
    priced = make_priced(objective, n, min(2 * t, n) + 4)
    counters, room = make_counters(demands, n), np.empty(n, np.int64)
    slots_used = start(
        priced, objective, codes, value, key, t, at_random, state, diversity, numbers, counters, room, stop
    )
    order, seen, bound = np.arange(n), np.full(n, -1, np.int64), np.zeros(n, np.int64)
    partners = make_partners(key, len(priced.size))
    if at_random:  # similar rows that come one after the other all go the same way
        shuffle(state, order)
    for united in (False, True):
        stage_demands = demands if united else diversity
        for _ in range(MOST_PASSES):
            before = priced.cost[:slots_used].sum()
            _pass(
                priced,
                objective,
                codes,
                value,
                order,
                slots_used,
                not united and k > 1,
                seen,
                bound,
                partners,
                stage_demands,
                numbers,
                counters,
                room,
                stop,
                progress,
            )
            remaining = (priced.size[:slots_used] > 0).sum()
            slots_used = _split(
                priced,
                objective,
                codes,
                value,
                key,
                slots_used,
                omega * k,
                at_random,
                state,
                stage_demands,
                numbers,
                counters,
                room,
                stop,
            )
            divided = (priced.size[:slots_used] > 0).sum() > remaining
            if stop[0] or (not divided and before - priced.cost[:slots_used].sum() <= before // LEAST_GAIN):
                break
        if not united:
            _unite(priced, objective, codes, value, slots_used, demands, numbers, counters, room, stop)
            seen[:], partners.tried[:] = -1, -1  # the requirements of clusters change
    name, count = np.full(slots_used, -1, np.int64), 0
    for i in range(n):
        g = priced.cluster[i]
        if name[g] < 0:
            name[g] = count
            count += 1
        group[i] = name[g]
    return priced.cost[:slots_used].sum()
