"""Risk in the field's terms, of the source and of the release, and the level of every privacy model."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.report.document import Block, Section, Text, make_table
from sqlanon.report.requirement_levels import READING as MODELS
from sqlanon.results import AuditReport, RiskReport
from sqlanon.results.figures import count, in_words, measure, share

READING = (
    (
        "prosecutor",
        "Knows that a person is in the table and looks for the row: right with probability 1 / rows of the class.",
    ),
    (
        "journalist",
        (
            "Does not know who is in the table. Measured only with figures of the population; never above the "
            "prosecutor's risk."
        ),
    ),
    ("marketer", "Matches all rows at once: the share of rows that is expected to be matched with the right person."),
    ("rows above 0.2", "Rows that an attacker assigns to the right person in more than one of five cases."),
    ("unique rows", "Rows that no other row looks like."),
)


@dataclass(frozen=True, slots=True)
class TableFigures:
    """A table's figures.

    Attributes:
        risk: by the classes that its rows show.
        audit: of a release, which counts persons where rows are events; None: of the source.
    """

    risk: RiskReport
    audit: AuditReport | None = None


def risk_section(before: TableFigures | None, after: TableFigures | None, notes: tuple[str, ...] = ()) -> Section:
    """Attackers, before and after; then the models on the release.

    Args:
        before: the source; None: it is not shown.
        after: the release; None: its rows do not show classes.
        notes: why something is missing.
    """
    both = [assessment for assessment in (before, after) if assessment is not None]
    titles = [title for title, assessment in (("source", before), ("release", after)) if assessment is not None]
    blocks: list[Block] = [Text(note) for note in notes]
    if both and all(assessment.risk.prosecutor for assessment in both):
        head = "figure | " + " | ".join(f">{title}" for title in titles)
        blocks.insert(0, make_table("Risk of finding a person", head, _rows(both)))
    if after is not None:
        rows = [
            (
                model.model + (f" ({model.form})" if model.form else ""),
                model.column or "",
                "none holds" if model.reached is None else measure(model.reached),
                in_words(model.model, model.reached),
            )
            for model in after.risk.models
        ]
        if rows:
            blocks.append(
                make_table(
                    "Privacy models on the release", "model | sensitive column | >worst class | which means", rows
                )
            )
        blocks += [Text(f"Not measured: {what}") for what in after.risk.not_measured]
    shown = dict.fromkeys(model.model for model in after.risk.models) if after is not None else {}
    return Section(
        "risk",
        "Risk before and after" if before is not None else "Risk",
        "How likely an attacker who knows the columns that could identify somebody finds the right person. Every model "
        "is measured, also those that the policy does not ask for.",
        tuple(blocks),
        (*READING, *((name, MODELS[name]) for name in shown if name in MODELS)),
    )


def _rows(both: list[TableFigures]) -> list[tuple[str, ...]]:
    """A line for each figure, with a cell for each table."""
    rows = [
        ("rows", *(count(assessment.risk.rows) for assessment in both)),
        ("classes", *(count(assessment.risk.classes) for assessment in both)),
        (
            "unique rows",
            *(
                f"{count(risk.sample_uniques)} ({share(risk.sample_uniques, risk.rows)})"
                for risk in (item.risk for item in both)
            ),
        ),
        ("prosecutor, highest", *(share(_highest(assessment), 1) for assessment in both)),
        ("prosecutor, average", *(share(_average(assessment), 1) for assessment in both)),
        (f"rows above {both[0].risk.threshold:g}", *(_format_above(assessment) for assessment in both)),
        ("marketer", *(share(_marketer(assessment), 1) if assessment.risk.marketer else "-" for assessment in both)),
    ]
    return [tuple(row) for row in rows]


def _highest(measured: TableFigures) -> float:
    assert measured.risk.prosecutor is not None
    return max(measured.risk.prosecutor.highest, measured.audit.highest_risk if measured.audit else 0.0)


def _average(measured: TableFigures) -> float:
    assert measured.risk.prosecutor is not None
    return _round_steady(max(measured.risk.prosecutor.average, measured.audit.average_risk if measured.audit else 0.0))


def _marketer(measured: TableFigures) -> float:
    """The table is the population: average risk of the prosecutor, by persons where they are counted."""
    assert measured.risk.marketer is not None
    return max(_round_steady(measured.risk.marketer.average), _average(measured))


def _format_above(measured: TableFigures) -> str:
    assert measured.risk.prosecutor is not None
    if measured.audit is not None and measured.audit.min_identifiers:
        return "-"  # classes of rows do not show how many persons are in them
    return share(_round_steady(measured.risk.prosecutor.above), 1)


def _round_steady(value: float) -> float:
    """Without the last digits of a sum, which may depend on its order."""
    return float(f"{value:.10g}")
