"""Format points: a representative value of the class, in the source's type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.engines.rows import read_integer
from sqlanon.formats.base import Cell, Field, RecodedClasses
from sqlanon.formats.boxes import BoxFormat
from sqlanon.formats.column import Column
from sqlanon.formats.layout import Names
from sqlanon.formats.levels import NOT_ASKED, CoverTightness
from sqlanon.sqltext import identifier

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.spec import FormatSpec
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.reading import Reading
    from sqlanon.table.scratch import Scratch


class Points(BoxFormat):
    """See docs/formats.md."""

    shown = "formats/points_shown"
    cover = "formats/points_covered"

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        return Names(value=reading.name)

    def reads_codes(self, domain: Domain, form: FormatSpec) -> bool:
        """See `Format.reads_codes`: for the representative codes."""
        return True

    def tables(self, scratch: Scratch, classed: TableRef, spans: TableRef, column: Column) -> Column:
        """See `BoxFormat.tables`: the representative code of every class."""
        middle = scratch.table(f"{column.code}_middle")
        scratch.execute(
            "recode/middle",
            middle=middle,
            domain=column.domain,
            column=column.code,
            frequent=column.kind != "ordered",
            classed=classed,
        )
        return column.with_tables(middle=middle)

    def count_covered(
        self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, least: CoverTightness = NOT_ASKED
    ) -> tuple[int, int]:
        """A point covers a class if some row of the class has each value of the point."""
        columns = [
            {
                "alias": domain.reading.alias,
                "names": recoded.layout.names[domain.code],
                "as_text": domain.reading.as_text,
            }
            for domain in classed.encoded.quasi
        ]
        row = scratch.fetch(self.cover, classed=classed.table, released=recoded.released, columns=columns)[0]
        return read_integer(row[0]), read_integer(row[1])

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        value = f'"{view}".{identifier(field.published[0])}'
        return Cell(show_single(value, shape), "'some'", point=value, valued=True)


def show_single(value: str, shape: str) -> dict[str, str]:
    """The parts of a cell that shows a single value."""
    if shape in ("interval", "order"):
        return {"lo": value, "hi": value}
    if shape == "set":
        return {"set": f"CASE WHEN {value} IS NOT NULL THEN [{value}] END"}
    return {"node": f"CAST({value} AS TEXT)"}
