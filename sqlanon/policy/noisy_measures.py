"""The measures of differentially private statistics, and bounds of the contributions of a person."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

from sqlanon.declared.records import Path
from sqlanon.declared.values import read_exact
from sqlanon.declared.words import join_words, show
from sqlanon.noisy_spec import BudgetSpec, NoisyMeasure, NoisyTable
from sqlanon.policy.noisy_models import NoisyMeasureModel, NoisyModel
from sqlanon.policy.problems import Problems

MOST_STEPS = 2**30
"""Multiples of the unit in a range, at most: sums over 2**31 rows fit 62 bits."""
MOST_WEIGHED = 2**21
"""Weight times the range of a measure in units, at most: weighed sums of 2**31 persons fit 62 bits."""
NEEDS_DELTA = "this has Gaussian noise, which needs the budget's delta"


def read_measure(name: str, model: NoisyMeasureModel, path: Path, problems: Problems) -> NoisyMeasure | None:
    """A measure of rows or persons, or of a column with a range and a unit; None: there is a problem."""
    kinds = [kind for kind in ("count", "sum", "mean", "quantiles") if getattr(model, kind) is not None]
    if len(kinds) != 1:
        if not problems.broken(path):
            what = f"{join_words(kinds)} together" if kinds else "nothing is measured"
            allowed = "rows, persons, {sum: column, range: [0, 100]}, or mean or quantiles in place of sum"
            problems.add(path, what, allowed)
        return None
    if model.of is not None and model.quantiles is None:
        problems.add((*path, "of"), "only quantiles name their column by it", "leave it out")
    if model.count is not None:
        if model.range is not None:
            problems.add((*path, "range"), "rows and persons have no range", "leave it out")
        return NoisyMeasure(name, model.count)
    column = model.sum or model.mean or model.of or name
    allowed = "range: [low, high] in multiples of unit; values beyond are taken as these"
    try:
        ends = tuple(read_exact(end) for end in model.range) if isinstance(model.range, list | tuple) else ()
    except ValueError as wrong:
        problems.add((*path, "range"), str(wrong), allowed)
        return None
    unit = Fraction(model.unit)
    if len(ends) != 2 or ends[0] >= ends[1]:
        what = "is missing: it is declared, never taken from the data" if model.range is None else "not two ends"
        problems.add((*path, "range"), what, allowed)
        return None
    if 10**9 % unit.denominator:
        problems.add((*path, "unit"), "too precise", "a decimal number of at most 9 digits after the point")
    elif any((end / unit).denominator != 1 or abs(end / unit) > MOST_STEPS for end in ends):
        problems.add((*path, "range"), f"not in multiples of the unit, or above {MOST_STEPS} of them", allowed)
    if model.quantiles is None:
        return NoisyMeasure(name, "sum" if model.sum is not None else "mean", column, ends[0], ends[1], unit)
    if ends[1] - ends[0] < 2 * unit:
        problems.add((*path, "range"), "less than two units, of which no quantile is found", "a wider range")
    shares = _read_shares(model.quantiles, (*path, "quantiles"), problems)
    return NoisyMeasure(name, "quantiles", column, ends[0], ends[1], unit, shares, model.steps)


def check_contributions(
    statistics: NoisyModel,
    budget: BudgetSpec,
    tables: tuple[NoisyTable, ...],
    measures: tuple[NoisyMeasure, ...],
    base: Path,
    problems: Problems,
) -> None:
    """What one person contributes is bounded: by numbers of groups and rows, or by a weight."""
    bounds, path = statistics.contributions, (*base, "contributions")
    if bounds.weight is None:
        for key in ("groups", "rows"):
            if getattr(bounds, key) is None and not problems.broken((*path, key)):
                problems.add((*path, key), "is missing", "groups and rows, or weight")
        return
    if bounds.groups is not None or bounds.rows is not None:
        problems.add(path, "weight together with groups or rows", "groups and rows, or weight")
    if budget.delta == 0 or statistics.noise == "laplace":
        problems.add((*path, "weight"), NEEDS_DELTA, "give the budget a delta, and leave noise: laplace out")
    if statistics.running is not None:
        problems.add((*path, "weight"), "running counts count a person once", "groups and rows")
    if any(table.totals for table in tables):
        what = "totals weigh more than their parts, and only the finest groups are measured"
        problems.add((*path, "weight"), what, "totals: false in each table; query adds groups up")
    for measure in measures:
        size = (measure.high - measure.low) if measure.quantity == "mean" else max(abs(measure.low), abs(measure.high))
        if measure.quantity in ("sum", "mean") and bounds.weight * size > MOST_WEIGHED * measure.unit:
            what = f"weight times range is above {MOST_WEIGHED} units"
            problems.add((*base, "measures", measure.name, "range"), what, "a larger unit, or a narrower range")


def read_arrivals(
    statistics: NoisyModel, budget: BudgetSpec, measures: tuple[NoisyMeasure, ...], base: Path, problems: Problems
) -> tuple[NoisyMeasure, ...]:
    """The measures of running counts: persons, each counted once."""
    for measure in measures:
        if measure.quantity != "persons":
            what = f"running counts are of persons, and {show(measure.name)} is not"
            problems.add((*base, "measures", measure.name), what, "persons, or another release without running")
    if budget.delta == 0 or statistics.noise == "laplace":
        problems.add((*base, "running"), NEEDS_DELTA, "give the budget a delta, and leave noise: laplace out")
    return tuple(replace(measure, quantity="arrivals") for measure in measures)


def _read_shares(raw: object, path: Path, problems: Problems) -> tuple[Fraction, ...]:
    allowed = "ascending numbers above 0 and below 1, of at most 6 digits after the point"
    try:
        shares = tuple(read_exact(share) for share in raw) if isinstance(raw, list | tuple) else ()
    except ValueError as wrong:
        problems.add(path, str(wrong), allowed)
        return ()
    inside = all(0 < share < 1 and 10**6 % share.denominator == 0 for share in shares)
    if not shares or not inside or any(share >= following for share, following in itertools.pairwise(shares)):
        problems.add(path, "no quantiles", allowed)
        return ()
    return shares
