"""Risk of a version by three attackers, computed from the verified report, without further queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.decision_spec import Attacker, Over
from sqlanon.results.base import Report
from sqlanon.results.run import RunReport


@dataclass(frozen=True, slots=True)
class MeasuredRisk(Report):
    """Probabilities; None: not measured for this release.

    Those called ``published`` are of who knows, beside the quasi columns, every column that is published as it is.

    Attributes:
        rows: prosecutor: 1 / rows of the smallest class.
        persons: the same, 1 / persons of the class with the fewest; None also where every row is a person.
        published: prosecutor: 1 / rows of the smallest group of rows that are equal in every published column but the
            sensitive ones.
        published_persons: the same, 1 / persons of the group with the fewest; None also where every row is a person.
        marketer: the mean over all rows: classes / rows.
        published_marketer: groups / rows.
        journalist: 1 / persons of the population in the smallest class; with `k_map` in the policy.
        published_journalist: at most: the prosecutor's, as the population has none of these columns.
        as_they_are: columns that are published as they are.
    """

    rows: float | None
    persons: float | None
    published: float | None
    published_persons: float | None
    marketer: float | None
    published_marketer: float | None
    journalist: float | None
    published_journalist: float | None
    as_they_are: tuple[str, ...] = ()

    def highest(self, over: Over = "quasi") -> float | None:
        """The prosecutor's, of rows and of persons; None: not measured, or of rows alone where persons count."""
        if over == "quasi":
            return None if self.rows is None else max(self.rows, self.persons or 0.0)
        if self.published is None or (self.persons is not None and self.published_persons is None):
            return None
        return max(self.published, self.published_persons or 0.0)


def read_measured_risk(run: RunReport) -> MeasuredRisk:
    """The risks of a version, as far as the report has them."""
    risks = {key: None if risk is None else float(risk) for key, risk in _risks(run).items()}
    return MeasuredRisk(**risks, as_they_are=run.exposed.columns if run.exposed else ())


def exact_risk(run: RunReport, attacker: Attacker, over: Over = "quasi") -> Fraction | None:
    """A risk as a fraction, to be compared with a threshold; None: it was not measured.

    Args:
        run: the verified report.
        attacker: see docs/risk.md.
        over: the columns that are known. The prosecutor's risk is the larger of rows and persons.
    """
    risks = _risks(run)
    if attacker != "prosecutor":
        return risks[attacker if over == "quasi" else f"published_{attacker}"]
    keys = ("rows", "persons") if over == "quasi" else ("published", "published_persons")
    of_rows, of_persons = (risks[key] for key in keys)
    uncounted = of_persons is None and risks["persons"] is not None
    return None if of_rows is None or uncounted else max(of_rows, of_persons or Fraction(0))


def _risks(run: RunReport) -> dict[str, Fraction | None]:
    """Every risk by the name in `MeasuredRisk`."""
    if run.statistics is not None:
        # Who knows a person's columns finds the cell; a hidden one has no number.
        fraction = Fraction(1, run.statistics.persons) if run.statistics.persons else None
        return {key: None if "marketer" in key or "journalist" in key else fraction for key in TITLES}
    rows, persons, journalist = _of_rows(run), _of_persons(run), _of_population(run)
    published = run.published_rows - run.left_out
    # With boxes of their own there are as many boxes as rows: the mean over rows is not counted.
    mean = Fraction(run.classes, published) if rows is not None and run.shape.grouped and published else None
    exposed = run.exposed
    if exposed is None:
        # Nothing is published as it is. Lineages and boxes of their own are counted since 0.2, also where that is so.
        classed = rows is not None and run.wholly_classed
        every = {"": rows, "_persons": persons, "_marketer": mean, "_journalist": journalist}
        every = {key: risk if classed else None for key, risk in every.items()}
    else:
        least = Fraction(1, max(exposed.k, 1)) if rows is not None else None
        fewest = Fraction(1, max(exposed.persons, 1)) if exposed.persons is not None else None
        if not exposed.columns:
            fewest = persons
        most = None if least is None or (persons is not None and fewest is None) else max(least, fewest or Fraction(0))
        every = {
            "": least,
            "_persons": fewest,
            "_marketer": Fraction(exposed.groups, published) if exposed.groups and published else None,
            "_journalist": None if journalist is None else journalist if not exposed.columns else most,
        }
    risks = {"rows": rows, "persons": persons, "marketer": mean, "journalist": journalist}
    return risks | {f"published{key}": risk for key, risk in every.items()}


def _of_rows(run: RunReport) -> Fraction | None:
    """None for format anatomy, which has exact rows, and for releases of counts.

    Of a lineage the smallest exit group counts: a holder of all versions sees it leave.
    """
    if run.published_sensitive is not None or run.statistics is not None or not run.min_class:
        return None
    return Fraction(1, run.least_group)


def _of_persons(run: RunReport) -> Fraction | None:
    if _of_rows(run) is None:
        return None
    # Of several identifiers the one with the fewest values counts. Lineages have the value their requirement reached.
    fewest = list(run.min_identifiers.values()) or [
        int(requirement.reached) for requirement in run.requirements if requirement.name == PERSONS
    ]
    return Fraction(1, max(min(fewest), 1)) if fewest else None


def _of_population(run: RunReport) -> Fraction | None:
    reached = [requirement.reached for requirement in run.requirements if requirement.name == "k_map"]
    return Fraction(1, int(min(reached))) if reached and min(reached) >= 1 else None


PERSONS = "persons"
"""The requirement that counts them."""

TITLES: Mapping[str, str] = {
    "rows": "prosecutor, rows, quasi columns known",
    "persons": "prosecutor, persons, quasi columns known",
    "published": "prosecutor, rows, every published column known but the sensitive ones",
    "published_persons": "prosecutor, persons, every published column known but the sensitive ones",
    "marketer": "marketer, the mean over all rows, quasi columns known",
    "published_marketer": "marketer, the mean over all rows, every published column known but the sensitive ones",
    "journalist": "journalist, in the population of k_map, quasi columns known",
    "published_journalist": "journalist, at most, every published column known but the sensitive ones",
}
"""How the figures are called."""
