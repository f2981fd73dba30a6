"""The line of a column's values: where constants lie on it, how they cut it into runs, and places as SQL again."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlglot import exp

from sqlanon.column_spec import Recode
from sqlanon.query.release import Field
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, as_type, number, sql, string
from sqlanon.query.sql.types import is_zoned

Place = Fraction | str
"""Position of a constant in the order of the column: steps or units of a number, the text itself otherwise."""

UNORDERED = ("=", "<>", "in", "not in", "null", "known")
"""Tests that need no order of the values."""

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WHOLE = {name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in _BITS.items()}
_WHOLE |= {f"U{name}": (0, 2**bits - 1) for name, bits in _BITS.items()}
"""The first and the last value of types of whole numbers."""
_EPOCH = datetime.date(1970, 1, 1)
_DAY = {"date": Fraction(1), "timestamp": Fraction(86_400_000_000)}
_FIRST = {kind: (datetime.date.min - _EPOCH).days * day for kind, day in _DAY.items()}


@dataclass(frozen=True)
class Comparison:
    """A test of a column against a constant, or several (``in``, ``not in``), or for NULL (``null``, ``known``).

    ``other``: a test that NULL never passes.
    """

    id: int
    op: str
    at: Place | None = None
    among: frozenset[Place] = frozenset()

    @property
    def constants(self) -> frozenset[Place]:
        """The constants of the comparison."""
        return self.among if self.at is None else self.among | {self.at}

    def holds_at(self, place: Place | None) -> bool:
        """Result of the test for a value, whatever the order of the column.

        ``place`` is one of the constants, or None for a value that is none of them.
        """
        if self.op in ("=", "in", "<>", "not in"):
            return (place in self.constants) is (self.op in ("=", "in"))
        return self.op == "known"

    def holds(self, low: Place | None, high: Place | None) -> bool:
        """For all values of a piece that no constant cuts: a point (low = high), or all that lies strictly between."""
        if self.op in ("null", "known"):
            return self.op == "known"
        if self.op in ("in", "not in"):
            return (low is not None and low == high and low in self.among) is (self.op == "in")
        assert self.at is not None
        if low is not None and low == high:
            side = (low > self.at) - (low < self.at)  # type: ignore[operator]
        elif high is not None and high <= self.at:  # type: ignore[operator]
            side = -1
        else:
            side = 1
        return {
            "=": side == 0,
            "<>": side != 0,
            "<": side < 0,
            "<=": side <= 0,
            ">": side > 0,
            ">=": side >= 0,
        }[self.op]


@dataclass(frozen=True)
class Piece:
    """A run of values; None: no end. ``closed``: whether each end belongs to it."""

    low: Place | None
    high: Place | None
    closed: tuple[bool, bool] = (True, True)


def place(value: Any, kind: str) -> Place | None:  # noqa: ANN401 - whatever the engine's value is
    """Where a constant's value lies, in steps: days, microseconds, 0 and 1; None: a number that is not finite."""
    if isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, int | Decimal | float):
        if not math.isfinite(value):
            return None
        # A double is compared as a double, so that the decimal that rounds to it is meant where the column is exact.
        return Fraction(float(value)) if kind == "float" else Fraction(str(value))
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
        micro = Fraction((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
        return micro if kind == "timestamp" else micro / 86_400_000_000
    if isinstance(value, datetime.date):
        days = Fraction((value - _EPOCH).days)
        return days * 86_400_000_000 if kind == "timestamp" else days
    return str(value)


def _day(number: int) -> str:
    """A day since 1970-01-01; the day after Python's last date bounds the values up to that date."""
    if number > (datetime.date.max - _EPOCH).days:
        return "10000-01-01"
    return (_EPOCH + datetime.timedelta(days=number)).isoformat()


def literal(place: Place, field: Field) -> Tree:
    """A place as a constant of the column's type."""
    if isinstance(place, str):
        return string(place)
    kind = field.kind
    if kind in ("date", "timestamp") and place < _FIRST[kind]:  # just before the first day that Python has
        after = literal(place + _DAY[kind], field)
        return sql("CAST(:t - INTERVAL '1 day' AS DATE)" if kind == "date" else ":t - INTERVAL '1 day'", t=after)
    if kind == "boolean":
        return TRUE if place else FALSE
    if kind == "date":
        return exp.cast(string(_day(int(place))), "DATE")
    if kind == "timestamp":
        days, rest = divmod(int(place), 86_400_000_000)
        clock = (datetime.datetime.min + datetime.timedelta(microseconds=rest)).time()
        zoned = is_zoned(field.source_type)
        return exp.cast(
            string(f"{_day(days)} {clock.isoformat()}" + ("+00" if zoned else "")),
            "TIMESTAMPTZ" if zoned else "TIMESTAMP",
        )
    if kind == "float":
        return exp.cast(number(float(place)), "DOUBLE")
    return number(place)


FINITE = "COALESCE(ABS(:m) < 1e300, FALSE)"
"""Whether a time that is not NULL is finite, by the measure: infinite times have none in some engines."""


def measure(tree: Tree, kind: str) -> Tree | None:
    """A value as a double, in units of the step of dates, timestamps and booleans; None: text has no measure."""
    if kind in ("integer", "float", "decimal"):
        return as_type(tree, "DOUBLE")
    if kind == "date":
        return sql("CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE) / 86400", x=tree)
    if kind == "timestamp":
        return sql("CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE) * 1000000", x=tree)
    if kind == "boolean":
        return sql("CAST(CAST(:x AS INTEGER) AS DOUBLE)", x=tree)
    return None


def pieces_of(
    comparisons: Sequence[Comparison], step: Fraction | None, kind: str, source_type: str = ""
) -> list[tuple[frozenset[int], Piece]]:
    """The line, cut by the constants into runs of values that decide every test alike, in order.

    Args:
        comparisons: the tests.
        step: the distance of neighbouring values; None: there is none.
        kind: kind of the column.
        source_type: type of the column: a type of whole numbers has limits.
    """
    cuts = sorted({test.at for test in comparisons if test.at is not None}.union(*(test.among for test in comparisons)))
    ends: list[Place | None] = [None, *cuts, None]
    raw: list[Piece] = []
    for before, after in pairwise(ends):
        raw.append(Piece(before, after, (False, False)))
        if after is not None:
            raw.append(Piece(after, after))
    pieces: list[tuple[frozenset[int], Piece]] = []
    for piece in raw:
        clipped = _fit_steps(piece, step) if step is not None else piece
        if clipped is not None and kind == "boolean":
            clipped = _between(clipped, Fraction(0), Fraction(1))
        elif clipped is not None and source_type.upper() in _WHOLE:
            clipped = _clip(clipped, *_WHOLE[source_type.upper()])
        if clipped is None:
            continue
        holds = frozenset(test.id for test in comparisons if test.holds(piece.low, piece.high))
        if pieces and pieces[-1][0] == holds:
            last = pieces.pop()[1]
            clipped = Piece(last.low, clipped.high, (last.closed[0], clipped.closed[1]))
        pieces.append((holds, clipped))
    return pieces


def _fit_steps(piece: Piece, step: Fraction) -> Piece | None:
    """The piece with values of the type as ends; None if it holds none."""
    low, high = piece.low, piece.high
    assert not isinstance(low, str)
    assert not isinstance(high, str)
    first = (
        None
        if low is None
        else (math.ceil(low / step) + (not piece.closed[0] and (low / step).denominator == 1)) * step
    )
    last = (
        None
        if high is None
        else (math.floor(high / step) - (not piece.closed[1] and (high / step).denominator == 1)) * step
    )
    return None if first is not None and last is not None and first > last else Piece(first, last)


def _between(piece: Piece, least_: Fraction, most: Fraction) -> Piece | None:
    low = least_ if piece.low is None else max(piece.low, least_)
    high = most if piece.high is None else min(piece.high, most)
    return Piece(low, high) if low <= high else None  # type: ignore[operator]


def _clip(piece: Piece, least_: int, most: int) -> Piece | None:
    """The piece with the type's first and last value in place of ends beyond these; None: it holds none."""
    low, high = piece.low, piece.high
    if (low is not None and low > most) or (high is not None and high < least_):  # type: ignore[operator]
        return None
    low = None if low is None else max(low, Fraction(least_))
    high = None if high is None else min(high, Fraction(most))
    return Piece(low, high, piece.closed)


def recode_piece(piece: Piece, recode: Recode, kind: str) -> Piece:
    """The piece in which the values of a piece are published, at least in part.

    Recoding keeps the order, so that the ends of the piece become the ends of the result.

    An end that does not belong to the piece stays apart where neighbours of it are published as they are.
    """
    low, high = (None if end is None else _recode_place(end, recode, kind) for end in (piece.low, piece.high))
    bottom, top = (None if end is None else _end(end, kind) for end in (recode.bottom, recode.top))
    apart = [True, True]
    if recode.round is None:
        apart[0] = low == piece.low and (top is None or low is None or low < top)  # type: ignore[operator]
        apart[1] = high == piece.high and (bottom is None or high is None or high > bottom)  # type: ignore[operator]
    else:
        apart = [False, False]
    return Piece(low, high, (piece.closed[0] or not apart[0], piece.closed[1] or not apart[1]))


def _end(text: str, kind: str) -> Place:
    value: object = Decimal(text) if kind not in ("date", "timestamp") else datetime.date.fromisoformat(text)
    position = place(float(value) if kind == "float" else value, kind)  # type: ignore[arg-type]
    assert position is not None
    return position


def _recode_place(place: Place, recode: Recode, kind: str) -> Place:
    """The published form of a value, computed as in table/stage: for floats in doubles."""
    assert isinstance(place, Fraction)
    if recode.round is not None and kind == "float":
        step = float(recode.round)
        place = Fraction(math.floor(float(place) / step + 0.5) * step)
    elif recode.round is not None:
        exact = Fraction(recode.round)
        place = math.floor(place / exact + Fraction(1, 2)) * exact
    bottom, top = (None if end is None else _end(end, kind) for end in (recode.bottom, recode.top))
    place = place if bottom is None else max(place, bottom)
    return place if top is None else min(place, top)
