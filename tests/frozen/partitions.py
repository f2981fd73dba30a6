"""Methods for the model: they divide the rows of a cohort into lawful classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from tests.frozen.model import Key, Member, Partition, lawful


def whole(k: int, l: int) -> Partition:  # noqa: E741 - the papers' symbol
    """All rows are one class."""

    def partition(rows: Sequence[Member]) -> list[list[Key]] | None:
        return [[row.key for row in rows]] if rows and lawful([row.value for row in rows], k, l) else None

    return partition


def by_order(k: int, l: int) -> Partition:  # noqa: E741
    """Rows in the order of their quasi values: a class is closed as soon as it is lawful.

    The last rows join the last class, and that the one before, until the class is lawful.
    """

    def partition(rows: Sequence[Member]) -> list[list[Key]] | None:
        if not rows or not lawful([row.value for row in rows], k, l):
            return None
        classes: list[list[Member]] = [[]]
        for row in sorted(rows, key=lambda row: (row.quasi, repr(row.key))):
            classes[-1].append(row)
            if lawful([member.value for member in classes[-1]], k, l):
                classes.append([])
        while not classes[-1] or not lawful([member.value for member in classes[-1]], k, l):
            rest = classes.pop()
            classes[-1] += rest
        return [[row.key for row in members] for members in classes]

    return partition


def dealt(k: int, l: int) -> Partition:  # noqa: E741
    """Rows in the order of their values, dealt in turn to as many groups as can have k.

    To half as many where one of these is not lawful.
    """

    def partition(rows: Sequence[Member]) -> list[list[Key]] | None:
        ordered = sorted(rows, key=lambda row: (repr(row.value), repr(row.key)))
        least = k
        while len(rows) >= 2 * least:
            parts = len(rows) // least
            groups = [ordered[part::parts] for part in range(parts)]
            if all(lawful([row.value for row in group], k, l) for group in groups):
                return [[row.key for row in group] for group in groups]
            least *= 2
        return None

    return partition


@cache
def divisions(n: int, least: int) -> list[list[list[int]]]:
    """Every division of so many rows, by position, into sets of at least so many."""

    def divided(rows: range) -> Iterator[list[list[int]]]:
        if not rows:
            yield []
            return
        for division in divided(rows[1:]):
            for i in range(len(division)):
                yield [*division[:i], [rows[0], *division[i]], *division[i + 1 :]]
            yield [[rows[0]], *division]

    return [division for division in divided(range(n)) if division and min(map(len, division)) >= least]


def extent(members: Sequence[Member]) -> float:
    """The extent of the box of a class, summed over its columns."""
    columns = zip(*(row.quasi for row in members), strict=True)
    return sum((max(column) - min(column) for column in columns), 0.0)


def optimal(k: int, l: int) -> Partition:  # noqa: E741
    """Brute force: of lawful divisions one of least total box extent, of these of most classes, the first."""

    def partition(rows: Sequence[Member]) -> list[list[Key]] | None:
        ordered = sorted(rows, key=lambda row: (row.quasi, repr(row.key)))
        best: list[list[Member]] = []
        for division in divisions(len(ordered), k):
            classes = [[ordered[i] for i in rows] for rows in division]
            if all(lawful([row.value for row in members], k, l) for members in classes):
                best = min(best or classes, classes, key=lambda found: (sum(map(extent, found)), -len(found)))
        return [[row.key for row in members] for members in best] if best else None

    return partition
