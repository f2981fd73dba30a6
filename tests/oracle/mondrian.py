"""Mondrian (LeFevre et al., ICDE 2006), strict and relaxed, with the median cut and with the loss cut.

Every allowable cut is tried by building both halves, so the cost is cubic: for small tables only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.oracle.domains import Table
from tests.oracle.extent import extent, loss
from tests.oracle.requirements import Privacy, meets

Rows = list[int]
VARIANTS = ("strict", "relaxed")
CUTS = ("median", "loss")


def mondrian(
    table: Table, privacy: Privacy, variant: str = "strict", cut: str = "loss", leaf: int = 0, part: Rows | None = None
) -> list[Rows]:
    """The classes of a table or of a part of it, as lists of row numbers, left before right.

    What has at most ``leaf`` rows is not cut.
    """
    halves = {
        ("strict", "median"): _strict_median,
        ("strict", "loss"): _strict_loss,
        ("relaxed", "median"): _relaxed_median,
        ("relaxed", "loss"): _relaxed_loss,
    }[variant, cut]
    done: list[Rows] = []
    todo = [list(range(table.rows)) if part is None else part]
    while todo:
        rows = todo.pop()
        found = halves(table, rows, privacy) if len(rows) > leaf else None
        if found is None:
            done.append(rows)
        else:
            todo += [found[1], found[0]]
    return done


def split(table: Table, rows: Sequence[int], attribute: int, code: int) -> tuple[Rows, Rows]:
    """Rows whose code is at most ``code``, and the others."""
    left = [row for row in rows if table.codes[row][attribute] <= code]
    right = [row for row in rows if table.codes[row][attribute] > code]
    return left, right


def allowable(table: Table, rows: Sequence[int], privacy: Privacy) -> Iterator[tuple[int, int, Rows, Rows]]:
    """Every strict cut (attribute, code) that leaves both halves meeting the requirements."""
    for attribute in range(len(table.quasi)):
        for code in sorted({table.codes[row][attribute] for row in rows})[:-1]:
            left, right = split(table, rows, attribute, code)
            if meets(table, left, privacy) and meets(table, right, privacy):
                yield attribute, code, left, right


def widest(table: Table, rows: Sequence[int]) -> list[int]:
    """Attributes by descending weighted extent, ties by column order."""
    width = [column.weight * extent(column, rows) for column in table.quasi]
    return sorted(range(len(width)), key=lambda j: (-width[j], j))


def _strict_median(table: Table, rows: Rows, privacy: Privacy) -> tuple[Rows, Rows] | None:
    for attribute in widest(table, rows):
        codes = sorted(table.codes[row][attribute] for row in rows)
        if codes[0] == codes[-1]:
            continue
        median = codes[(len(codes) + 1) // 2 - 1]
        for last_left in (median, median - 1):
            left, right = split(table, rows, attribute, last_left)
            if meets(table, left, privacy) and meets(table, right, privacy):
                return left, right
    return None


def _strict_loss(table: Table, rows: Rows, privacy: Privacy) -> tuple[Rows, Rows] | None:
    best: tuple[Any, Rows, Rows] | None = None
    for attribute, code, left, right in allowable(table, rows, privacy):
        price = (loss(table, left) + loss(table, right), abs(len(left) - len(right)), attribute, code)
        if best is None or price < best[0]:
            best = (price, left, right)
    return None if best is None else best[1:]


def _line(table: Table, rows: Rows, attribute: int) -> Rows:
    """The rows in the relaxed variant's total order along one attribute."""
    return sorted(
        rows, key=lambda r: (table.codes[r][attribute], table.codes[r], table.occurrence[r], table.sa_codes[r], r)
    )


def _relaxed_median(table: Table, rows: Rows, privacy: Privacy) -> tuple[Rows, Rows] | None:
    size = len(rows) - len(rows) // 2
    for attribute in widest(table, rows):
        line = _line(table, rows, attribute)
        if meets(table, line[:size], privacy) and meets(table, line[size:], privacy):
            return line[:size], line[size:]
    return None


def _relaxed_loss(table: Table, rows: Rows, privacy: Privacy) -> tuple[Rows, Rows] | None:
    best: tuple[Any, Rows, Rows] | None = None
    for attribute in range(len(table.quasi)):
        line = _line(table, rows, attribute)
        for size in range(1, len(rows)):
            left, right = line[:size], line[size:]
            if meets(table, left, privacy) and meets(table, right, privacy):
                price = (loss(table, left) + loss(table, right), abs(2 * size - len(rows)), attribute, size)
                if best is None or price < best[0]:
                    best = (price, left, right)
    return None if best is None else best[1:]
