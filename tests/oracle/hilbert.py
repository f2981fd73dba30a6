"""The Hilbert curve drawn by recursion: the cells of a grid in the curve's order."""

from __future__ import annotations

from itertools import pairwise

Cell = tuple[int, ...]


def gray_corners(d: int) -> list[Cell]:
    """The corners of the unit cube, each a step from the one before, the first axis slowest."""
    if d == 0:
        return [()]
    rest = gray_corners(d - 1)
    return [(0, *corner) for corner in rest] + [(1, *corner) for corner in reversed(rest)]


def curve(d: int, bits: int) -> list[Cell]:
    """Every cell of a grid of ``2^bits`` a side: a copy of the smaller curve in every corner, turned so that they join.

    Every second copy is walked backwards. A copy's turn is a product of one factor an axis, the last axis first: a
    corner that is high on it mirrors axis 0, a corner that is low on it swaps it with axis 0.
    """
    if bits == 0:
        return [(0,) * d]
    side = 2 ** (bits - 1)
    small = curve(d, bits - 1)
    cells: list[Cell] = []
    for at, corner in enumerate(gray_corners(d)):
        for cell in reversed(small) if at % 2 else small:
            point = list(cell)
            for axis in reversed(range(d)):
                if corner[axis]:
                    point[0] = side - 1 - point[0]
                else:
                    point[0], point[axis] = point[axis], point[0]
            cells.append(tuple(c * side + p for c, p in zip(corner, point, strict=True)))
    return cells


def unit_steps(cells: list[Cell]) -> bool:
    """Whether each cell is a neighbour of the one before."""
    return all(sum(abs(a - b) for a, b in zip(one, two, strict=True)) == 1 for one, two in pairwise(cells))


def gray_rank(corner: Cell) -> int:
    """The place of a corner among `gray_corners`."""
    if not corner:
        return 0
    rank = gray_rank(corner[1:])
    return 2 ** len(corner) - 1 - rank if corner[0] else rank


def place(cell: Cell, bits: int) -> int:
    """The place of a cell on the `curve`, which need not be drawn: its turns are undone from the outside in."""
    if bits == 0:
        return 0
    d, side = len(cell), 2 ** (bits - 1)
    corner = tuple(c // side for c in cell)
    point = [c % side for c in cell]
    for axis in range(d):
        if corner[axis]:
            point[0] = side - 1 - point[0]
        else:
            point[0], point[axis] = point[axis], point[0]
    at, small = gray_rank(corner), side**d
    inner = place(tuple(point), bits - 1)
    return at * small + (small - 1 - inner if at % 2 else inner)
