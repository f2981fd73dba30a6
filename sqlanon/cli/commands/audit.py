"""``sqlanon audit``: measures of a table, or of two releases together; it trusts no method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.commands.audit_counts import COUNTS, audit_counts, is_file
from sqlanon.cli.commands.audit_table import (
    AskedColumns,
    ColumnSets,
    assess_risk,
    audit_file,
    measure_table,
    show_reports,
)
from sqlanon.cli.options import (
    DateFormat,
    Db,
    Decimal,
    Delimiter,
    Encoding,
    Ignore,
    Null,
    PolicyFile,
    Types,
    collect_reading,
    find_policy,
    find_url,
    first_option,
    flag,
    open_database,
    option,
)
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.spec import PolicySpec, ReleaseSpec

Names = list[str] | None


def audit(
    screen: Screen,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]...",
            show_default=False,
            help="Any table, view or release, or a .csv, .csv.gz or .parquet file; with --statistics several.",
        ),
    ] = None,
    qi: Annotated[
        Names, option("--qi", "COLUMNS", "Columns an attacker knows (default: all but the sensitive ones).")
    ] = None,
    sensitive: Annotated[Names, option("--sensitive", "COLUMNS", "Sensitive attributes.")] = None,
    identifier: Annotated[Names, option("--identifier", "COLUMNS", "Count these per class as well.")] = None,
    household: Annotated[
        Names, option("--household", "COLUMNS", "These name a household together: measure the risk of any member.")
    ] = None,
    together: Annotated[
        tuple[str, str] | None, option("--together", "A B", "Two releases of one source, held at once.")
    ] = None,
    history: Annotated[
        str | None, option("--history", "NAME", "A release's versions, each with the one before.")
    ] = None,
    weight: Annotated[
        str | None, option("--weight", "COLUMN", "Sampling weights: persons of the population that a row represents.")
    ] = None,
    population: Annotated[
        str | None,
        option(
            "--population",
            "TABLE",
            "A table (for a file: a file) with a row for each person of the population, and the columns of --qi.",
        ),
    ] = None,
    population_size: Annotated[
        int | None, option("--population-size", "N", "Persons of the population of which the table is a random sample.")
    ] = None,
    threshold: Annotated[
        float | None, option("--threshold", "P", "Count the rows whose risk is above this probability (default: 0.2).")
    ] = None,
    null_is: Annotated[
        str | None,
        option(
            "--null-is",
            "MEANING",
            "wildcard: also measure, optimistically, as if NULL and * could be any value; tables of others only.",
        ),
    ] = None,
    find_qi: Annotated[
        bool,
        flag(
            "--find-qi",
            "Instead measure how well sets of columns (those of --qi, else all but --sensitive and --identifier) "
            "distinguish rows.",
        ),
    ] = False,
    known: Annotated[
        int | None,
        option(
            "--known",
            "M",
            "Instead measure k over every set of up to M columns, and the rows that so few identify (SUDA).",
        ),
    ] = None,
    statistics: Annotated[
        bool,
        flag(
            "--statistics",
            "Instead find what published tables of counts, ours or those of others, say together of their hidden "
            "cells.",
            panel=COUNTS,
        ),
    ] = False,
    by: Annotated[
        Names,
        option("--by", "COLUMNS", "Columns whose values make a cell (default: all but the number).", panel=COUNTS),
    ] = None,
    value: Annotated[
        str | None,
        option("--value", "COLUMN", "The number of a cell (default: the only column of numbers).", panel=COUNTS),
    ] = None,
    total: Annotated[
        str | None, option("--total", "TEXT", "The text of a total, '' for NULL (default: Total).", panel=COUNTS)
    ] = None,
    hidden: Annotated[
        Names, option("--hidden", "TEXT", "In place of a hidden number, besides NULL; may be repeated.", panel=COUNTS)
    ] = None,
    hierarchy: Annotated[
        Names, option("--hierarchy", "COLUMN=FILE", "A hierarchy of a column's values; may be repeated.", panel=COUNTS)
    ] = None,
    persons: Annotated[
        int | None, option("--persons", "N", "Numbers below it are small (default: not looked at).", panel=COUNTS)
    ] = None,
    unlisted: Annotated[
        str | None,
        option("--unlisted", "MEANING", "Of combinations not in a table: empty (default) or unknown.", panel=COUNTS),
    ] = None,
    seconds: Annotated[
        int | None,
        option("--seconds", "N", "Time of the search for bounds; then some are wider (default: 300).", panel=COUNTS),
    ] = None,
    decimals: Annotated[
        int | None,
        option("--decimals", "N", "Numbers are sums with so many digits after the point (default: 0).", panel=COUNTS),
    ] = None,
    null: Null = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    decimal: Decimal = None,
    ignore: Ignore = None,
    date_format: DateFormat = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Measure the risk of any table or file, of two releases together, or of a release's versions.

    A table that the policy publishes is also checked against the policy's requirements. With --statistics: find hidden
    cells of published counts.
    """
    counts = {
        "by": by,
        "value": value,
        "total": total,
        "hidden": hidden,
        "hierarchy": hierarchy,
        "persons": persons,
        "unlisted": unlisted,
        "seconds": seconds,
        "decimals": decimals,
    }
    counts = {name: number for name, number in counts.items() if number is not None}
    if statistics:
        misplaced = {
            "qi": qi,
            "sensitive": sensitive,
            "identifier": identifier,
            "household": household,
            "together": together,
            "history": history,
            "weight": weight,
            "population": population,
            "population_size": population_size,
            "threshold": threshold,
            "null_is": null_is,
            "known": known,
            "find_qi": find_qi or None,
        }
        misplaced = {name: value for name, value in misplaced.items() if value is not None}
        if misplaced:
            raise PolicyError(f"{first_option(misplaced)} does not go with --statistics, which is about cells")
        reading = collect_reading(null, delimiter, encoding, types, decimal, ignore, date_format)
        return audit_counts(screen, tables or [], counts, reading, (db, policy))
    if counts:
        raise PolicyError(f"{first_option(counts)} goes with --statistics")
    if tables is not None and len(tables) > 1:
        raise PolicyError("audit wants one TABLE; several published tables of counts go with --statistics")
    table = tables[0] if tables else None
    if sum(place is not None for place in (table, together, history)) != 1:
        raise PolicyError("audit wants one TABLE, or --together A B, or --history NAME")
    reading = collect_reading(null, delimiter, encoding, types, decimal, ignore, date_format)
    about = {
        "household": parse_names("--household", household) or None,
        "weight": weight,
        "population": population,
        "population_size": population_size,
        "threshold": threshold,
        "null_is": null_is,
    }
    columns = AskedColumns(
        parse_names("--qi", qi) or None,
        parse_names("--sensitive", sensitive),
        parse_names("--identifier", identifier),
        {name: value for name, value in about.items() if value is not None},
    )
    columns = replace(columns, sets=ColumnSets(find_qi, known)) if find_qi or known is not None else columns
    if columns.sets is not None:
        columns.sets.check(table, columns.about)
    columns_of = {"qi": columns.quasi, "sensitive": columns.sensitive, "identifier": columns.identifiers}
    if table is None and any(columns_of.values()):
        first = next(name for name, columns in columns_of.items() if columns)
        raise PolicyError(f"--{first} goes with a TABLE or a file; of releases the columns are those of their policies")
    if table is None and columns.about:
        raise PolicyError(f"{first_option(columns.about)} goes with a TABLE or a file")
    for name, column in (("weight", weight), ("household", household)):
        if column and columns.quasi is None:
            raise PolicyError(f"--{name}: name the columns that an attacker knows with --qi")
    if table is not None and db is None and is_file(table):
        return audit_file(screen, table, columns, reading, policy)
    if reading:
        raise PolicyError(f"{first_option(reading)} is for CSV files; a table in a database has types of its own")
    spec = find_policy(db, policy)
    where = find_url(db, spec)
    if history is not None:
        return _history(screen, where, history)
    if together is not None:
        return _audit_pair(screen, where, together)
    assert table is not None
    with open_database(where, screen, read_only=True) as connected:
        from sqlanon.release.audit.place import find_table
        from sqlanon.release.prepare.row_security import warn_of_partial_measure

        table = find_table(connected.engine, table)
        warned = warn_of_partial_measure(connected.engine, table)
        screen.warn(warned)
        screen.show(*(f"warning: {warning}" for warning in warned))
        if columns.sets is not None:
            return columns.sets.show(screen, columns.sets.measure(connected, table, columns))
        release = _release_of(connected, spec, table)
        report = measure_table(connected, table, columns, release)
        # Of a release with two tables, or with boxes of their own, the view alone shows no classes; one in another file
        # is read there.
        classes = report.groups is None and not report.candidates and report.hidden_cells is None and not report.noisy
        plain = classes and not (release and release.publish_file)
        if columns.about and not plain:
            raise PolicyError(
                f"{first_option(columns.about)}: the risk of {table} is not measured, for its rows make no classes "
                "that are seen in it"
            )
        risk = assess_risk(connected, table, report, columns) if plain else None
    return show_reports(screen, report, risk, warned)


def _audit_pair(screen: Screen, where: str, pair: tuple[str, str]) -> int | None:
    with open_database(where, screen, read_only=True) as connected:
        report = connected.together(*pair)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.audit import together_report

        together_report(screen, report)
    return 0 if report.satisfied else 1


def _history(screen: Screen, where: str, name: str) -> int | None:
    with open_database(where, screen, read_only=True) as connected:
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
