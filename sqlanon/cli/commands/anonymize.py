"""``sqlanon anonymize``: one table or file, everything as options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.cli.arguments import as_options, fraction, names, pairs, whole
from sqlanon.cli.options import AllowWeaker, Delimiter, Encoding, Null, Types, database, reading
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError
from sqlanon.spec import Execution, FormatKind, Rest, RowsAre

if TYPE_CHECKING:
    from sqlanon.results import RunReport

SUFFIXES = (".csv", ".csv.gz", ".parquet")

Names = list[str] | None


def _list(flag: str, text: str) -> object:
    return typer.Option(flag, metavar="COLUMNS", show_default=False, help=text)


def _pair(flag: str, metavar: str, text: str) -> object:
    return typer.Option(flag, metavar=metavar, show_default=False, help=text)


def anonymize(
    screen: Screen,
    source: Annotated[str, typer.Argument(help="A .csv, .csv.gz or .parquet file, or a table with --db.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="OUT", show_default=False, help="A file, or with --db a view: schema.name."
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            show_default=False,
            help="The table's database: duckdb:///path, postgresql://...",
        ),
    ] = None,
    qi: Annotated[Names, _list("--qi", "Quasi-identifiers: a comma list, names quoted as in CSV.")] = None,
    sensitive: Annotated[Names, _list("--sensitive", "Sensitive attributes.")] = None,
    identifier: Annotated[Names, _list("--identifier", "Identifiers: never published.")] = None,
    insensitive: Annotated[Names, _list("--insensitive", "Columns published as they are.")] = None,
    rest: Annotated[Rest, typer.Option(help="What happens to columns without a role.")] = "error",
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            show_default=False,
            help="Rows in every class, at least. Needed, except with --maximize and with the format anatomy.",
        ),
    ] = None,
    l: Annotated[  # noqa: E741 - the papers' symbol
        str | None,
        typer.Option("--l", metavar="L", show_default=False, help="No sensitive value above 1/L of a class."),
    ] = None,
    distinct_l: Annotated[
        int | None,
        typer.Option("--distinct-l", show_default=False, help="Distinct sensitive values in a class."),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="l also within each value of the others.")] = False,
    require: Annotated[
        Names, _pair("--require", "NAME=VALUE", "A further requirement that an extension adds.")
    ] = None,
    max_loss: Annotated[
        str | None,
        typer.Option(
            "--max-loss", metavar="NCP", show_default=False, help="With --maximize: NCP of a class, at most."
        ),
    ] = None,
    max_extent: Annotated[
        Names, _pair("--max-extent", "COL=N", "With --maximize: extent of a class there, at most.")
    ] = None,
    maximize: Annotated[
        str | None,
        typer.Option(metavar="[k|l]", show_default=False, help="As large as the bounds on the loss allow."),
    ] = None,
    at_least: Annotated[
        Names, _pair("--at-least", "[k|l]=N", "With --maximize: the least that is accepted.")
    ] = None,
    presence: Annotated[
        str | None,
        typer.Option(
            metavar="disclosed", show_default=False, help="Anatomy: accept that it shows who is in the table."
        ),
    ] = None,
    hierarchy: Annotated[
        Names, _pair("--hierarchy", "COL=FILE.csv", "Taxonomy of a column, ARX format.")
    ] = None,
    ordered: Annotated[
        Names, _pair("--ordered", "COL=HOW", "alphabetical, declared, or a file of the values in order.")
    ] = None,
    weight: Annotated[Names, _pair("--weight", "COL=N", "Weight of a column in the loss.")] = None,
    method: Annotated[str, typer.Option(help="NAME[:option=value,...]")] = "tree",
    refine: Annotated[bool, typer.Option("--refine", help="Improve the classes by a local pass.")] = False,
    format: Annotated[FormatKind, typer.Option(help="How classes are published.")] = "ranges",  # noqa: A002
    mean: Annotated[Names, _list("--mean", "Numeric columns that also publish class means.")] = None,
    execution: Annotated[Execution, typer.Option(help="Where the method runs.")] = "auto",
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", show_default=False, help="Memory for the method, such as 4GB."),
    ] = None,
    seed: Annotated[int | None, typer.Option(show_default=False, help="Fix what is drawn at random.")] = None,
    rows_are: Annotated[RowsAre, typer.Option(help="events accepts identifiers that repeat.")] = "persons",
    persons: Annotated[
        str | None,
        typer.Option(
            metavar="ignored", show_default=False, help="Events: accept classes of fewer than k persons."
        ),
    ] = None,
    accept_unique: Annotated[Names, _list("--accept-unique", "Published though nearly unique.")] = None,
    accept_repeats: Annotated[
        Names, _list("--accept-repeats", "Identifiers whose equal values are not one person.")
    ] = None,
    name: Annotated[str | None, typer.Option(show_default=False, help="The release's name.")] = None,
    publish_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="DuckDB: publish into this other file."),
    ] = None,
    allow_weaker: AllowWeaker = False,
    null: Null = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
) -> int | None:
    """Anonymize one file, or one table where it lives."""
    asked: dict[str, Any] = {
        "quasi": names("--qi", qi),
        "sensitive": names("--sensitive", sensitive),
        "identifiers": names("--identifier", identifier),
        "insensitive": names("--insensitive", insensitive),
        "rest": rest,
        "k": k,
        "l": fraction("--l", l),
        "distinct_l": distinct_l,
        "joint": joint,
        "requirements": pairs("--require", require, "requirement") or None,
        "max_loss": fraction("--max-loss", max_loss),
        "max_extent": pairs("--max-extent", max_extent) or None,
        "maximize": maximize,
        "at_least": pairs("--at-least", at_least, "requirement") or None,
        "presence": presence,
        "hierarchies": pairs("--hierarchy", hierarchy) or None,
        "ordered": pairs("--ordered", ordered) or None,
        "weights": whole("--weight", pairs("--weight", weight)) or None,
        "method": method,
        "refine": refine,
        "format": format,
        "mean": names("--mean", mean),
        "execution": execution,
        "memory": memory,
        "seed": seed,
        "rows_are": rows_are,
        "persons": persons,
        "accept_unique": names("--accept-unique", accept_unique),
        "accept_repeats": names("--accept-repeats", accept_repeats),
        "name": name,
    }
    read = reading(null, delimiter, encoding, types)
    try:
        if db is not None:
            report = _table(screen, source, db, to, publish_file, asked, read, allow_weaker=allow_weaker)
        else:
            report = _file(screen, source, to, publish_file, asked | read, allow_weaker=allow_weaker)
    except PolicyError as error:
        raise as_options(error) from error
    screen.emit(report.to_dict())
    screen.warn(report.warnings)
    if not screen.silent:
        from sqlanon.cli.show.run import run_report

        run_report(screen, report, _next(report, db, to, publish_file, asked))
    return None


def _table(
    screen: Screen, source: str, db: str, to: str | None, publish_file: Path | None, asked: dict[str, Any],
    read: dict[str, Any], *, allow_weaker: bool,
) -> RunReport:  # fmt: skip
    if read:
        raise PolicyError(
            f"--{next(iter(read))} is for CSV files; a table in a database has types of its own"
        )
    if to is not None and to.lower().endswith(SUFFIXES):
        raise PolicyError("--to: with --db the release is published as a view, schema.name, not as a file")
    with database(db, screen) as connected:
        release = connected.anonymize(
            source,
            allow_weaker=allow_weaker,
            publish=to,
            publish_file=str(publish_file) if publish_file else None,
            **asked,
        )
        return release.report


def _file(
    screen: Screen, source: str, to: str | None, publish_file: Path | None, asked: dict[str, Any], *, allow_weaker: bool
) -> RunReport:  # fmt: skip
    if not source.lower().endswith(SUFFIXES) and not Path(source).is_file():
        raise PolicyError(
            f"{source} is not a {', '.join(SUFFIXES)} file; a table needs --db duckdb:///path or postgresql://..."
        )
    if to is None:
        raise PolicyError("--to FILE is needed for a file: .csv or .parquet")
    if publish_file is not None:
        raise PolicyError("--publish-file goes with --db; for a file use --to FILE")
    if allow_weaker:
        raise PolicyError(
            "--allow-weaker goes with --db: a file is written without looking at an earlier one"
        )
    import sqlanon

    try:
        return sqlanon.anonymize(source, to=to, progress=screen.progress(), **asked)
    finally:
        screen.close()


def _next(
    report: RunReport, db: str | None, to: str | None, publish_file: Path | None, asked: dict[str, Any]
) -> list[str]:
    if db is None:
        return []
    from sqlanon.cli.show.text import command, listed, shown_url

    where = f"duckdb:///{publish_file}" if publish_file else shown_url(db)
    view = to or report.published.removesuffix(f" in {publish_file}")
    return [
        command("audit", view, *listed("--sensitive", asked["sensitive"]), "--db", where),
        command("releases", report.release, "--db", shown_url(db)),
    ]
