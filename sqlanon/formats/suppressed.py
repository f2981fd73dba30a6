"""Format suppressed: the value where the whole class agrees, else NULL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.formats.base import Cell, Field
from sqlanon.formats.boxes import BoxFormat
from sqlanon.formats.layout import Names
from sqlanon.formats.points import show_single
from sqlanon.loss import count_stars
from sqlanon.sqltext import identifier

if TYPE_CHECKING:
    from sqlanon.formats.base import RecodedClasses
    from sqlanon.results import LossReport
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.reading import Reading
    from sqlanon.table.scratch import Scratch


class SuppressedFormat(BoxFormat):
    """See docs/formats.md."""

    shown = "formats/suppressed_shown"
    cover = "formats/suppressed_covered"
    either = True

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        return Names(value=reading.name, suppressed=f"{reading.name}_suppressed" if nulls else None)

    def loss(self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, measured: LossReport) -> LossReport:
        """See `Format.loss`: the value or nothing is published, so that stars are counted."""
        cells, some, rows_hidden = count_stars(
            scratch, recoded.boxes, [domain.code for domain in classed.encoded.quasi]
        )
        columns = {name: {**lost, "hidden": lost["lm"]} for name, lost in measured.columns.items()}
        return replace(measured, columns=columns, stars=cells, starred_rows=some, hidden_rows=rows_hidden)

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        value, *flag = (f'"{view}".{identifier(name)}' for name in field.published)
        if flag:
            state = f"CASE WHEN {flag[0]} THEN 'some' WHEN {value} IS NULL THEN 'all' ELSE 'none' END"
        else:
            state = f"CASE WHEN {value} IS NULL THEN 'any' ELSE 'none' END"
        return Cell(show_single(value, shape), state, valued=True)

    def mark(self, names: Names) -> tuple[str | None, str]:
        return (names.suppressed, "flag") if names.suppressed else (names.value, "star")
