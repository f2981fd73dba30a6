"""Format suppressed: the value where the whole class agrees, else NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.formats.base import Cell, Field
from sqlanon.formats.boxes import BoxFormat
from sqlanon.formats.layout import Names
from sqlanon.formats.points import single
from sqlanon.sqltext import identifier

if TYPE_CHECKING:
    from sqlanon.table.stage import Reading


class Suppressed(BoxFormat):
    """See docs/formats.md."""

    shown = "formats/suppressed_shown"
    cover = "formats/suppressed_covered"

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        """See `Format.names`."""
        return Names(value=reading.name, suppressed=f"{reading.name}_suppressed" if nulls else None)

    def cell(self, own: Field, shape: str, view: str) -> Cell:
        """See `Format.cell`."""
        value, *flag = (f'"{view}".{identifier(name)}' for name in own.published)
        if flag:
            state = f"CASE WHEN {flag[0]} THEN 'some' WHEN {value} IS NULL THEN 'all' ELSE 'none' END"
        else:
            state = f"CASE WHEN {value} IS NULL THEN 'any' ELSE 'none' END"
        return Cell(single(value, shape), state, valued=True)

    def mark(self, names: Names) -> tuple[str | None, str]:
        """See `Format.mark`."""
        return (names.suppressed, "flag") if names.suppressed else (names.value, "star")
