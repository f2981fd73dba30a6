"""Measures of a release of counts: numbers of rows or persons, and sums of columns with their rules."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sqlanon.declared.records import Path
from sqlanon.declared.values import read_exact
from sqlanon.declared.words import join_words, show
from sqlanon.policy.models import CountedMeasureModel, DominanceModel
from sqlanon.policy.problems import Problems
from sqlanon.statistics_spec import Measured, SumMeasure

PARTS = 10_000
"""Percentages and shares are kept in parts of this."""
OF_SUMS = ("range", "p_percent", "dominance")


def read_measures(
    measures: Mapping[str, CountedMeasureModel], columns: Mapping[str, object], path: Path, problems: Problems
) -> tuple[tuple[tuple[str, Measured], ...], tuple[SumMeasure, ...]]:
    """The counted numbers, and the sums.

    Args:
        measures: as they are written.
        columns: the columns by which tables count.
        path: where the measures are.
        problems: collects the problems.
    """
    counts: list[tuple[str, Measured]] = []
    sums: list[SumMeasure] = []
    for name, model in measures.items():
        place = (*path, name)
        if (model.count is None) == (model.sum is None):
            if not problems.broken(place):
                what = "a count and a sum together" if model.count is not None else "nothing is counted"
                problems.add(place, what, "count, persons, or {sum: column, range: [0, 100], p_percent: 10}")
        elif model.count is not None:
            useless = [key for key in OF_SUMS if getattr(model, key) is not None]
            if useless:
                problems.add(place, f"{join_words(map(show, useless))} of a number of rows or persons", "leave it out")
            counts.append((name, model.count))
        elif (read_sum := _read_sum(name, model, place, problems)) is not None:
            sums.append(read_sum)
    summed_names = [measure.column.lower() for measure in sums]
    for measure in sums:
        if measure.column.lower() in {column.lower() for column in columns}:
            problems.add((*path, measure.name, "sum"), "a column by which tables count", "another column")
        elif summed_names.count(measure.column.lower()) > 1:
            problems.add((*path, measure.name, "sum"), "the column of two sums", "each column once")
    if not counts and not problems.broken(path):
        what = "sums without a number of rows or persons" if sums else "no measure"
        problems.add(path, what, "n: count, or persons: persons")
    return tuple(counts), tuple(sums)


def _read_sum(name: str, model: CountedMeasureModel, path: Path, problems: Problems) -> SumMeasure | None:
    assert model.sum is not None
    allowed = "range: [low, high], the least and the greatest value of a row"
    try:
        ends = tuple(read_exact(end) for end in model.range) if isinstance(model.range, list | tuple) else ()
    except ValueError as wrong:
        problems.add((*path, "range"), str(wrong), allowed)
        return None
    if len(ends) != 2 or ends[0] >= ends[1]:
        what = "is missing: it is declared, never taken from the data" if model.range is None else "not two ends"
        problems.add((*path, "range"), what, allowed)
        return None
    if ends[0] < 0 and not model.absolute:
        problems.add(
            (*path, "range"), "negative values, which hide large contributions in a small sum", "absolute: true with it"
        )
    if model.absolute and ends[0] >= 0:
        problems.add((*path, "absolute"), "the range has no negative values", "leave it out")
    if model.p_percent is None:
        problems.add((*path, "p_percent"), "is missing: how near may a contribution be known?", "p_percent: 10")
        return None
    percent = _parts(Fraction(model.p_percent) / 100, (*path, "p_percent"), "two digits after the point", problems)
    rule = model.dominance
    if rule is None:
        return SumMeasure(name, model.sum, str(ends[0]), str(ends[1]), percent, absolute=model.absolute)
    share = _read_share(rule, (*path, "dominance", "share"), problems)
    return SumMeasure(name, model.sum, str(ends[0]), str(ends[1]), percent, rule.n, share, model.absolute)


def _read_share(rule: DominanceModel, path: Path, problems: Problems) -> int:
    return _parts(rule.share, path, "four digits after the point", problems)


def _parts(value: Fraction, path: Path, digits: str, problems: Problems) -> int:
    if (value * PARTS).denominator != 1:
        problems.add(path, "too precise", f"at most {digits}")
    return max(1, int(value * PARTS))
