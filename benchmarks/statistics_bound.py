"""How many cells any scheme must hide so that every small cell can have as little, and as much, as is promised.

Of all choices of hidden cells that leave each small cell both ends for a reader who computes with fractions, the least
one is bounded from below: an integer program whose constraints are found one by one (Fischetti and Salazar 2001,
"Solving the cell suppression problem on tabular data with linear constraints").
A reader with whole numbers has less to choose from, and insiders more: so the bound holds for every sound scheme.
``bound`` is a number of hidden cells that no scheme falls below, of those that differ for a reader, and ``complete``
whether one of so many was found; ``hidden`` is what a run hides, and ``minimal`` what is left of it when each cell is
shown again, one after another, as long as a reader with fractions has both ends of every small cell. All are of
floating-point programs.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

import sqlanon
from benchmarks.record import RESULTS, Record, has_data, options
from benchmarks.statistics import TABLES, measured, read_sources, write_hierarchies
from sqlanon.statistics import hide
from sqlanon.statistics.demands import lower_bounds
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags

    Floats = npt.NDArray[np.float64]

PERSONS = 5
ROUNDS = 60
"""Rounds of constraints, at most."""
MOST_TRIED = 20_000
"""Cells to show again, times small cells, at most."""
NEAR = 1e-6
Cut = tuple["Floats", float]
"""Coefficients of the cells, whose sum over the hidden ones is at least 1; and by how much a choice misses it."""


class Ends:
    """By how much each small cell can change, where each cell may change as far as it is hidden."""

    def __init__(self, system: System) -> None:
        self.system, many = system, len(system.atoms.count)
        self.room = (system.value - 1).astype(float)
        self.solver = make_solver()
        self.solver.addVars(many, lower_bounds(system), np.full(many, highspy.kHighsInf))
        for cell in range(len(system)):
            members = system.members(cell).astype(np.int32)
            self.solver.addRow(0.0, 0.0, len(members), members, np.ones(len(members)))

    def find_cuts(self, hidden: Floats) -> Iterator[Cut]:
        """Constraints that a choice of hidden cells misses.

        Args:
            hidden: float64[classes], the share of each.
        """
        system, rows = self.system, np.arange(len(self.system), dtype=np.int32)
        for cell in np.flatnonzero(system.small).tolist():
            for sign, needed in (
                (1, PERSONS - int(system.value[cell])),
                (-1, int(system.value[cell] - system.least[cell])),
            ):
                if needed <= 0:
                    continue
                low, high = -np.minimum(self.room, 4 * needed) * hidden, 4.0 * needed * hidden
                self.solver.changeRowsBounds(len(rows), rows, low, high)
                costs = np.zeros(len(system.atoms.count))
                costs[system.members(cell)] = -sign
                self.solver.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
                self.solver.run()
                found = -self.solver.getInfo().objective_function_value
                if found < needed - NEAR:
                    yield self._cut(np.array(self.solver.getSolution().row_dual), hidden, needed, costs)

    def _cut(self, dual: Floats, hidden: Floats, needed: int, costs: Floats) -> Cut:
        """What the multipliers of the cells prove: valid whatever is hidden, as it is counted from them alone."""
        system = self.system
        weight = np.where(np.abs(dual) < NEAR, 0.0, -dual)
        # The change of the cell is a sum of weighted changes of cells, and of what is left of each atom.
        left = -costs.copy()
        np.add.at(left, system.member, -np.repeat(weight, np.diff(system.at)))
        if (left > NEAR).any():  # an atom that nothing bounds
            return np.ones(len(system)), 0.0
        given = float((left * lower_bounds(system))[left < 0].sum())
        missing = needed - given
        if missing <= NEAR:
            return np.ones(len(system)), 0.0
        able = np.where(weight > 0, missing, -weight * self.room)
        made = np.minimum(able, missing) / missing
        return made, 1 - float(made @ hidden)


def make_solver() -> Any:
    """A silent solver of one thread."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    return solver


class Choices:
    """The least number of hidden cells under the constraints so far."""

    def __init__(self, system: System) -> None:
        self.solver, self.many = make_solver(), len(system)
        self.solver.addVars(self.many, system.small.astype(float), np.ones(self.many))
        places = np.arange(self.many, dtype=np.int32)
        self.solver.changeColsCost(self.many, places, np.ones(self.many))

    def add(self, cut: Floats) -> None:
        """Add a constraint."""
        places = np.flatnonzero(cut).astype(np.int32)
        self.solver.addRow(1.0, highspy.kHighsInf, len(places), places, cut[places])

    def solve(self) -> tuple[float, Floats]:
        """The least sum of shares, and the shares."""
        self.solver.run()
        return self.solver.getInfo().objective_function_value, np.clip(self.solver.getSolution().col_value, 0, 1)

    def solve_whole(self, seconds: float) -> tuple[int, Floats]:
        """A lower bound of the least number of cells, and the best choice that was found."""
        places = np.arange(self.many, dtype=np.int32)
        kinds = [highspy.HighsVarType.kInteger] * self.many
        self.solver.changeColsIntegrality(self.many, places, np.array([int(kind) for kind in kinds], np.uint8))
        self.solver.setOptionValue("time_limit", self.solver.getRunTime() + seconds)
        self.solver.run()
        bound = math.ceil(self.solver.getInfo().mip_dual_bound - NEAR)
        return bound, np.clip(self.solver.getSolution().col_value, 0, 1)


def find_bound(system: System, seconds: float) -> dict[str, Any]:
    """The bound, with what a choice of so many cells would still miss.

    Args:
        system: the cells.
        seconds: processor seconds of the search, about.
    """
    begun = time.process_time()
    ends, choices, least, rounds = Ends(system), Choices(system), 0.0, 0
    hidden = system.small.astype(float)
    while rounds < ROUNDS and time.process_time() - begun < seconds:
        cuts = [cut for cut, missed in ends.find_cuts(hidden) if missed > NEAR]
        if not cuts:
            break
        for cut in {one.tobytes(): one for one in cuts}.values():
            choices.add(cut)
        least, hidden = choices.solve()
        rounds += 1
        print(rounds, len(cuts), round(least, 2), flush=True)
    bound, missing = math.ceil(least - NEAR), -1
    while time.process_time() - begun < 2 * seconds:
        found, hidden = choices.solve_whole(seconds)
        bound = max(bound, found)
        cuts = [cut for cut, missed in ends.find_cuts(np.rint(hidden)) if missed > NEAR]
        missing = len(cuts)
        print("whole", bound, int(np.rint(hidden).sum()), missing, flush=True)
        if not cuts:
            break
        for cut in cuts:
            choices.add(cut)
    return {"relaxed": least, "bound": bound, "complete": missing == 0, "cpu_seconds": time.process_time() - begun}


def count_minimal(system: System, hidden: Flags) -> int | None:
    """How many cells are left hidden when each is shown again that may be; None: it would take too long."""
    cells = np.flatnonzero(hidden & ~system.small)
    if len(cells) * int(system.small.sum()) > MOST_TRIED:
        return None
    ends, left = Ends(system), hidden.astype(float)
    for cell in cells[np.argsort(-system.height[cells], kind="stable")]:
        left[cell] = 0.0
        if next(ends.find_cuts(left), None) is not None:
            left[cell] = 1.0
    return int(left.sum())


def count_empty(system: System, secret: bytes) -> dict[str, Any]:
    """How many cells are hidden where published cells could be empty, and the processor seconds of the search."""
    nothing, one = np.zeros(len(system), np.int64), np.ones(len(system), np.int64)
    begun = time.process_time()
    choice = hide.choose_hidden(replace(system, floor=nothing, least=one), PERSONS, insiders=False, secret=secret)
    return {"empty": int(choice.hidden.sum()), "empty_cpu_seconds": time.process_time() - begun}


def read_system(db: Any, folder: Path, name: str, insiders: str) -> tuple[System, Flags, bytes]:
    """The cells of a release, which of those that differ for a reader it hides, and the key of their order."""
    found: list[tuple[System, Flags, bytes]] = []
    choose = hide.choose_hidden

    def spy(system: System, *args: Any, **words: Any) -> Any:
        made = choose(system, *args, **words)
        found.append((system, made.hidden, words["secret"]))
        return made

    hide.choose_hidden = spy
    try:
        measured(db, folder, name, insiders)
    finally:
        hide.choose_hidden = choose
    return found[0]


def main(words: Sequence[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "statistics_bound.json")
    parser.add_argument("--only", default="adult 3 columns", help=f"tables of: {', '.join(TABLES)}")
    parser.add_argument("--seconds", type=float, default=60, help="processor seconds of the bound of each table, about")
    args = parser.parse_args(words)
    if not has_data():
        return
    record, results = Record("statistics_bound"), []
    with sqlanon.connect("duckdb:///:memory:") as db, tempfile.TemporaryDirectory() as folder:
        read_sources(db)
        write_hierarchies(Path(folder))
        for name in args.only.split(","):
            system, hidden, secret = read_system(db, Path(folder), name, "none")
            made = {"table": name, "cells": len(system), "small": int(system.small.sum()), "hidden": int(hidden.sum())}
            made |= {"minimal": count_minimal(system, hidden)} | count_empty(system, secret)
            results.append(made | (find_bound(system, args.seconds) if args.seconds else {}))
            print(results[-1], flush=True)
    record.write(args.out, results=results)


if __name__ == "__main__":
    main()
