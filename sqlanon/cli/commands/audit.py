"""``sqlanon audit``: what a table shows, or two releases together; it trusts no method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.arguments import names
from sqlanon.cli.options import Db, PolicyFile, database, found, url
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.spec import PolicySpec, ReleaseSpec

Names = list[str] | None


def audit(
    screen: Screen,
    table: Annotated[str | None, typer.Argument(show_default=False, help="Any table or view.")] = None,
    qi: Annotated[
        Names,
        typer.Option(
            "--qi",
            metavar="COLUMNS",
            show_default=False,
            help="Columns an attacker knows (default: all but the sensitive ones).",
        ),
    ] = None,
    sensitive: Annotated[
        Names,
        typer.Option("--sensitive", metavar="COLUMNS", show_default=False, help="Sensitive attributes."),
    ] = None,
    identifier: Annotated[
        Names,
        typer.Option(
            "--identifier", metavar="COLUMNS", show_default=False, help="Count these per class as well."
        ),
    ] = None,
    together: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--together", metavar="A B", show_default=False, help="Two releases of one source, held at once."
        ),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="NAME",
            show_default=False,
            help="A release's versions, each with the one before.",
        ),
    ] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Measure the risk of any table, of two releases together, or of a release's versions.

    A table that the policy publishes is also checked against the policy's requirements.
    """
    if sum(one is not None for one in (table, together, history)) != 1:
        raise PolicyError("audit wants one TABLE, or --together A B, or --history NAME")
    spec = found(db, policy)
    where = url(db, spec)
    if history is not None:
        return _history(screen, where, history)
    if together is not None:
        return _together(screen, where, together)
    assert table is not None
    with database(where, screen, read_only=True) as connected:
        report = connected.audit(
            table,
            quasi=names("--qi", qi) or None,
            sensitive=names("--sensitive", sensitive),
            identifiers=names("--identifier", identifier),
            spec=_release_of(connected, spec, table),
        )
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.audit import audit_report

        audit_report(screen, report)
    return 0 if report.satisfied else 1


def _together(screen: Screen, where: str, pair: tuple[str, str]) -> int | None:
    with database(where, screen, read_only=True) as connected:
        report = connected.together(*pair)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.audit import together_report

        together_report(screen, report)
    return 0 if report.satisfied else 1


def _history(screen: Screen, where: str, name: str) -> int | None:
    with database(where, screen, read_only=True) as connected:
        reports = connected.history(name)
    screen.emit({"release": name, "history": [report.to_dict() for report in reports]})
    if not screen.silent:
        from sqlanon.cli.show.run import history_tables

        screen.show(*history_tables(reports))
    return None


def _release_of(connected: Database, policy: PolicySpec | None, table: str) -> ReleaseSpec | None:
    """The policy's release that is published as this table, however either is spelled."""
    for release in policy.releases if policy is not None else ():
        if release.publish and connected.engine.target(release.publish) == connected.engine.target(table):
            return release
    return None
