"""A plan: the treatment of each column, feasible requirements, warnings, the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.cli.show.cost import cost_sheet
from sqlanon.cli.show.run import data_lines, format_reasons, history_tables, next_commands, second_table, snapshot_line
from sqlanon.cli.show.text import clean, count, make_sheet, measure, note, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import Estimate, PlanReport


def plan_report(screen: Screen, report: PlanReport, *, sql: bool, run: str) -> None:
    """Show a plan; ``run`` is the command that carries it out."""
    screen.show(
        f"release {clean(report.release)}: {clean(report.change)}",
        *format_reasons("because", report.why),
        *data_lines(report.data),
        f"  source    {clean(report.source)}, {things(report.rows, 'row')}",
        *snapshot_line(report.snapshot),
        f"  publish   {clean(report.publish)}",
        *second_table(report.publish_sensitive),
        f"  method    {clean(report.method)}, {report.execution}; format {report.format}",
        *_estimate(report.estimate),
        "",
    )
    measured = any(column.loss is not None for column in report.columns)
    rows = [
        (
            column.name,
            column.type,
            column.role,
            column.treatment,
            count(column.distinct) if column.distinct or column.nulls else "-",
            count(column.nulls) if column.distinct or column.nulls else "-",
            *([f"{column.loss:.2f}" if column.loss is not None else ""] if measured else []),
            _publishes(column.name, column.publishes),
        )
        for column in report.columns
    ]
    titles = ("column", "type", "role", "treatment", "distinct", "nulls", *(["loses"] if measured else []), "publishes")
    screen.show(make_sheet([(title, _SIDE.get(title, "left"), _SPARE.get(title, 0)) for title in titles], rows), "")
    if report.feasible:
        feasible = [
            (
                requirement.name if requirement.column is None else f"{requirement.name} of {requirement.column}",
                measure(requirement.asked),
                measure(requirement.largest),
                "yes" if requirement.met else "not of all rows",
            )
            for requirement in report.feasible
        ]
        sides = (("requirement", "wrap"), ("asked", "right"), ("largest", "right"), ("feasible", "left"))
        screen.show(make_sheet(sides, feasible), "")
    if measured:
        screen.show(LOSES, "")
    if screen.verbose and report.cost is not None:
        screen.show("a run moves about (rough):", cost_sheet(report.cost), "")
    screen.show(*history_tables(report.history))
    screen.show(*[f"{'stages' if not place else '':<8}{clean(text)}" for place, text in enumerate(report.stages)], "")
    for text in report.notes:
        screen.show(note(text))
    if report.bound is not None:
        screen.show(clean(report.bound))
    if report.weaker:
        screen.show("the policy is weaker than what is published: run wants --allow-weaker")
    for warning in report.warnings:
        screen.show(f"warning: {clean(warning)}")
    if sql:
        for statement in report.statements:
            screen.show(statement.strip().rstrip(";") + ";", "")
    elif report.statements:
        screen.show(f"{count(len(report.statements))} SQL statements do not depend on data: --sql prints them")
    next_commands(screen, [] if report.state == "unchanged" else [run])


def _estimate(guess: Estimate | None) -> list[str]:
    """A rough guess, and how far it may be off."""
    if guess is None:
        return []
    method = f"{_rough(guess.seconds)} to {_rough(guess.most_seconds)}, {count(max(guess.memory >> 20, 1))} MiB"
    sql = f"{_rough(guess.sql_seconds)} to {_rough(guess.most_sql_seconds)}"
    return [f"  estimate  method {method}; SQL around it {sql}", "            (rough: data and machine move it)"]


def _rough(number: float) -> str:
    """A number with a single digit, as no more is known: ``0.2 s``, ``4 s``, ``3 min``, ``5 h``."""
    if number < 90:
        return f"{float(f'{max(number, 0.1):.1g}'):g} s"
    return f"{number / 60:.0f} min" if number < 5400 else f"{number / 3600:.0f} h"


LOSES = (
    "loses: how wide the published ranges and sets are, from 0 (exact) to 1 (all values); a column near 1 says "
    "nothing, and dropping it lets others say more"
)


_SIDE = {
    "distinct": "right",
    "nulls": "right",
    "loses": "right",
    "type": "wrap",
    "treatment": "wrap",
    "publishes": "wrap",
}


_SPARE = {"nulls": 4, "distinct": 3, "type": 2, "treatment": 1}


def _publishes(name: str, published: Sequence[str]) -> str:
    """The columns that a column becomes; endings alone where the whole names would be long."""
    whole = ", ".join(published) or "-"
    if len(whole) <= 16:
        return whole
    return " ".join(f"..{column.removeprefix(name)}" if column.startswith(name) else column for column in published)
