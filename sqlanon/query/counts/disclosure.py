"""The audit of published tables of counts, together: disclosures to any reader."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.query.counts.published_tables import CountsSpelling, read_tables
from sqlanon.results.disclosure import DisclosureReport, FoundCell, TableCells
from sqlanon.statistics.disclosure import disclose, disclose_persons
from sqlanon.statistics.joined_tables import JoinedSystem, join_tables
from sqlanon.statistics.reach import ContradictionError
from sqlanon.statistics.reader_cells import HIDDEN

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine


def audit_tables(
    engine: Engine,
    names: Mapping[str, str],
    spelling: CountsSpelling,
    persons: int | None,
    seconds: Callable[[], float],
) -> DisclosureReport:
    """Disclosures of hidden cells to a reader of some published tables.

    Args:
        engine: the database of the tables.
        names: name of each table, view or release of counts, by the name in reports.
        spelling: spelling of tables from other publishers.
        persons: numbers below it are small.
        seconds: time left, in seconds.

    Raises:
        PolicyError: a table is not as the spelling says.
        UnsupportedError: the tables have too many combinations; HiGHS is needed, and not installed.

    Cost: each table is read once; two linear programs for each hidden cell, at most, or for each end some, where tables
        of fractions are in the way.
    """
    tables_read = read_tables(engine, names, spelling)
    joined = join_tables(tables_read.columns, tables_read.tables, tables_read.least)
    of_tables = tuple(
        TableCells(table.name, len(table.cells), sum(value == HIDDEN for value in table.cells.values()), table.status)
        for table in tables_read.tables
    )

    listed, alone = len(joined.keys), not tables_read.beside

    def show(place: int, low: int, high: int | None, *, reached: bool) -> FoundCell:
        cell, since = (place, 0) if place < listed else joined.older[place - listed]
        values = {
            column.name: label
            for column, (level, label) in zip(tables_read.columns, joined.keys[cell], strict=True)
            if level < column.levels
        }
        table_names = tuple(dict.fromkeys(tables_read.tables[table].name for table in joined.tables[cell]))
        if since:
            table_names = tuple(f"{name}, who came since version {since}" for name in table_names)
        return FoundCell(table_names, values, low, high, reached)

    def contradict(cells: Sequence[int]) -> DisclosureReport:
        shown = [(cell, int(joined.seen.value[cell])) for cell in cells]
        ends = [(cell, tables_read.least, None) if value == HIDDEN else (cell, value, value) for cell, value in shown]
        contradictions = tuple(show(cell, low, high, reached=False) for cell, low, high in ends)
        return DisclosureReport(of_tables, persons, contradictions=contradictions, decimals=spelling.decimals)

    if joined.clashes:
        return contradict(joined.clashes)
    try:
        intervals = disclose_persons(joined) if tables_read.apart else disclose(joined.seen, seconds)
    except ContradictionError as wrong:
        return contradict(wrong.cells.tolist())
    found_cells = [
        show(interval.cell, interval.low, interval.high, reached=interval.exact or (interval.reached and alone))
        for interval in intervals
    ]
    found_cells += [show(cell, value, value, reached=True) for cell, value in _find_shown_elsewhere(joined)]
    found_cells.sort(
        key=lambda cell: (math.inf if cell.high is None else cell.high - cell.low, cell.low, str(cell.values))
    )
    return replace(_count(of_tables, persons, found_cells), decimals=spelling.decimals)


def _find_shown_elsewhere(joined: JoinedSystem) -> list[tuple[int, int]]:
    """Cells that a table hides and another shows."""
    values, older = joined.seen.value[: len(joined.keys)].tolist(), {cell for cell, _ in joined.older}
    return [
        (cell, value)
        for cell, value in enumerate(values)
        if value != HIDDEN and joined.hidden[cell] and cell not in older
    ]


def _count(tables: tuple[TableCells, ...], persons: int | None, cells: Sequence[FoundCell]) -> DisclosureReport:
    small = [cell for cell in cells if persons is not None and cell.high is not None and 1 <= cell.high < persons]
    return DisclosureReport(
        tables,
        persons,
        len(cells),
        sum(cell.exact for cell in cells),
        len(small),
        sum(not cell.reached for cell in cells),
        found=tuple(cells),
    )
