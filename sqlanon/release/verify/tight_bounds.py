"""Checks that ends of published ranges and members of published sets are values of rows.

Answers of queries may rest on that.

`sqlanon.release.verify.verify` checks that every value of a row lies in the row's box; columns with the least and
greatest value as ends need no second check. A box that is the least cover of rows ends where they do. A column that
fails this in some class is no violation: the metadata do not list the column, and nothing rests on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.formats.cover import count_wider_than_least
from sqlanon.formats.levels import NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlanon.engines.base import TableRef
    from sqlanon.formats.base import RecodedClasses
    from sqlanon.formats.cover import Claim
    from sqlanon.formats.levels import CoverTightness
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.scratch import Scratch


def least_covers(
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    measure: Callable[[Sequence[Claim]], TableRef | None] | None = None,
) -> CoverTightness:
    """The quasi columns with published ends, or members of sets, that are values of rows of the class.

    In these columns no cell is wider than the least cover of the rows.

    Nothing is checked if the format does not declare it, if levels decide the published cells, if boxes are wider, or
    if every row has a box: the ends say nothing of the single row published with it. Nodes of hierarchies and recoded
    values (`recode`) are not checked.

    Args:
        scratch: the run.
        classed: staged rows with their original values and class.
        recoded: published cells of every class.
        measure: see `sqlanon.formats.cover.count_wider_than_least`.

    Cost: see `sqlanon.formats.cover.count_wider_than_least`.
    """
    if not recoded.form.facts.attains or recoded.wider or recoded.leveled or not recoded.members.attain:
        return NOT_ASKED
    by_value = [
        domain
        for domain in classed.encoded.quasi
        if domain.reading.treatment != "hierarchy" and domain.reading.spec.recode is None
    ]
    return count_wider_than_least(recoded.form, scratch, by_value, classed.table, recoded, measure)
