"""Attacks with a control group as a page: successes, the control group's prediction, and the risk beyond it."""

from __future__ import annotations

from sqlanon.report.candidates import MARK
from sqlanon.report.document import Block, Page, Picture, Section, Text, make_table
from sqlanon.report.page import write_page
from sqlanon.report.svg import (
    RELEASE,
    SOURCE,
    TEXT,
    Drawing,
    choose_steps,
    draw_circle,
    draw_label,
    draw_line,
    draw_rect,
    estimate_length,
)
from sqlanon.results import ControlledAttack, ControlReport
from sqlanon.results.figures import count, measure, share

WIDTH, SLOT, BELOW = 640, 30, 24
READING = (
    ("succeeded", "Attacks on persons whose rows the trial release was made of, and how many of them succeeded."),
    (
        "expected",
        (
            "What the control group predicts: how many would have succeeded if they had succeeded as often as on "
            "persons whom the release never held. So much is knowledge of the population."
        ),
    ),
    ("naive", "The success of an attacker who does not read the rows of the release."),
    (
        "risk",
        (
            "What the release adds, of what it could add: (succeeded - control) / (100 % - control); of membership "
            "succeeded - control. The interval is that of other persons drawn from the same population."
        ),
    ),
    ("all or drawn", "All: every person, or every predicate, was tried; drawn: so many of them, at random."),
)


def write_control(report: ControlReport) -> str:
    """The page of a trial, as HTML that needs no other file.

    Args:
        report: of the attacks. Nothing else is read.
    """
    lead = (
        f"The release was made in scratch, by method {report.method} in format {report.format}, of "
        f"{count(report.inside)} of {count(report.inside + report.outside)} {report.counted}; the other "
        f"{count(report.outside)} are the control group. Nothing was published."
    )
    tried = [attack for attack in report.attacks if attack.attempts]
    head = "attack | >attempts | >succeeded | >expected | >control | >naive | >risk | 95 % | all or drawn"
    table = make_table("Attacks on persons inside and outside", head, [_row(attack) for attack in report.attacks])
    text = (
        "For each attack the risk as a point in its interval, and as a bar the success that the control group predicts."
    )
    blocks: list[Block] = [Picture("Risk beyond the control group", text, _draw(tried), table)]
    blocks += [
        Text(f"{attack.what}: nothing to try: no predicate is satisfied by exactly one released row.")
        for attack in report.attacks
        if not attack.attempts
    ]
    blocks += [Text(f"Not measured: {why}") for why in report.not_measured]
    section = Section("control", "Attacks with a control group", lead, tuple(blocks), READING)
    summary = (
        ("highest risk", share(report.highest, 1)),
        (report.counted, count(report.inside + report.outside)),
        ("control group", count(report.outside)),
        ("seed", str(report.seed)),
    )
    return write_page(Page(report.release, 0, False, summary, None, (section,), mark=MARK), "html")


def _row(attack: ControlledAttack) -> tuple[str, ...]:
    tried = "all" if attack.exact else "drawn"
    if not attack.attempts:
        return (attack.what, "0", "", "", "", "", "", "", tried)
    return (
        attack.what,
        count(attack.attempts),
        measure(attack.successes),
        measure(attack.expected),
        share(attack.control, 1),
        share(attack.naive, 1),
        share(attack.risk, 1),
        f"{share(attack.low, 1)} to {share(attack.high, 1)}",
        tried,
    )


def _draw(tried: list[ControlledAttack]) -> Drawing:
    left = min(20 + estimate_length([trial.what for trial in tried]), WIDTH / 2)
    right, floor = WIDTH - 24, 10 + SLOT * len(tried)

    def place_x(value: float) -> float:
        return left + value * (right - left)

    elements = [draw_line(left, floor, right, floor)]
    for step in choose_steps(0, 1):
        elements += [
            draw_label(place_x(step), floor + 15, f"{step:.0%}"),
            draw_line(place_x(step), 6, place_x(step), floor, opacity=0.3),
        ]
    for number, trial in enumerate(tried):
        y = 10 + SLOT * number + SLOT / 2
        elements += [
            draw_label(left - 8, y + 4, trial.what, "end", TEXT),
            draw_rect(left, y - 8, place_x(trial.control) - left, 16, SOURCE, 0.25),
            draw_line(place_x(trial.low), y, place_x(trial.high), y, RELEASE),
            draw_circle(place_x(trial.risk), y, RELEASE),
        ]
    return Drawing(WIDTH, floor + BELOW, tuple(elements))
