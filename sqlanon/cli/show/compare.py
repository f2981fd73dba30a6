"""Candidate releases side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, format_seconds, make_sheet, note, share

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import Candidate, CandidatesReport, NoisyCandidate, NoisyCandidatesReport

WIDTH_OF = {"workload": "the answers to the workload, by the estimate", "random counts": "random counts, by the count"}
HEAD = (
    ("n", "right"),
    ("candidate", "wrap"),
    ("classes", "right", 3),
    ("loss", "right"),
    ("width", "right"),
    ("AUC", "right"),
    ("risk", "right"),
    ("seconds", "right", 2),
)


def candidates_report(screen: Screen, report: CandidatesReport) -> None:
    """Show a line for each candidate, and the reasons of those that cannot be made."""
    screen.show(
        f"candidates for {clean(report.release)} of {clean(report.source)}; {share(report.control, 1)} of the "
        "persons are held out, and nothing was published",
        f"  seed {report.seed}; width of {WIDTH_OF[report.answers]}",
        "",
        make_sheet(HEAD, [_row(candidate) for candidate in report.candidates]),
        "",
    )
    if report.source_auc is not None:
        screen.show(f"AUC of a model that learnt {clean(report.target or '')} from the source: {report.source_auc:.3f}")
    for candidate in report.candidates:
        if candidate.refused is not None:
            screen.show(note(f"{candidate.number}: {candidate.refused}"))
    for text, numbers in report.list_notes().items():
        screen.show(note(f"{', '.join(map(str, numbers))}: {text}"))


def _row(candidate: Candidate) -> tuple[str, ...]:
    name = f"k={candidate.k} {candidate.method}{', refine' if candidate.refine else ''}"
    if candidate.refused is not None:
        return (str(candidate.number), f"{name}: not possible", "", "", "", "", "", "")
    return (
        str(candidate.number),
        name,
        count(candidate.classes),
        f"{candidate.gcp:.4f}",
        "" if candidate.width is None else share(candidate.width, 1),
        "" if candidate.auc is None else f"{candidate.auc:.3f}",
        share(candidate.risk or 0.0, 1),
        format_seconds(candidate.seconds),
    )


def noisy_candidates_report(screen: Screen, report: NoisyCandidatesReport) -> None:
    """Show a line for each table of each candidate, beside the errors of releases of rows."""
    head: list[tuple[str, str] | tuple[str, str, int]] = [
        ("n", "right"),
        ("epsilon", "right"),
        ("noise", "left", 1),
        ("versions", "right"),
        ("counts of", "wrap"),
        ("groups", "right", 2),
        ("error", "right"),
        *((released.release, "right") for released in report.beside),
    ]
    screen.show(
        f"candidates for {clean(report.release)} of {clean(report.source)}; nothing was charged, drawn or published",
        "",
        make_sheet(head, [row for candidate in report.candidates for row in _noisy_rows(report, candidate)]),
        "",
    )
    for candidate in report.candidates:
        if candidate.refused is not None:
            screen.show(note(f"{candidate.number}: {candidate.refused}"))
    screen.show(
        note(
            "error: the expected distance of a finest group's number from the counted rows, by noise alone, before it "
            "is drawn; what bounding cuts is in plan. versions: that the budget pays for"
        )
    )
    if report.beside:
        screen.show(
            note(
                "the other columns: mean errors of the same counts of published releases of rows, measured on the "
                "source. No budget pays for these: they are for the owner alone"
            )
        )


def _noisy_rows(report: NoisyCandidatesReport, candidate: NoisyCandidate) -> list[tuple[str, ...]]:
    """The lines of a candidate."""
    if candidate.refused is not None:
        return [
            (
                str(candidate.number),
                f"{candidate.epsilon:g}",
                "",
                "",
                "not possible",
                "",
                "",
                *("" for _ in report.beside),
            )
        ]
    rows: list[tuple[str, ...]] = []
    for place, (name, groups, error) in enumerate(zip(report.tables, report.groups, candidate.errors, strict=True)):
        if error is not None:
            first = (
                (str(candidate.number), f"{candidate.epsilon:g}", candidate.law, count(candidate.versions))
                if not rows
                else ("", "", "", "")
            )
            errors_beside = (_error(other.errors[place]) for other in report.beside)
            rows.append((*first, name, count(groups) if groups else "", _error(error), *errors_beside))
    return rows


def _error(error: float | None) -> str:
    return "-" if error is None else f"{error:,.3g}"
