"""``sqlanon attack``: what somebody with values of the source finds in a release."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, open_database, option
from sqlanon.cli.screen import Screen


def attack(
    screen: Screen,
    release: Annotated[
        str | None,
        typer.Argument(show_default=False, help="A release's name or view (default: the only one there is)."),
    ] = None,
    known: Annotated[
        list[str] | None,
        option("--known", "COLUMNS", "Quasi columns of which an attacker may know any set, at most 10 (default: all)."),
    ] = None,
    victims: Annotated[
        int | None,
        typer.Option(
            "--victims",
            metavar="N",
            min=1,
            show_default=False,
            help="Published rows that are attacked at most, drawn at random (default: all, or as many as take some 20 "
            "seconds).",
        ),
    ] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Attack a release with the values of its source: expected success, against what is promised.

    Exit code 1 where linkage exceeds 1/k, or homogeneity 1/l.
    """
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        report = connected.attack(release, known=parse_names("--known", known) or None, victims=victims)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.attack import attack_report

        attack_report(screen, report)
    return 0 if report.held else 1
