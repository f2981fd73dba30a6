"""Tally of t-closeness.

It is the earth mover's distance from the shares of a class to those of the table, over a tree of values.

Each of the paper's distances is that of a tree with edges of equal cost, and the mass moved over an edge is the
difference of the masses below it (sum of |n R - N r| over nodes with a parent, N rows of the class, R of the table).
Equal distances: all values under one root. Ordered: a chain, each value under the next. Hierarchical: the hierarchy.
Nodes come before their parents.

A row moves the distance by no more than itself: so that after a class is looked at, the next look comes as late as the
bound allows.

bounds: nodes, R, the cost of a row (edges on the way from a value to the farthest, times R), t times that as whole, p
and q, `STAR`, `CHAIN` or neither; then the parent of each node (-1: none) and the rows of the table that are at it.
weights: t. counts: rows, up to how many rows the last answer holds, that answer; rows at each node; room of as many.
"""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing

STAR, CHAIN = 1, 2
"""Trees that need no room: all values under one root, which is the last node; each node under the next."""
OWN = 3
"""Numbers before those of the nodes."""


@adding
def add_closeness(
    items: Ints, ends: Longs, bounds: Longs, weights: Reals, counts: Longs, __: Reals, holds: Flags
) -> None:
    """The sum over the edges is at most t times the cost of a row times the rows."""
    nodes, table, cost, whole, p, q, kind = (
        bounds[0],
        bounds[1],
        bounds[2],
        bounds[3],
        bounds[4],
        bounds[5],
        bounds[6],
    )
    t, flow = weights[0], 3 + nodes
    rows, until, answer, begin = counts[0], counts[1], counts[2], 0
    for s in range(len(ends)):
        for place in range(begin, ends[s]):
            counts[3 + items[place]] += 1
        rows += ends[s] - begin
        begin = ends[s]
        if rows > until:
            # What moves, beyond t's whole part; it is allowed up to rows * p / q.
            moved = -whole * rows
            if kind == STAR:
                for i in range(nodes - 1):
                    moved += abs(counts[3 + i] * table - rows * bounds[7 + nodes + i])
            elif kind == CHAIN:
                beyond = np.int64(0)
                for i in range(nodes - 1):
                    beyond += counts[3 + i] * table - rows * bounds[7 + nodes + i]
                    moved += abs(beyond)
            else:
                for i in range(nodes):
                    parent = bounds[7 + i]
                    if parent >= 0:
                        flowing = counts[flow + i] + counts[3 + i] * table - rows * bounds[7 + nodes + i]
                        counts[flow + parent] += flowing
                        moved += abs(flowing)
                        if moved > rows:
                            break
                for i in range(nodes):
                    counts[flow + i] = 0
            answer = 1 if moved <= 0 or (moved <= rows and moved * q <= rows * p) else 0
            spare = (float(rows) * (float(p) / float(q)) - float(moved)) / float(cost)
            if answer == 1:
                spare = spare / (1.0 - t) if t < 1.0 else 2.0**31
            else:
                spare = -spare / (1.0 + t)
            until = rows + max(int(min(0.999 * spare - 0.01, 2.0**31)), 0)
        if answer == 0:
            holds[s] = False
    counts[0], counts[1], counts[2] = rows, until, answer


@clearing
def clear_closeness(items: Ints, _: Longs, __: Reals, counts: Longs, ___: Reals) -> None:
    """Forget the values of the rows."""
    counts[0], counts[1], counts[2] = 0, 0, 0
    for v in items:
        counts[3 + v] = 0
