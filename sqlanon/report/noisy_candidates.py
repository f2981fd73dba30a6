"""The page of candidates of noisy statistics: the errors of counts to expect, beside those of releases of rows."""

from __future__ import annotations

from sqlanon.report.document import Page, Section, make_table
from sqlanon.report.page import write_page
from sqlanon.results import NoisyCandidate, NoisyCandidatesReport
from sqlanon.results.figures import count

MARK = "For the owner: errors of releases of rows are measured on the source, and no budget pays for them"
READING = (
    (
        "error",
        "The expected distance of a finest group's number from the counted rows, by noise alone, without bounding.",
    ),
    ("versions", "That the budget pays for."),
    ("other columns", "Mean errors of the same counts of published releases of rows of the same source."),
)


def draw_noisy_candidates(report: NoisyCandidatesReport) -> str:
    """The page of a comparison, as HTML that needs no other file."""
    head = ["n", ">epsilon", "noise", ">versions", "counts of", ">groups", ">error"]
    head += [f">{released.release}" for released in report.beside]
    rows = [row for candidate in report.candidates for row in _rows(report, candidate)]
    possible = sum(candidate.refused is None for candidate in report.candidates)
    summary = (("source", report.source), ("candidates", str(len(report.candidates))), ("possible", str(possible)))
    lead = "The errors follow from the declarations: nothing was charged, drawn or published."
    table = make_table("Candidates", " | ".join(head), rows)
    section = Section("candidates", "Errors of counts", lead, (table,), READING)
    return write_page(Page(report.release, 0, False, summary, None, (section,), mark=MARK), "html")


def _rows(report: NoisyCandidatesReport, candidate: NoisyCandidate) -> list[tuple[str, ...]]:
    """A line for each table of a candidate."""
    first = (str(candidate.number), f"{candidate.epsilon:g}")
    if candidate.refused is not None:
        return [(*first, "", "", f"not possible: {candidate.refused}", "", "", *("" for _ in report.beside))]
    lines = []
    for place, (name, groups, error) in enumerate(zip(report.tables, report.groups, candidate.errors, strict=True)):
        if error is not None:
            errors = [error, *(released.errors[place] for released in report.beside)]
            shown = ("-" if each is None else f"{each:,.3g}" for each in errors)
            lines.append(
                (*first, candidate.law, count(candidate.versions), name, count(groups) if groups else "", *shown)
            )
    return lines
