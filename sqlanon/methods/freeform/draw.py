"""Remix and draw: they depend on the secret and on the graph of rows and boxes, and on nothing else.

A method finds the graph. The division into matchings, the order of the rows and the numbers of the boxes that the
method used do not matter here: rows are numbered by their quasi values and a keyed hash (freeform/numbered), boxes by
their rows, and matchings are made anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.kernels.freeform_graph import list_boxes_of_rows, order_breadth_first, restore_numbers
from sqlanon.methods.freeform.kernels.remix import SWAPS, divide_graph, remix
from sqlanon.methods.freeform.kernels.stream import draw_below, stream

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


_REMIXED, _DRAWN = 0, 1
"""Purposes of streams of random numbers."""


def remix_matchings(members: Ints, key: bytes) -> Ints:
    """Random choice of the k matchings of a graph, int32[k, n].

    It takes 10 k swaps, and k divisions of three or more matchings, the first of all k.

    Args:
        members: int32[n, k], the rows of every box, ascending: a k-regular graph.
        key: of the random numbers.

    Cost: O(n k log n), expected.
    """
    rows, boxes, near = order_breadth_first(members, list_boxes_of_rows(members))
    state, k = stream(key, _REMIXED), members.shape[1]
    graph = divide_graph(near, state)
    remix(graph, SWAPS * k, k - 1, state)
    return restore_numbers(graph, rows, boxes)


def draw_matching(k: int, key: bytes) -> int:
    """The matching by which rows are published, all equally likely."""
    return int(draw_below(stream(key, _DRAWN), k))
