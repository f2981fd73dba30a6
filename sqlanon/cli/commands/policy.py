"""``sqlanon init``, ``plan``, ``run`` and ``schema``: what works with a policy file."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.batch import each
from sqlanon.cli.options import (
    POLICY,
    AllowWeaker,
    Db,
    Due,
    Full,
    PolicyFile,
    RecordFile,
    Select,
    database,
    load,
    pick,
    url,
)  # fmt: skip
from sqlanon.cli.record import Record
from sqlanon.cli.screen import Screen

if TYPE_CHECKING:
    from sqlanon.results import PlanReport, RunReport
    from sqlanon.spec import ReleaseSpec


def init(
    screen: Screen,
    table: Annotated[str, typer.Argument(help="The table to release.")],
    db: Annotated[
        str, typer.Option("--db", metavar="URL", help="Its database: duckdb:///path, postgresql://...")
    ],
) -> int | None:
    """Profile a table and print a policy that fits it."""
    from sqlanon.policy import propose

    with database(db, screen) as connected:
        profile = connected.profile(table)
    text = propose(db, table, profile)
    if screen.json:
        screen.emit({"policy": text})
    else:
        screen.product(text)
    return None


def plan(
    screen: Screen,
    policy: PolicyFile = None,
    select: Select = None,
    db: Db = None,
    sql: Annotated[
        bool, typer.Option("--sql", help="Also print the SQL that does not depend on data.")
    ] = False,
) -> int | None:
    """Say what a run would do, and whether it can."""
    spec = load(policy)

    def done(_: ReleaseSpec, report: PlanReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.plan import plan_report

            plan_report(screen, report, sql=sql, run=_command("run", policy, select, db))

    releases = pick(spec, select)
    with database(url(db, spec), screen) as connected:
        return each(screen, releases, lambda release: connected.plan(release, beside=spec.releases), done)


def run(
    screen: Screen,
    policy: PolicyFile = None,
    select: Select = None,
    db: Db = None,
    due: Due = False,
    full: Full = False,
    allow_weaker: AllowWeaker = False,
    record: RecordFile = None,
) -> int | None:
    """Bring the policy's releases up to date: make, verify and publish what changed."""
    spec = load(policy)

    def done(release: ReleaseSpec, report: RunReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.run import run_report

            run_report(screen, report, _following(release, report, policy, db))

    releases = pick(spec, select)
    written = Record(record, spec.path or str(policy or POLICY)) if record else None
    with written or nullcontext(), database(url(db, spec), screen) as connected:

        def work(release: ReleaseSpec) -> RunReport:
            return connected.run(release, full=full, allow_weaker=allow_weaker, only_due=due)

        code = each(screen, releases, work, done, written.add if written else None)
        if written:
            written.exit_code = code
        return code


def schema(screen: Screen) -> int | None:
    """Print the JSON Schema of policy files, for editors."""
    import json

    from sqlanon.policy import schema as describe

    if screen.json:
        screen.emit(describe())
    else:
        screen.product(json.dumps(describe(), indent=2, ensure_ascii=False))
    return None


def _following(release: ReleaseSpec, report: RunReport, policy: Path | None, db: str | None) -> list[str]:
    """Commands to try after a run; a release in a file of its own is audited there."""
    from sqlanon.cli.show.text import command, listed

    view = release.publish or report.published
    sensitive = listed("--sensitive", [column.name for column in release.with_role("sensitive")])
    if release.publish_file:
        audit = command("audit", view, *sensitive, "--db", f"duckdb:///{release.publish_file}")
    else:
        audit = _command("audit", policy, None, db, view, *sensitive)
    return [audit, _command("releases", policy, None, db, report.release)]


def _command(name: str, policy: Path | None, select: list[str] | None, db: str | None, *words: str) -> str:
    """A command to try next, with the same policy and database as this one."""
    from sqlanon.cli.show.text import command, shown_url

    options: list[str] = []
    if policy is not None and policy != POLICY:
        options += ["-p", str(policy)]
    for chosen in select or ():
        options += ["--select", chosen]
    if db is not None:
        options += ["--db", shown_url(db)]
    return command(name, *words, *options)
