"""Sums of cells hold for every table, and programs over them find what programs over atoms find."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.statistics import deviations
from sqlanon.statistics.demands import Demand
from sqlanon.statistics.deviations import Deviations
from sqlanon.statistics.equations import find_parts, list_equations
from sqlanon.statistics.work import ExhaustedError, Work
from tests.unit.cells.made import drawn, tiny

pytest.importorskip("highspy")

M = 3
SHAPES = [(3, 4), (2, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_the_parts_of_an_equation_are_its_sum(seed: int, shape: tuple[int, ...]) -> None:
    system = tiny(drawn(("equations", seed), shape, 5)).system(M)
    equations = list_equations(system)
    assert len(equations)
    for number in range(len(equations)):
        parts = [system.members(cell) for cell in equations.parts(number).tolist()]
        together = np.sort(np.concatenate(parts)).tolist()
        assert together == system.members(int(equations.total[number])).tolist()
    wide = set(np.flatnonzero(np.diff(system.at) > 1).tolist())
    assert set(find_parts(system)) == wide


@pytest.mark.parametrize("shape", SHAPES)
def test_changes_weigh_the_same_as_those_of_programs_over_atoms(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tiny(drawn("programs", shape, 6)).system(M)
    programs = [Deviations(system, system.small.copy(), Work())]
    with monkeypatch.context() as patch:
        patch.setattr(deviations, "find_parts", lambda _: {})
        programs.append(Deviations(system, system.small.copy(), Work()))
    for cell in np.flatnonzero(system.small).tolist():
        demand = Demand(cell, None, M - int(system.value[cell]))
        changes = [program.solve(demand) for program in programs]
        if changes[0] is None or changes[1] is None:
            assert changes[0] is None
            assert changes[1] is None
            continue
        weights = [float((system.weight * np.abs(system.sums(change)))[~system.small].sum()) for change in changes]
        assert weights[0] == pytest.approx(weights[1], rel=0.01)
        assert all(system.sums(change)[cell] >= demand.fewest for change in changes)


def test_whole_numbers_of_the_atoms_that_change_meet_the_demand_and_are_not_said_to_be_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = tiny(drawn("whole", (3, 4), 6)).system(M)
    monkeypatch.setattr(Deviations, "_round", lambda *_: None)
    programs = Deviations(system, system.small.copy(), Work())
    found = 0
    for cell in np.flatnonzero(system.small).tolist():
        demand = Demand(cell, None, M - int(system.value[cell]))
        change = programs.solve(demand)
        if change is not None:
            found += 1
            assert system.sums(change)[cell] >= demand.fewest
            assert (system.atoms.count + change >= 0).all()
    assert found
    monkeypatch.setattr(deviations, "MOST_ENTRIES", 0)
    monkeypatch.setattr(Deviations, "_solve_whole", lambda *_: (None, True))
    with pytest.raises(ExhaustedError):
        programs.solve(demand)
    assert programs.solve(demand, keep_shown=True) is None


def test_a_program_takes_the_steps_that_are_left() -> None:
    system = tiny(drawn("whole", (3, 4), 6)).system(M)
    (cell, *_) = np.flatnonzero(system.small).tolist()
    programs = Deviations(system, system.small.copy(), Work(most_read=1))
    with pytest.raises(ExhaustedError):
        programs.solve(Demand(cell, None, M - int(system.value[cell])))
