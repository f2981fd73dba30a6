"""The demonstration's report: steps, risk before and after, loss, both together, a sample, commands to try."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sqlanon.cli.show.run import format_loss, format_requirements
from sqlanon.cli.show.text import clean, command, count, format_seconds, make_sheet, share, things
from sqlanon.shell import word

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.demo.tour import DemoRelease, DemoReport


def demo_report(screen: Screen, report: DemoReport) -> None:
    """Show the whole tour, in the order it went."""
    first, second = report.releases
    screen.show(
        f"A synthetic hospital of {count(report.rows)} patients (seed {report.seed}), released twice"
        f"{' on Spark' if report.engine == 'spark' else ''}.",
        f"Made in {report.directory}/ in {format_seconds(report.seconds)}.",
        "",
    )
    if report.replaced:
        screen.show(f"It replaces an earlier demo's {', '.join(report.replaced)}.", "")
    for released in report.releases:
        _release(screen, released)
    _show_together(screen, report)
    _sample(screen, report)
    screen.show("Try next:", "", *(f"  {line}" for line in _list_next_commands(report, first, second)))


def _release(screen: Screen, release: DemoRelease) -> None:
    run, before, after = release.run, release.before, release.after
    verified = "verified" if run.verified else "NOT verified"
    screen.show(
        f"== {run.release}: {clean(run.source)} -> view {clean(run.published)} ({verified}) ==",
        "",
        f"{things(run.rows, 'row')} in {things(run.classes, 'class')} of {count(run.min_class)} to "
        f"{things(run.max_class, 'row')}",
        f"by {clean(_name_methods(run.method))} ({run.execution}) in {format_seconds(run.seconds['total'])}",
        "",
        "risk of being singled out by",
        f"  {', '.join(before.quasi)}",
    )
    rows = [
        ("smallest class (k)", count(before.k), count(after.k)),
        ("patients alone in their class", *(f"{share(a.unique_rows, a.rows)}" for a in (before, after))),
        ("highest risk", share(before.highest_risk, 1), share(after.highest_risk, 1)),
        ("average risk", share(before.average_risk, 1), share(after.average_risk, 1)),
    ]
    for old, new in zip(before.sensitive, after.sensitive, strict=False):
        rows.append((f"{old.column}: fewest values in a class", count(old.distinct_l), count(new.distinct_l)))
        most = f"{old.column}: surest guess in a class"
        rows.append((most, share(1 / old.frequency_l, 1), share(1 / new.frequency_l, 1)))
    screen.show(make_sheet((("", "wrap"), ("source", "right"), ("release", "right")), rows), "")
    if not any(result.column for result in run.requirements):
        screen.show("k-anonymity alone bounds no guess of a sensitive value: see the surest above.", "")
    screen.show(format_requirements(run.requirements), "", *format_loss(run.loss, run.rows), "")


def _show_together(screen: Screen, report: DemoReport) -> None:
    both = report.together
    screen.show(
        "== what both releases reveal together ==",
        "",
        f"Who holds {both.first} (k {count(both.k_first)}) and {both.second} (k {count(both.k_second)}) and",
        f"knows a patient's class in each is left with k {count(both.k)}:",
        f"  {count(both.rows_below)} of {count(both.matched)} patients ({share(both.rows_below, both.matched)}) "
        "are in groups smaller than promised,",
        f"  {count(both.unique_rows)} ({share(both.unique_rows, both.matched)}) are alone.",
        "So give one reader one release: `readers` in the policy makes `plan` warn.",
        "",
    )


def _sample(screen: Screen, report: DemoReport) -> None:
    """Rows of the published view, below each other: a release has too many columns for a line."""
    names, rows = report.sample
    published = report.releases[0].run.published
    screen.show(f"== {things(len(rows), 'row')} of {clean(published)} ==", "")
    columns = (("column", "wrap"), *((f"row {number}", "wrap") for number in range(1, len(rows) + 1)))
    cells = [(name, *(_cell(row[place]) for row in rows)) for place, name in enumerate(names)]
    screen.show(make_sheet(columns, cells), "")


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join("NULL" if item is None else str(item) for item in value) + "}"
    return str(value)


def _list_next_commands(report: DemoReport, first: DemoRelease, second: DemoRelease) -> list[str]:
    """Commands that work when pasted, from the directory this was started in."""
    last = command(
        "query",
        "SELECT sex, count(*) AS patients, avg(cost) AS cost FROM patients GROUP BY sex",
        options=["--release", first.run.release],
    )
    if report.engine == "duckdb":
        query = f"FROM {first.run.published} SELECT sex, count(*) AS patients, round(avg(cost)) AS cost GROUP BY sex"
        python = f'import duckdb; print(duckdb.connect("warehouse.duckdb", read_only=True).sql("{query}"))'
        last = f"{word(sys.executable)} -c {word(python)}"
    return [
        f"cd {word(str(report.directory))}",
        command("plan"),
        command("run"),
        command("audit", second.run.published, options=["--sensitive", "diagnosis"]),
        command("audit", options=["--together", first.run.release, second.run.release]),
        command("releases"),
        command(
            "anonymize",
            "patients.csv",
            options=[
                "--qi",
                "birth_date,sex,zip",
                "--hierarchy",
                "zip=hierarchies/zip.csv",
                "--sensitive",
                "diagnosis",
                "--rest",
                "drop",
                "--k",
                "10",
                "--to",
                "patients_anon.parquet",
            ],
        ),
        last,
    ]


def _name_methods(method: str) -> str:
    """A method as the policy has it; of ``best`` the methods alone."""
    several = method.removeprefix("best:of=")
    return method if several == method else f"the best of {several.partition(',')[0]}"
