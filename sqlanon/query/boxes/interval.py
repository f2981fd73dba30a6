"""Closed intervals of numbers, dates, timestamps, booleans and text: the share of a box in each run of the line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.set_constants import unknown_share
from sqlanon.query.logic.formula import Group, Part
from sqlanon.query.logic.number_line import (
    Comparison,
    Piece,
    Place,
    literal,
    measure,
    recode_piece,
)
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    counter,
    counts,
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

_LONGEST = 2**127 - 1
"""DuckDB reads a longer whole number as a double, which may be equal to the number before it."""


class Interval:
    """See `sqlanon.query.logic.formula.Domain`: a box of two ends."""

    def __init__(self, box: Box, comparisons: Sequence[Comparison], table: str) -> None:
        self._box = box
        self._lo, self._hi = column(f"{box.id}_lo", table), column(f"{box.id}_hi", table)
        self._state = column(f"{box.id}_state", table) if box.state is not None else None
        self._mean = column(f"{box.id}_mean", table) if box.mean is not None else None
        self._point = box.point is not None
        self._line = [(Group(holds), piece) for holds, piece in box.pieces(comparisons)]
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
        plan = list(groups)
        if len(plan) == len(self.groups):
            return TRUE
        inside = some(self.touches(piece) for piece in self._runs(plan))
        if self._state is None:
            return inside
        ways = [every([self._bounded, inside])]  # FALSE, not NULL, where a box that holds a NULL has no ends
        if any(group in self._pieces for group in plan):
            ways += [self._is("some"), self._is("any")]
        if self._null in plan:
            ways.append(self._nullable)
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        plan = list(groups)
        if len(plan) == len(self.groups):
            return ONE
        share = plus(self.extent(piece) for piece in self._runs(plan))
        if self._point:
            return self._by_point(plan)
        return self._with_null(share, plan, null=self._null in plan)

    def count_attained(self, groups: Iterable[Group]) -> Tree | None:
        """See `Domain`.

        They are the ends in the groups, a single value where both meet, and NULL where some rows of the class have it.
        """
        if not self._box.attained:
            return None
        plan = list(groups)
        runs = self._runs([group for group in plan if group in self._pieces])
        ends = [end for piece in runs for end in (piece.low, piece.high)]
        if any(isinstance(end, Fraction) and abs(end) > _LONGEST for end in ends):
            return None
        low, high = (some(self._within(end, end, piece) for piece in runs) for end in (self._lo, self._hi))
        apart = exp.NEQ(this=self._lo.copy(), expression=self._hi.copy())
        certain_count = counts([counter(low), counter(every([apart, high]))])
        if self._state is None:
            return certain_count
        nulls = exp.Literal.number(int(self._null in plan))
        unknown = when(self._is("some"), nulls, exp.Literal.number(0))
        beside = when(self._is("ends"), counts([certain_count, nulls]), unknown) if self._box.beside else unknown
        return when(self._is("none"), certain_count, beside)

    def parts(self) -> list[Part]:
        """See `Domain`."""
        parts = []
        single = sum(map(len, self._pieces.values())) == 1
        for group, pieces in self._pieces.items():
            for piece in pieces:
                low = greatest([self._lo, *self._list_ends(piece.low)])
                high = least([self._hi, *self._list_ends(piece.high)])
                middle = self._middle(low, high) if not single else self._mean_or(self._middle(low, high))
                unknown = some([self._is("some"), self._is("any")])
                reach = self.touches(piece)
                share = ONE if single else self.extent(piece)
                if self._state is not None:
                    reach = some([every([self._bounded, reach]), unknown])
                    share = self._with_null(share, [group], null=False)
                if self._point:
                    middle = self._lo if self._box.numeric else None
                    share = self._by_point([group])
                parts.append(Part(group, reach, share, low, high, middle, unknown))
        if self._nulls:
            parts.append(Part(self._null, self._nullable, self._null_share(), None, None, None))
        return parts

    @property
    def _bounded(self) -> Tree:
        """Values that are not NULL lie between the ends."""
        return some([self._is("none"), *([self._is("ends")] if self._box.beside else [])])

    @property
    def _nullable(self) -> Tree:
        """The value may be NULL."""
        return some([self._is("all"), self._is("some"), *([self._is("ends")] if self._box.beside else [])])

    def _mean_or(self, middle: Tree | None) -> Tree | None:
        """The published mean, which is none of classes with NULL."""
        if self._mean is None or middle is None or not self._box.beside:
            return self._mean or middle
        return when(self._is("ends"), middle, self._mean)

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

    def _list_ends(self, end: Place | None) -> list[Tree]:
        return [] if end is None else [literal(end, self._box.field)]

    def touches(self, piece: Piece) -> Tree:
        """Some value of the box lies in the piece."""
        if self._box.field.recode is not None:
            piece = recode_piece(piece, self._box.field.recode, self._box.field.kind)
        return self._within(self._lo, self._hi, piece)

    def _within(self, lo: Tree, hi: Tree, piece: Piece) -> Tree:
        """Some value from ``lo`` to ``hi`` lies in the piece."""
        ways: list[Tree] = []
        if piece.low is not None:
            ways.append(
                (exp.GTE if piece.closed[0] else exp.GT)(this=hi.copy(), expression=literal(piece.low, self._box.field))
            )
        if piece.high is not None:
            ways.append(
                (exp.LTE if piece.closed[1] else exp.LT)(
                    this=lo.copy(), expression=literal(piece.high, self._box.field)
                )
            )
        return every(ways)

    def extent(self, piece: Piece) -> Tree:
        """The part of the box that lies in the piece: steps or length; equal parts where neither can be had."""
        if piece.low is None and piece.high is None:
            return ONE
        kind = self._box.field.kind
        low, high = measure(self._lo, kind), measure(self._hi, kind)
        touches = self.touches(piece)
        if low is None or high is None:
            return self._equal(touches)
        ends_low = [number(end) for end in [piece.low] if isinstance(end, Fraction)]
        ends_high = [number(end) for end in [piece.high] if isinstance(end, Fraction)]
        inner = sql("GREATEST(:h - :l, 0.0)", h=least([high, *ends_high]), l=greatest([low, *ends_low]))
        step = self._box.step
        if step is None:
            share = sql("CAST(:i AS DOUBLE) / (:h - :l)", i=inner, h=high, l=low)
            return when(sql(":h > :l AND :h - :l < 1e300", h=high, l=low), share, self._equal(touches))
        size = number(step)
        inner = sql("GREATEST(:h - :l + :s, 0.0)", h=least([high, *ends_high]), l=greatest([low, *ends_low]), s=size)
        share = sql("LEAST(:i / (:h - :l + :s), 1.0)", i=inner, h=high, l=low, s=size)
        if kind in ("integer", "decimal", "boolean"):
            return share
        return when(sql("ABS(:h - :l) < 1e300", h=high, l=low), share, self._equal(touches))

    def _equal(self, touches: Tree) -> Tree:
        """The share of a piece if all touched pieces count the same."""
        return sql("CAST(:x AS DOUBLE) / :n", x=indicator(touches), n=self._touch())

    def _touch(self) -> Tree:
        return plus(indicator(self.touches(piece)) for _, piece in self._line)

    def _middle(self, low: Tree, high: Tree) -> Tree | None:
        if not self._box.numeric:
            return None
        return sql("CAST(:l AS DOUBLE) / 2 + CAST(:h AS DOUBLE) / 2", l=low, h=high)

    def _with_null(self, share: Tree, groups: Sequence[Group], *, null: bool) -> Tree:
        """The share where NULL may be, with it or without: every group counts the same in a box that is not known."""
        if self._state is None:
            return share
        mine = sum(group in self._pieces for group in groups)
        return unknown_share(self._state, share, mine, len(self._pieces), null=null, beside=self._box.beside)

    def _null_share(self) -> Tree:
        if self._point:
            return indicator(sql(":x IS NULL", x=self._lo))
        share = number(Fraction(1, len(self._pieces) + 1))
        half = number(Fraction(1, 2))
        beside = when(self._is("ends"), half, ZERO) if self._box.beside else ZERO
        return when(self._is("all"), ONE, when(self._is("some"), share, beside))

    def _by_point(self, groups: Sequence[Group]) -> Tree:
        """Format points: the value that is shown counts for the whole box."""
        ways = [every([sql(":x IS NOT NULL", x=self._lo), self.touches(piece)]) for piece in self._runs(groups)]
        if self._null in groups:
            ways.append(sql(":x IS NULL", x=self._lo))
        return indicator(sql("COALESCE(:x, FALSE)", x=some(ways)))
