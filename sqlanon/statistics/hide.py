"""Writes the result of the choice as tables of hidden cells and of witnesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.progress import Progress
from sqlanon.statistics.amounts import Amounts, Range
from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.hide_patterns import bound_both, load_able, load_paid, load_patterns
from sqlanon.statistics.parts import Parts
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.system import System, Wholes
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class HiddenCells:
    """The hidden cells.

    Attributes:
        table: scratch table (cell, low, high) of the hidden cells; high is -1 where there is no bound. With bounds also
            tight (1 or 0), and the same of each sum.
        witness: scratch table (witness, atom, change), where the change is not 0.
        witnesses: number of witnesses, besides the true table.
        patterns: scratch table (pattern, atom, times, persons), where witnesses are changes of patterns.
        paid: then that of what they change of sums (witness, atom, and each sum); None: there are no sums.
        able: then that of combinations without rows that patterns have (atom, and of each column one with its value).
    """

    table: TableRef
    witness: TableRef
    witnesses: int
    patterns: TableRef | None = None
    paid: TableRef | None = None
    able: TableRef | None = None


def hide_cells(
    scratch: Scratch,
    shape: Shape,
    system: System,
    secret: bytes,
    progress: Progress,
    amounts: Sequence[tuple[Amounts, Range]] = (),
    parts: Parts | None = None,
) -> HiddenCells:
    """Choose the hidden cells, and load them.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        system: the cells.
        secret: key for the order of equal levels.
        progress: gets small cells.
        amounts: the sums and their ranges.
        parts: of a release of rows that readers have as well the rows by class.

    Raises:
        UnservedError: a small cell cannot be protected.
        UnsupportedError: HiGHS is not installed.
    """
    choice = choose_hidden(
        system,
        shape.threshold,
        insiders=shape.insiders,
        secret=secret,
        step=lambda cells, many: progress.update(cells, many, "small cells"),
        amounts=amounts,
    )
    whole = system if system.wholes is None else system.wholes.system
    cells = np.flatnonzero(choice.hidden[system.listed])
    if shape.patterns:
        return _load_patterns(scratch, shape, system, choice, amounts, parts)
    table, witness = scratch.table("hidden"), scratch.table("witness")
    nothing = np.full(len(cells), -1, np.int64)
    hidden = {"cell": (cells + 1).astype(np.int64), "low": nothing, "high": nothing}
    if shape.bounds:
        witnessed = WitnessTables(choice.witnesses, choice.sums)
        # A version that comes before time asks for it has the rows of a cohort.
        least_rows = max(shape.least_rows, shape.cohort if shape.follows else 1)
        bounds = bound_cells(whole, choice.hidden[: len(whole)], witnessed, amounts, parts, least_rows)
        for place, ends in enumerate(bounds):
            mark = str(place) if place else ""
            hidden |= {f"low{mark}": ends.low[cells], f"high{mark}": ends.high[cells]}
            hidden[f"tight{mark}"] = ends.tight[cells].astype(np.int64)
    scratch.engine.load_arrays(table, hidden)
    sums = choice.sums if system.wholes is None else [_place_sums(of, system.wholes) for of in choice.sums]
    number, atom = np.nonzero(np.logical_or.reduce([choice.witnesses != 0, *(of != 0 for of in sums)]))
    changed = {"change": choice.witnesses[number, atom]}
    changed |= {f"s{place}": of[number, atom] for place, of in enumerate(sums, 1)}
    columns = [{"witness": number.astype(np.int64), "atom": (atom + 1).astype(np.int64), **changed}]
    for place, (numbers, within) in enumerate(choice.number_within(), 1):
        atoms = within.atom if system.wholes is None else system.wholes.first()[within.atom]
        zeros = dict.fromkeys(columns[0], np.zeros_like(atoms))
        columns.append({**zeros, "witness": numbers, "atom": atoms + 1, f"s{place}": within.change})
    scratch.engine.load_arrays(witness, {name: np.concatenate([of[name] for of in columns]) for name in columns[0]})
    return HiddenCells(table, witness, choice.many - 1)


def _load_patterns(
    scratch: Scratch,
    shape: Shape,
    system: System,
    choice: HiddenChoice,
    amounts: Sequence[tuple[Amounts, Range]],
    parts: Parts | None,
) -> HiddenCells:
    cells, table = np.flatnonzero(choice.hidden[system.listed]), scratch.table("hidden")
    bounds = bound_both(system, choice, shape, amounts, parts) if shape.bounds else {}
    hidden = {name: of[cells] for name, of in bounds.items()} or {"low": np.full(len(cells), -1, np.int64)}
    scratch.engine.load_arrays(table, {"cell": (cells + 1).astype(np.int64), **hidden})
    sources = choice.sources
    over = system if sources is None else sources.system
    witness, patterns = load_patterns(scratch, shape, over, choice, parts)
    able = load_able(scratch, shape, sources)
    paid = load_paid(scratch, choice) if choice.sums else None
    return HiddenCells(table, witness, choice.many - 1, patterns, paid, able)


def _place_sums(changes: Longs, wholes: Wholes) -> Longs:
    """Changes of the sums of finest combinations, each at the first part of it."""
    placed = np.zeros((len(changes), len(wholes.of)), np.int64)
    placed[:, wholes.first()] = changes
    return placed
