"""``sqlanon methods``: requirements, formats and engines supported by each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.report.abilities import Works


def methods(
    screen: Screen,
    name: Annotated[
        str | None, typer.Argument(metavar="[METHOD]", show_default=False, help="One method, with reasons.")
    ] = None,
) -> int | None:
    """List the methods, and the requests that each supports. Opens no database."""
    from sqlanon.declared import METHODS, unknown_method
    from sqlanon.report import abilities

    if name is not None and name not in METHODS:
        raise PolicyError(str(unknown_method(name)))
    tables = {table.title.lower(): table.to_dict() for table in abilities.list_tables()}
    screen.emit(tables if name is None else {"methods": {name: tables["methods"][name]}})
    if not screen.silent:
        _show(screen, abilities.list_methods(), name)
    return None


def _show(screen: Screen, table: Works, name: str | None) -> None:
    from sqlanon.cli.show.text import make_sheet as sheet
    from sqlanon.declared import METHODS

    if name is None:
        spare = {"formats": 4, "executors": 3, "population": 2, "persons: whole": 1}
        headings = [("method", "left", 0), *((ability, "wrap", spare.get(ability, 0)) for ability in table.abilities)]
        compared = [name for name in table.rows if str(METHODS[name].code).startswith("sqlanon.papers.")]
        rows, to_compare = (
            [
                [name, *(cell.text for cell in cells)]
                for name, cells in table.rows.items()
                if (name in compared) is of_papers
            ]
            for of_papers in (False, True)
        )
        # One sheet, so that its columns are below each other.
        title = [["to compare with:", *("" for _ in table.abilities)]] if to_compare else []
        screen.show(
            sheet(headings, [*rows, *title, *to_compare]),
            "",
            "why not: sqlanon methods METHOD; engines and formats: docs/what-works.md",
        )
        return
    screen.show(METHODS[name].about, "")
    rows = [
        [ability, cell.text, "" if cell.lack is None else f"{cell.lack.why} ({cell.lack.kind})"]
        for ability, cell in zip(table.abilities, table.rows[name], strict=True)
    ]
    screen.show(sheet([("", "left"), ("", "wrap"), ("why no more", "wrap")], rows))
