"""Format labels: one text column for each quasi column, for people and for tools that know text only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.formats.base import Cell, Field
from sqlanon.formats.boxes import BoxFormat
from sqlanon.formats.column import Column
from sqlanon.formats.label_text import quote
from sqlanon.formats.layout import Names
from sqlanon.sqltext import identifier, type_name
from sqlanon.table.text import text_of

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.table.domain import Domain
    from sqlanon.table.reading import Reading
    from sqlanon.table.scratch import Scratch


class Labels(BoxFormat):
    """See docs/formats.md."""

    shown = "formats/labels_shown"
    cover = "formats/labels_covered"
    match = "formats/labels_matched"

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        return Names(value=reading.name)

    def labels(self, scratch: Scratch, domain: Domain) -> TableRef:
        """Texts are written once per domain value, here and not in SQL, because engines write floats differently."""
        rows = scratch.fetch(
            "recode/domain_values", max_rows=50_000_000, domain=domain.table, zoned=domain.reading.zoned
        )
        table = scratch.table(f"{domain.code}_labels")
        text = scratch.engine.capabilities.text_type
        scratch.engine.load_rows(
            table, [("code", "INTEGER"), ("label", text)], ((code, quote(text_of(value))) for code, value in rows)
        )
        return table

    def tables(self, scratch: Scratch, classed: TableRef, spans: TableRef, column: Column) -> Column:
        """See `BoxFormat.tables`: the labels of the nodes that classes have."""
        if column.found is None:
            return column
        rows = scratch.fetch("recode/found_labels", max_rows=50_000_000, found=column.found, leveled=column.leveled)
        table = scratch.table(f"{column.code}_labels")
        columns = [("low", "INTEGER"), ("high", "INTEGER"), ("label", scratch.engine.capabilities.text_type)]
        columns += [("at", "INTEGER")] if column.leveled else []
        label_rows = ((low, high, self.write(str(label)), *places) for low, high, label, *places in rows)
        scratch.engine.load_rows(table, columns, label_rows)
        return column.with_tables(labels=table)

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        """See `Format.cell`. Labels with quoted values are not read in SQL: the caller refuses them."""
        label = f'"{view}".{identifier(field.published[0])}'
        state = f"CASE WHEN {label} = 'NULL' THEN 'all' WHEN {label} = '*' THEN 'some' ELSE 'none' END"
        unknown = f"{label} IN ('NULL', '*')"
        inner = f"SUBSTRING({label}, 2, LENGTH({label}) - 2)"
        if shape == "node":
            return Cell({"node": f"CASE WHEN {unknown} THEN NULL ELSE {label} END"}, state)
        if shape == "set":
            members = f"SPLIT_BY_STRING({inner}, ', ')"
            listed = f"WHEN LEFT({label}, 1) = '{{' THEN {members} ELSE [{label}]"
            return Cell({"set": f"CASE WHEN {unknown} THEN NULL {listed} END"}, state)
        kind = "TEXT" if field.kind in ("text", "enum") else type_name(field.source_type)
        ends = {
            end: f"CASE WHEN {unknown} THEN NULL WHEN LEFT({label}, 1) = '[' "
            f"THEN CAST(SPLIT_PART({inner}, ', ', {position}) AS {kind}) ELSE CAST({label} AS {kind}) END"
            for end, position in (("lo", 1), ("hi", 2))
        }
        return Cell(ends, state)

    def write(self, label: str) -> str:
        """A node's label; ``*`` means any value there as well."""
        return label if label == "*" else quote(label)

    def mark(self, names: Names) -> tuple[str | None, str]:
        return names.value, "label"
