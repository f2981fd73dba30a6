"""The set of cut points with the least LM: intervals chosen one after the other (ours).

Rows of a class below k are suppressed, and stay so where the class is divided further. LM is a sum over the columns; a
suppressed row loses a whole column in each. So with some intervals chosen, no set that has them costs less than the
sum, over the columns, of the least cost of the column's own intervals, where the rows of each part below k of a class
so far lose the column: a shortest path. Of the column of most codes no interval is chosen: with those of all others
its path is the best there is, unless it suppresses a number of rows that is not allowed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Longs

Labels = npt.NDArray[np.int32]

NEVER = np.int64(1) << 62
"""The cost of no path."""


@njit(nogil=True, cache=True)
def _find_path(
    upto: Longs,
    groups: int,
    codes: int,
    first: int,
    k: int,
    widths: Longs,
    full: int,
    most_gone: int,
    least: Longs,
    before: Longs,
) -> int:
    """A bound of the cost of intervals of a column from code ``first`` on; `NEVER` if there are none.

    Args:
        upto: int64[codes + 1, groups + 1], rows below a code in each group, and in the last place of all groups.
        groups, codes: how many there are.
        first: where the intervals begin.
        k: rows of a class, at least.
        widths: int64[codes, codes], by first and last code.
        full: the width that a suppressed row loses.
        most_gone: rows that an interval may suppress.
        least: int64[codes + 1]: written.
        before: int64[codes + 1]: written, the code at which the last interval before a code begins.

    Returns:
        The cost; where no row may be suppressed, it is exact.

    Cost: O(codes^2 groups), at most.
    """
    least[first] = 0
    for past in range(first + 1, codes + 1):
        best, place = NEVER, -1
        for begin in range(past - 1, first - 1, -1):
            if least[begin] == NEVER:
                continue
            cost = least[begin] + (upto[past, groups] - upto[begin, groups]) * widths[begin, past - 1]
            if cost >= best:
                continue
            gone = np.int64(0)
            for g in range(groups):
                rows = upto[past, g] - upto[begin, g]
                if 0 < rows < k:
                    gone += rows
                    if gone > most_gone:
                        break
            cost += gone * (full - widths[begin, past - 1])
            if gone <= most_gone and cost < best:
                best, place = cost, begin
        least[past], before[past] = best, place
    return least[codes]


@njit(nogil=True, cache=True)
def _find_last_path(
    upto: Longs,
    groups: int,
    codes: int,
    k: int,
    widths: Longs,
    full: int,
    most_gone: int,
    extents: Longs,
    least: Longs,
    before: Longs,
) -> tuple[int, int]:
    """The least cost of all columns by the intervals of the last one, and the rows that it suppresses.

    Arguments as those of `_find_path`, and ``extents``, int64[groups]: widths of the other columns' intervals; ``full``
    is of all columns. An interval suppresses ``most_gone`` rows, at most, and all intervals may suppress more.
    """
    gone_before = np.zeros(codes + 1, np.int64)
    least[0] = 0
    for past in range(1, codes + 1):
        best, place = NEVER, -1
        for begin in range(past - 1, -1, -1):
            if least[begin] == NEVER:
                continue
            cost, gone = least[begin], np.int64(0)
            for g in range(groups):
                rows = upto[past, g] - upto[begin, g]
                if rows >= k:
                    cost += rows * (extents[g] + widths[begin, past - 1])
                else:
                    cost += rows * full
                    gone += rows
                if cost >= best or gone > most_gone:
                    break
            if cost < best and gone <= most_gone:
                best, place = cost, begin
                gone_before[past] = gone_before[begin] + gone
        least[past], before[past] = best, place
    return least[codes], gone_before[codes]


@njit(nogil=True, cache=True)
def _count_gone(codes: Labels, label: Labels, rows: Longs, first: int, past: int, k: int, number: Longs) -> int:
    """Rows of the groups below k that have codes from ``first`` to below ``past``, and no others. ``number``: room."""
    number[:] = 0
    gone = np.int64(0)
    for i in range(len(rows)):
        if first <= codes[i] < past:
            number[label[i]] += rows[i]
    for n in number:
        if n < k:
            gone += n
    return gone


@njit(nogil=True, cache=True)
def _count_below(codes: Labels, label: Labels, rows: Longs, groups: int, size: int, upto: Longs) -> None:
    """Fill ``upto`` for `_find_path`."""
    upto[: size + 1, : groups + 1] = 0
    for i in range(len(rows)):
        upto[codes[i] + 1, label[i]] += rows[i]
        upto[codes[i] + 1, groups] += rows[i]
    for code in range(size):
        for g in range(groups + 1):
            upto[code + 1, g] += upto[code, g]


@njit(nogil=True, cache=True)
def _divide(
    codes: Labels,
    label: Labels,
    groups: int,
    column: int,
    past: int,
    k: int,
    most_gone: int,
    rows: Longs,
    part_label: Labels,
    number: Longs,
) -> int:
    """Divide the groups at a code of a column into ``part_label``; how many there are, or -1: too many are below k."""
    number[: 2 * groups] = 0
    for i in range(len(rows)):
        number[2 * label[i] + (codes[column, i] >= past)] += rows[i]
    many, gone = 0, np.int64(0)
    for part in range(2 * groups):
        if 0 < number[part] < k:
            gone += number[part]
            if gone > most_gone:
                return -1
        if number[part] > 0:
            number[part] = many
            many += 1
    for i in range(len(rows)):
        part_label[i] = number[2 * label[i] + (codes[column, i] >= past)]
    return many


@njit(nogil=True, cache=True)
def search_intervals(
    codes: Labels,
    rows: Longs,
    sizes: Longs,
    widths: Longs,
    full: Longs,
    allowed: tuple[int, int, int],
    most: int,
    best: int,
    cuts: npt.NDArray[np.bool_],
) -> tuple[int, int, int]:
    """The best set of cuts, or the best that was found.

    Args:
        codes: int32[d, f], of the different rows; the column of most codes is the last.
        rows: int64[f].
        sizes: int64[d], codes of each column.
        widths: int64[d, r, r], the width of the interval of two codes.
        full: int64[d], the width that a suppressed row loses in each column, no less than any other.
        allowed: rows of a class, at least; suppressed rows, at most; and at least, where there are any.
        most: steps, at most: a step is a row, or a pair of codes of a column in a group.
        best: the cost of a set that is known.
        cuts: bool[d, r]: written where a better set is found, true at the first codes of its intervals.

    Returns:
        The least cost that was found, or ``best``; a bound that no set is below; steps.
    """
    d, f = codes.shape
    longest, last = sizes.max(), d - 1
    depth_most = sizes[:last].sum() + 1
    label = np.zeros((depth_most + 1, f), np.int32)
    groups = np.zeros(depth_most + 1, np.int64)
    column, first = np.zeros(depth_most + 1, np.int64), np.zeros(depth_most + 1, np.int64)
    spent = np.zeros(depth_most + 1, np.int64)
    bounds, child = np.zeros((depth_most + 1, longest), np.int64), np.zeros((depth_most + 1, longest), np.int64)
    spents = np.zeros((depth_most + 1, longest), np.int64)
    children, child_index = np.zeros(depth_most + 1, np.int64), np.zeros(depth_most + 1, np.int64)
    k, most_gone, least_gone = allowed
    most_groups = min(rows.sum() // k + most_gone, f)
    part_label, number = np.zeros(f, np.int32), np.zeros(2 * most_groups, np.int64)
    upto = np.zeros((longest + 1, most_groups + 1), np.int64)
    least, before = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    by_code, interval_width = np.zeros((d, longest + 1), np.int64), np.zeros((d, longest), np.int64)
    extents, unsolved = np.zeros(most_groups, np.int64), NEVER
    for j in range(d):
        for i in range(f):
            by_code[j, codes[j, i] + 1] += rows[i]
        for code in range(sizes[j]):
            by_code[j, code + 1] += by_code[j, code]
    steps, depth, least_left = np.int64(0), 0, NEVER
    groups[0], children[0] = 1, -1
    while depth >= 0:
        j = column[depth]
        if children[depth] < 0:  # not looked at yet: the bounds of all ways to end the next interval
            children[depth], child_index[depth] = 0, 0
            for past in range(first[depth] + 1, sizes[j] + 1):
                many = groups[depth]
                steps += f
                if past < sizes[j]:
                    many = _divide(codes, label[depth], groups[depth], j, past, k, most_gone, rows, part_label, number)
                    if many < 0:
                        continue
                else:
                    part_label[:] = label[depth]
                width = widths[j, first[depth], past - 1]
                cost = spent[depth] + (by_code[j, past] - by_code[j, first[depth]]) * width
                if most_gone > 0:
                    gone = _count_gone(codes[j], part_label, rows, first[depth], past, k, number[:many])
                    cost += gone * (full[j] - width)
                spent_then = cost
                for i in range(j, d):
                    begin = past if i == j else 0
                    if begin == sizes[i]:
                        continue
                    _count_below(codes[i], part_label, rows, many, sizes[i], upto)
                    path = _find_path(upto, many, sizes[i], begin, k, widths[i], full[i], most_gone, least, before)
                    pairs = (sizes[i] - begin) * (sizes[i] - begin + 1) // 2
                    # Where rows may be suppressed, an interval is seldom ruled out by its first groups.
                    steps += f + sizes[i] * many + (pairs * (1 + many // 2) if most_gone > 0 else pairs)
                    cost = NEVER if path == NEVER else cost + path
                    if cost >= best:
                        break
                if cost >= best:
                    continue
                if past == sizes[j] and j + 1 == last:  # all columns but the last are divided, and it is, too
                    if most_gone > 0:
                        for up in range(depth + 1):
                            end = sizes[column[up]]
                            if up < depth and column[up + 1] == column[up]:
                                end = first[up + 1]
                            interval_width[column[up], first[up] : end] = widths[column[up], first[up], end - 1]
                        for i in range(f):
                            extents[part_label[i]] = 0
                            for column_before in range(last):
                                extents[part_label[i]] += interval_width[column_before, codes[column_before, i]]
                        steps += f * d + sizes[last] * (sizes[last] + 1) // 2 * many
                        cost, gone = _find_last_path(
                            upto, many, sizes[last], k, widths[last], full.sum(), most_gone, extents, least, before
                        )
                        if cost >= best:
                            continue
                        if gone > most_gone or 0 < gone < least_gone:
                            unsolved = min(unsolved, cost)
                            continue
                    best = cost
                    cuts[:] = False
                    for up in range(1, depth + 1):
                        cuts[column[up - 1], first[up - 1]] = True
                    cuts[j, first[depth]] = True
                    code = before[sizes[last]]
                    while code >= 0:
                        cuts[last, code] = True
                        code = before[code] if code > 0 else -1
                    continue
                place = children[depth]
                while place > 0 and bounds[depth, place - 1] > cost:
                    bounds[depth, place], child[depth, place] = bounds[depth, place - 1], child[depth, place - 1]
                    spents[depth, place] = spents[depth, place - 1]
                    place -= 1
                bounds[depth, place], child[depth, place] = cost, past
                spents[depth, place] = spent_then
                children[depth] += 1
        if child_index[depth] == children[depth] or bounds[depth, child_index[depth]] >= best:
            depth -= 1
            continue
        if steps > most:  # the least bound of all that is left
            for up in range(depth + 1):
                if child_index[up] < children[up]:
                    least_left = min(least_left, bounds[up, child_index[up]])
            return best, min(least_left, best, unsolved), steps
        past, spent[depth + 1] = child[depth, child_index[depth]], spents[depth, child_index[depth]]
        child_index[depth] += 1
        if past < sizes[j]:
            groups[depth + 1] = _divide(
                codes, label[depth], groups[depth], j, past, k, most_gone, rows, label[depth + 1], number
            )
            column[depth + 1], first[depth + 1] = j, past
        else:
            label[depth + 1], groups[depth + 1] = label[depth], groups[depth]
            column[depth + 1], first[depth + 1] = j + 1, 0
        children[depth + 1] = -1
        depth += 1
    return best, min(best, unsolved), steps
