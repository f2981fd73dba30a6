"""Noise against a reader who knows all other rows: what is drawn distinguishes no more than the release claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.noisy import answers as answering
from sqlanon.noisy.accounting import Law
from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from tests.contract.noisy_releases import REGIONS, Made, exact
from tests.oracle.chance_of import lower_bound

pytest.importorskip("opendp")


def attack(db: Any, folder: Path, law: Law = "laplace", **asked: Any) -> tuple[float, float]:
    """A reader who knows all other rows guesses whether a person of forty rows is in: a lower bound on epsilon.

    The guess is by the likelihood ratio of everything that is drawn; the bound is wrong with probability 1e-6. Also
    what the version claims.
    """
    rows = [(pid, REGIONS[pid % 4], "FM"[pid % 2], 5, 5.0) for pid in range(40)]
    victim = [(99, region, sex, 5, 5.0) for region in REGIONS for sex in "FM" for _ in range(5)]
    shapes = []
    for some in (rows, rows + victim):
        made = Made(db, folder, some, more=f"noise: {law}\n      kept: false", **asked)
        shapes.append(exact(db, shape_of(made.spec), made.source))
    shape = shape_of(made.spec)
    noise = noise_of(shape)
    ratios: list[list[float]] = []
    for truth in shapes:
        ratios.append([0.0] * RUNS)
        for without, with_, own, scale in zip(*shapes, truth, noise.scales, strict=True):
            drawn = add_noise(np.tile(own, RUNS), law, scale).reshape(RUNS, -1)
            far = [np.abs(drawn - truth).astype(float) / float(scale) for truth in (without, with_)]
            gain = (far[0] - far[1] if law == "laplace" else (far[0] ** 2 - far[1] ** 2) / 2).sum(axis=1)
            ratios[-1] = [old + new for old, new in zip(ratios[-1], gain.tolist(), strict=True)]
    found = max(
        lower_bound(
            RUNS, sum(x >= at for x in ratios[1]), sum(x >= at for x in ratios[0]), float(law == "gaussian") / 1e6
        )
        for at in (0.5, 1, 2, 4)
    )
    return found, float(made.spec.noisy.epsilon)  # type: ignore[union-attr]


RUNS = 3_000


@pytest.mark.thorough
def test_a_reader_who_knows_everybody_else_learns_no_more_than_is_claimed(shared_db: Any, tmp_path: Path) -> None:
    found, claimed = attack(shared_db, tmp_path)
    assert 0.1 < found < claimed


@pytest.mark.thorough
def test_a_reader_of_quantiles_learns_no_more_than_is_claimed(shared_db: Any, tmp_path: Path) -> None:
    measures = "{n: rows, cost: {quantiles: [0.25, 0.5, 0.75], range: [0, 10], steps: 4}}"
    found, claimed = attack(shared_db, tmp_path, measures=measures)
    assert found < claimed


def test_the_same_reader_sees_through_rows_that_are_not_bounded(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The naive variant: noise for two groups of two rows, and every row counts."""
    context = answering._context
    monkeypatch.setattr(answering, "_context", lambda *given: context(*given) | {"groups": 8, "rows": 40})
    monkeypatch.setattr(answering, "verify_norms", lambda *_: None)
    found, claimed = attack(shared_db, tmp_path)
    assert found > claimed
