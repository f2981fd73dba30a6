"""Risk of a version by three attackers, computed from its verified report: no query is asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.decided import Attacker, Over
from sqlanon.results.base import Report
from sqlanon.results.run import RunReport


@dataclass(frozen=True, slots=True)
class MeasuredRisk(Report):
    """Probabilities; None: not measured for this release.

    Attributes:
        rows: prosecutor, quasi columns known: 1 / rows of the smallest class.
        persons: the same, 1 / persons of the class with the fewest; None also where every row is a person.
        published: prosecutor, every published column known but the sensitive ones: 1 / rows of the smallest group, and
            not below ``rows`` and ``persons``.
        marketer: the mean over all rows, quasi columns known: classes / rows.
        journalist: 1 / persons of the population in the smallest class; with `k_map` in the policy.
        as_they_are: columns that are published as they are, which ``published`` adds to the quasi columns.
    """

    rows: float | None
    persons: float | None
    published: float | None
    marketer: float | None
    journalist: float | None
    as_they_are: tuple[str, ...] = ()


def measured_risk(run: RunReport) -> MeasuredRisk:
    """The risks of a version, as far as its report has them."""
    rows, persons = _of_rows(run), _of_persons(run)
    known = {attacker: exact_risk(run, attacker) for attacker in ("marketer", "journalist")}
    return MeasuredRisk(
        rows=_number(rows),
        persons=_number(persons),
        published=_number(exact_risk(run, "prosecutor", "published")),
        marketer=_number(known["marketer"]),
        journalist=_number(known["journalist"]),
        as_they_are=run.exposed.columns if run.exposed else (),
    )


def exact_risk(run: RunReport, attacker: Attacker, over: Over = "quasi") -> Fraction | None:
    """A risk as a fraction, to be compared with a threshold; None: it was not measured.

    Args:
        run: the verified report.
        attacker: see docs/risk.md.
        over: the columns that are known.
    """
    if attacker == "journalist":
        reached = [one.reached for one in run.requirements if one.name == "k_map"]
        return Fraction(1, int(min(reached))) if reached and min(reached) >= 1 else None
    if attacker == "marketer":
        published = run.rows - run.left_out
        grouped = run.wholly_classed and _of_rows(run) is not None
        return Fraction(run.classes, published) if grouped and published else None
    found = [risk for risk in (_of_rows(run), _of_persons(run)) if risk is not None]
    if over == "published":
        every = _of_published(run)
        if every is None:
            return None
        found.append(every)
    return max(found, default=None) if _of_rows(run) is not None else None


def _of_rows(run: RunReport) -> Fraction | None:
    """None for format anatomy, whose rows are exact, and for releases of counts."""
    if run.published_sensitive is not None or run.statistics is not None or not run.min_class:
        return None
    return Fraction(1, run.min_class)


def _of_persons(run: RunReport) -> Fraction | None:
    fewest = list(run.min_identifiers.values())
    if not fewest or _of_rows(run) is None:
        return None
    # Of several identifiers the one with the fewest values counts.
    return Fraction(1, max(min(fewest), 1))


def _of_published(run: RunReport) -> Fraction | None:
    if run.exposed is not None:
        return Fraction(1, max(run.exposed.k, 1))
    # Nothing is published as it is; or these columns were not counted.
    return _of_rows(run) if run.wholly_classed else None


def _number(risk: Fraction | None) -> float | None:
    return None if risk is None else float(risk)


TITLES: Mapping[str, str] = {
    "rows": "prosecutor, rows, quasi columns known",
    "persons": "prosecutor, persons, quasi columns known",
    "published": "prosecutor, every published column known but the sensitive ones",
    "marketer": "marketer, the mean over all rows",
    "journalist": "journalist, in the population of k_map",
}
"""How the figures are called."""
