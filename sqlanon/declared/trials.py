"""The trials of ``refine: true``, and those of an effort.

The table of the former is fixed, and the latter are counted by fixed costs of a trial, so that a policy gives the same
classes on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import Effort, RefineSpec, ReleaseSpec

ROWS = (1_000, 3_000, 10_000, 100_000)
"""Rows up to which a row of the table holds; the last row is for more."""
CLASS = (10, 20, 50, 100, 200)
"""The same of the least class, k or l, and the columns; above the last nothing is searched."""
WIDE = 8
"""Tables of more quasi columns than this take half as many trials."""
TRIALS = (
    (128, 64, 64, 32, 16),
    (64, 32, 32, 16, 8),
    (16, 8, 8, 4, 2),
    (8, 4, 4, 2, 1),
    (4, 2, 2, 1, 0),
)
"""Trials for every class that loses something."""


def count_trials(rows: int, least: int, columns: int) -> int:
    """How many trials roughly double the time of a run of method ``tree``, on two cores.

    Args:
        rows: of the table.
        least: rows of a class, at least.
        columns: quasi columns.

    Example:
        >>> count_trials(30_000, 10, 8), count_trials(30_000, 10, 12), count_trials(30_000, 500, 8)
        (8, 4, 0)
    """
    place = bisect_left(CLASS, least)
    if place == len(CLASS):
        return 0
    trials = TRIALS[bisect_left(ROWS, rows)][place]
    return trials if columns <= WIDE else trials // 2


SEARCHED = 1_000_000
"""Rows up to which an effort searches; a larger table is refined by passes alone."""
MOST_TRIALS = {"fast": 0, "normal": 256, "high": 1000}
LEAST_GAIN = {"fast": Fraction(0), "normal": Fraction(1, 500), "high": Fraction(1, 2000)}
"""Two rounds of trials that lower the loss by less than this share together are the last ones."""
FEW = 1_000
"""Rows up to which all trials are made: they cost milliseconds, and few classes gain rarely, and much at once."""
TIMES = {"fast": 0, "normal": 1, "high": 4}
CORES = 2
"""Number of cores that seconds of an effort are stated for."""
STEPS = 20
"""Steps of annealing for each row and trial."""
BLOCK, CLASSES = 100_000, 5_000
"""Rows and classes that are annealed together, at most: the cost of a stage has the square of the classes."""
BEGUN = 1000, 20_000_000, 1000
"""Least steps of annealing from smaller classes, for each row and in all, and nanoseconds of one, roughly."""
_NANO = 10**9


def allow_seconds(effort: Effort, rows: int, *, diverse: bool = False) -> Fraction:
    """Seconds that the search of an effort may take on `CORES` cores, by the estimate of `price_trial`.

    ``diverse``: more than a number of rows is asked of a class. Annealing needs so long to come near the least loss.

    Example:
        >>> [int(allow_seconds("normal", rows)) for rows in (1_000, 100_000, 1_000_000)]
        [2, 10, 30]
        >>> [int(allow_seconds("normal", rows, diverse=True)) for rows in (1_000, 7_000, 30_000, 100_000)]
        [6, 7, 13, 18]
    """
    few = 2 + Fraction(8 * min(rows, 100_000), 100_000)
    if diverse:
        few += 4 + Fraction(16 * min(rows, 30_000), 100_000)
    return TIMES[effort] * (few + Fraction(20 * max(rows - 100_000, 0), 900_000))


class Columns(NamedTuple):
    """How many quasi columns a table has, and which of them take long to measure."""

    lines: int
    """Ordered columns."""
    sets: int = 0
    """Columns with classes that publish the set of their values."""
    trees: int = 0
    """Columns with a hierarchy."""

    @property
    def all(self) -> int:
        """All of them."""
        return sum(self)


def price_trial(spec: ReleaseSpec, columns: Columns) -> int:
    """Nanoseconds of a core for a row and a trial, by which trials are counted; fitted to Adult, roughly."""
    least = least_class(spec)
    price = (8000 + 300 * least) * (3 if _compares(spec) else 1) if _is_diverse(spec) else 800 + 28 * least
    return price + 20 * columns.lines + 400 * columns.sets + 300 * columns.trees


def _price_near(spec: ReleaseSpec, rows: int, columns: Columns) -> int:
    """Nanoseconds of a row and a trial beyond `price_trial`: near classes are found among many with hierarchies.

    Fitted to Adult with 7 hierarchies and k = 2 to 50, on 7,214 and 30,162 rows.
    """
    near = (18_700 + 2 * min(rows, 25_000)) // least_class(spec) ** 2 - 130
    return 0 if _is_diverse(spec) else columns.trees * max(near, 0)


def _is_diverse(spec: ReleaseSpec) -> bool:
    """Whether classes must meet more than a number of rows."""
    privacy = spec.privacy
    return bool(privacy.l is not None or privacy.distinct_l is not None or privacy.more or privacy.of_persons)


def _compares(spec: ReleaseSpec) -> bool:
    """Whether classes are compared with the whole table."""
    return any(name in REQUIREMENTS and REQUIREMENTS[name].compares for name in spec.privacy.more)


def _count_allowed(spec: ReleaseSpec, effort: Effort, rows: int, columns: Columns) -> int:
    """Trials that an effort allows, at most."""
    if rows > SEARCHED:
        return 0
    price = max(rows, 1) * price_trial(spec, columns)
    return min(MOST_TRIALS[effort], int(allow_seconds(effort, rows, diverse=_is_diverse(spec)) * CORES * _NANO / price))


def estimate_search(spec: ReleaseSpec, rows: int, columns: Columns) -> float:
    """Seconds that the trials of a release take on `CORES` cores, at most, roughly; one core anneals one block."""
    refining, nanoseconds = read_refining(spec, rows, columns), 0
    if refining is None or not refining.search:
        return 0.0
    price = price_trial(spec, columns) + _price_near(spec, rows, columns)
    for search in refining.list_searches():
        trials = search.search or 0
        nanoseconds += trials * rows * price
        if _compares(spec):
            nanoseconds += max(trials * STEPS * rows, min(rows * BEGUN[0], BEGUN[1])) * BEGUN[2]
    blocks = -(-rows // min(BLOCK, CLASSES * least_class(spec))) if _is_diverse(spec) else CORES
    return nanoseconds / (min(CORES, blocks) * _NANO)


def read_refining(spec: ReleaseSpec, rows: int, columns: Columns) -> RefineSpec | None:
    """The refine settings of a release, with the number of trials."""
    if spec.refine is None or spec.refine.search is not None:
        return spec.refine
    if spec.effort is None:
        return replace(spec.refine, search=count_trials(rows, least_class(spec), columns.all))
    effort = spec.effort.word
    trials = _count_allowed(spec, effort, rows, columns)
    # With hierarchies trials gain less, for longer, and nothing in some rounds: all of them are made.
    least_gain = Fraction(0) if columns.trees or rows <= FEW else LEAST_GAIN[effort]
    # Trials alone go on where those of `normal` end; annealing begins hotter the more steps it has.
    normal = replace(spec, effort=replace(spec.effort, word="normal"))
    first = read_refining(normal, rows, columns) if effort == "high" and _is_diverse(spec) else None
    return replace(spec.refine, search=trials, least_gain=least_gain, first=first)


def least_class(spec: ReleaseSpec) -> int:
    """Rows of a class, at least."""
    privacy = spec.privacy
    return max(privacy.k, -int(-(privacy.l or 1) // 1), privacy.distinct_l or 1)
