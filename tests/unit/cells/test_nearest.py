"""Numbers that add up and are nearest to numbers with noise, against dense linear algebra."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sqlanon.statistics.nearest import fit_atoms
from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.system import System
from tests.unit.cells.made import drawn, tiny


def dense(system: System) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    made = np.zeros((len(system), len(system.atoms.count)))
    for cell in range(len(system)):
        made[cell, system.members(cell)] = 1
    return made


@pytest.mark.parametrize("seed", range(6))
def test_least_squares_over_cells_of_unlike_persons(seed: int) -> None:
    system = tiny(drawn(seed, (3, 4, 2), 6)).system(3)
    matrix, draw = dense(system), np.random.default_rng(seed)
    result = system.value + draw.integers(-5, 6, len(system))
    of = find_margins(system)
    times = sum(np.bincount(np.unique(row[row >= 0]), minlength=len(system)) for row in of)
    found = fit_atoms(of, result.astype(float), 1 / times, np.ones(len(system.atoms.count)))
    expected = np.linalg.lstsq(matrix, result.astype(float), rcond=None)[0]
    assert found == pytest.approx(expected, abs=1e-5)
    assert (found * 2**20 == np.rint(found * 2**20)).all()


def test_what_averaging_leaves_is_as_the_plan_says() -> None:
    """The mean variance of fitted numbers is the noise's times atoms over cells, as the trace of the projection is."""
    system = tiny({codes: 9 + sum(codes) for codes in itertools.product(range(4), range(3), range(2))}).system(3)
    matrix = dense(system)
    projection = matrix @ np.linalg.pinv(matrix)
    share = len(system.atoms.count) / len(system)
    assert np.trace(projection) / len(system) == pytest.approx(share)
    draw, errors = np.random.default_rng(0), []
    for _ in range(400):
        noise = draw.choice([-2.0, -1.0, 0.0, 1.0, 2.0], len(system))
        errors.append(((projection @ noise) ** 2).mean())
    assert np.mean(errors) == pytest.approx(2 * share, rel=0.05)
