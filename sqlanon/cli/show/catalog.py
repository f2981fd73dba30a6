"""The catalog: every version of every release, a version in full, two side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.run import (
    format_loss,
    format_reasons,
    format_requirements,
    format_sizes,
    history_tables,
    lineage_lines,
    next_commands,
    search_lines,
)
from sqlanon.cli.show.text import clean, command, count, format_seconds, make_sheet, measure, things
from sqlanon.declared import FORMATS
from sqlanon.results import RunReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.results import DiffReport, EraseReport, ReleaseRow, RollbackReport, UnpublishReport, VersionReport


def release_rows(screen: Screen, rows: Sequence[ReleaseRow], others: Sequence[str] = ()) -> None:
    """Show versions, in the catalog's order.

    ``others``: names of the existing releases, shown if none has the given name.
    """
    if not rows:
        there = f" under this name; there are: {', '.join(map(clean, others))}" if others else " yet"
        screen.show(f"nothing was released here{there}")
        return
    titles = (
        ("release", "wrap"),
        ("v", "right"),
        ("status", "left"),
        ("published as", "wrap"),
        ("at", "wrap", 1),
        ("rows", "right", 2),
        ("GCP", "right", 3),
    )
    shown = [
        (
            row.release,
            str(row.version),
            row.status,
            row.published,
            row.published_at[:16].replace("T", " "),
            f"{count(row.rows)} ({count(row.suppressed)} suppressed)" if row.suppressed else count(row.rows),
            "exact" if row.format in FORMATS and FORMATS[row.format].exact else f"{row.gcp:.4f}",
        )
        for row in rows
    ]
    screen.show(make_sheet(titles, shown))
    if len({row.release for row in rows}) == 1:
        last = next((row for row in rows if row.status == "published"), rows[-1])
        if last.status == "received":
            screen.show("", f"sent by {clean(last.source)}, sqlanon {last.sqlanon}, which has its catalog")
            return
        screen.show(
            "",
            f"source {clean(last.source)}, by {clean(last.published_by)}, {clean(last.method)}, sqlanon {last.sqlanon}",
            f"requirements: {clean(last.requirements)}",
            *([last.shape.listed.format(least=count(last.min_class))] if last.shape.listed else []),
        )


def version_report(screen: Screen, report: VersionReport) -> None:
    """Show a version in full."""
    run = RunReport.from_dict(report.report)
    total = run.seconds.get("total", 0.0)
    screen.show(
        f"{clean(report.release)}@{report.version}: {report.status}, {clean(run.published)}",
        f"  source       {clean(report.source)}, {things(run.rows, 'row')}, fingerprint {report.fingerprint or 'none'}",
        f"  made         {report.published_at} by {clean(report.published_by)}, sqlanon {report.sqlanon}, "
        f"{format_seconds(total)}",
        f"  looked at    {report.checked_at or report.published_at}",
        f"  replaces     {run.replaces or 'nothing'}",
        *(f"    because    {clean(reason)}" for reason in run.why),
        *lineage_lines(run.lineage, "  {:<13}"),
        format_sizes(run, "  {:<13}"),
        f"  method       {clean(run.method)}, {run.execution}; format {run.format}",
        *search_lines(run.search, "  search       "),
        f"  policy       sha256 {report.policy_hash}",
        "",
        format_requirements(run.requirements),
        "",
        *([run.newest] if run.newest else []),
        *format_loss(run.loss, run.rows, run.shape.unit),
        "",
        *history_tables(run.history),
        make_sheet((("policy", "left"), ("", "wrap")), [(key, text) for key, text in _policy(report.policy)]),
    )


def _lineages(sides: Sequence[RunReport]) -> list[tuple[str, str, str]]:
    """Facts of two versions beside the source, where at least one belongs to a lineage."""
    facts = [dict(run.facts) for run in sides]
    titles = [title for title in (facts[0] | facts[1]) if title != "rows published"]
    return [(title, facts[0].get(title, "-"), facts[1].get(title, "-")) for title in titles]


def diff_report(screen: Screen, report: DiffReport) -> None:
    """Show two versions side by side."""
    sides = [RunReport.from_dict(side.report) for side in (report.first, report.second)]
    units = ", ".join(dict.fromkeys(run.shape.units for run in sides))
    smallest = ", ".join(dict.fromkeys(run.shape.smallest for run in sides))
    rows = [
        ("status", report.first.status, report.second.status),
        ("made", *(side.published_at[:16].replace("T", " ") for side in (report.first, report.second))),
        ("rows", *(count(run.published_rows) for run in sides)),
        *_lineages(sides),
        (units, *(count(run.classes) for run in sides)),
        (smallest, *(count(run.min_class) for run in sides)),
        ("GCP", *(f"{run.gcp:.4f}" for run in sides)),
        # Of a version of a lineage these are known of its newest cohort alone.
        ("DM", *("-" if run.newest else measure(run.loss.dm) for run in sides)),
        ("C_AVG", *("-" if run.newest or run.loss.c_avg is None else f"{run.loss.c_avg:.3f}" for run in sides)),
        ("seconds", *(format_seconds(run.seconds.get("total", 0.0)) for run in sides)),
    ]
    reached = [{r.title: r for r in run.requirements} for run in sides]
    for title in dict.fromkeys([*reached[0], *reached[1]]):
        both = [row.get(title) for row in reached]
        shown = [f"{measure(r.asked)}, reached {measure(r.reached)}" if r else "-" for r in both]
        rows.append((title, shown[0], shown[1]))
    names = [f"{side.release}@{side.version}" for side in (report.first, report.second)]
    screen.show(make_sheet((("", "left"), *((name, "wrap") for name in names)), rows), "")
    screen.show(*(format_reasons("policy", report.policy) or ["  policy    the same"]))


def rollback_report(screen: Screen, report: RollbackReport) -> None:
    """Show the result of a rollback."""
    withdrawn = "" if report.withdrawn is None else f"; version {report.withdrawn} is withdrawn"
    screen.show(
        f"release {clean(report.release)}: version {report.version} is published again as "
        f"{clean(report.published)}{withdrawn}",
        *(f"warning: {clean(warning)}" for warning in report.warnings),
        "The next run makes a new version as soon as the source, the policy or sqlanon differs from this one's; of "
        "statistics with a budget, when the clock asks for it.",
    )


def unpublish_report(screen: Screen, report: UnpublishReport, back: str, erase: str) -> None:
    """Show the result of an unpublish.

    ``back`` is the command that publishes the version again, ``erase`` the command that erases keys.
    """
    if report.version is not None:
        screen.show(
            f"release {clean(report.release)}: version {report.version} is withdrawn, {clean(report.published)} is "
            "removed"
        )
    if report.purged:
        numbers = ", ".join(map(str, report.purged))
        screen.show(f"release {clean(report.release)}: tables of version {numbers} are dropped")
    _show_lineages(screen, report, erase)
    screen.show(*(f"warning: {clean(warning)}" for warning in report.warnings))
    if report.version is not None:
        again = "" if report.purged else f"; {back} publishes it again"
        screen.show(
            "A later run makes a new version, which statistics with a budget pay with --spend: take the release out of "
            f"the policy if that is not meant{again}."
        )


def _show_lineages(screen: Screen, report: UnpublishReport, erase: str) -> None:
    """Show the lineages that stay, why, and the command that removes them."""
    for item in report.lineages:
        screen.show(
            f"release {clean(report.release)}: lineage {item.number} stays in {' and '.join(map(clean, item.tables))}: "
            f"{things(item.keys, 'key')}, as hashes, with published values of {count(item.held)} of them"
        )
    if not report.lineages:
        return
    listed = f", and the list of {count(report.erased)} erased keys" if report.erased else ""
    screen.show(
        f"  it stays{listed}, as readers may have kept versions: with it a later run publishes no key in a second "
        "class, and none that is erased",
        f"  what it keeps of given keys is emptied by: {erase}",
        f"  all of it is removed by SQL: {'; '.join(item.drop for item in report.lineages)}",
        "  then the next run stops until run --new-lineage, and nobody can compute what its versions and those before "
        "reveal together",
    )


def erase_report(screen: Screen, report: EraseReport, again: str) -> None:
    """Show the cost or the result of erasing keys; ``again`` is the command that erases them."""
    unseen = report.keys - report.published - report.waiting - report.left
    name, does = clean(report.release), "left" if report.done else "would leave"
    if report.apart:
        screen.show(
            f"release {name}: {things(report.apart, 'key')} erased by another key, type of it or secret: recognized no "
            "more, so the file needs them, by the key of now, beside new ones"
        )
    if report.only_listed:
        listed = "listed now" if report.done else "to be listed"
        screen.show(
            f"release {name}: {things(report.keys, 'key')} {listed}. What is published stays as it is until run "
            "--new-lineage, which leaves them out; erase them again after it, so that no rollback returns to tables "
            "that show them",
            *(() if report.done else ("nothing was done yet",)),
        )
        if not report.done:
            next_commands(screen, [again])
        return
    screen.show(
        f"release {name}: {things(report.keys, 'key')} ({count(report.published)} published, {count(report.waiting)} "
        f"waiting, {count(report.left)} gone before, {count(unseen)} never seen)",
        f"  {things(report.classes, 'exit group')} (a class, or a part of a large one) {does} whole: "
        f"{things(report.rows, 'row')}, {count(report.rows - report.published)} of other keys, which wait for a new "
        "lineage",
        f"  tables of {things(len(report.versions), 'earlier version')} dropped: no rollback returns to them"
        if report.done
        else f"  to drop: tables of {things(len(report.versions), 'earlier version')}, to which no rollback returns "
        "then",
    )
    screen.show(*(f"warning: {clean(warning)}" for warning in report.warnings))
    if not report.done and report.stays == 0:
        screen.show(
            "nothing was done yet, and nothing would stay published, so that erase --yes stops: withdraw the release "
            f"({command('unpublish', report.release)}), then erase the keys"
        )
    elif not report.done:
        screen.show("nothing was done yet")
        next_commands(screen, [again])
    else:
        what = f"version {report.version} is published without them" if report.version else "nothing is published"
        screen.show(f"{what}; copies that readers made are beyond any command")


def _policy(value: object, path: str = "") -> list[tuple[str, str]]:
    """A policy flattened to lines, without unset keys."""
    if isinstance(value, dict):
        if "name" in value and "role" in value:
            rest = ", ".join(f"{k} {v}" for k, v in value.items() if v and k not in ("name", "role", "weight"))
            return [(f"column {value['name']}", f"{value['role']}{', ' + rest if rest else ''}")]
        return [line for key, item in value.items() for line in _policy(item, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list) and path == "columns":
        return [line for item in value for line in _policy(item)]
    if value in (None, [], "", False):
        return []
    return [(path, ", ".join(map(str, value)) if isinstance(value, list) else str(value))]
