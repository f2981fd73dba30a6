"""Answer to a query over a release: estimates with bounds, group by group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UnsupportedError

if TYPE_CHECKING:
    from sqlglot import exp

MOST_DIGITS = 308
"""Digits of a number of an answer, at most: those of the largest double."""
_NUMBERS = (int, float, Decimal)


@dataclass(frozen=True)
class Interval:
    """Range of an aggregate in most of the consistent sources, if all values of a box are equally likely.

    It is no bound, and no statement about the actual source, which is more likely to have values that are common
    elsewhere.

    Attributes:
        level: at least this share of uniformly drawn consistent sources is in it; for a sum up to ``error``.
        low, high: the ends, both included.
        error: the most by which the share may miss the level; 0: only by the rounding of doubles.
    """

    level: float
    low: float
    high: float
    error: float


@dataclass(frozen=True)
class NoiseInterval(Interval):
    """Range of the bounded answer under the noise; the values that bounding cuts are not in it.

    Attributes:
        level: the interval contains the bounded answer with this probability, of the noise, or a larger one.
        of: the source of randomness, for readers of JSON.
        before_bounding: the ends that hold as well for the answer before bounding: "", "low", "high" or "both"; each
            fails with at most half the probability of the interval.
    """

    of: str = "noise"
    before_bounding: str = ""


@dataclass(frozen=True)
class Bounded:
    """An aggregate of a group.

    Attributes:
        estimate: under uniform values within every box; None where it is undefined.
        low, high: no source that is consistent with the release gives less or more; None: unbounded, or undefined.
        tight: ``low`` and ``high`` are each reached by some consistent source.
        exact: the bounds meet, so that every consistent source gives this value.
        undefined_possible: some consistent source gives NULL (AVG, SUM, MIN or MAX of no rows).
        interval: range in most of the consistent sources, if asked for.
    """

    estimate: Any
    low: Any
    high: Any
    tight: bool = True
    exact: bool = False
    undefined_possible: bool = False
    interval: Interval | None = None

    @property
    def width(self) -> float | None:
        """Distance of the bounds as a share of the estimate.

        None: the bounds are no numbers, or a bound is missing, or the estimate is 0 and the bounds differ.
        """
        if self.exact:
            return 0.0
        listed = (self.estimate, self.low, self.high)
        numbers = [
            float(value) if isinstance(value, Decimal) else value for value in listed if isinstance(value, _NUMBERS)
        ]
        if len(numbers) < 3 or any(isinstance(number, bool) or not math.isfinite(number) for number in numbers):
            return None
        estimate, low, high = numbers
        return (high - low) / abs(estimate) if estimate else None


@dataclass(frozen=True)
class Unlike:
    """Rows of a release with ``refresh: {mode: frozen}`` that differ from the source.

    Attributes:
        retained: published, and no longer in the source.
        stale: published with other values than those of the source.
        not_published: in the source, but not published.
    """

    retained: int
    stale: int
    not_published: int


@dataclass(frozen=True)
class Answer:
    """The answer to a query.

    Attributes:
        columns: output names, in order.
        aggregates: the columns with cells that are `Bounded`.
        rows: one mapping a group, from name to `Bounded` or to a plain value.
        certain: per row, whether the group is in the answer of every consistent source. For format anatomy, where WHERE
            has a condition on the sensitive column, it may be False for such a group too.
        sql: the rewritten SQL that ran over the release.
        unlisted_groups: some consistent source may have more groups than these, of values that the release shows
            nowhere.
        unsettled_groups: some consistent source may have more groups than these, as conditions on groups go by the
            estimates.
        left_out: rows of the source that the release does not publish; the bounds count them in.
        unlike: with ``refresh: {mode: frozen}``: rows that are not as in the source; the bounds are about the rows as
            published, unless they were asked of the source.
        types: types of the columns in the source; none where only the release has the columns.
    """

    columns: tuple[str, ...]
    aggregates: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    certain: tuple[bool, ...]
    sql: str
    unlisted_groups: bool = False
    left_out: int = 0
    unlike: Unlike | None = None
    merged: tuple[tuple[Any, ...], ...] = ()
    """Of each row the values of the groups that it was merged of, where that was asked for."""
    unsettled_groups: bool = False
    types: tuple[exp.DataType, ...] = field(default=(), compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON: ``{"rows": [...], "unlisted_groups": ..}``.

        An aggregate is an object under its name; other columns are plain.

        A row has the key ``certain`` too, unless a column of the query has that name.
        """
        rows = []
        for row, certain in zip(self.rows, self.certain, strict=True):
            cells = {name: _plain(row[name]) for name in self.columns}
            rows.append({"certain": certain} | cells if "certain" in cells else cells | {"certain": certain})
        missing: dict[str, Any] = {"left_out": self.left_out} if self.left_out else {}
        if self.unsettled_groups:
            missing["unsettled_groups"] = True
        if self.unlike is not None:
            missing["as_published"] = asdict(self.unlike)
        if self.merged:
            missing["merged"] = [[_plain(value) for value in group] for group in self.merged]
        return {"rows": rows, "unlisted_groups": self.unlisted_groups} | missing


@dataclass(frozen=True, slots=True)
class ResultRows:
    """The rows of a rewritten query.

    Attributes:
        columns: output names, and whether each has bounds: then a row has four cells for the column.
        tight: of those with bounds, whether they are tight.
        rows: the rows, ``certain`` last.
        intervals: per row, the intervals of aggregates.
    """

    columns: Sequence[tuple[str, bool]]
    tight: Mapping[str, bool]
    rows: Sequence[Sequence[Any]]
    intervals: Sequence[Mapping[str, Interval]] = ()


def make_answer(
    result: ResultRows, sql: str, *, unlisted_groups: bool, left_out: int = 0, unlike: Unlike | None = None
) -> Answer:
    """The answer from the rows of the rewritten query.

    Args:
        result: the rows.
        sql: the rewritten query.
        unlisted_groups: see `Answer`.
        left_out: see `Answer`.
        unlike: see `Answer`.
    """
    columns, tight = result.columns, result.tight
    answer_rows: list[dict[str, Any]] = []
    certain = []
    for row in result.rows:
        cells = map(_check_cell, row)
        answer_rows.append(
            {
                name: _read_bounds([next(cells) for _ in range(4)], tight=tight[name] and unlike is None)
                if bounded
                else next(cells)
                for name, bounded in columns
            }
        )
        certain.append(bool(next(cells)))
    for row_cells, group_intervals in zip(answer_rows, result.intervals, strict=False):
        row_cells.update({name: _with(row_cells[name], interval) for name, interval in group_intervals.items()})
    names = tuple(name for name, _ in columns)
    aggregates = tuple(name for name, bounded in columns if bounded)
    return Answer(names, aggregates, tuple(answer_rows), tuple(certain), sql, unlisted_groups, left_out, unlike)


def _read_bounds(cells: Sequence[Any], *, tight: bool) -> Bounded:
    estimate, low, high = (_number(cell) for cell in cells[:3])
    nan = all(isinstance(end, float) and math.isnan(end) for end in (low, high))
    # Different decimals may have one nearest double.
    exact = low is not None and (cells[1] == cells[2] or nan) and not cells[3]
    if not exact:
        low, high = _round_end(cells[1], -math.inf), _round_end(cells[2], math.inf)
    if exact:
        estimate = low
    elif None not in (estimate, low, high) and isinstance(estimate, int | float):
        # Sums of doubles in the engine's order may miss an end by a hair.
        estimate = min(max(estimate, low), high)
    # An end that there is not is reached by no source: it may be unknown to a reader's SQL, and not to the reader.
    return Bounded(estimate, low, high, tight and None not in (low, high), exact, bool(cells[3]))


def _with(cell: Bounded, interval: Interval) -> Bounded:
    """The cell with an interval, cut at the bounds: beyond them there is no source.

    A sum that may be of no rows is NULL in some sources, and an interval beyond the bounds has no meaning: in both
    cases there is none.
    """
    if cell.undefined_possible:
        return cell
    low = interval.low if cell.low is None else max(interval.low, cell.low)
    high = interval.high if cell.high is None else min(interval.high, cell.high)
    return cell if low > high else replace(cell, interval=replace(interval, low=low, high=high))


def _check_cell(cell: Any) -> Any:  # noqa: ANN401 - an engine's value
    """The same cell.

    Raises:
        UnsupportedError: it is a number that no double holds: few clients can read it, and Python itself does not print
            it.
    """
    number = Decimal(cell) if isinstance(cell, int) else cell
    if isinstance(number, Decimal) and number.is_finite() and number.adjusted() >= MOST_DIGITS:
        raise UnsupportedError(
            f"the answer has a number of more than {MOST_DIGITS} digits, which few clients can read; ask for smaller "
            "ones, or for their logarithm"
        )
    return cell


def _number(value: Any) -> Any:  # noqa: ANN401 - an engine's value
    """A number as Python's own."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _round_end(end: Any, outward: float) -> Any:  # noqa: ANN401 - an engine's value
    """An end as Python's own number: of a decimal that the digits of no double are, the next double outward."""
    number = _number(end)
    if not isinstance(end, Decimal) or not isinstance(number, float) or not end.is_finite():
        return number
    shown = Decimal(repr(number))
    is_inward = shown > end if outward < 0 else shown < end
    # A double is printed with its shortest digits: where they are those of the decimal, nothing is to be rounded.
    return math.nextafter(number, outward) if is_inward else number


def _plain(value: Any) -> Any:  # noqa: ANN401 - any cell
    """A cell as JSON can hold it; dates and other types of a database as text."""
    if isinstance(value, Bounded):
        content = {field.name: _plain(getattr(value, field.name)) for field in fields(value)} | {"width": value.width}
        if value.interval is None:
            del content["interval"]
        else:
            content["interval"] = asdict(value.interval)
        return content
    value = _number(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
