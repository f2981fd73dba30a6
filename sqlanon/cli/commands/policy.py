"""``sqlanon init``, ``plan``, ``run`` and ``schema``: the commands that work with a policy file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.cli.batch import select_plan_options, work_on_each
from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import (
    POLICY,
    AllowWeaker,
    DateFormat,
    Db,
    Decimal,
    Delimiter,
    Due,
    Encoding,
    Full,
    Ignore,
    KeepScratch,
    NewClasses,
    NewLineage,
    Null,
    PolicyFile,
    RecordFile,
    Select,
    Spend,
    Types,
    collect_reading,
    find_url,
    first_option,
    flag,
    load,
    next_command,
    open_database,
    option,
    pick,
)
from sqlanon.cli.questions import ask_all, check_terminal
from sqlanon.cli.record import Record
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError, SqlanonError

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.policy import Proposal
    from sqlanon.results import PlanReport, RunReport
    from sqlanon.spec import ReleaseSpec


def init(
    screen: Screen,
    table: Annotated[
        str, typer.Argument(help="The table to release, or a .csv, .csv.gz or .parquet file without --db.")
    ],
    db: Annotated[str | None, option("--db", "URL", "Its database: duckdb:///path, postgresql://..., sc://...")] = None,
    output: Annotated[Path | None, option("--output", "FILE", "Write it to this new file.", short="-o")] = None,
    interactive: Annotated[
        bool, flag("--interactive", "Ask for every role, k and l, with the reasons, on a terminal.", short="-i")
    ] = False,
    from_labels: Annotated[
        bool, flag("--from-labels", "Roles by the security labels of PostgreSQL Anonymizer, where a column has one.")
    ] = False,
    null: Null = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    decimal: Decimal = None,
    ignore: Ignore = None,
    date_format: DateFormat = None,
) -> int | None:
    """Profile a table or a file and propose a policy, or a command, that fits it."""
    from sqlanon.cli.show.init import file_command, format_written
    from sqlanon.cli.show.text import command
    from sqlanon.shell import word

    if output is not None:
        ensure_new(output)
    if interactive:
        check_terminal(screen)
    reading = collect_reading(null, delimiter, encoding, types, decimal, ignore, date_format)
    if db is not None:
        if reading:
            raise PolicyError(f"{first_option(reading)} is for CSV files; a table has types of its own")
        with open_database(db, screen, read_only=True) as connected:
            proposal = _propose(screen, connected, table, interactive=interactive, from_labels=from_labels)
        text = proposal.policy(db, table)
        following = command("plan", options=[] if output == POLICY else ["-p", str(output)])
    else:
        if from_labels:
            raise PolicyError("--from-labels is for tables of PostgreSQL: name their database with --db")
        proposal = _of_file(screen, table, reading, interactive=interactive)
        text = file_command(proposal, table, reading, printed=output is None and not screen.json)
        following = f"sh {word(str(output))}"
    if output is not None:
        write_new(output, text)
    if screen.json:
        screen.emit(
            {
                "policy" if db is not None else "command": text,
                "refused": list(proposal.refused),
                "warned": list(proposal.warned),
            }
        )
    elif output is not None:
        screen.show(*proposal.notes(), format_written(output, following))
    else:
        screen.product(text)
    return None


def _propose(screen: Screen, connected: Database, table: str, *, interactive: bool, from_labels: bool) -> Proposal:
    proposal = connected.propose(table, from_labels=from_labels)
    return connected.checked(ask_all(screen, proposal), table) if interactive else proposal


def _of_file(screen: Screen, file: str, read: dict[str, Any], *, interactive: bool) -> Proposal:
    from sqlanon.database import FILES, open_file

    if not file.lower().endswith(FILES) and not Path(file).is_file():
        raise PolicyError(
            f"{file} is not a {', '.join(FILES)} file; a table needs --db duckdb:///path, postgresql://... or sc://..."
        )
    try:
        with open_file(file, progress=screen.progress(), **read) as opened:
            proposal = _propose(screen, opened.database, opened.table, interactive=interactive, from_labels=False)
            return replace(proposal, warned=(*proposal.warned, *opened.notes))
    finally:
        screen.close()


def plan(
    screen: Screen,
    policy: PolicyFile = None,
    select: Select = None,
    db: Db = None,
    sql: Annotated[bool, flag("--sql", "Also print the SQL that does not depend on data.")] = False,
    new_lineage: NewLineage = False,
    new_classes: NewClasses = False,
) -> int | None:
    """Show the actions of a run, and whether it can succeed."""
    spec = load(policy, db)
    anew = [*(["--new-lineage"] if new_lineage else []), *(["--new-classes"] if new_classes else [])]

    def show_report(_: ReleaseSpec, report: PlanReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.plan import plan_report

            plan_report(screen, report, sql=sql, run=next_command(screen, "run", policy, select, db, words=anew))

    releases = pick(spec, select)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        return work_on_each(
            screen,
            releases,
            lambda release: connected.plan(
                release, beside=spec.releases, new_lineage=new_lineage, new_classes=new_classes
            ),
            show_report,
            again=lambda release, words: next_command(
                screen, "plan", policy, [release.name], db, words=select_plan_options(words)
            ),
        )


def run(
    screen: Screen,
    policy: PolicyFile = None,
    select: Select = None,
    db: Db = None,
    due: Due = False,
    full: Full = False,
    allow_weaker: AllowWeaker = False,
    keep_scratch: KeepScratch = False,
    new_lineage: NewLineage = False,
    new_classes: NewClasses = False,
    spend: Spend = False,
    record: RecordFile = None,
) -> int | None:
    """Bring the policy's releases up to date: make, verify and publish the changed ones."""

    def show_report(release: ReleaseSpec, report: RunReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.run import run_report

            run_report(screen, report, _list_next_commands(screen, release, report, policy, db))

    # The record begins before the policy is read: a policy that cannot be read leaves a record of that, not an older
    # one.
    record_file = Record(record, str(policy or POLICY)) if record else None
    with record_file or nullcontext():
        spec = load(policy, db)
        releases = pick(spec, select)
        with open_database(find_url(db, spec), screen) as connected:
            tables: dict[str, dict[str, RunReport] | SqlanonError] = {}

            def run_together(release: ReleaseSpec, name: str) -> RunReport:
                """The tables of a release are run together with the first."""
                if name not in tables:
                    if keep_scratch or new_lineage or spend:
                        option = "--keep-scratch" if keep_scratch else "--spend" if spend else "--new-lineage"
                        raise PolicyError(f"{option} is for releases of one table; {name} has several")
                    all_of = [member for member in spec.releases if member.together and member.together.name == name]
                    try:
                        reports = connected.run_tables(
                            all_of, full=full, allow_weaker=allow_weaker, only_due=due, new_classes=new_classes
                        )
                        tables[name] = {report.release: report for report in reports}
                    except SqlanonError as error:
                        tables[name] = error
                outcome = tables[name]
                if isinstance(outcome, SqlanonError):
                    raise outcome
                return outcome[release.name]

            def work(release: ReleaseSpec) -> RunReport:
                if release.together is not None:
                    return run_together(release, release.together.name)
                return connected.run(
                    release,
                    full=full,
                    allow_weaker=allow_weaker,
                    only_due=due,
                    keep_scratch=keep_scratch,
                    new_lineage=new_lineage,
                    new_classes=new_classes,
                    spend=spend,
                )

            def again(release: ReleaseSpec, words: Sequence[str]) -> str:
                recorded = ["--record", str(record)] if record else []
                return next_command(screen, "run", policy, [release.name], db, words=[*words, *recorded])

            code = work_on_each(
                screen, releases, work, show_report, record_file.add if record_file else None, again=again
            )
        if record_file:
            record_file.exit_code = code
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


def _list_next_commands(
    screen: Screen, release: ReleaseSpec, report: RunReport, policy: Path | None, db: str | None
) -> list[str]:
    """Commands to try after a run.

    A release in a separate file is audited in that file, but boxes of their own in the database of the certificate.
    """
    from sqlanon.cli.show.text import command, list_option

    view = release.publish or report.published
    rows = report.shape.grouped and report.statistics is None
    names = [column.name for column in release.with_role("sensitive")] if rows else []
    sensitive = list_option("--sensitive", names)
    if release.publish_file and report.shape.grouped:
        audit = command("audit", view, options=[*sensitive, "--db", f"duckdb:///{release.publish_file}"])
    else:
        audit = next_command(screen, "audit", policy, None, db, view, words=sensitive)
    return [audit, next_command(screen, "releases", policy, None, db, report.release)]
