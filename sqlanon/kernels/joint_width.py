"""The width of two boxes joined: the weighted sum of their extents."""

from __future__ import annotations

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.unions import Masks, Measure, Places, measure_coded, measure_lines, measure_sets


@njit(nogil=True, cache=True)
def measure_joint_width(
    box: Places, mask: Masks, row: int, boxes: Places, masks: Masks, other: int, measure: Measure
) -> int:
    """The width of box ``row`` of some and box ``other`` of others together, 0 to `SCALE` x weights.

    The innermost loops add the three parts themselves, with the arrays of ``measure`` taken out before the loop.
    """
    total = measure_lines(box, row, boxes, other, measure.weight)
    total += measure_sets(mask, row, masks, other, measure.sets, measure.table)
    if len(measure.codes) > 0:
        total += measure_coded(box, row, boxes, other, measure.facts, measure.table, measure.codes)
    return total
