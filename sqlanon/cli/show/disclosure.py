"""Disclosure of hidden cells by published tables of counts together."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, share, things

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.results.disclosure import DisclosureReport, FoundCell

MOST_SHOWN = 20
"""Cells that are listed, at most; JSON has all."""


def disclosure_report(screen: Screen, report: DisclosureReport) -> None:
    """Show the cells that a reader finds."""
    for table in report.tables:
        screen.show(f"{clean(table.table)}: {things(table.cells, 'cell')}, {count(table.hidden)} {table.status}")
    screen.show("")
    if report.contradictions:
        screen.show("The numbers CONTRADICT each other: no table has all of these together.", "")
        screen.show(_sheet(report.contradictions, report.decimals), "")
        screen.show(
            "Columns that are not the same are taken for the same, a table lists fewer cells than there are "
            "(--unlisted unknown), or numbers were rounded."
        )
        return
    small = [] if report.persons is None else [(f"surely fewer than {report.persons}", report.small)]
    rows = [
        (f"{report.status}, each once", report.hidden),
        ("found exactly", report.exact),
        *small,
        ("could be narrower than shown", report.undecided),
    ]
    screen.show(
        make_sheet(
            (("cells", "wrap"), ("number", "right"), ("share", "right")),
            [(name, count(number), share(number, report.hidden) if report.hidden else "") for name, number in rows],
        ),
        "",
    )
    if report.found:
        screen.show(_sheet(report.found, report.decimals), "")
    if not report.satisfied:
        screen.show(f"Readers of these tables FIND {report.status} cells.")


def _sheet(cells: Sequence[FoundCell], decimals: int) -> Sheet:
    columns = list(dict.fromkeys(name for cell in cells for name in cell.values))
    rows = [
        (*(_value(cell, name) for name in columns), _ends(cell, decimals), ", ".join(map(clean, cell.tables)))
        for cell in cells[:MOST_SHOWN]
    ]
    if len(cells) > MOST_SHOWN:
        rows.append((f"{count(len(cells) - MOST_SHOWN)} more", *("" for _ in columns), ""))
    heads = [(clean(name), "left") for name in columns] or [("", "left")]
    if not columns:
        rows = [("all", *row) for row in rows]
    return make_sheet((*heads, ("number", "left"), ("in", "wrap")), rows)


def _value(cell: FoundCell, name: str) -> str:
    if name not in cell.values:
        return "(total)"
    value = cell.values[name]
    return "NULL" if value is None else clean(value)


def _ends(cell: FoundCell, decimals: int) -> str:
    if cell.exact:
        return f"= {_number(cell.low, decimals)}"
    high = "any" if cell.high is None else _number(cell.high, decimals)
    return f"{_number(cell.low, decimals)} .. {high}{'' if cell.reached else ' ~'}"


def _number(units: int, decimals: int) -> str:
    return f"{Decimal(units).scaleb(-decimals):,f}" if decimals else count(units)
