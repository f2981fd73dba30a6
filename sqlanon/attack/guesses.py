"""Guesses of sensitive values: the most frequent value of the class, and information of a class beyond the table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.victim_sample import measure_margin
from sqlanon.results import GuessAttack, SkewnessGain

if TYPE_CHECKING:
    from fractions import Fraction

    from sqlanon.arrays import Longs
    from sqlanon.attack.box_matches import BoxIndex
    from sqlanon.attack.material import Material


def measure_homogeneity(
    fits: BoxIndex | None, material: Material, place: int, bound: Fraction | None, *, classes: bool
) -> tuple[GuessAttack, ...]:
    """The share of the most frequent sensitive value in victims' classes, and among their candidates.

    The attack is that of Machanavajjhala et al. 2007, section 3.

    Args:
        fits: source and release; None: candidates are not compared.
        material: see there.
        place: of the sensitive column.
        bound: l, or None.
        classes: the release has classes, or groups.
    """
    counts = material.counts[place]
    name = material.sensitive[place].reading.name
    guesses = []
    if classes:
        top = np.zeros(len(material.groups), np.int64)
        np.maximum.at(top, counts.group, counts.times)
        guesses.append(_guess(name, "class", top, material.groups, material.groups, bound))
    if fits is not None:
        top, every = fits.guess_values(counts)
        guess = _guess(name, "candidates", top, every, material.victims, bound)
        guesses.append(replace(guess, margin=measure_margin(guess.mean, material)))
    return tuple(guesses)


def _guess(column: str, among: str, top: Longs, every: Longs, weight: Longs, bound: Fraction | None) -> GuessAttack:
    some = every > 0
    top, every, weight = top[some], every[some], weight[some]
    share = top / every
    # No float decides: top / every > denominator / numerator, in Python's integers.
    above = bound is not None and any(
        t * bound.numerator > n * bound.denominator
        for t, n in {(int(t), int(n)) for t, n in zip(top, every, strict=True)}
    )
    total = int(weight.sum())
    return GuessAttack(
        column,
        among,
        math.fsum(share * weight) / total if total else 0.0,
        float(share.max(initial=0.0)),
        float(1 / bound) if bound is not None else None,
        above,
    )


def measure_skewness(material: Material, place: int) -> SkewnessGain:
    """How much likelier classes make a sensitive value than the table does.

    It is the skewness attack of Li et al. 2007, section 3.1.

    Args:
        material: source and release.
        place: of the sensitive column.
    """
    counts, sizes = material.counts[place], material.groups
    rows = int(sizes.sum())
    _, number = np.unique(counts.value, return_inverse=True)
    prior = np.bincount(number, counts.times)[number] / rows
    share = counts.times / sizes[counts.group]
    gain, ratio = np.zeros(len(sizes)), np.zeros(len(sizes))
    np.maximum.at(gain, counts.group, share - prior)
    np.maximum.at(ratio, counts.group, share / prior)
    return SkewnessGain(
        material.sensitive[place].reading.name,
        math.fsum(gain * sizes) / rows,
        float(gain.max()),
        math.fsum(ratio * sizes) / rows,
        float(ratio.max()),
    )
