"""Inference attack: guesses a sensitive value from the released rows nearest to a person's other values.

Giomi et al. 2023, section 4.3. The attacker guesses the most frequent value among the nearest rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.control.base import Attack, MissingFigure, Outcome, Successes, Trial

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


def guess_values(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """Guess every sensitive column from quasi and insensitive ones."""
    from sqlanon.attack.kernels.nearest import guess

    other_columns = np.array(trial.with_role("quasi", "insensitive"), np.int64)
    secrets = trial.with_role("sensitive")
    if not secrets:
        yield MissingFigure("inference: the release has no sensitive column")
        return
    inside, outside, every = trial.draw(trial.affords(len(other_columns) * len(secrets)))
    for secret in secrets:

        def succeed(rows: Ints, secret: int = secret) -> Successes:
            return Successes(float(guess(trial.space, other_columns, secret, rows).sum()), len(rows))

        name = trial.columns[secret].name
        naive = guess_most_frequent(trial, secret, inside)
        yield Outcome(f"{name} by nearest rows", (name,), succeed(inside), succeed(outside), naive, every)


def guess_most_frequent(trial: Trial, secret: int, rows: Ints) -> float:
    """The share of rows with the value that most released rows have."""
    counts = np.bincount(trial.space.low[secret], trial.space.members)
    return float((rows[:, secret] == int(counts.argmax())).mean()) if len(rows) else 0.0


INFERENCE = Attack("inference", "sensitive values guessed from the nearest released rows", guess_values)
