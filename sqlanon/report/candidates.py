"""The risk-utility map of candidate releases: a picture and its table."""

from __future__ import annotations

from sqlanon.report.document import Block, Page, Picture, Section, Text, make_table
from sqlanon.report.page import write_page
from sqlanon.report.svg import RELEASE, TEXT, Drawing, choose_steps, draw_circle, draw_label, draw_line
from sqlanon.results import Candidate, CandidatesReport

MARK = "For the owner: figures of the source and of trial releases that nobody else has; no value of a cell"
WIDTH, HEIGHT, LEFT, BELOW = 640, 400, 60, 44


def draw_candidates(report: CandidatesReport) -> str:
    """The page of a comparison, as HTML that needs no other file.

    Args:
        report: the candidates; those that cannot be made are in the table alone.
    """
    candidates = [candidate for candidate in report.candidates if candidate.refused is None]
    rows = [_row(candidate) for candidate in report.candidates]
    head = ">n | candidate | >classes | >loss | >width | >AUC | >average risk | >risk | attack | >seconds"
    table = make_table("Candidates", head, rows)
    text = "Each candidate by its number: to the right it loses more, and higher up it reveals more of its persons."
    picture = Picture("Risk by loss", text, _map(candidates), table)
    lead = (
        f"Candidates were made in scratch of {1 - report.control:.0%} of the persons; the others are the control "
        "group. Nothing was published."
    )
    summary = (("candidates", str(len(rows))), ("made", str(len(candidates))))
    blocks: list[Block] = [picture]
    if report.source_auc is not None:
        blocks.append(Text(f"AUC of a model that learnt {report.target} from the source: {report.source_auc:.3f}."))
    blocks += [Text(f"{_count_candidates(numbers)}: {note}.") for note, numbers in report.list_notes().items()]
    section = Section("map", "Risk and utility", lead, tuple(blocks), _explain_columns(report))
    return write_page(Page(report.release, 0, False, summary, None, (section,), mark=MARK), "html")


def _count_candidates(numbers: list[int]) -> str:
    return f"Candidate{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _explain_columns(report: CandidatesReport) -> tuple[tuple[str, str], ...]:
    """Meaning of the columns."""
    width = (
        "How far the bounds of the workload's answers are apart, by the estimate, the median."
        if report.answers == "workload"
        else "How far the bounds of random counts over two quasi columns are apart, by the count, the median."
    )
    return (
        ("loss", "GCP: 0 where every value is published as it is, 1 where none is."),
        ("width", width),
        ("AUC", "Of a model that learnt the target from the candidate, tested on persons held out. 0.5: nothing."),
        ("average risk", "Classes by rows: what a prosecutor finds on average."),
        ("risk", "The highest risk of any attack beyond the control group, and which attack it is."),
    )


def _name(candidate: Candidate) -> str:
    return f"k={candidate.k} {candidate.method}{', refine' if candidate.refine else ''}"


def _row(candidate: Candidate) -> tuple[str, ...]:
    if candidate.refused is not None:
        return (
            str(candidate.number),
            _name(candidate),
            "",
            "",
            "",
            "",
            "",
            "",
            f"not possible: {candidate.refused}",
            "",
        )
    return (
        str(candidate.number),
        _name(candidate),
        f"{candidate.classes:,}",
        f"{candidate.gcp:.4f}",
        "" if candidate.width is None else f"{candidate.width:.1%}",
        "" if candidate.auc is None else f"{candidate.auc:.3f}",
        f"{candidate.average_risk:.1%}",
        f"{candidate.risk:.1%}",
        candidate.attack,
        f"{candidate.seconds:.1f}",
    )


def _map(candidates: list[Candidate]) -> Drawing:
    losses, risks = (
        [candidate.gcp or 0.0 for candidate in candidates],
        [candidate.risk or 0.0 for candidate in candidates],
    )
    wide, high = max([*losses, 0.01]) * 1.08, max([*risks, 0.01]) * 1.08
    right, top, floor = WIDTH - 20, 16, HEIGHT - BELOW

    def place_point(loss: float, risk: float) -> tuple[float, float]:
        return LEFT + loss / wide * (right - LEFT), floor - risk / high * (floor - top)

    elements = [draw_line(LEFT, floor, right, floor), draw_line(LEFT, top, LEFT, floor)]
    elements += [draw_label(place_point(step, 0)[0], floor + 15, f"{step:g}") for step in choose_steps(0, wide)]
    for step in choose_steps(0, high):
        y = place_point(0, step)[1]
        elements += [draw_label(LEFT - 6, y + 4, f"{step:.0%}", "end"), draw_line(LEFT, y, right, y, opacity=0.3)]
    points: dict[tuple[int, int], list[str]] = {}
    for candidate in candidates:
        x, y = place_point(candidate.gcp or 0.0, candidate.risk or 0.0)
        points.setdefault((round(x), round(y)), []).append(str(candidate.number))
    for (x, y), numbers in points.items():
        # A label lies at the side where there is more room for it.
        beside, anchor = (6, "start") if x < (LEFT + right) / 2 else (-6, "end")
        elements += [draw_circle(x, y, RELEASE), draw_label(x + beside, y - 5, ", ".join(numbers), anchor, TEXT)]
    elements += [draw_label((LEFT + right) / 2, HEIGHT - 8, "loss (GCP)"), draw_label(LEFT, 11, "risk", "start")]
    return Drawing(WIDTH, HEIGHT, tuple(elements))
