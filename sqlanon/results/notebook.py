"""Reports as notebooks show them: short HTML in the manner of the pages of `sqlanon.report`, every text escaped.

There is no style sheet and no script: a notebook brings its own, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from sqlanon.results.figures import clean, count, measure, share

if TYPE_CHECKING:
    from sqlanon.results.audit import AuditReport
    from sqlanon.results.base import LossReport, RequirementResult
    from sqlanon.results.plan import PlanReport
    from sqlanon.results.run import RunReport

MOST = 50
"""Rows of a table, at most."""

_CELL = "padding:.2em 1em .2em 0;border-bottom:1px solid #8886"
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_BAD = "color:#c0392b;font-weight:600"


def run_html(report: RunReport) -> str:
    """A run: what was published, what was asked and reached, the loss of the columns."""
    state = "verified" if report.verified else "NOT verified"
    if report.outcome != "published":
        state = f"{report.outcome}, as before"
    facts = [
        ("source", f"{report.source}, {count(report.rows)} rows"),
        ("published", report.published),
        (
            "classes",
            f"{count(report.classes)} of {count(report.min_class)} to {count(report.max_class)} rows",
        ),
        *report.facts.items(),
        ("method", f"{report.method}, {report.execution}; format {report.format}"),
    ]
    if report.suppressed:
        facts.append(("suppressed", f"{count(report.suppressed)} rows, {count(report.left_out)} left out"))
    return _block(
        f"{report.release}, version {report.version}: {state}",
        _facts(facts),
        _requirements(report.requirements),
        _loss(report.loss),
        *_warnings(report.warnings),
    )


def loss_html(loss: LossReport) -> str:
    """The losses that screens show."""
    return _block("information loss (0 is exact, 1 is all lost)", _loss(loss))


def audit_html(report: AuditReport) -> str:
    """An audit: sizes and risks, requirements, and what was not measured."""
    sensitive = [(one.column, count(one.distinct_l), measure(one.frequency_l)) for one in report.sensitive]
    return _block(
        f"audit of {report.table}",
        _facts([("rows", count(report.rows)), *_sizes(report)]),
        _table(("sensitive", ">distinct l", ">frequency l"), sensitive),
        _requirements(report.requirements),
        *_warnings(f"not measured: {one}" for one in report.not_measured),
    )


def _sizes(report: AuditReport) -> list[tuple[str, str]]:
    if report.candidates:
        candidates = count(report.k) if report.k else "not measured"
        return [("boxes", count(report.classes)), ("candidates of each row", candidates)]
    alone = f"{count(report.unique_rows)} ({share(report.unique_rows, report.rows)})"
    return [
        ("classes", count(report.classes)),
        ("k, the smallest class", count(report.k)),
        ("rows alone in their class", alone),
        ("highest risk", share(report.highest_risk, 1)),
        ("average risk", share(report.average_risk, 1)),
        *((f"fewest distinct {column} in a class", count(number)) for column, number in report.min_identifiers.items()),
    ]


def plan_html(report: PlanReport) -> str:
    """A plan: what would be done to each column, and what is feasible."""
    facts = [
        ("source", f"{report.source}, {count(report.rows)} rows"),
        ("publish", report.publish),
        ("method", f"{report.method}, {report.execution}; format {report.format}"),
    ]
    columns = [
        (one.name, one.role, one.treatment, count(one.distinct), count(one.nulls), ", ".join(one.publishes) or "-")
        for one in report.columns
    ]
    feasible = [
        (
            _format_name(one.name, one.column),
            measure(one.asked),
            measure(one.largest),
            "yes" if one.met else "not of all rows",
        )
        for one in report.feasible
    ]
    wrong = [i for i, one in enumerate(report.feasible) if not one.met]
    return _block(
        f"plan of {report.release}: {report.change}",
        _facts(facts),
        _table(("column", "role", "treatment", ">distinct", ">nulls", "publishes"), columns),
        _table(("requirement", ">asked", ">largest", "feasible"), feasible, wrong),
        *_warnings(report.weaker),
        *_warnings(report.warnings),
    )


def _format_name(name: str, column: str | None) -> str:
    return f"{name} of {column}" if column else name


def _requirements(results: Sequence[RequirementResult]) -> str:
    rows = [(one.title, measure(one.asked), measure(one.reached), "yes" if one.satisfied else "NO") for one in results]
    wrong = [i for i, one in enumerate(results) if not one.satisfied]
    return _table(("requirement", ">asked", ">reached", "satisfied"), rows, wrong)


def _loss(loss: LossReport) -> str:
    whole = [("GCP", f"{loss.gcp:.4f}"), ("DM", count(round(loss.dm)))]
    if loss.c_avg is not None:
        whole.append(("C_AVG", f"{loss.c_avg:.3f}"))
    columns = [(name, f"{parts['ncp']:.4f}", f"{parts['lm']:.4f}") for name, parts in loss.columns.items()]
    return _facts(whole) + _table(("column", ">NCP", ">LM"), columns)


def _warnings(texts: Iterable[str]) -> list[str]:
    return [f'<p style="{_BAD};margin:.3em 0">{_text(text)}</p>' for text in texts]


def _facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};text-align:left;font-weight:400;opacity:.7">{_text(name)}</th>'
        f'<td style="{_CELL};text-align:left">{_text(value)}</td></tr>'
        for name, value in pairs
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], wrong: Sequence[int] = ()) -> str:
    """A table; ``>`` before a title is a column of numbers. Nothing where there are no rows."""
    if not rows:
        return ""
    sides = ["right" if title.startswith(">") else "left" for title in titles]
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side};opacity:.7">{_text(title.removeprefix(">"))}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    body = "".join(
        f'<tr style="{_BAD if i in wrong else ""}">'
        + "".join(
            f'<td style="{_CELL};text-align:{side}">{_text(cell)}</td>' for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for i, row in enumerate(rows[:MOST])
    )
    more = f"<p>and {count(len(rows) - MOST)} more</p>" if len(rows) > MOST else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def _block(title: str, *parts: str) -> str:
    return (
        '<div style="overflow-x:auto"><p style="margin:.3em '
        f'0"><strong>{_text(title)}</strong></p>{"".join(parts)}</div>'
    )


def _text(value: str) -> str:
    return escape(clean(value))
