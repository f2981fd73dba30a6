"""The values of a column, divided so that no published box and no comparison cuts a part: its cells.

They identify values across boxes, for `sqlanon.query.logic.matchings`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.matchings import Span
from sqlanon.query.logic.number_line import Comparison, Place, place

Shown: TypeAlias = Hashable
"""A box as it is read: None for NULL, `SOME`, the ends of a range, and None after them for NULL, or a set's members."""
SOME = "some"
"""The box of any value, or NULL: some candidates have NULL, and some have not."""


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
    if state in ("all", SOME):
        return True, SOME if state == SOME else None
    values = cells[0] if box.shape == "set" else cells[:2]
    beside = state == "ends" and box.shape == "interval"
    if not (state == "none" or beside) or values is None or any(value is None for value in values):
        return False, None
    places_ = [place(value, kind) for value in values]
    no_null = None not in places_
    return no_null, frozenset(places_) if box.shape == "set" else (*places_, *([None] if beside else []))


def divide_values(box: Box, shown: Collection[Shown], tests: Sequence[Comparison]) -> ValueCells:
    """The cells of a column of ranges or sets.

    Args:
        box: the column.
        shown: its different boxes, see `read_shown`.
        tests: the comparisons with constants.
    """
    definite: list[Any] = [item for item in shown if item not in (None, SOME)]
    wide = SOME in shown
    spans: dict[Shown, Span] = {}
    if box.shape == "set":
        constants = frozenset().union(*(test.constants for test in tests)) if wide else frozenset()
        members = sorted(constants.union(*definite), key=str)
        holds = [_find_passed(tests, member) for member in members]
        holds += [frozenset(test.id for test in tests if test.holds_at(None))] if wide else []
        numbers = {member: i for i, member in enumerate(members)}
        for item in definite:
            places = tuple(sorted(numbers[member] for member in item))
            spans[item] = Span(places, tuple((member,) for member in places))
    else:
        cells = _cut_line(definite, tests, box.step, wide=wide)
        holds = [frozenset(test.id for test in tests if test.holds(low, high)) for low, high in cells]
        numbers = {low: i for i, (low, high) in enumerate(cells) if low == high}
        numbers[None] = len(cells)
        for item in definite:
            first, last, *null_too = (numbers[end] for end in item)
            ends = tuple((end,) for end in dict.fromkeys((first, last, *null_too)))
            spans[item] = Span((*range(first, last + 1), *null_too), ends)
    null = len(holds)
    spans |= {None: Span((null,), ((null,),)), SOME: Span(tuple(range(null + 1)), ((null,), tuple(range(null))))}
    holds.append(frozenset(test.id for test in tests if test.op == "null"))
    return ValueCells(tuple(holds), spans)


def _find_passed(tests: Sequence[Comparison], value: Place) -> frozenset[int]:
    """The comparisons that a member of a set passes."""
    return frozenset(test.id for test in tests if test.holds_at(value if value in test.constants else None))


def _cut_line(
    ranges: Collection[Any], tests: Sequence[Comparison], step: Fraction | None, *, wide: bool
) -> list[tuple[Any, Any]]:
    """The ends of ranges and the constants, a cell each, and the values between two of them, where there are any.

    ``wide``: also the values beyond all of them; None is no end.
    """
    ends: set[Any] = {end for range_ in ranges for end in range_[:2]}
    cuts: list[Any] = sorted(ends.union(*(test.constants for test in tests)))
    cells: list[tuple[Any, Any]] = [(None, cuts[0] if cuts else None)] if wide else []
    steps: list[tuple[Any, Any]] = list(pairwise([*cuts, None]))
    for low, high in steps:
        if step is None or (low / step).denominator == 1:
            cells.append((low, low))
        if high is not None and (step is None or math.floor(low / step) + 1 < math.ceil(high / step)):
            cells.append((low, high))
    return [*cells, (cuts[-1], None)] if wide and cuts else cells
