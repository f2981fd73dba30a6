"""Bounds of hidden cells for readers: the least and greatest numbers over all tables that agree with the published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amounts import Amounts, Range
from sqlanon.statistics.joint import Joint, join_sums
from sqlanon.statistics.parts import Parts
from sqlanon.statistics.public_system import PublicSystem, see_public
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED
from sqlanon.statistics.spans import Span, find_spans
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_PROGRAMS = 4_000_000
"""Programs times atoms, at most, where ends need not be reached; the other ends are those that single cells say."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The least and the greatest number of each published cell.

    Attributes:
        low, high: int64[cells]; of a shown cell both are the number. Of rows -1: there is no greatest one. Of sums
            the ends of 64 bits, where nothing bounds them.
        tight: bool[cells], tables of whole numbers have both, and readers know no more.
    """

    low: Longs
    high: Longs
    tight: Flags


@dataclass(frozen=True, slots=True)
class WitnessTables:
    """Tables with all shown cells, as changes.

    Attributes:
        counts: int64[tables, atoms].
        sums: the same of each column.
    """

    counts: Longs
    sums: Sequence[Longs] = ()


def bound_cells(
    system: System,
    hidden: Flags,
    witnessed: WitnessTables,
    amounts: Sequence[tuple[Amounts, Range]] = (),
    parts: Parts | None = None,
    least_rows: int = 1,
    *,
    whole: bool = True,
) -> tuple[Ends, ...]:
    """The ends of rows, and of each column of sums, over all tables of both; integers prove them (`Reach`).

    Args:
        system: the cells over the combinations that occur.
        hidden: bool[classes].
        witnessed: tables that are known.
        amounts: the columns' sums and ranges.
        parts: of a release of rows that readers have too the rows by class.
        least_rows: by the rules of a release readers know of so many rows at most. Bounds do not use it, and are not
            said to be tight where it might narrow them.
        whole: whether tables of whole numbers reach the ends is found out; else ends may be wider than these.

    Cost: that of `find_spans` for the hidden classes; for a column of a range that does not begin at 0 that of two ends
        of `Reach` for each.
    """
    hidden_cells, number = hidden[system.listed], system.value[system.listed]
    public = see_public(system, np.where(hidden_cells, HIDDEN, number), sums=bool(amounts), parts=parts)
    values = [system.sums(amount.value)[system.listed] for amount, _ in amounts]
    published = [(public.linked.values(value), ends) for value, (_, ends) in zip(values, amounts, strict=True)]
    joint = join_sums(public.seen, published, public.combinations)
    reach, tables = (
        Reach(joint.seen, whole=whole),
        _list_tables(system, joint, public, witnessed, [amount for amount, _ in amounts]),
    )
    for table in tables:
        reach.keep(table)
    cells = np.flatnonzero(hidden_cells).tolist()
    # Cells of equal atoms have the same ends.
    texts = {cell: public.sets[cell].tobytes() for cell in cells}
    some = list({text: cell for cell, text in texts.items()}.values())
    number_of = {texts[cell]: place for place, cell in enumerate(some)}
    places = [number_of[texts[cell]] for cell in cells]
    programs = _count_programs(len(joint.seen.least), whole=whole)
    spans = find_spans(joint.seen, reach, [public.sets[cell] for cell in some], programs, tables)
    ends = [_make_ends(number, cells, [spans[place] for place in places], complete=public.complete)]
    total = np.flatnonzero((system.levels == system.levels.max(axis=1, keepdims=True)).all(axis=0))
    complete = public.complete and not (ends[0].low[total] < least_rows).any()
    ends[0].tight[cells] &= complete
    combinations = public.linked.sets() if amounts else {}
    for column, value in enumerate(values):
        spans = _bound_sums(joint, reach, column, [combinations[cell] for cell in some], tables, programs)
        ends.append(_make_ends(value, cells, [spans[place] for place in places], complete=complete, none=UNBOUNDED))
    return tuple(ends)


def _list_tables(
    system: System, joint: Joint, public: PublicSystem, witnessed: WitnessTables, amounts: Sequence[Amounts]
) -> list[Longs]:
    """The known tables, where atoms are the combinations that occur; joined tables have an order of their own."""
    count = system.atoms.count
    if public.combinations is not None or len(public.linked.pieces) > 1 or joint.atoms != len(count):
        return []
    (piece,) = public.linked.pieces
    true_codes = np.stack([system.atoms.nodes[column][0] for column in piece.columns])
    number = np.unique(np.concatenate([piece.codes, true_codes], axis=1), axis=1, return_inverse=True)[1].reshape(-1)
    place_of = np.empty(int(number.max()) + 1, np.int64)
    place_of[number[: len(piece)]] = np.arange(len(piece))
    places = place_of[number[len(piece) :]]

    def place(values: Longs) -> Longs:
        placed = np.zeros(len(piece), np.int64)
        np.add.at(placed, places, values)
        return placed

    sums = [
        [place(amount.value + change) for change in changes]
        for amount, changes in zip(amounts, witnessed.sums, strict=True)
    ]
    return [
        joint.table(place(count + change), [column[number] for column in sums])
        for number, change in enumerate(witnessed.counts)
    ]


def _count_programs(atoms: int, *, whole: bool) -> Callable[[], float]:
    """What is asked before each program: whether another one is allowed; the same on every machine."""
    if whole:
        return lambda: 1.0
    left = iter(range(MOST_PROGRAMS // max(1, atoms), 0, -1))
    return lambda: float(next(left, 0))


def _bound_sums(
    joint: Joint,
    reach: Reach,
    column: int,
    sets: Sequence[Longs],
    tables: Sequence[Longs],
    programs: Callable[[], float],
) -> list[Span]:
    """The spans of a column's sums over sets of combinations."""
    if not joint.ranges[column].low:
        above = [joint.above(column, combinations) for combinations in sets]
        return find_spans(joint.seen, reach, above, programs, tables)
    spans: list[Span] = []
    for combinations in sets:
        weight = np.zeros(joint.combinations, np.int64)
        weight[combinations] = 1
        low, high = reach.bound(joint.sums(column, weight))
        met = low.value is not None and (low.value == high.value or (low.table is not None and high.table is not None))
        spans.append((-UNBOUNDED if low.value is None else low.value, high.value, met))
    return spans


def _make_ends(value: Longs, cells: Sequence[int], spans: Sequence[Span], *, complete: bool, none: int = -1) -> Ends:
    low, high, tight = value.copy(), value.copy(), np.ones(len(value), bool)
    for cell, (bottom, top, reached) in zip(cells, spans, strict=True):
        low[cell], high[cell] = bottom, none if top is None else top
        tight[cell] = complete and reached
    return Ends(low, high, tight)
