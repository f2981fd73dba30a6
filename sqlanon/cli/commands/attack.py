"""``sqlanon attack``: results of attackers with values of the source on a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, flag, load, open_database, option, pick
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError
from sqlanon.spec import PolicySpec

if TYPE_CHECKING:
    from sqlanon.results import ControlReport


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
            "seconds); of a release of counts: insiders who are tried (default: as many as look for some 2,000 "
            "cells).",
        ),
    ] = None,
    control: Annotated[
        float | None,
        option(
            "--control",
            "SHARE",
            "Make the policy's release in scratch without this share of the persons, such as 0.2, and attack both "
            "groups; nothing is published.",
        ),
    ] = None,
    sets: Annotated[
        str | None,
        option(
            "--sets",
            "A,B/C",
            "With --control: two sets of quasi columns that are linked (default: all columns, in turn).",
        ),
    ] = None,
    seed: Annotated[
        int | None, option("--seed", "N", "With --control: draw the same again (default: from the operating system).")
    ] = None,
    html: Annotated[
        Path | None, option("--html", "FILE", "With --control: write table and picture to a new file.")
    ] = None,
    keep: Annotated[
        bool, flag("--keep", "Keep the figures with the version, so that reports show them over the versions.")
    ] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Attack a release with the values of the source: expected success, against the release's promises.

    Exit code 1 where linkage exceeds 1/k, or homogeneity 1/l, or a reader of counts finds a small cell; with --control
    no figure decides.
    """
    if control is not None:
        if keep:
            raise PolicyError("attack: --keep is of attacks on what is published; leave out --control")
        if known or victims is not None:
            raise PolicyError("attack: --known and --victims are of attacks on what is published; leave out --control")
        if html is not None:
            ensure_new(html)
        tried = _try_release(screen, load(policy, db), release, db, (control, sets, seed))
        if html is not None:
            from sqlanon.report.control import write_control

            write_new(html, write_control(tried))
        return 0
    if sets is not None or seed is not None or html is not None:
        raise PolicyError("attack: --sets, --seed and --html are of a trial with a control group; add --control 0.2")
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=not keep) as connected:
        report = connected.attack(release, known=parse_names("--known", known) or None, victims=victims)
        if keep:
            connected.keep_attacks(report)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.attack import attack_report, counts_attack_report
        from sqlanon.results import AttackReport

        if isinstance(report, AttackReport):
            attack_report(screen, report)
        else:
            counts_attack_report(screen, report)
    return 0 if report.held else 1


def _try_release(
    screen: Screen, spec: PolicySpec, release: str | None, db: str | None, options: tuple[float, str | None, int | None]
) -> ControlReport:
    """Try a release of the policy, and show the attacks on both groups."""
    share, sets, seed = options
    specs = pick(spec, [release] if release else None, "")
    if len(specs) != 1:
        raise PolicyError(
            f"attack --control tries one release, and the policy has several: {', '.join(item.name for item in specs)}"
        )
    pair = None if sets is None else [parse_names("--sets", [names]) for names in sets.split("/")]
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        report = connected.attack_with_control(specs[0], share, sets=pair, seed=seed)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.control import control_report

        control_report(screen, report)
    return report
