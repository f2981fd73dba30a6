"""Linkability: two sources know different columns of a person; do both lead to the same released row?

Giomi et al. 2023, section 4.2, with a single neighbour. Each source takes one of the nearest released rows, by the
distance of Gower; of equally near ones each is as likely, so that the success is expected and not drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.control.base import Attack, MissingFigure, Outcome, Successes, Trial

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


def link_rows(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """Link persons by the two sets of columns of the trial."""
    from sqlanon.attack.kernels.nearest import link

    first, second = (np.array(columns, np.int64) for columns in trial.sets)
    if not len(first) or not len(second):
        yield MissingFigure("linkability: two sets of quasi columns are needed, and the release has one column")
        return
    inside, outside, every = trial.draw(trial.affords(len(first) + len(second)))

    def succeed(rows: Ints) -> Successes:
        return Successes(float(link(trial.space, first, second, rows).sum()), len(rows))

    names = (", ".join(trial.columns[a].name for a in columns) for columns in trial.sets)
    naive = 1.0 / int(trial.space.members.sum())
    yield Outcome("linkability", tuple(names), succeed(inside), succeed(outside), naive, every)


LINKABILITY = Attack("linkability", "two sets of columns that lead to the same released row", link_rows)
