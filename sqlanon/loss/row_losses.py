"""Losses counted over rows, or over cells, instead of the boxes of all classes in one scan."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import number, read_integer
from sqlanon.loss.values import Groups, LostRows
from sqlanon.table.scratch import Scratch


def reconstruction_error(scratch: Scratch, classed: TableRef, value: str) -> float:
    """RCE of format anatomy (Xiao & Tao 2006, section 4).

    It is the squared error of each row's distribution in a reader's reconstruction.

    A reader takes a row of group G to have sensitive value v with c(v) / |G|; the truth is 1 for one value. Summed over
    rows that is sum over groups of |G| - sum_v c(v)^2 / |G|: 0 if every row's value is known, at least n (1 - 1/l) if
    the groups are l-diverse.

    Args:
        scratch: the run.
        classed: rows with their class.
        value: the sensitive column there.
    """
    return number(scratch.fetch("loss/reconstruction", classed=classed, value=value)[0][0])


def measure_classification(
    scratch: Scratch, classed: TableRef, groups: Groups, value: str, lost: LostRows, rows: int
) -> float:
    """CM (Iyengar 2002): the share of rows that lack their group's most frequent sensitive value, or are suppressed.

    Args:
        scratch: the run.
        classed: rows with their class.
        groups: classes that publish the same.
        value: the sensitive column there.
        lost: the suppressed rows.
        rows: of the source.

    Cost: two groupings of the rows.
    """
    rows_read = scratch.fetch("loss/classification", classed=classed, groups=groups, value=value, starred=lost.starred)
    return (read_integer(rows_read[0][0]) + lost.suppressed) / rows


def count_stars(scratch: Scratch, boxes: TableRef, attributes: Sequence[str]) -> tuple[int, int, int]:
    """Counts of suppressed cells, for a format with cells that are either a value or nothing.

    They are the suppressed cells, the rows with some, and the rows with nothing else.

    Args:
        scratch: the run.
        boxes: the format's boxes of the classes.
        attributes: the code columns.
    """
    cells, some, every = scratch.fetch("loss/stars", boxes=boxes, columns=list(attributes))[0]
    return read_integer(cells), read_integer(some), read_integer(every)
