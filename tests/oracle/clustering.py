"""Methods that cluster rows: greedy k-member clustering, MDAV.

It also cuts blocks and places the rows that are left over.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.divisions import wide
from tests.oracle.domains import SCALE, Table
from tests.oracle.orders import axis, tree
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


def mdav(table: Table, privacy: Privacy, order: Rows) -> list[Rows]:
    """Clusters around the rows farthest from the mean of those that are left."""
    nominal = [column.kind == "nominal" for column in table.quasi]
    lines = [column.codes if own else axis(column) for column, own in zip(table.quasi, nominal, strict=True)]
    points = {row: [line[row] for line in lines] for row in order}

    def apart(one: list[int], other: list[int]) -> int:
        steps = [SCALE * (a != b) if own else a - b for a, b, own in zip(one, other, nominal, strict=True)]
        return sum(column.weight * step**2 for column, step in zip(table.quasi, steps, strict=True))

    def mean(rows: Rows) -> list[int]:
        found = []
        for a, own in enumerate(nominal):
            values = sorted(points[row][a] for row in rows)
            found.append(max(values, key=values.count) if own else sum(values) // len(values))
        return found

    def farthest(rows: Rows, point: list[int]) -> int:
        return max(rows, key=lambda row: apart(points[row], point))

    def around(rows: Rows, centre: int) -> Rows:
        """The cluster of a row; none where all rows do not suffice."""
        near = sorted((row for row in rows if row != centre), key=lambda row: apart(points[row], points[centre]))
        sizes = range(1, len(rows) + 1)
        return next(
            ([centre, *near[: size - 1]] for size in sizes if meets(table, [centre, *near[: size - 1]], privacy)), []
        )

    made: list[Rows] = []
    free = list(order)
    while len(free) >= 2 * privacy.k:
        twice = len(free) >= 3 * privacy.k
        first = farthest(free, mean(free))
        own = around(free, first)
        if not own:
            break
        made.append(own)
        free = [row for row in free if row not in own]
        if twice and len(free) >= privacy.k:
            own = around(free, farthest(free, points[first]))
            if not own:
                break
            made.append(own)
            free = [row for row in free if row not in own]
    if free and meets(table, free, privacy):
        made.append(free)
    return placed(table, privacy, order, made)


def agglomerative(table: Table, privacy: Privacy, order: Rows) -> list[Rows]:
    """The two open clusters whose union costs least unite, at the place of the first; of several the first two."""
    open_ = {at: [row] for at, row in enumerate(order)}
    made = [open_.pop(at) for at in list(open_) if meets(table, open_[at], privacy)]
    price = {(a, b): dearer(table, open_[a], open_[b]) for a in open_ for b in open_ if a < b}
    while len(open_) > 1:
        one, other = min(price, key=lambda pair: (price[pair], pair))
        own = open_[one] + open_.pop(other)
        price = {pair: cost for pair, cost in price.items() if not {one, other} & set(pair)}
        if meets(table, own, privacy):
            made.append(own)
            del open_[one]
            continue
        open_[one] = own
        price |= {(min(one, at), max(one, at)): dearer(table, own, rows) for at, rows in open_.items() if at != one}
    place = {row: at for at, row in enumerate(order)}
    made.sort(key=lambda rows: min(place[row] for row in rows))
    return placed(table, privacy, order, made, [row for rows in open_.values() for row in rows])


def placed(table: Table, privacy: Privacy, order: Rows, made: list[Rows], open_: Rows | None = None) -> list[Rows]:
    """Rows that are in no cluster join one.

    Those that none can take are a class, which takes whole clusters until it suffices.
    """
    rest: Rows = list(open_ or [])
    inside = {row for rows in made for row in rows} | set(rest)
    for row in (row for row in order if row not in inside):
        able = [rows for rows in made if meets(table, [*rows, row], privacy)]
        if able:
            min(able, key=lambda rows: dearer(table, rows, [row])).append(row)
        else:
            rest.append(row)
    while rest and not meets(table, rest, privacy) and made:
        nearest = min(
            made, key=lambda rows: (len(rest) + len(rows)) * wide(table, rest + rows) - len(rows) * wide(table, rows)
        )
        made.remove(nearest)
        rest = rest + nearest
    place = {row: at for at, row in enumerate(order)}
    return sorted([*made, *([rest] if rest else [])], key=lambda rows: min(place[row] for row in rows))


def dearer(table: Table, rows: Rows, more: Rows) -> int:
    """By how much rows x extents grow where two clusters unite."""
    both = rows + more
    return len(both) * wide(table, both) - len(rows) * wide(table, rows) - len(more) * wide(table, more)
