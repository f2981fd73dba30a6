"""The values of a column, divided so that no published box and no comparison cuts a part: its cells.

They identify values across boxes, for `sqlanon.query.logic.matchings`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.matchings import Span
from sqlanon.query.logic.number_line import Comparison, Place, place

Shown: TypeAlias = Hashable
"""A box as it is read: None for NULL, the two ends of a range, or the members of a set."""


@dataclass(frozen=True)
class ValueCells:
    """The cells of a column.

    Attributes:
        holds: for each cell the numbers of the comparisons that its values pass.
        spans: the cells of each box.
    """

    holds: tuple[frozenset[int], ...]
    spans: Mapping[Shown, Span]


def read_shown(box: Box, cells: Sequence[Any]) -> tuple[bool, Shown]:
    """Whether a box is of known values, and the values.

    Args:
        box: the column.
        cells: its ends or members, and after them its state, if it has one, as the engine returns them.
    """
    kind = box.field.kind
    state = cells[-1] if box.state is not None else "none"
    if state == "all":
        return True, None
    values = cells[0] if box.shape == "set" else cells[:2]
    if state != "none" or values is None or any(value is None for value in values):
        return False, None
    places_ = [place(value, kind) for value in values]
    known = None not in places_
    return known, frozenset(places_) if box.shape == "set" else tuple(places_)


def divide_values(box: Box, shown: Collection[Shown], tests: Sequence[Comparison]) -> ValueCells:
    """The cells of a column of ranges or sets.

    Args:
        box: the column.
        shown: its different boxes, see `read_shown`.
        tests: the comparisons with constants.
    """
    known: list[Any] = [one for one in shown if one is not None]
    spans: dict[Shown, Span] = {}
    if box.shape == "set":
        members = sorted(frozenset().union(*known), key=str)
        holds = [_passed_by(tests, member) for member in members]
        numbers = {member: i for i, member in enumerate(members)}
        for one in known:
            own = tuple(sorted(numbers[member] for member in one))
            spans[one] = Span(own, own)
    else:
        cells = _cut_line(known, tests, box.step)
        holds = [frozenset(test.id for test in tests if test.holds(low, high)) for low, high in cells]
        numbers = {low: i for i, (low, high) in enumerate(cells) if low == high}
        for one in known:
            first, last = (numbers[end] for end in one)
            spans[one] = Span(tuple(range(first, last + 1)), tuple(dict.fromkeys((first, last))))
    if None in shown:
        spans[None] = Span((len(holds),), (len(holds),))
        holds.append(frozenset(test.id for test in tests if test.op == "null"))
    return ValueCells(tuple(holds), spans)


def _passed_by(tests: Sequence[Comparison], value: Place) -> frozenset[int]:
    """The comparisons that a member of a set passes."""
    return frozenset(test.id for test in tests if test.holds_at(value if value in test.constants else None))


def _cut_line(ranges: Collection[Any], tests: Sequence[Comparison], step: Fraction | None) -> list[tuple[Any, Any]]:
    """The ends of ranges and the constants, a cell each, and the values between two of them, where there are any."""
    ends: set[Any] = {end for one in ranges for end in one}
    cuts: list[Any] = sorted(ends.union(*(test.constants for test in tests)))
    found: list[tuple[Any, Any]] = []
    following: list[Any] = [*cuts[1:], None]
    for low, high in zip(cuts, following, strict=True):
        if step is None or (low / step).denominator == 1:
            found.append((low, low))
        if high is not None and (step is None or math.floor(low / step) + 1 < math.ceil(high / step)):
            found.append((low, high))
    return found
