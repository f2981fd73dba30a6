"""Disclosure by few known columns: k by their number, and special uniques."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, measure, share, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import KnownReport


def known_report(screen: Screen, report: KnownReport) -> None:
    """Show a line for each number of known columns, and the scores of rows that few columns isolate."""
    screen.show(
        f"what few known columns reveal of {clean(report.table)}: {things(report.rows, 'row')}, "
        f"{count(len(report.columns))} columns",
        "",
    )
    head = (
        ("known", "right"),
        ("sets", "right"),
        ("k", "right"),
        ("smallest class in", "wrap"),
        ("rows first unique", "right"),
    )
    rows = [
        (str(size.known), count(size.sets), count(size.k), ", ".join(map(clean, size.worst)), count(size.rows))
        for size in report.sizes
    ]
    screen.show(make_sheet(head, rows), "")
    special = report.special
    if special is None or not special.rows:
        screen.show("no row is isolated by so few columns, and fewer than all")
        return
    scores = [
        ("rows that few columns isolate", f"{count(special.rows)} ({share(special.rows, report.rows)})", ""),
        ("SUDA score", measure(special.mean_score), measure(special.highest_score)),
        ("DIS-SUDA: a match of such a row is right", share(special.mean_dis, 1), share(special.highest_dis, 1)),
    ]
    screen.show(make_sheet((("special uniques", "wrap"), ("mean", "right"), ("highest", "right")), scores), "")
    parts = sorted(special.columns.items(), key=lambda pair: -pair[1])
    screen.show(
        make_sheet(
            (("column", "wrap"), ("in minimal uniques", "right")), [(name, share(part, 1)) for name, part in parts]
        )
    )
