"""Victims drawn at random, where comparisons of all would take minutes.

It estimates the success of an attack on all victims by that on some.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.attack.material import Material

WORK = 20_000_000_000
"""Steps that are taken without drawing: some 20 seconds."""
FEWEST = 400
"""Victims that are drawn at least."""
SEED = 1
"""The draw is the same in every run, so that figures of a release can be compared."""
_Z = 1.96


def draw(material: Material, most: int | None, steps: float) -> Material:
    """The material with so many victims that they are compared in some `WORK` steps.

    Args:
        material: source and release.
        most: victims at most; None: as many as `WORK` allows, `FEWEST` at least.
        steps: cost of comparing a combination of quasi values.

    Returns:
        The material itself where all victims are compared. Else a material with victims drawn without replacement, each
        as likely.
    """
    rows, published = len(material.tuples), material.published
    if most is None:
        most = published if rows * steps <= WORK else max(FEWEST, int(WORK / steps))
    if most >= published:
        return material
    times = np.random.default_rng(SEED).multivariate_hypergeometric(material.times, most, method="marginals")
    some = times > 0
    tuples, of = np.unique(material.of[some], return_inverse=True)
    return replace(
        material,
        tuples=np.ascontiguousarray(material.tuples[tuples]),
        victims=np.bincount(of, times[some], len(tuples)).astype(np.int64),
        values=tuple(codes[some] for codes in material.values),
        of=of.astype(np.int32),
        times=times[some],
    )


def measure_margin(mean: float, material: Material) -> float:
    """Half the width of the 95 % interval of a mean over victims; 0 where none were drawn.

    A victim's success lies between 0 and 1, so that the variance is at most mean (1 - mean) (Bhatia and Davis 2000):
    the interval of Wilson (1927) for a share is at least as wide as it must be. The farther end counts.
    """
    n, published = material.drawn, material.published
    if n >= published:
        return 0.0
    middle = (mean + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(max(mean * (1 - mean), 0.0) / n + _Z**2 / (4 * n**2))
    return max(middle + half - mean, mean - middle + half)
