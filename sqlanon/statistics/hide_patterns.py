"""Writes the result of the choice over patterns as tables of hidden cells, of witnesses and of patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.insiders import insiders_of
from sqlanon.statistics.part_patterns import number_alike
from sqlanon.statistics.person_bounds import bound_persons
from sqlanon.statistics.reader_cells import UNBOUNDED
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.arrays import Flags, Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.statistics.amounts import Amounts, Range
    from sqlanon.statistics.choose import HiddenChoice
    from sqlanon.statistics.parts import Parts
    from sqlanon.statistics.shape import Shape
    from sqlanon.statistics.trace_source import Sources
    from sqlanon.table.scratch import Scratch


def bound_both(
    system: System,
    choice: HiddenChoice,
    shape: Shape,
    amounts: Sequence[tuple[Amounts, Range]] = (),
    parts: Parts | None = None,
) -> dict[str, Longs]:
    """Bounds of the rows, the sums and the persons of each published cell, by columns of the table of hidden cells.

    Those of rows and sums are without persons, so that readers of persons as well may have narrower ones; tight are
    those of one number.

    Args:
        system: the cells over patterns.
        choice: the hidden cells, with witnesses.
        shape: the published numbers.
        amounts: the sums and their ranges.
        parts: of a release of rows that readers have as well the rows by class.
    """
    assert system.wholes is not None
    rows, listed = system.wholes.system, system.listed
    hidden = choice.hidden[: len(rows)]
    low, high = np.zeros(len(listed), np.int64), np.full(len(listed), -1, np.int64)
    bounds: dict[str, Longs] = {}
    most_rows = np.full(len(listed), UNBOUNDED, np.int64)
    if shape.has_rows:
        source_wholes = system.wholes if choice.sources is None else choice.sources.system.wholes
        assert source_wholes is not None
        witnessed = WitnessTables(source_wholes.add(choice.witnesses), choice.sums)
        ends, *of_sums = bound_cells(rows, hidden, witnessed, amounts, parts, whole=False)
        low, high = ends.low, ends.high
        for place, of_sum in enumerate(of_sums, 1):
            bounds |= {f"low{place}": of_sum.low, f"high{place}": of_sum.high}
            bounds[f"tight{place}"] = (of_sum.low == of_sum.high).astype(np.int64)
        most_rows = np.where(high < 0, UNBOUNDED, high)
    least, most = bound_persons(rows, system.value[listed], hidden[listed], most_rows)
    tight, sure = (low == high).astype(np.int64), (least == most).astype(np.int64)
    return {**bounds, "low": low, "high": high, "tight": tight, "least": least, "most": most, "sure": sure}


def load_patterns(
    scratch: Scratch, shape: Shape, system: System, choice: HiddenChoice, parts: Parts | None = None
) -> tuple[TableRef, TableRef]:
    """The scratch tables of witnesses (witness, pattern, change) and of their patterns (pattern, atom, times, persons).

    Patterns of persons who are alone in a cell are in it as well. Next to a release of rows ``alike`` is a number of
    the pattern's rows by class and shown values, or of those in the class of ``atom``.
    """
    wholes, witnesses, sources = system.wholes, choice.witnesses, choice.sources
    assert wholes is not None
    assert wholes.part is not None
    assert wholes.times is not None
    used: Flags = (witnesses != 0).any(axis=0)
    if shape.insiders:
        alone = [insider.own[0] for insider in insiders_of(system)] if sources is None else sources.insiders
        used[list(alone)] = True
    number = np.cumsum(used)
    inside = used[wholes.part]
    part = wholes.part[inside]
    patterns, witness = scratch.table("patterns"), scratch.table("witness")
    alike = np.zeros(len(wholes.part), np.int64) if parts is None else number_alike(wholes, parts, shape.alike)
    scratch.engine.load_arrays(
        patterns,
        {
            "pattern": number[part].astype(np.int64),
            "atom": (wholes.of if wholes.places is None else wholes.places)[inside] + 1,
            "times": wholes.times[inside],
            "persons": system.atoms.count[part],
            "alike": alike[inside],
        },
    )
    of, pattern = np.nonzero(witnesses)
    change = {"change": witnesses[of, pattern]}
    scratch.engine.load_arrays(
        witness, {"witness": of.astype(np.int64), "pattern": number[pattern].astype(np.int64), **change}
    )
    return witness, patterns


def load_able(scratch: Scratch, shape: Shape, sources: Sources | None) -> TableRef:
    """The scratch table of combinations without rows: (atom, and of each column the number of one with its value)."""
    able = scratch.table("able")
    listed = np.zeros((0, len(shape.columns)), np.int64) if sources is None else sources.able
    first = 1 if sources is None else len(sources.rows.atoms.count) - len(listed) + 1
    columns = {f"a{place}": of + 1 for place, of in enumerate(listed.T, 1)}
    scratch.engine.load_arrays(able, {"atom": first + np.arange(len(listed), dtype=np.int64), **columns})
    return able


def load_paid(scratch: Scratch, choice: HiddenChoice) -> TableRef:
    """The scratch table of the changes of sums in witnesses: (witness, atom, and each sum)."""
    paid = scratch.table("paid")
    number, atom = np.nonzero(np.logical_or.reduce([of != 0 for of in choice.sums]))
    changed = {f"s{place}": of[number, atom] for place, of in enumerate(choice.sums, 1)}
    parts = [{"witness": number.astype(np.int64), "atom": (atom + 1).astype(np.int64), **changed}]
    for place, (numbers, within) in enumerate(choice.number_within(), 1):
        zeros = dict.fromkeys(parts[0], np.zeros_like(numbers))
        parts.append({**zeros, "witness": numbers, "atom": within.atom + 1, f"s{place}": within.change})
    scratch.engine.load_arrays(paid, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    return paid
