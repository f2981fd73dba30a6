"""Sources that are consistent with boxes of their own, enumerated.

Rows and boxes have a graph in which every row has k boxes, its own among them, every box k rows, and every box is the
least cover of its rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

Point = tuple[int, ...]
Box = tuple[tuple[int, int], ...]
Graph = tuple[tuple[int, ...], ...]
"""Of each box its rows, the first of them its own."""


def graphs(rows: int, k: int) -> list[Graph]:
    """All graphs: the matching of each row to its own box, and k - 1 others."""
    orders = [order for order in itertools.permutations(range(rows)) if all(at != row for at, row in enumerate(order))]
    found = set()
    for others in itertools.combinations(orders, k - 1):
        boxes = [(at, *sorted(order[at] for order in others)) for at in range(rows)]
        if all(len(set(box)) == k for box in boxes):
            found.add(tuple(boxes))
    return sorted(found)


def cover(points: Sequence[Point], rows: Sequence[int]) -> Box:
    """The least box of some rows."""
    return tuple((min(values), max(values)) for values in zip(*(points[row] for row in rows), strict=True))


def sources(boxes: Sequence[Box], every: Sequence[Graph]) -> Iterator[tuple[Point, ...]]:
    """All sources that are consistent with the boxes."""
    cells = [list(itertools.product(*(range(low, high + 1) for low, high in box))) for box in boxes]
    for points in itertools.product(*cells):
        if any(all(cover(points, rows) == box for rows, box in zip(graph, boxes, strict=True)) for graph in every):
            yield points
