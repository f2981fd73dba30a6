"""A naive Bayes classifier of the published cells guesses sensitive values.

The attack is from Kifer, *Attacks on privacy and deFinetti's theorem*, 2009.

The release alone is the training set: a published row counts for every value that the cell covers, split evenly. It
learns how quasi and sensitive values go together in the whole table, which no bound on classes prevents.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.victim_sample import measure_margin
from sqlanon.results import BayesAttack

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags, Ints, Longs
    from sqlanon.attack.box_matches import BoxIndex
    from sqlanon.attack.material import Material


MOST_VALUES = 1000
"""Sensitive values, at most."""
MOST_CELLS = 100_000_000
"""Pairs of a sensitive value and a row, a cell or a code, at most."""
NEAR = 1e-9
"""Scores that are this near in their logarithm are equal, and the guess is divided among them."""


def attack_by_bayes(fits: BoxIndex, place: int, *, candidates: bool) -> BayesAttack | str:
    """The expected share of published victims with a sensitive value guessed right by all their quasi values.

    Args:
        fits: source and release.
        place: of the sensitive column.
        candidates: the cells say who a victim's candidates are.

    Returns:
        The figures; or why they were not computed.

    Cost: for every column cells times codes times sensitive values, and rows times sensitive values; in memory.
    """
    material = fits.material
    counts, name = material.counts[place], material.sensitive[place].reading.name
    values, number = np.unique(counts.value, return_inverse=True)
    widest = max((len(material.tuples), len(material.members), *(domain.codes for domain in material.quasi)))
    if len(values) > MOST_VALUES or widest * len(values) > MOST_CELLS:
        return (
            f"naive Bayes of {name}: it has {len(values):,} values; at most {MOST_VALUES:,} values, and {MOST_CELLS:,} "
            "pairs of them and rows, are compared"
        )
    boxes = _of_boxes(material, number.astype(np.int64), counts.times, counts.group, len(values))
    prior = boxes.sum(axis=0)
    score = np.tile(np.log(prior), (len(material.tuples), 1))
    for a, domain in enumerate(material.quasi):
        learnt = _learn_code_frequencies(fits, a, boxes, domain.codes)
        score += np.log((learnt + 1 / domain.codes) / (prior + 1))[material.tuples[:, a]]
    of = np.searchsorted(values, material.values[place])
    of[(of == len(values)) | (values[np.minimum(of, len(values) - 1)] != material.values[place])] = -1
    top = prior >= prior.max() * (1 - NEAR)
    likely = np.where(_mark_possible_values(fits, boxes), score, -np.inf) if candidates else None
    accuracy = _expect_share(material, of, score)
    return BayesAttack(
        name,
        accuracy,
        _expect_share(material, of, likely) if likely is not None else None,
        _expect_share(material, of, np.tile(np.where(top, 0.0, -np.inf), (len(material.tuples), 1))),
        measure_margin(accuracy, material),
    )


def _of_boxes(material: Material, number: Longs, times: Longs, group: Ints, values: int) -> Doubles:
    """Rows of each box with each value, float64[b, s]; in format anatomy those that are expected in the groups."""
    groups = np.zeros((len(material.groups), values))
    groups[group, number] = times
    if material.shares is None:
        return groups
    box, of, rows = material.shares
    rows_of = np.zeros((len(material.members), values))
    np.add.at(rows_of, box, groups[of] * (rows / material.groups[of])[:, None])
    return rows_of


def _learn_code_frequencies(fits: BoxIndex, a: int, boxes: Doubles, codes: int) -> Doubles:
    """How often each code of a column goes with each value, float64[codes, s].

    Every box is split evenly over the codes that the cell covers.
    """
    covered, cells = fits.material.covered, fits.material.cells
    if not covered.size[a]:
        low, high = fits.low[a].astype(np.int64), fits.high[a].astype(np.int64)
        some = (high >= low) & (low < codes)
        null = fits.null[a]
        ways = np.where(some, high - low + 1, 0) + null
        each = boxes / np.maximum(ways, 1)[:, None]
        steps = np.zeros((codes + 1, boxes.shape[1]))
        np.add.at(steps, low[some], each[some])
        np.add.at(steps, high[some] + 1, -each[some])
        frequencies: Doubles = np.maximum(np.cumsum(steps, axis=0)[:codes], 0.0)
        frequencies[0] += each[null].sum(axis=0)
        return frequencies
    kinds, size = int(cells[a].max()) + 1, int(covered.size[a])
    of_cells = np.zeros((kinds, boxes.shape[1]))
    np.add.at(of_cells, cells[a], boxes)
    bits = covered.bits[covered.start[a] : covered.start[a] + kinds * size].reshape(kinds, size)
    each = of_cells / np.maximum(bits.sum(axis=1), 1)[:, None]
    likelihoods: Doubles = bits.T.astype(np.float64) @ each
    return likelihoods


def _mark_possible_values(fits: BoxIndex, boxes: Doubles) -> Flags:
    """Which values the candidates of each row have, bool[r, s]."""
    box, value = np.nonzero(boxes)
    starts = np.searchsorted(box, np.arange(len(boxes) + 1)).astype(np.int64)
    return fits.present(starts, value.astype(np.int32), boxes.shape[1])


def _expect_share(material: Material, of: Longs, score: Doubles) -> float:
    """The expected share of victims with a value of the best score; of equal scores each as likely."""
    best = score.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        guess = (score >= best - NEAR) & (score > -np.inf)
    ways = np.maximum(guess.sum(axis=1), 1)
    right = (of >= 0) & guess[material.of, of]
    total = int(material.times.sum())
    return math.fsum(right * material.times / ways[material.of]) / total if total else 0.0
