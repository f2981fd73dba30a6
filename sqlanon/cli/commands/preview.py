"""``sqlanon preview``: rows before and after, for the owner, before anything is published."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_url, load, next_command, open_database, pick
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError


def preview(
    screen: Screen,
    release: Annotated[
        str | None, typer.Argument(show_default=False, help="The release; needed where the policy has several.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="How many rows, at most 100.")] = 20,
    policy: PolicyFile = None,
    db: Db = None,
) -> int | None:
    """Show rows of the source side by side with their published form; nothing is written.

    It shows the source, so it prints on a terminal only; --json prints wherever you send it.
    """
    if not screen.json and not screen.out.is_terminal:
        raise PolicyError(
            "preview shows rows of the source, and stdout is no terminal: what is kept of it must be as private as the "
            "source. Run it on a terminal, or say --json"
        )
    spec = load(policy, db)
    specs = pick(spec, [release] if release else None)
    if len(specs) != 1:
        raise PolicyError(
            f"preview shows one release, and the policy has several: {', '.join(item.name for item in specs)}"
        )
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        sample = connected.preview(specs[0], rows)
    screen.emit(sample.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.preview import preview_report

        preview_report(screen, sample, next_command(screen, "run", policy, [specs[0].name], db))
    return None
