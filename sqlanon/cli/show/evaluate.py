"""An evaluation: errors and bounds by family of queries and by query, and the divergence of the cubes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlanon.cli.show.run import format_metrics
from sqlanon.cli.show.text import clean, count, format_seconds, make_sheet, share, things
from sqlanon.evaluate.report import OVERFLOW

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.evaluate.report import Evaluation, Family, QueryResult

MOST_QUERIES = 30
"""Queries that are shown individually: those of the file first. --json has them all."""


def show_evaluation(screen: Screen, report: Evaluation) -> None:
    """Show how a release answers for the source."""
    screen.show(
        f"{clean(report.release)} ({clean(report.view)}, {things(report.released_rows, 'row')}) against "
        f"{clean(report.source)} ({things(report.rows, 'row')})",
        "",
    )
    if report.noise:
        _beside(screen, report)
    elif report.rows != report.released_rows:
        screen.show(
            "warning: the source has another number of rows than the release: it has changed since, or rows were left "
            "out",
            "",
        )
    if report.queries and not (report.noise and report.families[0].name != "queries"):
        _queries(screen, report)
    for cube in report.cubes:
        by = f" by {clean(cube.sensitive)}" if cube.sensitive else ""
        many = f", the mean of {count(len(cube.group_bys))} group-bys" if len(cube.group_bys) > 1 else ""
        screen.show(f"{clean(cube.name)}{by}: KLD {_kld(cube.kld)}{many}")
        if cube.missed:
            rows = sum(group_by.missed_rows for group_by in cube.group_bys)
            total = sum(group_by.rows for group_by in cube.group_bys)
            screen.show(
                f"  infinite: the release expects nobody in {count(cube.missed)} of "
                f"{count(sum(group_by.cells for group_by in cube.group_bys))} cells of the source, which hold "
                f"{share(rows, total)} of its rows"
            )
    if report.loss is not None:
        screen.show(*format_metrics(report.loss))
    screen.show("", f"total {format_seconds(report.seconds)}")


def _queries(screen: Screen, report: Evaluation) -> None:
    head = (
        ("queries", "wrap"),
        ("answers", "right"),
        ("in bounds", "right"),
        ("relative error", "right"),
        ("median", "right", 1),
        ("95 %", "right", 2),
        ("sd", "right", 3),
        ("width", "right", 4),
    )
    families = [*report.families, *([report.total] if len(report.families) > 1 else [])]
    screen.show(make_sheet(head, [_family(family) for family in families]), "")
    single = sorted(
        (result for result in report.queries if not result.refused), key=lambda result: result.family != "queries"
    )
    single = [result for result in single if result.family == "queries"] or single[: MOST_QUERIES // 3]
    columns = (
        ("query", "wrap"),
        ("truth", "right"),
        ("estimate", "right"),
        ("low", "right"),
        ("high", "right"),
        ("error", "right", 1),
        ("in bounds", "right"),
    )
    screen.show(make_sheet(columns, [_query(result) for result in single[:MOST_QUERIES]]))
    if len(report.queries) > len(single[:MOST_QUERIES]):
        screen.show(f"{count(len(report.queries))} in all; --json has every one")
    screen.show("")
    for result in report.queries:
        if result.refused and (result.family == "queries" or result.refused == OVERFLOW):
            screen.show(f"{clean(result.query)} has no answer over this release: {result.refused}", "")
    refused = sum(result.refused not in (None, OVERFLOW) for result in report.queries if result.family != "queries")
    if refused:
        screen.show(f"{count(refused)} generated queries have no answer over this release", "")
    if report.total.lost:
        screen.show(f"answers of the release do not name {things(report.total.lost, 'group')} of the source", "")
    if not report.sound:
        errors = report.total.errors
        screen.show(
            f"{count(errors.cells - errors.inside)} of {count(errors.cells)} truths lie OUTSIDE of their bounds: the "
            "source has changed since the release was made; run the release again. If it has not, this is a defect "
            "of sqlanon",
            "",
        )


def _beside(screen: Screen, report: Evaluation) -> None:
    """Mean errors of each table, and those of releases of rows that were asked the same."""
    head = [("counts of", "wrap"), ("groups", "right"), ("in intervals", "right"), ("error", "right")]
    head += [(clean(release.release), "right") for release in report.beside]
    families = [{family.name: family for family in release.families} for release in report.beside]
    rows = []
    for row_family in report.families:
        errors = [row_family.errors, *(by_name[row_family.name].errors for by_name in families)]
        first_cells = (
            f"{row_family.name}",
            count(row_family.errors.cells),
            share(row_family.errors.inside, row_family.errors.cells),
        )
        rows.append((*first_cells, *(_error(each.absolute.mean) for each in errors)))
    screen.show(make_sheet(head, rows), "")
    screen.show(
        "error: the mean difference to the source, of noise and of what bounding cuts together; other columns: of "
        "releases of rows. For the owner alone: no budget pays for these figures",
        "",
    )


def _error(value: float | None) -> str:
    return "no answer" if value is None else f"{value:,.1f}"


def _family(family: Family) -> tuple[str, ...]:
    relative = family.errors.relative
    return (
        f"{family.name} ({count(family.queries)})",
        count(family.errors.cells),
        share(family.errors.inside, family.errors.cells),
        _percent(relative.mean),
        _percent(relative.median),
        _percent(relative.p95),
        _percent(relative.deviation),
        _percent(family.errors.relative_width.mean),
    )


def _query(result: QueryResult) -> tuple[str, ...]:
    name = result.query if result.aggregate in ("n", "count") else f"{result.query}: {result.aggregate}"
    inside = "yes" if result.errors.inside == result.errors.cells else "NO"
    if result.groups == 1:
        return (
            name,
            *(_format(value) for value in (result.truth, result.estimate, result.low, result.high)),
            _percent(result.errors.relative.mean),
            inside,
        )
    return f"{name} ({things(result.groups, 'group')})", "", "", "", "", _percent(result.errors.relative.mean), inside


def _format(value: float | None) -> str:
    return "-" if value is None else count(int(value)) if value == int(value) else f"{value:,.4g}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"


def _kld(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.4g}"
