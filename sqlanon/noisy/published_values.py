"""Published values, intervals and marks of all groups, computed from noisy numbers alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.noisy.accounting import Law
from sqlanon.noisy.consistent import make_consistent
from sqlanon.noisy.nights import combine, spread_of
from sqlanon.noisy.quantiles import bound_quantile, find_quantile
from sqlanon.noisy.shape import KEPT_STEPS, MOST_GROUPS, Shape, Table
from sqlanon.noisy.split import Noise

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.noisy.shape import Part

    Numbers = Sequence[Longs] | Sequence[Doubles]

INTERVAL = 0.95
"""Probability that an interval contains the bounded answer."""
HALF = 0.5
"""Numbers are whole before they are combined, so that intervals are half a step wider."""
MOST_MISSED = 0.05
"""Up to here a Laplace number has a wider interval than any combination of several with the same deviation."""
NIGHT = "night"
"""Of running counts: the number of the version among those that are paid together, from 1."""
PERSONS = ("persons", "arrivals")
"""Measures that count persons."""
ORDER = "_sqlanon_order"
"""A column of the drawn table, which the view has not."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Numbers of the groups of a level.

    Attributes:
        value: float64[groups], unbiased.
        low, high: float64[groups], the interval, within the range of that kind of number.
    """

    value: Doubles
    low: Doubles
    high: Doubles


Estimates = Mapping[tuple[int, int, int], tuple[Estimate, ...]]
"""By table, level and measure: of each column of the measure."""


def column_types(shape: Shape) -> list[tuple[str, str]]:
    """Names and types of the columns of the drawn table."""
    numbers = [
        (f"{name}{end}", "DOUBLE PRECISION")
        for measure in shape.spec.measures
        for name in measure.columns
        for end in ("", "_low", "_high")
    ]
    return [
        (ORDER, "BIGINT"),
        ("table", "TEXT"),
        ("level", "INTEGER"),
        *(((NIGHT, "INTEGER"),) if shape.factor is not None else ()),
        *((dimension.name, "TEXT") for dimension in shape.groups),
        *numbers,
        *((("shown", "BOOLEAN"),) if shape.spec.show is not None else ()),
    ]


def view_columns(shape: Shape) -> list[str]:
    """The columns of the view."""
    return [name for name, _ in column_types(shape)[1:]]


def half_width(noise: Noise, series: int, missed: float) -> float:
    """Half the width of an interval around a noisy number that misses with this probability, at most."""
    scale = float(noise.scales[series])
    if noise.law == "laplace":
        # P(|z| > t) = 2 r^(t + 1) / (1 + r) for whole t, with r = exp(-1 / b).
        fade = math.exp(-1 / scale)
        return max(0.0, math.ceil(math.log(missed * (1 + fade) / 2) / math.log(fade) - 1))
    return width_of("gaussian", scale, missed)


def ends_of(law: Law, missed: float) -> float:
    """Half the width around a linear combination of noisy numbers, in deviations; half a step comes to it.

    For Laplace noise the width of a single number is used: the widest of all combinations with the same deviation
    where at most `MOST_MISSED` is missed. A larger allowance gets the width at `MOST_MISSED`.
    """
    from statistics import NormalDist

    if law == "laplace":
        return math.log(1 / min(missed, MOST_MISSED)) / math.sqrt(2)
    return NormalDist().inv_cdf(1 - missed / 2)


def width_of(law: Law, deviation: float, missed: float) -> float:
    """Half the width of an interval around a linear combination of noisy numbers, from the deviation."""
    return ends_of(law, missed) * deviation + HALF


def estimate(shape: Shape, noise: Noise, noisy: Numbers) -> Estimates:
    """Values and intervals by table, level and measure, of each column of the measure.

    Args:
        shape: the measurements.
        noise: the noise of the release.
        noisy: int64[groups] of each series.
    """
    by_place: dict[tuple[int, int, int], tuple[Estimate, ...]] = {}
    for number in range(len(shape.published)):
        for place, measure in enumerate(shape.spec.measures):
            missed = 1 - INTERVAL
            if measure.quantity == "quantiles":
                of_steps = _estimate_quantiles(shape, noise, noisy, (number, place))
                by_place |= {(number, level, place): level_estimate for level, level_estimate in enumerate(of_steps)}
                continue
            if measure.quantity == "mean":
                # Both parts hold together: each misses with half the probability.
                values = _estimate_part(shape, noise, noisy, (number, place, "values"), missed / 2)
                sums = _estimate_part(shape, noise, noisy, (number, place, "centered"), missed / 2)
                low, high, unit = float(measure.low), float(measure.high), float(measure.unit)
                pairs = zip(values, sums, strict=True)
                estimates = [_mean(numerator, denominator, (low, high, unit)) for numerator, denominator in pairs]
            else:
                part: Part = "persons" if measure.quantity == "arrivals" else measure.quantity
                estimates = _estimate_part(shape, noise, noisy, (number, place, part), missed)
                unit = float(measure.unit)
                if measure.quantity == "sum":
                    estimates = [Estimate(item.value * unit, item.low * unit, item.high * unit) for item in estimates]
                else:
                    estimates = [
                        Estimate(item.value, np.maximum(item.low, 0), np.maximum(item.high, 0)) for item in estimates
                    ]
            for level, level_estimate in enumerate(estimates):
                by_place[number, level, place] = (level_estimate,)
    return by_place


def estimate_night(shape: Shape, noise: Noise, measured: Sequence[Longs]) -> Estimates:
    """Running counts of a night, and the persons who arrived in it, by table, level and measure.

    Args:
        shape: the measurements.
        noise: the noise of the release.
        measured: int64[nights so far, groups] of each series, noisy.
    """
    factor = shape.factor
    assert factor is not None
    estimates = []
    for weights in (factor.running, factor.arrived):
        night_noise = scale_noise(noise, spread_of(weights, len(measured[0])))
        estimates.append(estimate(shape, night_noise, [combine(weights, measurement) for measurement in measured]))
    return {place: (*running, *estimates[1][place]) for place, running in estimates[0].items()}


def scale_noise(noise: Noise, share: float) -> Noise:
    """Noise of so many times the scale; it is charged elsewhere."""
    return Noise(noise.law, tuple(scale * Fraction(share) for scale in noise.scales), ())


def _estimate_quantiles(
    shape: Shape, noise: Noise, noisy: Numbers, which: tuple[int, int]
) -> list[tuple[Estimate, ...]]:
    """The quantiles of a measure, level by level."""
    table, measure = shape.steps(*which), shape.spec.measures[which[1]]
    levels = shape.tables[table].levels
    places = [shape.find_series(table, level, which[1], "rows") for level in range(len(levels))]
    numbers, number_deviations = _read_numbers(shape, noise, noisy, places)
    values, deviations = make_consistent(levels, numbers, number_deviations)
    ends = np.array([float(end) for end in measure.ends])
    width = (ends_of(noise.law, 1 - INTERVAL), HALF)
    estimates = []
    for value, deviation in zip(values, deviations, strict=True):
        counts, errors = (array.reshape(len(ends) - 1, -1) for array in (value, deviation))
        estimates.append(
            tuple(
                Estimate(find_quantile(counts, ends, share), *bound_quantile(counts, errors, ends, share, width))
                for share in map(float, measure.quantiles)
            )
        )
    return estimates


def _estimate_part(
    shape: Shape, noise: Noise, noisy: Numbers, which: tuple[int, int, Part], missed: float
) -> list[Estimate]:
    """The estimates of a part of a measure, level by level."""
    table, measure, part = which
    levels = shape.tables[table].levels
    places = [shape.find_series(table, level, measure, part) for level in range(len(levels))]
    numbers, number_deviations = _read_numbers(shape, noise, noisy, places)
    if len(levels) == 1 or (part == "persons" and not shape.additive_persons):
        widths = [half_width(noise, place, missed) / shape.series[place].steps for place in places]
        return [Estimate(number, number - width, number + width) for number, width in zip(numbers, widths, strict=True)]
    values, deviations = make_consistent(levels, numbers, number_deviations)
    return [
        Estimate(value, value - width, value + width)
        for value, deviation in zip(values, deviations, strict=True)
        for width in (ends_of(noise.law, missed) * deviation + HALF,)
    ]


def _read_numbers(
    shape: Shape, noise: Noise, noisy: Numbers, places: Sequence[int]
) -> tuple[list[Doubles], list[float]]:
    """The numbers of some series, and their standard deviations."""
    steps = [shape.series[place].steps for place in places]
    numbers = [noisy[place].astype(np.float64) / parts for place, parts in zip(places, steps, strict=True)]
    return numbers, [noise.deviation(place) / parts for place, parts in zip(places, steps, strict=True)]


def _mean(values: Estimate, sums: Estimate, ends: tuple[float, float, float]) -> Estimate:
    """Means of a noisy number of values and a noisy sum of doubled distances from the middle."""
    low, high, unit = ends
    middle = (low + high) / 2
    fewest, most = np.maximum(values.low, 1), np.maximum(values.high, 1)

    def mean(total: Doubles, many: Doubles) -> Doubles:
        return np.asarray(np.clip(middle + unit * total / (2 * many), low, high))

    return Estimate(
        mean(sums.value, np.maximum(values.value, 1)),
        mean(sums.low, np.where(sums.low < 0, fewest, most)),
        mean(sums.high, np.where(sums.high < 0, most, fewest)),
    )


def measure_kept_share(noisy: Sequence[Longs]) -> float:
    """The mean share of a person's rows that is counted, of the last two series."""
    kept_steps, persons = int(noisy[-2][0]), int(noisy[-1][0])
    return min(1.0, max(0.0, kept_steps / KEPT_STEPS / max(persons, 1)))


def list_drawn_rows(shape: Shape, estimates: Estimates, night: int | None = None) -> Iterator[tuple[object, ...]]:
    """The rows of the drawn table, of all declared groups; of running counts those of a night."""
    order = 0 if night is None else night * MOST_GROUPS
    at_night = () if night is None else (night,)
    for number, table in enumerate(shape.published):
        for depth, level in enumerate(table.levels):
            texts = _texts(shape, table, depth)
            ends: list[list[float]] = []
            for place in range(len(shape.spec.measures)):
                for estimate_ in estimates[number, depth, place]:
                    ends += [estimate_.value.tolist(), estimate_.low.tolist(), estimate_.high.tolist()]
            if shape.spec.show is not None:
                place = next(index for index, measure in enumerate(shape.spec.measures) if measure.quantity in PERSONS)
                persons = estimates[number, depth, place][0].value
                ends.append((persons >= shape.spec.show).tolist())
            for group in range(level.size):
                order += 1
                yield (order, table.name, depth, *at_night, *texts[group], *(end[group] for end in ends))


def _texts(shape: Shape, table: Table, depth: int) -> list[tuple[str | None, ...]]:
    """The texts of the columns of groups, of each group of a level."""
    level = table.levels[depth]
    rows: list[list[str | None]] = [[]]
    by_column: dict[int, int] = {}
    for place, (column, dimension_level) in enumerate(zip(table.columns, level.depth, strict=True)):
        by_column[column] = place
        nodes = (None,) if dimension_level is None else shape.dimensions[column].nodes[dimension_level][1]
        rows = [[*row, node] for row in rows for node in nodes]
    return [
        tuple(row[by_column[column]] if column in by_column else None for column in range(len(shape.groups)))
        for row in rows
    ]
