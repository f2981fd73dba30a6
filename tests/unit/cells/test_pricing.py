"""Patterns that enter a program by their price: it finds as much as one that has all of them, and hides as well."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.statistics import deviations, whole_search
from sqlanon.statistics.demands import Demand
from sqlanon.statistics.deviations import Deviations
from sqlanon.statistics.highs import import_highs, make_solver
from sqlanon.statistics.pricing import Pricing
from sqlanon.statistics.system import System
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.whole_search import search_whole
from sqlanon.statistics.work import ExhaustedError, Work
from tests.oracle.class_reader import ENDS, MEMBERS, NOTHING, SHOWN
from tests.unit.cells.persons_beside import beside
from tests.unit.cells.persons_made import persons
from tests.unit.cells.readers import failing_beside, failing_persons

pytest.importorskip("highspy")

M = 3
BOTH, ALONE = ("n", "persons"), ("persons",)


def _demands(system: System, threshold: int) -> list[Demand]:
    twin = np.arange(len(system)) if system.twin is None else system.twin
    small = np.flatnonzero(system.small).tolist()
    up = [Demand(cell, None, threshold - int(system.value[cell])) for cell in small]
    rows = [int(twin[cell]) for cell in small]
    down = [Demand(cell, int(system.least[cell] - system.value[cell]), None) for cell in rows]
    return [*up, *(demand for demand in down if demand.most)]


def test_programs_that_patterns_enter_weigh_as_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed in range(3):
        system, _ = beside(("b", seed), (ENDS, ENDS), shape=(2, 2), whole=False, threshold=M).system()
        programs = []
        for most in (10**6, 0):
            monkeypatch.setattr(deviations, "MOST_READ_AT_ONCE", most)
            monkeypatch.setattr(deviations, "ENTERING", 2)
            programs.append(Deviations(system, system.small.copy(), Work()))
        for demand in _demands(system, M):
            every, priced = (program.solve(demand, instead=lambda: None) for program in programs)
            assert (every is None) == (priced is None)
            if every is None or priced is None:
                continue
            weights = [
                float((system.weight * np.abs(system.sums(change)))[~system.small].sum()) for change in (every, priced)
            ]
            assert max(weights) <= min(weights) * (1 + whole_search.GAP) + 0.1
            compared += 1
    assert compared > 3


@pytest.mark.parametrize(
    ("ways", "seed", "how"),
    [
        ((ENDS, ENDS), 0, {"whole": False, "size": 3, "threshold": 2}),
        ((ENDS, MEMBERS), 0, {"whole": False, "measures": ALONE}),
        *(
            pytest.param(ways, seed, {"whole": whole_persons, "threshold": threshold}, marks=pytest.mark.thorough)
            for ways in ((ENDS, ENDS), (ENDS, SHOWN), (NOTHING, SHOWN))
            for seed in range(3)
            for whole_persons in (True, False)
            for threshold in (2, 3)
        ),
    ],
)
@pytest.mark.parametrize("insiders", [False, True])
def test_no_reader_of_both_finds_a_small_cell_where_patterns_enter(
    ways: tuple[str, str], seed: int, how: dict[str, object], insiders: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deviations, "MOST_READ_AT_ONCE", 0)
    monkeypatch.setattr(deviations, "ENTERING", 2)
    case = beside(("b", seed), ways, shape=(2, 2), **how)  # type: ignore[arg-type]
    try:
        found = case.protect(insiders=insiders)
    except UnservedError:
        return
    for known in case.alone() if insiders else [None]:
        assert failing_beside(case, case.hidden_of(found), known) == []


@pytest.mark.parametrize(
    ("measures", "seed", "how"),
    [
        (BOTH, 2, {"shape": (2, 2), "many": 8}),
        (ALONE, 1, {"constant": (0,)}),
        *(
            pytest.param(measures, seed, {"many": 7}, marks=pytest.mark.thorough)
            for measures in (BOTH, ALONE)
            for seed in range(2)
        ),
    ],
)
def test_no_reader_finds_a_small_cell_where_patterns_enter(
    measures: tuple[str, ...], seed: int, how: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deviations, "MOST_READ_AT_ONCE", 0)
    case = persons(("persons", seed), **{"many": 6, "measures": measures, **how})  # type: ignore[arg-type]
    try:
        hidden = case.hidden_of(case.protect(insiders=False))
    except UnservedError:
        return
    total = case.case.cells.index(tuple(None for _ in case.case.cells[0]))
    assert hidden[total] or failing_persons(case, hidden) == []


def test_values_and_columns_are_those_of_the_matrix() -> None:
    case = persons(("persons", 2), many=8, shape=(2, 2))
    system = case.system()
    assert system.times is not None
    row = np.where(np.arange(len(system)) % 3, np.cumsum(np.arange(len(system)) % 3 > 0) - 1, -1)
    matrix = np.zeros((row.max() + 1, len(system.atoms.count)))
    for cell in np.flatnonzero(row >= 0).tolist():
        matrix[row[cell], system.members(cell)] = system.times_of(cell)
    pricing = Pricing(system, row)
    multipliers = np.random.default_rng(1).normal(size=len(matrix))
    assert pricing.entries == np.count_nonzero(matrix)
    assert np.allclose(pricing.value(multipliers), multipliers @ matrix)
    atoms = np.array([4, 0, 3])
    starts, rows, times = pricing.columns(atoms)
    for place, atom in enumerate(atoms.tolist()):
        end = starts[place + 1] if place + 1 < len(atoms) else len(rows)
        column = np.zeros(len(matrix))
        column[rows[starts[place] : end]] = times[starts[place] : end]
        assert (column == matrix[:, atom]).all()


def test_a_search_for_whole_numbers_ends_after_counted_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    highs, draw, many = import_highs(), np.random.default_rng(3), 40
    weights = draw.integers(20, 60, (12, many))
    program = highs.HighsLp()
    program.num_col_, program.num_row_ = many, len(weights)
    program.col_cost_, program.col_lower_, program.col_upper_ = -draw.random(many), np.zeros(many), np.ones(many)
    program.row_lower_ = np.full(len(weights), -highs.kHighsInf)
    program.row_upper_ = weights.sum(axis=1) / 2.5
    program.integrality_ = [highs.HighsVarType.kInteger] * many
    program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(len(weights) + 1, dtype=np.int32) * many
    program.a_matrix_.index_ = np.tile(np.arange(many, dtype=np.int32), len(weights))
    program.a_matrix_.value_ = weights.reshape(-1).astype(np.float64)

    def run(checks: int) -> tuple[int, int, object]:
        monkeypatch.setattr(whole_search, "MOST_CHECKS", checks)
        solver = make_solver(program)
        assert search_whole(solver, gap=0.0, nodes=60) or checks == 0
        info = solver.getInfo()
        return int(info.mip_node_count), int(info.simplex_iteration_count), solver.getModelStatus()

    full, short, again = run(10**6), run(20), run(20)
    assert short == again
    assert short[1] < full[1]
    assert short[2] == highs.HighsModelStatus.kInterrupt


def test_a_scan_of_patterns_costs_as_much_as_it_may() -> None:
    work = Work(most_read=100)
    work.read(400)
    with pytest.raises(ExhaustedError):
        work.read(4)
