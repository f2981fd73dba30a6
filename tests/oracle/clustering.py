"""Methods that cluster rows: greedy k-member clustering; and how blocks are cut and rows that are left over are placed."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.divisions import wide
from tests.oracle.domains import Table
from tests.oracle.orders import tree
from tests.oracle.requirements import Privacy, meets

Rows = list[int]
Clustering = Callable[[Table, Privacy, Rows], list[Rows]]


def clustered(table: Table, privacy: Privacy, work: Clustering, block: int = 0) -> list[Rows]:
    """The classes of every block of the order, in the order of their first rows."""
    order = tree(table, 0).rows
    blocks: list[Rows] = [[]]
    for at, row in enumerate(order):
        if block and at % block == 0 and at and meets(table, blocks[-1], privacy):
            blocks.append([])
        blocks[-1].append(row)
    while len(blocks) > 1 and not meets(table, blocks[-1], privacy):
        last = blocks.pop()
        blocks[-1] += last
    return [rows for own in blocks for rows in work(table, privacy, own)]


def kmember(table: Table, privacy: Privacy, order: Rows, grow: str) -> list[Rows]:
    """Clusters around far rows, of the rows in an order that breaks ties."""
    made: list[Rows] = []
    free, last = list(order), order[0]
    while len(free) >= privacy.k:
        last = max(free, key=lambda row: wide(table, [last, row]))
        own, left = [last], [row for row in free if row != last]
        while left and not meets(table, own, privacy):
            near = min(left, key=lambda row: wide(table, [*own, row] if grow == "cluster" else [own[0], row]))
            own.append(near)
            left.remove(near)
        if not meets(table, own, privacy):
            break
        made.append(own)
        free = left
    return placed(table, privacy, order, made)


def placed(table: Table, privacy: Privacy, order: Rows, made: list[Rows]) -> list[Rows]:
    """Rows that are in no cluster join one; those that none can take are a class, which takes whole clusters until it suffices."""
    rest: Rows = []
    inside = {row for rows in made for row in rows}
    for row in (row for row in order if row not in inside):
        able = [rows for rows in made if meets(table, [*rows, row], privacy)]
        if able:
            min(able, key=lambda rows: dearer(table, rows, [row])).append(row)
        else:
            rest.append(row)
    while rest and not meets(table, rest, privacy) and made:
        nearest = min(
            made,
            key=lambda rows: (
                (len(rest) + len(rows)) * wide(table, rest + rows) - len(rows) * wide(table, rows)
            ),
        )
        made.remove(nearest)
        rest = rest + nearest
    place = {row: at for at, row in enumerate(order)}
    return sorted([*made, *([rest] if rest else [])], key=lambda rows: min(place[row] for row in rows))


def dearer(table: Table, rows: Rows, more: Rows) -> int:
    """By how much rows x extents grow."""
    both = rows + more
    return len(both) * wide(table, both) - len(rows) * wide(table, rows)
