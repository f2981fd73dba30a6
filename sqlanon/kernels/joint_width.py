"""The width of two boxes joined: the weighted sum of their extents."""

from __future__ import annotations

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.unions import Masks, Measure, Places, codes_width, lines_width, sets_width


@njit(nogil=True, cache=True)
def joint_width(box: Places, mask: Masks, row: int, boxes: Places, masks: Masks, other: int, measure: Measure) -> int:
    """The width of box ``row`` of some and box ``other`` of others together, 0 to `SCALE` x weights.

    The innermost loops add the three parts themselves, with the arrays of ``measure`` taken out before the loop.
    """
    total = lines_width(box, row, boxes, other, measure.weight)
    total += sets_width(mask, row, masks, other, measure.sets, measure.table)
    if len(measure.codes) > 0:
        total += codes_width(box, row, boxes, other, measure.facts, measure.table, measure.codes)
    return total
