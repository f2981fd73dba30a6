"""The solvers of the one-dimensional framework.

Rows in order are divided into classes (Ghinita et al. 2009, 3 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.oracle.divisions import wide
from tests.oracle.domains import Table
from tests.oracle.frontier import make_diverse_groups, make_fractional_groups
from tests.oracle.orders import Ordered
from tests.oracle.requirements import Privacy, meets

Classes = list[list[int]]
Width = Callable[[int, int], int]
"""Extent of the units from one number up to, not with, another."""


def asked(table: Table, privacy: Privacy) -> bool:
    """Whether more than a number of rows is asked."""
    return bool(table.sensitive) and ((privacy.l or 0) > 1 or (privacy.distinct_l or 0) > 1)


def group_l(table: Table, privacy: Privacy) -> Fraction | None:
    """l, where that of one sensitive attribute is all that is asked."""
    alone = len(table.sensitive) == 1 and (privacy.distinct_l or 0) <= 1
    return Fraction(privacy.l) if alone and privacy.l is not None and privacy.l > 1 else None


def find_best_runs(sizes: Sequence[int], k: int, width: Width, minimize: str) -> list[range]:
    """Units divided into runs of at least k rows: the best of all divisions.

    Of equal ones the shortest last run, and so on.
    """
    best: list[tuple[int, int] | None] = [(0, 0)]  # loss of the first units, and where their last run begins
    for end in range(1, len(sizes) + 1):
        found = None
        for start in reversed(range(end)):
            before, rows = best[start], sum(sizes[start:end])
            if before is None or rows < k:
                continue
            extent = width(start, end)
            loss = {"gcp": before[0] + rows * extent, "sum": before[0] + extent, "max": max(before[0], extent)}
            if found is None or loss[minimize] < found[0]:
                found = (loss[minimize], start)
        best.append(found)
    cuts, end = [], len(sizes)
    while end:
        last = best[end]
        assert last is not None
        cuts.append(range(last[1], end))
        end = last[1]
    return cuts[::-1]


def solve(table: Table, ordered: Ordered, privacy: Privacy, fast: bool, minimize: str) -> Classes:
    """The classes of rows in order."""
    if group_l(table, privacy):
        return diverse(table, ordered, privacy, fast)
    if asked(table, privacy):
        return lawful(table, ordered.rows, privacy)
    rows = ordered.rows

    def extent(start: int, end: int) -> int:
        return wide(table, rows[start:end])

    if fast and ordered.line is not None:
        lost = 0  # losses are 64-bit numbers: where the line is too long, its last digits are given up
        while ordered.span * (2 * privacy.k - 1) >= 2 ** (62 + lost):
            lost += 1
        line = [x >> lost for x in ordered.line]

        def extent(start: int, end: int) -> int:
            return line[end - 1] - line[start]

    runs = find_best_runs([1] * len(rows), privacy.k, extent, minimize)
    return [[rows[i] for i in run] for run in runs]


def diverse(table: Table, ordered: Ordered, privacy: Privacy, fast: bool) -> Classes:
    """Groups of the heuristic; then consecutive ones are united until each has k rows."""
    rows = ordered.rows
    values = [table.sa_codes[row] for row in rows]
    l = group_l(table, privacy)  # noqa: E741
    line = ordered.line if fast else None
    if l is None:
        raise AssertionError("asked for groups without l")
    if l.denominator > 1:
        found = make_fractional_groups(values, l)
    else:
        found = make_diverse_groups(values, int(l), lambda some: wide(table, [rows[i] for i in some]), line)
    assert found is not None
    groups = [[rows[i] for i in group] for group in found]
    if privacy.k <= l:
        return groups

    def extent(start: int, end: int) -> int:
        return wide(table, [row for group in groups[start:end] for row in group])

    runs = find_best_runs([len(group) for group in groups], privacy.k, extent, "gcp")
    return [[row for i in run for row in groups[i]] for run in runs]


def lawful(table: Table, rows: Sequence[int], privacy: Privacy) -> Classes:
    """Runs that meet every requirement.

    Of those that end at a row the shortest is looked at, then longer ones up to the first that leaves room for the
    shortest run that ends before the shortest, and by which the rows up to there are divided at all.
    """
    n = len(rows)
    best: list[tuple[int, int] | None] = [(0, 0)]
    shortest: list[int | None] = [None]
    for end in range(1, n + 1):
        lengths = [size for size in range(1, end + 1) if meets(table, rows[end - size : end], privacy)]
        shortest.append(lengths[0] if lengths else None)
        before = shortest[end - lengths[0]] if lengths else None
        found = None
        for at, size in enumerate(lengths, 1):
            found = _cheapest(table, rows, best, end, lengths[:at])
            if found is not None and before is not None and size - lengths[0] >= before:
                break
        best.append(found)
    classes: Classes = []
    while n:
        last = best[n]
        assert last is not None
        classes.append(list(rows[last[1] : n]))
        n = last[1]
    return classes[::-1]


def _cheapest(table: Table, rows: Sequence[int], best, end: int, lengths: Sequence[int]) -> tuple[int, int] | None:
    found = None
    for size in lengths:
        before = best[end - size]
        if before is not None:
            loss = before[0] + size * wide(table, rows[end - size : end])
            if found is None or loss < found[0]:
                found = (loss, end - size)
    return found
