"""The summary of a run: the published table, requirements reached, loss, seconds, next commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.cli.show.cost import cost_sheet
from sqlanon.cli.show.text import clean, count, format_seconds, make_sheet, measure, note, share, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.results import (
        DataChange,
        Exposure,
        HistoryReport,
        LineageReport,
        LossReport,
        NoisyReport,
        RequirementResult,
        RunReport,
        StatisticsReport,
        SyntheticReport,
    )


KEPT = (("stage", "left"), ("statement", "left"), ("table", "left", 1), ("rows", "right"), ("seconds", "right"))
"""The list of scratch tables kept by a run with --keep-scratch."""


def run_report(screen: Screen, report: RunReport, following: Sequence[str]) -> None:
    """Show a run; ``following`` are commands to try next."""
    if report.outcome != "published":
        screen.show(
            f"release {clean(report.release)}: {report.outcome}, version {report.version} stays published as "
            f"{clean(report.published)}",
            *(f"  {clean(reason)}" for reason in report.why),
            *(f"warning: {clean(warning)}" for warning in report.warnings),
            "",
        )
        return
    if report.statistics is not None:
        _counts_report(screen, report, report.statistics, following)
        return
    if report.noisy is not None:
        _noisy_report(screen, report, report.noisy, following)
        return
    verified = "verified" if report.verified else "NOT verified"
    screen.show(
        f"release {clean(report.release)} version {report.version}: {verified}, published as {clean(report.published)}",
        *second_table(report.published_sensitive),
        *format_reasons("because", report.why if report.replaces else ()),
        f"  source    {clean(report.source)}, {things(report.rows, 'row')}, {count(report.suppressed)} suppressed",
        *snapshot_line(report.snapshot),
        *data_lines(report.data),
        *lineage_lines(report.lineage),
        format_sizes(report),
        *(
            f"  {clean(column)}: the surest value of a row's candidates has {share(of['mean'], 1)} of them on average, "
            f"{share(of['worst'], 1)} at most"
            for column, of in report.surest.items()
        ),
        f"  method    {clean(report.method)}, {report.execution}; format {report.format}",
        *search_lines(report.search, "  search    "),
        *warn_of_exposure(report.exposed, _k(report)),
        "",
    )
    persons = [
        f"  {clean(column)}: at least {count(fewest)} distinct in every class"
        for column, fewest in report.min_identifiers.items()
    ]
    if report.max_person_share is not None:
        persons.append(f"  one person has at most {share(report.max_person_share, 1)} of a class's rows")
    if persons:
        screen.show(*persons, "")
    if report.requirements:
        screen.show(format_requirements(report.requirements), "")
    if report.newest:
        screen.show(report.newest)
    screen.show(*format_loss(report.loss, report.rows, report.shape.unit), "")
    screen.show(*history_tables(report.history))
    stages = ", ".join(
        f"{stage} {format_seconds(spent)}" for stage, spent in report.seconds.items() if stage != "total"
    )
    screen.show(f"total {format_seconds(report.seconds.get('total', 0.0))}: {stages}")
    if screen.verbose and report.cost is not None:
        screen.show("", cost_sheet(report.cost, report.seconds.get("total")), "")
    if report.scratch:
        lines = [
            (
                clean(table.stage),
                clean(table.statement) or "(loaded)",
                clean(table.table.partition(".")[2]),
                count(table.rows),
                format_seconds(table.seconds),
            )
            for table in report.scratch
        ]
        screen.show("", "kept in the private schema, with source values, until the next run or sqlanon clean:")
        screen.show(make_sheet(KEPT, lines), "")
    for text in report.notes:
        screen.show(note(text))
    for warning in report.warnings:
        screen.show(f"warning: {clean(warning)}")
    next_commands(screen, following)


def warn_of_exposure(exposed: Exposure | None, k: int) -> list[str]:
    """The warning about columns that undo k, if they do."""
    text = exposed.warning(k) if exposed is not None else None
    return [f"warning: {clean(text)}"] if text else []


def _k(report: RunReport) -> int:
    """K as it was asked; 1: it was not."""
    return next((int(requirement.asked) for requirement in report.requirements if requirement.name == "k"), 1)


def format_reasons(title: str, why: Sequence[str]) -> list[str]:
    """Why a version is made, a line each."""
    return [f"  {title if not place else '':<9} {clean(reason)}" for place, reason in enumerate(why)]


def data_lines(data: DataChange | None) -> list[str]:
    """Rows that came and went."""
    if data is None:
        return []
    changed = "" if data.changed is None else f", {count(data.changed)} changed"
    text = (
        f"{count(data.before)} -> {count(data.after)}: {count(data.added)} added, {count(data.removed)} "
        f"removed{changed}"
    )
    return [f"  rows      {text}"]


def lineage_lines(figures: LineageReport | None, title: str = "  {:<10}") -> list[str]:
    """Published rows beside those of the source. ``title``: how the first line begins."""
    if figures is None:
        return []
    first, indent = title.format("lineage"), title.format("")
    sized = (
        f"{count(figures.groups)} exit groups of {count(figures.min_group)} to {things(figures.max_group, 'row')}, "
        "each of which leaves whole"
    )
    groups = [f"{indent}{sized}; GCP of all published rows {figures.loss:.4f}"] if figures.groups else []
    return [
        (
            f"{first}{figures.number}: {things(figures.published, 'row')} published, {count(figures.entered)} of them "
            f"new; {count(figures.left)} left"
        ),
        (
            f"{indent}{count(figures.current)} as in the source, {count(figures.stale)} with other values there, "
            f"{count(figures.retained)} no longer there"
        ),
        f"{indent}{things(figures.waiting, 'row')} of the source wait{'s' * (figures.waiting == 1)} for a cohort, "
        f"{count(figures.for_new_lineage)} for a new lineage"
        + (f"; {count(figures.erased)} are erased" if figures.erased else ""),
        *groups,
    ]


def snapshot_line(snapshot: str) -> list[str]:
    """Which version of a source with versions was read; no line for the others."""
    return [f"            {clean(snapshot)}"] if snapshot else []


def _counts_report(screen: Screen, report: RunReport, counts: StatisticsReport, following: Sequence[str]) -> None:
    """Show a run of a release of counts."""
    neighbour = counts.neighbour
    screen.show(
        f"release {clean(report.release)} version {report.version}: verified by its certificate, published as "
        f"{clean(report.published)}",
        f"  source    {clean(report.source)}",
        *snapshot_line(report.snapshot),
        *_cells_lines(report.method, counts),
        *([] if neighbour is None else [f"  together  with {clean(neighbour.release)}@{neighbour.version}"]),
        "",
        *(f"warning: {clean(warning)}" for warning in report.warnings),
    )
    screen.show(f"total {format_seconds(report.seconds.get('total', 0.0))}")
    next_commands(screen, following)


def _cells_lines(method: str, counts: StatisticsReport) -> list[str]:
    """Lines about cells and their protection."""
    proof = f"  proof     {count(counts.witnesses)} other tables that agree with what is shown"
    cells = f"  cells     {count(counts.cells)} of {count(counts.margins)} margins"
    if method == "suppress":
        hidden = f"{count(counts.hidden)} hidden ({share(counts.hidden, counts.cells)})"
        return [f"{cells}: {count(counts.shown)} shown, {hidden}", proof]
    if method == "round":
        return [f"{cells}: rounded, and all sums hold", proof]
    if counts.errors is None:
        return [f"{cells}: rounded by a rule"]
    before, after = counts.errors
    return [
        f"{cells}: each has the noise of its persons",
        f"  error     {before:.2f} (root of the mean squared error); {after:.2f} for who reads all cells together",
    ]


def _noisy_report(screen: Screen, report: RunReport, noisy: NoisyReport, following: Sequence[str]) -> None:
    """Show a run of differentially private statistics."""
    delta = f", delta {noisy.delta:g}" if noisy.delta else ""
    kept_rows = (
        [] if noisy.kept is None else [f"  kept      {share(noisy.kept, 1)} of a person's rows on average (noisy)"]
    )
    screen.show(
        f"release {clean(report.release)} version {report.version}: verified, published as {clean(report.published)}",
        *format_reasons("because", report.why if report.replaces else ()),
        f"  source    {clean(report.source)}",
        f"  groups    {count(noisy.groups)} of {things(noisy.tables, 'table')}, as declared",
        f"  noise     {noisy.law}; epsilon {noisy.epsilon:g}{delta} for a person and all its rows",
        *([] if noisy.night is None else [f"  night     {noisy.night} of {noisy.nights}, which epsilon pays together"]),
        f"  budget    {clean(noisy.budget)}: {noisy.spent:.4g} of {noisy.allowed:g} spent",
        *kept_rows,
        *([] if noisy.synthetic is None else _synthetic_lines(noisy.synthetic)),
        "",
        *(f"warning: {clean(warning)}" for warning in report.warnings),
    )
    next_commands(screen, following)


def _synthetic_lines(synthetic: SyntheticReport) -> list[str]:
    """Rows drawn of noisy statistics."""
    mean = sum(synthetic.apart) / len(synthetic.apart)
    most = sum(synthetic.most) / len(synthetic.most)
    pairs = ", ".join("-".join(map(clean, pair)) for pair in synthetic.pairs)
    return [
        f"  synthetic {things(synthetic.rows, 'row')} drawn of the noisy tables, published as {clean(synthetic.view)}",
        (
            f"  pairs     {pairs}; each with {clean(synthetic.target)}"
            f"{', chosen by a paid measurement' if synthetic.chosen else ''}"
        ),
        (
            f"  errors    {mean:.3g} rows between a group and its noisy number on average; from counted rows at most "
            f"{most:.3g} (95 %); unknown for other combinations of columns"
        ),
    ]


def search_lines(search: Mapping[str, int], title: str) -> list[str]:
    """The method's figures of the search."""
    figures = ", ".join(f"{clean(name.replace('_', ' '))} {count(value)}" for name, value in search.items())
    return [f"{title}{figures}"] if figures else []


def history_tables(reports: Sequence[HistoryReport]) -> list[Sheet | str]:
    """The disclosure by a version together with those before, a table each."""
    shown: list[Sheet | str] = []
    for comparison in reports:
        if comparison.unknown:
            text = f"versions {comparison.old} and {comparison.new} cannot be compared: {clean(comparison.unknown)}"
            shown += [f"{text}; what they reveal together is unknown", ""]
            continue
        kinds = (("arrived", comparison.arrived), ("left", comparison.left), ("common", comparison.common))
        of_events = any(sets.persons is not None for _, sets in kinds)
        how = (
            ""
            if comparison.values or comparison.candidates
            else "; rows compared by key alone, as the policies read other columns or types"
        )
        rows = [
            (
                kind,
                count(sets.rows),
                count(sets.groups),
                "-" if sets.smallest is None else count(sets.smallest),
                *(["-" if sets.persons is None else count(sets.persons)] if of_events else []),
                "-" if sets.l is None else measure(sets.l),
                count(sets.failing),
            )
            for kind, sets in kinds
        ]
        titles = (
            ("rows that", "left"),
            *((t, "right") for t in ("rows", "groups", "fewest candidates" if comparison.candidates else "smallest")),
            *([("persons", "right")] if of_events else []),
            *((t, "right") for t in ("least l", "failing")),
        )
        failing = things(comparison.failing, "row")
        what = f"{count(comparison.components)} components, {failing} in groups below the policy{how}"
        if comparison.candidates:
            what = f"{failing} with fewer candidates than k"
        shown += [f"versions {comparison.old} and {comparison.new} together: {what}", make_sheet(titles, rows), ""]
        if comparison.not_measured:
            shown += [f"NOT MEASURED: {clean(comparison.not_measured)}", ""]
    return shown


def format_requirements(results: Sequence[RequirementResult]) -> Sheet:
    """Each requirement as asked and as reached."""
    rows = [
        (result.title, measure(result.asked), measure(result.reached), "yes" if result.satisfied else "VIOLATED")
        for result in results
    ]
    return make_sheet((("requirement", "wrap"), ("asked", "right"), ("reached", "right"), ("satisfied", "left")), rows)


def second_table(name: str | None) -> list[str]:
    """Format anatomy: where the sensitive values are."""
    return [f"  and       {clean(name)}, the sensitive values of each group"] if name else []


def format_loss(report: LossReport, released: int, unit: str = "class") -> tuple[Sheet | str, ...]:
    """Show the loss per column, and the most important totals in two lines; the rest is in the JSON.

    ``released``: rows; ``unit``: class or box.
    """
    if report.rce is not None:
        each = f"{report.rce / max(released, 1):.4f} a row (0 = all known, 1 = all lost)"
        return (
            "loss: the quasi columns are exact; what is lost is which row of a group has which sensitive value",
            f"RCE {report.rce:,.1f}, {each}, {_sizes(report)}",
            *format_metrics(report),
        )
    rows = [
        (column, f"{values['ncp']:.4f}", f"{values['lm']:.4f}", _bar(values["ncp"]))
        for column, values in report.columns.items()
    ]
    rows.append(("all, weighted", f"{report.gcp:.4f}", f"{report.lm:.4f}", _bar(report.gcp)))
    shown = make_sheet(
        (("loss of", "left"), ("NCP", "right"), ("LM", "right", 1), ("0 = exact, 1 = all lost", "left", 2)), rows
    )
    totals = f"GCP {report.gcp:.4f}, {_sizes(report)}"
    more = format_metrics(report)
    classes = f"NCP of a {unit}: {report.il1:.4f} on average, {report.il_inf:.4f} at most"
    hidden = [] if report.stars is None else [_stars(report, report.stars)]
    hidden += (
        [] if report.cm is None else [f"CM {report.cm:.4f}: rows without their class's most frequent sensitive value"]
    )
    return shown, totals, classes, *hidden, *more


def format_metrics(report: LossReport) -> list[str]:
    """The metrics that were asked for, and those of extensions: a line, and another for each sensitive column."""
    figures = dict(report.more)
    least = figures.pop("least_gcp", None)
    lines = [] if least is None else [f"no release of these rows, with this k, has a GCP below {least:.4f}"]
    lines += [", ".join(f"{clean(name)} {value:.4f}" for name, value in figures.items())] if figures else []
    for column, values in report.sensitive.items():
        lines.append(f"{clean(column)}: " + ", ".join(f"{clean(name)} {value:.4f}" for name, value in values.items()))
    return lines


def _stars(report: LossReport, cells: int) -> str:
    some, every = report.starred_rows or 0, report.hidden_rows or 0
    return f"stars: {count(cells)} hidden values in {things(some, 'row')}; {count(every)} of them hide all of theirs"


def _sizes(report: LossReport) -> str:
    """Losses by the sizes of classes alone."""
    average = "" if report.c_avg is None else f", C_AVG {report.c_avg:.3f}"
    return f"DM {measure(report.dm)}{average}"


def next_commands(screen: Screen, following: Sequence[str]) -> None:
    """Commands to paste, a line for each."""
    if following:
        screen.show("", "next:", *(f"  {line}" for line in following))


def format_sizes(report: RunReport, title: str = "  {:<10}") -> str:
    """Classes and their rows; with boxes of their own the candidates. ``title``: how the line begins."""
    numbers = {"classes": count(report.classes), "least": count(report.min_class)}
    sizes = report.shape.sizes.format(**numbers, rows=things(report.max_class, "row"))
    return title.format(report.shape.units) + sizes


def _bar(part: float) -> str:
    """A share from 0 to 1 as a bar of at most 20 characters."""
    return "#" * round(max(0.0, min(1.0, part)) * 20) or "."
