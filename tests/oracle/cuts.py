"""The best single-dimensional partition of ordered columns: every set of cut points of a tiny table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, product

from tests.oracle.domains import SCALE, Quasi, Table

Cuts = tuple[tuple[int, ...], ...]
"""Of every column the first codes of its intervals but the first."""


def solutions(table: Table) -> Iterator[Cuts]:
    """All sets of cuts."""
    own = []
    for column in table.quasi:
        codes = sorted(set(column.codes))[1:]
        own.append(list(chain.from_iterable(combinations(codes, size) for size in range(len(codes) + 1))))
    return product(*own)


def classes(table: Table, cuts: Cuts) -> list[list[int]]:
    """The rows of equal intervals."""
    found: dict[object, list[int]] = {}
    for row in range(table.rows):
        key = tuple(sum(column.codes[row] >= cut for cut in own) for column, own in zip(table.quasi, cuts, strict=True))
        found.setdefault(key, []).append(row)
    return list(found.values())


def interval(column: Quasi, cuts: tuple[int, ...], row: int) -> list[int]:
    """The codes of the rows in a row's interval."""
    number = sum(column.codes[row] >= cut for cut in cuts)
    return [code for code in sorted(set(column.codes)) if sum(code >= cut for cut in cuts) == number]


def wide(column: Quasi, codes: list[int]) -> int:
    """How much of the domain an interval covers; NULL with a value is as wide as the column."""
    if codes[0] == 0:
        return SCALE if len(codes) > 1 else 0
    low, high = (column.positions[code - 1] for code in (codes[0], codes[-1]))
    return high - low


def cost(table: Table, cuts: Cuts, k: int, metric: str, *, starred: bool) -> tuple[int, int]:
    """What a set of cuts costs, and how many rows it suppresses.

    By c_avg: how many classes fewer than the rows could be.
    """
    total = gone = 0
    if metric == "c_avg":
        sizes = [len(rows) for rows in classes(table, cuts)]
        gone = sum(size for size in sizes if size < k)
        return table.rows // k - sum(size >= k for size in sizes) - (starred and gone > 0), gone
    for rows in classes(table, cuts):
        if len(rows) < k:
            gone += len(rows)
            full = sum(column.weight for column in table.quasi) * SCALE
            total += len(rows) * {"dm": table.rows, "cm": 1, "loss": full}[metric]
        elif metric == "dm":
            total += len(rows) ** 2
        elif metric == "cm":
            total += len(rows) - max(Counter(table.sa_codes[row] for row in rows).values())
        else:
            total += len(rows) * sum(
                column.weight * wide(column, interval(column, own, rows[0]))
                for column, own in zip(table.quasi, cuts, strict=True)
            )
    return total, gone


def least(table: Table, k: int, metric: str, most: int, *, starred: bool) -> int | None:
    """The least cost of all sets of at most so many suppressed rows, starred as a class of at least k rows."""
    found = []
    for cuts in solutions(table):
        score, gone = cost(table, cuts, k, metric, starred=starred)
        if gone <= most and not (starred and 0 < gone < k):
            found.append(score)
    return min(found, default=None)
