"""``sqlanon hierarchy``: the levels of a column, for the owner."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, flag, open_database
from sqlanon.cli.screen import Screen


def hierarchy(
    screen: Screen,
    release: Annotated[str, typer.Argument(help="A release's name or view.")],
    column: Annotated[str, typer.Argument(help="A quasi column with a hierarchy.")],
    values: Annotated[bool, flag("--values", "Also list the values, the lowest level.")] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Show the levels of a column's hierarchy, with the source's rows in every node.

    The output is for the owner: nodes are values.
    """
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        report = connected.hierarchy(release, column)
    document = report.to_dict()
    if not values:
        document["levels"][0].pop("rows")
    screen.emit(document)
    if not screen.silent:
        from sqlanon.cli.show.hierarchy import levels_report

        levels_report(screen, report, values=values)
    return None
