"""Closed intervals of numbers, dates, timestamps, booleans and text: how constants cut them, and what of each piece a box has."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlglot import exp

from sqlanon.query.boxes import Box
from sqlanon.query.formula import Group, Part
from sqlanon.query.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    greatest,
    indicator,
    least,
    number,
    plus,
    some,
    sql,
    string,
    when,
)

Place = Fraction | str
"""Where a constant lies in the order of its column: steps or units of a number, the text itself otherwise."""

_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Comparison:
    """A test of one column against a constant, or for NULL (``null``, ``known``); ``other``: one that NULL never passes."""

    id: int
    op: str
    at: Place | None = None

    def holds(self, low: Place | None, high: Place | None) -> bool:
        """For all values of a piece that no constant cuts: a point (low = high), or all that lies strictly between."""
        if self.op in ("null", "known"):
            return self.op == "known"
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
        # A double is compared as one, so that the decimal that rounds to it is meant where the column is exact.
        return Fraction(float(value)) if kind == "float" else Fraction(str(value))
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
        micro = Fraction((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
        return micro if kind == "timestamp" else micro / 86_400_000_000
    if isinstance(value, datetime.date):
        days = Fraction((value - _EPOCH).days)
        return days * 86_400_000_000 if kind == "timestamp" else days
    return str(value)


def literal(at: Place, box: Box) -> Tree:
    """A place as a constant of the column's type."""
    if isinstance(at, str):
        return string(at)
    kind = box.field.kind
    if kind == "boolean":
        return TRUE if at else FALSE
    if kind == "date":
        return exp.cast(string((_EPOCH + datetime.timedelta(days=int(at))).isoformat()), "DATE")
    if kind == "timestamp":
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(at))
        zoned = "TIME ZONE" in box.field.source_type.upper()
        return exp.cast(
            string(moment.isoformat(sep=" ") + ("+00" if zoned else "")),
            "TIMESTAMPTZ" if zoned else "TIMESTAMP",
        )
    if kind == "float":
        return exp.cast(number(float(at)), "DOUBLE")
    return number(at)


def measure(tree: Tree, kind: str) -> Tree | None:
    """A value as a double, in units of the step of dates, timestamps and booleans; None: text has no measure."""
    if kind in ("integer", "float", "decimal"):
        return exp.cast(tree.copy(), "DOUBLE")
    if kind == "date":
        return sql("CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE) / 86400", x=tree)
    if kind == "timestamp":
        return sql("CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE) * 1000000", x=tree)
    if kind == "boolean":
        return sql("CAST(CAST(:x AS INTEGER) AS DOUBLE)", x=tree)
    return None


def pieces_of(
    comparisons: Sequence[Comparison], step: Fraction | None, kind: str
) -> list[tuple[frozenset[int], Piece]]:
    """The line, cut by the constants into runs whose values decide every test alike, in order."""
    cuts = sorted({test.at for test in comparisons if test.at is not None})
    ends: list[Place | None] = [None, *cuts, None]
    raw: list[Piece] = []
    for before, after in pairwise(ends):
        raw.append(Piece(before, after, (False, False)))
        if after is not None:
            raw.append(Piece(after, after))
    found: list[tuple[frozenset[int], Piece]] = []
    for piece in raw:
        kept = _stepped(piece, step) if step is not None else piece
        if kept is not None and kind == "boolean":
            kept = _between(kept, Fraction(0), Fraction(1))
        if kept is None:
            continue
        holds = frozenset(test.id for test in comparisons if test.holds(piece.low, piece.high))
        if found and found[-1][0] == holds:
            last = found.pop()[1]
            kept = Piece(last.low, kept.high, (last.closed[0], kept.closed[1]))
        found.append((holds, kept))
    return found


def _stepped(piece: Piece, step: Fraction) -> Piece | None:
    """The piece with values of the type as its ends; None if it holds none."""
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


class Interval:
    """See `sqlanon.query.formula.Domain`: a box of two ends."""

    def __init__(self, box: Box, comparisons: Sequence[Comparison], table: str) -> None:
        self._box = box
        self._lo, self._hi = column(f"{box.id}_lo", table), column(f"{box.id}_hi", table)
        self._state = column(f"{box.id}_state", table) if box.state is not None else None
        self._mean = column(f"{box.id}_mean", table) if box.mean is not None else None
        self._point = box.point is not None
        self._line = [
            (Group(holds), piece) for holds, piece in pieces_of(comparisons, box.step, box.field.kind)
        ]
        self._pieces: dict[Group, list[Piece]] = {}
        for group, piece in self._line:
            self._pieces.setdefault(group, []).append(piece)
        self._null = Group(frozenset(test.id for test in comparisons if test.op == "null"))
        self._nulls = box.state is not None
        self.groups = tuple(dict.fromkeys([*self._pieces, *([self._null] if self._nulls else [])]))

    def columns(self) -> dict[str, Tree]:
        """See `Domain`."""
        return {f"{self._box.id}_{part}": tree for part, tree in self._box.parts.items()}

    def reach(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = list(groups)
        if len(wanted) == len(self.groups):
            return TRUE
        inside = some(self._touches(piece) for piece in self._runs(wanted))
        if self._state is None:
            return inside
        ways = [
            every([self._is("none"), inside])
        ]  # FALSE, not NULL, where a box that holds a NULL has no ends
        if any(group in self._pieces for group in wanted):
            ways += [self._is("some"), self._is("any")]
        if self._null in wanted:
            ways += [self._is("all"), self._is("some")]
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = list(groups)
        if len(wanted) == len(self.groups):
            return ONE
        known = plus(self._extent(piece) for piece in self._runs(wanted))
        if self._point:
            return self._by_point(wanted)
        return self._with_null(known, wanted)

    def parts(self) -> list[Part]:
        """See `Domain`."""
        found = []
        single = sum(map(len, self._pieces.values())) == 1
        for group, pieces in self._pieces.items():
            for piece in pieces:
                low = greatest([self._lo, *self._at(piece.low)])
                high = least([self._hi, *self._at(piece.high)])
                middle = self._middle(low, high) if not single else self._mean or self._middle(low, high)
                unknown = some([self._is("some"), self._is("any")])
                reach = self._touches(piece)
                share = ONE if single else self._extent(piece)
                if self._state is not None:
                    reach = some([every([self._is("none"), reach]), unknown])
                    share = self._with_null(share, [group])
                if self._point:
                    middle, share = self._lo, self._by_point([group])
                found.append(Part(group, reach, share, low, high, middle, unknown))
        if self._nulls:
            reach = some([self._is("all"), self._is("some")])
            found.append(Part(self._null, reach, self._null_share(), None, None, None))
        return found

    def _is(self, state: str) -> Tree:
        return sql(":s = :v", s=self._state, v=string(state)) if self._state is not None else FALSE

    def _runs(self, groups: Sequence[Group]) -> list[Piece]:
        """The groups' pieces in order, neighbours joined: nothing lies between two pieces of the line."""
        runs: list[Piece] = []
        after = False
        for group, piece in self._line:
            if group in groups:
                last = runs.pop() if after else piece
                runs.append(Piece(last.low, piece.high, (last.closed[0], piece.closed[1])))
            after = group in groups
        return runs

    def _at(self, end: Place | None) -> list[Tree]:
        return [] if end is None else [literal(end, self._box)]

    def _touches(self, piece: Piece) -> Tree:
        """Some value of the box lies in the piece."""
        ways: list[Tree] = []
        if piece.low is not None:
            ways.append(
                (exp.GTE if piece.closed[0] else exp.GT)(
                    this=self._hi.copy(), expression=literal(piece.low, self._box)
                )
            )
        if piece.high is not None:
            ways.append(
                (exp.LTE if piece.closed[1] else exp.LT)(
                    this=self._lo.copy(), expression=literal(piece.high, self._box)
                )
            )
        return every(ways)

    def _extent(self, piece: Piece) -> Tree:
        """The part of the box that lies in the piece: steps or length; equal parts where neither can be had."""
        if piece.low is None and piece.high is None:
            return ONE
        kind = self._box.field.kind
        low, high = measure(self._lo, kind), measure(self._hi, kind)
        touches = self._touches(piece)
        if low is None or high is None:
            return self._equal(touches)
        ends_low = [number(at) for at in [piece.low] if isinstance(at, Fraction)]
        ends_high = [number(at) for at in [piece.high] if isinstance(at, Fraction)]
        inner = sql("GREATEST(:h - :l, 0.0)", h=least([high, *ends_high]), l=greatest([low, *ends_low]))
        step = self._box.step
        if step is None:
            share = sql("CAST(:i AS DOUBLE) / (:h - :l)", i=inner, h=high, l=low)
            return when(sql(":h > :l AND :h - :l < 1e300", h=high, l=low), share, self._equal(touches))
        size = number(step)
        inner = sql(
            "GREATEST(:h - :l + :s, 0.0)", h=least([high, *ends_high]), l=greatest([low, *ends_low]), s=size
        )
        share = sql("LEAST(:i / (:h - :l + :s), 1.0)", i=inner, h=high, l=low, s=size)
        if kind in ("integer", "decimal", "boolean"):
            return share
        return when(sql("ABS(:h - :l) < 1e300", h=high, l=low), share, self._equal(touches))

    def _equal(self, touches: Tree) -> Tree:
        """One of the pieces that the box touches, each counting the same."""
        return sql("CAST(:x AS DOUBLE) / :n", x=indicator(touches), n=self._touched())

    def _touched(self) -> Tree:
        return plus(indicator(self._touches(piece)) for _, piece in self._line)

    def _middle(self, low: Tree, high: Tree) -> Tree | None:
        if not self._box.numeric:
            return None
        return sql("CAST(:l AS DOUBLE) / 2 + CAST(:h AS DOUBLE) / 2", l=low, h=high)

    def _with_null(self, known: Tree, groups: Sequence[Group]) -> Tree:
        """The share where NULL may be: every group counts the same in a box that is not known."""
        if self._state is None:
            return known
        every_one = len(self._pieces)
        mine = sum(group in self._pieces for group in groups)
        null = self._null in groups
        tree = exp.Case(
            this=self._state.copy(),
            ifs=[
                exp.If(this=string("none"), true=known),
                exp.If(this=string("all"), true=ONE if null else ZERO),
                exp.If(
                    this=string("some"),
                    true=number(Fraction(mine + null, every_one + 1)) if mine + null else ZERO,
                ),
            ],
            default=number(Fraction(mine, every_one)) if mine else ZERO,
        )
        return exp.cast(tree, "DOUBLE")

    def _null_share(self) -> Tree:
        if self._point:
            return indicator(sql(":x IS NULL", x=self._lo))
        share = number(Fraction(1, len(self._pieces) + 1))
        return when(self._is("all"), ONE, when(self._is("some"), share, ZERO))

    def _by_point(self, groups: Sequence[Group]) -> Tree:
        """Format points: the value that is shown counts for the whole box."""
        ways = [
            every([sql(":x IS NOT NULL", x=self._lo), self._touches(piece)]) for piece in self._runs(groups)
        ]
        if self._null in groups:
            ways.append(sql(":x IS NULL", x=self._lo))
        return indicator(sql("COALESCE(:x, FALSE)", x=some(ways)))
