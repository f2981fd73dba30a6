"""Loss cuts of small partitions, down to the leaves.

Rows are sorted by every attribute once, and a cut divides the sorted lists.

The lists hold positions, so a list stays sorted when the rows are dealt to two halves (Mehta, Agrawal, Rissanen 1996,
for decision trees). A cut is scored by sweeps over a list in both directions, with the box of the rows passed in
registers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    SCALE,
    SIZE,
    SPAN,
    START,
    TREE,
    WEIGHT,
    Geometry,
    count_bits,
    measure_extent,
)
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.requirements import Counters, Demands, mark_allowed
from sqlanon.kernels.rows import TreeRows
from sqlanon.kernels.set_masks import BITS, FIRST, NULL, PAST, PRICE, SHIFT, TABLE
from sqlanon.kernels.sorted_lists import Lists, load
from sqlanon.kernels.vectors import (
    load_lanes,
    read_item,
    read_lane,
    store_vector,
    sum_spans,
    take_greater,
    take_lesser,
    write,
)

NEVER = np.int64(1) << np.int64(62)


@njit(nogil=True, cache=True)
def cut_sorted(
    rows: TreeRows,
    start: int,
    stop: int,
    first: npt.NDArray[np.bool_],
    geometry: Geometry,
    demands: Demands,
    relaxed: bool,
    target: int,
    work: Lists,
    counters: Counters,
) -> None:
    """Cut rows ``start`` to ``stop`` by the least loss, down to leaves or to pieces of at most ``target`` source rows.

    Args:
        rows: permuted in place between ``start`` and ``stop``.
        start, stop: the partition, at most as many rows as ``work`` has room for.
        first: bool[n], set True where a leaf or piece begins.
        geometry: the attributes.
        demands: the requirements.
        relaxed: rows with equal values may be divided.
        target: see `grow`.
        work: scratch.
        counters: zeroed.

    Ties: the more even cut, then the first attribute, then the lower bound.

    One long function on purpose: numba counts references to every array that a call takes, so that calls for partitions
    of a few rows would cost more than their work.

    Cost: O(n d log n) for balanced cuts.
    """
    facts, table = geometry.facts, geometry.table
    places, masks, codes, count, lists = work.places, work.masks, work.codes, work.count, work.lists
    ends, left, wide, stack, right, grown = work.ends, work.left, work.wide, work.open, work.right, work.grown
    sets, order, final = work.sets, work.order, work.final
    d, lanes, words, k = len(facts), rows.codes.shape[1], masks.shape[1], demands.k
    most = len(work.final)  # codes and lists lie one after the other
    checks, has_counts = len(demands.add) > 0, len(rows.count) > 0
    own_word, trees = 0, False  # the sets in the first word alone come first
    for t in range(len(sets)):
        own_word += sets[t, PAST] == 1
    for a in range(d):
        trees |= facts[a, KIND] == TREE or facts[a, KIND] == SPAN
    n = stop - start
    whole = load(rows, start, stop, geometry, work)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, 0, whole
    top = 1
    while top > 0:
        top -= 1
        begin, end, side, size = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        best_loss, best_tilt, best_j, best_at, best_left = NEVER, NEVER, -1, np.int64(0), np.int64(0)
        if size >= max(2 * k, 2) and end - begin > 1 and size > target:
            for j in range(d):
                code_j, from_j = j * most, (side * (d + 1) + j) * most
                if not relaxed and read_item(codes, code_j + read_item(lists, from_j + begin)) == read_item(
                    codes, code_j + read_item(lists, from_j + end - 1)
                ):
                    continue
                # 1. Where the list may be cut.
                index, past, before, after = begin, end, np.int64(0), size
                if has_counts:
                    while before + read_item(count, read_item(lists, from_j + index)) < k:
                        before += read_item(count, read_item(lists, from_j + index))
                        index += 1
                    after = np.int64(0)
                    while after < k:
                        past -= 1
                        after += read_item(count, read_item(lists, from_j + past))
                else:
                    index, past, before = begin + max(k, 1) - 1, end - max(k, 1), np.int64(max(k, 1) - 1)
                cuts = 0
                if relaxed:
                    for here in range(index, past):
                        before += 1
                        ends[cuts], left[cuts] = here + 1, before
                        cuts += 1
                elif index < past:
                    now = read_item(codes, code_j + read_item(lists, from_j + index))
                    for here in range(index, past):
                        then = read_item(codes, code_j + read_item(lists, from_j + here + 1))
                        before += read_item(count, read_item(lists, from_j + here)) if has_counts else 1
                        write(ends, cuts, here + 1)
                        write(left, cuts, before)
                        cuts += now != then
                        now = then
                if cuts > 0 and checks:
                    for here in range(begin, end):
                        order[here - begin] = read_item(lists, from_j + here)
                    for u in range(cuts):
                        left[u] = ends[u] - begin
                    left[cuts] = end - begin
                    mark_allowed(demands, work.number, order[: end - begin], left, cuts + 1, counters, work.allowed)
                    allowed_cuts = 0
                    for u in range(cuts):
                        ends[allowed_cuts], left[allowed_cuts] = ends[u], ends[u] - begin
                        allowed_cuts += work.allowed[u]
                    cuts = allowed_cuts
                if cuts == 0:
                    continue
                # 2. The widths of both halves of every cut.
                for half in range(2):
                    step, wide_half = 1 - 2 * half, half * (most + 1)
                    steps = ends[cuts - 1] - begin if half == 0 else end - ends[0]
                    for b in range(0, lanes, WIDTH):
                        cursor, u = begin if half == 0 else end, np.int64(0 if half == 0 else cuts - 1)
                        goal = read_item(ends, u)
                        weight = load_lanes(work.weight, 0, b)
                        low = high = load_lanes(places, read_item(lists, from_j + cursor - half), b)
                        mask, cached_mask, sets_wide = np.uint64(0), np.uint64(0), np.int64(0)
                        for _ in range(steps):
                            i = read_item(lists, from_j + cursor - half)
                            cursor += step
                            row = load_lanes(places, i, b)
                            low, high = take_lesser(low, row), take_greater(high, row)
                            mask |= read_lane(masks, i, 0)
                            if cursor == goal:
                                total = sum_spans(low, high, weight)
                                if b > 0:
                                    total += read_item(wide, wide_half + u)
                                else:
                                    if mask != cached_mask:
                                        cached_mask, sets_wide = mask, np.int64(0)
                                        for t in range(own_word):
                                            part = (mask >> np.uint64(sets[t, SHIFT])) & np.uint64(sets[t, BITS])
                                            members = count_bits(part)
                                            if members > 1:
                                                null = sets[t, NULL] == 1 and part & np.uint64(1) != np.uint64(0)
                                                sets_wide += sets[t, PRICE] * (
                                                    SCALE if null else table[sets[t, TABLE] + members]
                                                )
                                    total += sets_wide
                                write(wide, wide_half + u, total)
                                u += step
                                if u >= 0 and u < cuts:
                                    goal = read_item(ends, u)
                    if own_word < len(sets):
                        cursor, u = begin if half == 0 else end, np.int64(0 if half == 0 else cuts - 1)
                        goal = read_item(ends, u)
                        for w in range(words):
                            grown[w] = 0
                        for _ in range(steps):
                            i = read_item(lists, from_j + cursor - half)
                            cursor += step
                            for w in range(words):
                                grown[w] |= masks[i, w]
                            if cursor == goal:
                                total = np.int64(0)
                                for t in range(own_word, len(sets)):
                                    part, members = grown[sets[t, FIRST]], np.int64(0)
                                    if sets[t, PAST] - sets[t, FIRST] > 1:
                                        for w in range(sets[t, FIRST], sets[t, PAST]):
                                            members += count_bits(grown[w])
                                    else:
                                        part = (part >> np.uint64(sets[t, SHIFT])) & np.uint64(sets[t, BITS])
                                        members = count_bits(part)
                                    if members > 1:
                                        null = sets[t, NULL] == 1 and part & np.uint64(1) != np.uint64(0)
                                        total += sets[t, PRICE] * (SCALE if null else table[sets[t, TABLE] + members])
                                write(wide, wide_half + u, read_item(wide, wide_half + u) + total)
                                u += step
                                if u >= 0 and u < cuts:
                                    goal = read_item(ends, u)
                    if trees:
                        for a in range(d):
                            if facts[a, KIND] != TREE and facts[a, KIND] != SPAN:
                                continue
                            cursor, u = begin if half == 0 else end, np.int64(0 if half == 0 else cuts - 1)
                            goal = read_item(ends, u)
                            small = large = codes[a * most + read_item(lists, from_j + cursor - half)]
                            lower, upper, total = small, large, np.int64(0)
                            for _ in range(steps):
                                code = codes[a * most + read_item(lists, from_j + cursor - half)]
                                cursor += step
                                small, large = min(small, code), max(large, code)
                                if cursor == goal:
                                    if small != lower or large != upper:
                                        lower, upper = small, large
                                        total = facts[a, WEIGHT] * measure_extent(
                                            facts[a, KIND],
                                            facts[a, SIZE],
                                            facts[a, NULLS],
                                            facts[a, LEVELS],
                                            facts[a, START],
                                            table,
                                            np.int64(small),
                                            np.int64(large),
                                            np.int64(0),
                                        )
                                    write(wide, wide_half + u, read_item(wide, wide_half + u) + total)
                                    u += step
                                    if u >= 0 and u < cuts:
                                        goal = read_item(ends, u)
                # 3. The best of them.
                for u in range(cuts):
                    before = read_item(left, u)
                    loss = read_item(wide, u) * before + read_item(wide, most + 1 + u) * (size - before)
                    if loss <= best_loss:
                        tilt = abs(2 * before - size)
                        if loss < best_loss or tilt < best_tilt:
                            best_loss, best_tilt, best_j, best_at, best_left = (
                                loss,
                                tilt,
                                j,
                                read_item(ends, u),
                                before,
                            )
        if best_j < 0:
            first[start + begin] = True
            from_d = (side * (d + 1) + d) * most
            for index in range(begin, end):
                write(final, index, read_item(lists, from_d + index))
            continue
        # 4. Deal the rows of every list to the halves.
        from_j, there = (side * (d + 1) + best_j) * most, 1 - side
        for index in range(begin, end):
            write(right, read_item(lists, from_j + index), np.int64(index >= best_at))
        for a in range(d + 1):
            from_a, to_a = (side * (d + 1) + a) * most, (there * (d + 1) + a) * most
            if not relaxed and a < d:
                i = read_item(lists, from_a + begin)
                if read_item(codes, a * most + i) == read_item(codes, a * most + read_item(lists, from_a + end - 1)):
                    # All codes are equal; this is how the halves see it.
                    (
                        lists[to_a + begin],
                        lists[to_a + best_at - 1],
                        lists[to_a + best_at],
                        lists[to_a + end - 1],
                    ) = i, i, i, i
                    continue
            lower, upper = begin, best_at
            for index in range(begin, end):
                i = read_item(lists, from_a + index)
                goes = read_item(right, i)
                write(lists, to_a + (upper if goes else lower), i)
                upper += goes
                lower += 1 - goes
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = best_at, end, there, size - best_left
        stack[top + 1, 0], stack[top + 1, 1] = begin, best_at
        stack[top + 1, 2], stack[top + 1, 3] = there, best_left
        top += 2
    for index in range(n):
        i = np.int64(final[index])
        rows.number[start + index] = work.number[i]
        if has_counts:
            rows.count[start + index] = count[i]
        for b in range(0, lanes, WIDTH):
            store_vector(rows.codes, start + index, b, load_lanes(work.own, i, b))
