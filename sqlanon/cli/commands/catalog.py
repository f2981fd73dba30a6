"""``sqlanon releases`` and ``clean``: what the catalog of a database knows and leaves behind."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, database, found, url
from sqlanon.cli.screen import Screen


def releases(
    screen: Screen,
    name: Annotated[str | None, typer.Argument(show_default=False, help="Only this release.")] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """List every version of every release."""
    with database(url(db, found(db, policy)), screen) as connected:
        rows = connected.releases(name)
    screen.emit({"releases": [row.to_dict() for row in rows]})
    if not screen.silent:
        from sqlanon.cli.show.catalog import release_rows

        release_rows(screen, rows)
    return None


def clean(screen: Screen, db: Db = None, policy: PolicyFile = None) -> int | None:
    """Drop what killed runs left behind."""
    with database(url(db, found(db, policy)), screen) as connected:
        dropped = connected.clean()
    screen.emit({"dropped": list(dropped)})
    if dropped:
        screen.show(f"dropped {len(dropped)}:", *(f"  {name}" for name in dropped))
    else:
        screen.show("nothing to clean")
    return None
