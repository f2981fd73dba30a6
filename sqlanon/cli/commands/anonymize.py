"""``sqlanon anonymize``: a table or file, everything as options."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.cli.arguments import as_options
from sqlanon.cli.options import (
    AllowWeaker,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    EscapeFormulas,
    Ignore,
    Null,
    Types,
    collect_reading,
    first_option,
    open_database,
    option,
)
from sqlanon.cli.policy_options import collect_given, with_policy_options
from sqlanon.cli.screen import Screen
from sqlanon.declared.keys import FIRST
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.results import RunReport

SUFFIXES = (".csv", ".csv.gz", ".parquet")


@with_policy_options
def anonymize(
    screen: Screen,
    source: Annotated[str, typer.Argument(help="A .csv, .csv.gz or .parquet file, or a table with --db.")],
    db: Annotated[
        str | None,
        option("--db", "URL", "The table's database: duckdb:///path, postgresql://..., sc://...", panel=FIRST),
    ] = None,
    allow_weaker: AllowWeaker = False,
    null: Null = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    escape_formulas: EscapeFormulas = False,
    decimal: Decimal = None,
    ignore: Ignore = None,
    date_format: DateFormat = None,
    **options: Any,
) -> int | None:
    """Anonymize one file, or one table where it lives."""
    reading = collect_reading(null, delimiter, encoding, types, decimal, ignore, date_format)
    name = options["name"] or (Path(source).name.partition(".")[0] if db is None else source.rpartition(".")[2])
    try:
        settings = collect_given(options)
        to, publish_file = settings.pop("publish", None), settings.pop("publish_file", None)
        if db is not None:
            report = _table(
                screen,
                source,
                db,
                to,
                publish_file,
                settings,
                reading,
                allow_weaker=allow_weaker,
                escape_formulas=escape_formulas,
            )
        else:
            more = {"escape_formulas": True} if escape_formulas else {}
            report = _file(screen, source, to, publish_file, settings | reading | more, allow_weaker=allow_weaker)
    except PolicyError as error:
        raise as_options(error, name) from error
    screen.emit(report.to_dict())
    screen.warn(report.warnings)
    if not screen.silent:
        from sqlanon.cli.show.run import run_report

        run_report(screen, report, _next(screen, report, db, to, publish_file, settings))
    return None


def _table(
    screen: Screen,
    source: str,
    db: str,
    to: str | None,
    publish_file: str | None,
    options: dict[str, Any],
    read: dict[str, Any],
    *,
    allow_weaker: bool,
    escape_formulas: bool,
) -> RunReport:
    if read:
        raise PolicyError(f"{first_option(read)} is for CSV files; a table in a database has types of its own")
    file = to if to is not None and to.lower().endswith(SUFFIXES) else None
    if file is not None:
        from sqlanon.database import check_file

        check_file(Path(file), escape_formulas=escape_formulas)
    elif escape_formulas:
        raise PolicyError("--escape-formulas is for a CSV file: name one with --to")
    with open_database(db, screen) as connected:
        release = connected.anonymize(
            source, allow_weaker=allow_weaker, publish=None if file else to, publish_file=publish_file, **options
        )
        if file is None:
            return release.report
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            files = " and ".join(release.write(file, escape_formulas=escape_formulas))
        report = release.report
        return replace(
            report,
            notes=(*report.notes, f"the rows of {report.published} were written to {files}"),
            warnings=(*report.warnings, *(str(warning.message) for warning in caught)),
        )


def _file(
    screen: Screen,
    source: str,
    to: str | None,
    publish_file: str | None,
    options: dict[str, Any],
    *,
    allow_weaker: bool,
) -> RunReport:
    if not source.lower().endswith(SUFFIXES) and not Path(source).is_file():
        raise PolicyError(
            f"{source} is not a {', '.join(SUFFIXES)} file; a table needs --db duckdb:///path, postgresql://... or "
            "sc://..."
        )
    if to is None:
        raise PolicyError("--to FILE is needed for a file: .csv or .parquet")
    if publish_file is not None:
        raise PolicyError("--publish-file goes with --db; for a file use --to FILE")
    if allow_weaker:
        raise PolicyError("--allow-weaker goes with --db: a file is written without looking at an earlier one")
    import sqlanon

    try:
        return sqlanon.anonymize(source, to=to, progress=screen.progress(), **options)
    finally:
        screen.close()


def _next(
    screen: Screen, report: RunReport, db: str | None, to: str | None, publish_file: str | None, options: dict[str, Any]
) -> list[str]:
    if db is None:
        return []
    from sqlanon.cli.show.text import command, hide_password, list_option

    where = f"duckdb:///{publish_file}" if publish_file else hide_password(db)
    outside = {**report.lake, **report.sent}.get("place")
    view = (None if to and to.lower().endswith(SUFFIXES) else to) or report.published.removesuffix(
        f" in {publish_file}"
    ).removesuffix(f" and {outside}" if outside else "")
    releases = command("releases", report.release, options=["--db", hide_password(db), *screen.confirmed])
    if publish_file and not report.shape.grouped:
        return [releases]  # without a policy no audit finds both the file and the certificate
    sensitive = list_option("--sensitive", options.get("sensitive", ())) if report.shape.grouped else []
    return [command("audit", view, options=[*sensitive, "--db", where, *screen.confirmed]), releases]
