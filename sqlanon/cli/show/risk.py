"""Figures of a table that no policy asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, measure, share, things
from sqlanon.results.figures import in_words

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import IdentifyingReport, ModelFigure, RiskReport


def risk_report(screen: Screen, report: RiskReport) -> None:
    """Show the value that every model reaches, and missing measures."""
    if report.models:
        rows = [
            (_model(model), model.column or "", _format_reached(model), in_words(model.model, model.reached))
            for model in report.models
        ]
        screen.show(
            "privacy models, measured without a policy (docs/risk.md says what each figure means)",
            "",
            make_sheet(
                (("model", "left"), ("sensitive", "left"), ("worst class", "right"), ("which means", "wrap", 1)), rows
            ),
            "",
        )
    _attackers(screen, report)
    for what in report.not_measured:
        screen.show(f"not measured: {clean(what)}")


SHOWN = 5
"""Sets of each size, at most."""


def identifying_report(screen: Screen, report: IdentifyingReport) -> None:
    """Show of each size the sets of columns that identify best."""
    how = "the best of all sets of each size" if report.exhaustive else "grown by the column that separates most"
    screen.show(
        f"columns of {clean(report.table)} that identify: {things(report.rows, 'row')}, {count(len(report.columns))} "
        "columns",
        f"  sets of columns: {how}; --json has every set that was measured",
        "",
    )
    shown: dict[int, int] = {}
    rows = []
    for identifying in report.sets:
        size = len(identifying.columns)
        shown[size] = shown.get(size, 0) + 1
        if shown[size] <= SHOWN:
            rows.append(
                (", ".join(identifying.columns), share(identifying.distinction, 1), share(identifying.separation, 1))
            )
    screen.show(make_sheet((("columns", "wrap"), ("distinction", "right"), ("separation", "right")), rows), "")


def _attackers(screen: Screen, report: RiskReport) -> None:
    """Risk in the field's terms."""
    if report.prosecutor is None:
        return
    rows: list[tuple[str, ...]] = []
    for name, risk in (("prosecutor", report.prosecutor), ("journalist", report.journalist)):
        if risk is not None:
            rows.append((name, risk.basis, share(risk.highest, 1), share(risk.average, 1), share(risk.above, 1)))
    if report.marketer is not None:
        rows.append(("marketer", report.marketer.basis, "", share(report.marketer.average, 1), ""))
    if (homes := report.household) is not None:
        shares = (share(risk, 1) for risk in (homes.highest, homes.average, homes.above))
        rows.append(("household, any member", homes.basis, *shares))
    headings = (
        ("attacker", "left"),
        ("computed of", "left"),
        ("highest", "right"),
        ("average", "right"),
        (f"rows above {report.threshold:g}", "right"),
    )
    unique = [
        ("rows unique in the table", f"{count(report.sample_uniques)} ({share(report.sample_uniques, report.rows)})")
    ]
    if report.expected is not None:
        unique.insert(
            0, ("rows expected to be matched", f"{report.expected:.1f} ({share(report.expected, report.rows)})")
        )
    if homes is not None:
        unique.append(("households", f"{count(homes.households)}, the largest of {things(homes.largest, 'person')}"))
        expected = f"{homes.expected:.1f} ({share(homes.expected, homes.persons)})"
        unique.append(("persons whose household is expected to be found", expected))
    if (optimistic := report.wildcard) is not None:
        rows.append(
            (
                "prosecutor, OPTIMISTIC",
                "NULL and * any value",
                share(optimistic.highest, 1),
                share(optimistic.average, 1),
                share(optimistic.above, 1),
            )
        )
        number = f"{count(optimistic.unique_rows)} ({share(optimistic.unique_rows, report.rows)})"
        unique.append(("rows compatible with no other, OPTIMISTIC", number))
    if (population := report.population) is not None:
        unique.append(("persons of the population", measure(round(population.population))))
        if population.exact is not None:
            unique.append(("persons unique in the population", _unique(population.exact, population.population)))
        else:
            unique += [
                (f"estimated unique in the population, {name}", _unique(value, population.population))
                for name, value in (
                    ("Pitman", population.pitman),
                    ("Zayatz", population.zayatz),
                    ("SNB", population.snb),
                )
            ]
            rule = f"estimated unique in the population, Dankar's rule ({population.rule})"
            unique.append((rule, _unique(population.dankar, population.population)))
    screen.show(make_sheet(headings, rows), "", make_sheet((("rows and persons", "wrap"), ("", "left")), unique), "")


def _unique(number: float | None, population: float) -> str:
    return "not estimable" if number is None else f"{measure(round(number))} ({share(number, population)})"


def _model(figure: ModelFigure) -> str:
    return f"{figure.model} ({figure.form})" if figure.form else figure.model


def _format_reached(figure: ModelFigure) -> str:
    return "none holds" if figure.reached is None else measure(figure.reached)
