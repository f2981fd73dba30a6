"""An audit of a table, and of two releases held together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.run import format_requirements
from sqlanon.cli.show.text import clean, count, make_sheet, measure, share, things

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.results import AuditReport, SensitiveAudit, TogetherReport


def audit_report(screen: Screen, report: AuditReport) -> None:
    """Show the risk of a table."""
    if report.hidden_cells is not None:
        screen.show(
            f"audit of {clean(report.table)}: {count(report.rows)} cells of {_columns(report.quasi)}, "
            f"{count(report.hidden_cells)} {report.cell_status}",
            "",
        )
        _promises(screen, report)
        return
    if report.noisy:
        screen.show(f"audit of {clean(report.table)}: {things(report.rows, 'noisy group')}", "")
        _promises(screen, report)
        return
    if report.candidates:
        screen.show(
            f"audit of {clean(report.table)}: {things(report.rows, 'row')}, each in a box of its own",
            f"  candidates of each row, by the certificate: {count(report.k)}"
            if report.k
            else "  candidates: not measured",
            "",
        )
        _promises(screen, report)
        return
    screen.show(
        f"audit of {clean(report.table)}: {things(report.rows, 'row')} in {things(report.classes, 'class')}",
        f"  classes are the groups over: {_columns(report.quasi)}",
    )
    if report.missing:
        screen.show(f"  rows of the source that the release leaves out: {count(report.missing)}")
    if report.suppressed > report.missing:
        screen.show(f"  rows with * in every quasi column: {count(report.suppressed - report.missing)}")
    if report.left_out:
        screen.show(f"  left out: {_columns(report.left_out)}")
    rows = [
        ("k, the smallest class", count(report.k)),
        ("largest class", count(report.max_class)),
        ("k over every column but the sensitive", count(report.k_all)),
        ("rows alone in their class", f"{count(report.unique_rows)} ({share(report.unique_rows, report.rows)})"),
        ("highest risk of being singled out", share(report.highest_risk, 1)),
        ("average risk", share(report.average_risk, 1)),
    ]
    rows += [
        (f"fewest distinct {column} in a class", count(number)) for column, number in report.min_identifiers.items()
    ]
    screen.show("", make_sheet((("measure", "wrap"), ("value", "left")), rows), "")
    screen.show(*format_lowering(report))
    if report.groups:
        screen.show(
            f"sensitive values are counted by group in {clean(report.groups.table)}: {count(report.groups.groups)} "
            f"groups of {count(report.groups.smallest)} to {things(report.groups.largest, 'row')}",
            "presence is disclosed: k, risk and classes above are those of the exact columns; l below is that of the "
            "groups",
            "",
        )
    if report.sensitive:
        screen.show(sensitive_rows(report.sensitive), "")
    _promises(screen, report)


def _promises(screen: Screen, report: AuditReport | TogetherReport) -> None:
    """Requirements of policies, and those of them that could not be measured."""
    if report.requirements:
        screen.show(format_requirements(report.requirements), "")
        if not all(result.satisfied for result in report.requirements):
            screen.show("A requirement is VIOLATED.")
    for what in report.not_measured:
        screen.show(f"NOT MEASURED: {clean(what)}")


def format_lowering(report: AuditReport) -> list[str]:
    """The published columns outside of the classes that lower k, and the meaning of that."""
    if report.k_all >= report.k:
        return []
    if report.lowering:
        names = ", ".join(f"{clean(column.column)} (k {count(column.k)} with it)" for column in report.lowering)
        which = f"k is lower than {count(report.k)} with {names}."
    elif report.lowering_together:
        which = (
            f"k is lower than {count(report.k)} with {_columns(report.lowering_together)} together, with none of them "
            "alone."
        )
    else:
        which = f"k is lower than {count(report.k)} with columns that were left out."
    return [
        which,
        (
            "These are published as they are, and no class hides them: who knows a person's value finds the row among "
            "those of the class."
        ),
        (
            "If somebody may know it, make the column quasi, or an identifier, which is not published; if nobody can, "
            "k holds."
        ),
        "",
    ]


def together_report(screen: Screen, report: TogetherReport) -> None:
    """Show the inferences of a reader of two releases."""
    screen.show(
        f"{clean(report.first)} and {clean(report.second)} together, both of {clean(report.source)}",
        f"  {things(report.matched, 'row')} {'is' if report.matched == 1 else 'are'} in both, "
        f"{count(report.unmatched)} of the source are not",
        "",
        make_sheet(
            (("measure", "wrap"), ("value", "left")),
            (
                (f"k of {report.first}", count(report.k_first)),
                (f"k of {report.second}", count(report.k_second)),
                (
                    "fewest candidates of a row, both held together"
                    if report.candidates
                    else "k of both held together",
                    count(report.k),
                ),
                (
                    "rows with fewer candidates than both k"
                    if report.candidates
                    else "rows in groups smaller than both k",
                    f"{_format_part(report.rows_below, report.matched)}",
                ),
                (
                    "rows with one candidate" if report.candidates else "rows alone",
                    f"{_format_part(report.unique_rows, report.matched)}",
                ),
                *(
                    (f"fewest distinct {column} of both together", count(number))
                    for column, number in report.min_identifiers.items()
                ),
            ),
        ),
        "",
    )
    if report.sensitive:
        screen.show(sensitive_rows(report.sensitive), "")
    if report.k < min(report.k_first, report.k_second):
        screen.show("Who holds both releases is less protected against than either promises alone.")
    _promises(screen, report)


def sensitive_rows(audits: Sequence[SensitiveAudit]) -> Sheet:
    """The l of each sensitive column."""
    rows = [(audit.column, count(audit.distinct_l), measure(audit.frequency_l)) for audit in audits]
    return make_sheet((("sensitive", "left"), ("distinct l", "right"), ("frequency l", "right")), rows)


def _format_part(part: int, whole: int) -> str:
    return f"{count(part)} ({share(part, whole)})"


def _columns(names: Sequence[str]) -> str:
    return ", ".join(clean(name) for name in names) or "none"
