"""Membership: was a person in the source? Who has a released row that covers all of his values is taken for a member.

Yeom, Giacomelli, Fredrikson and Jha 2018, "Privacy risk in machine learning", definition 4: the advantage is the share
of members that are taken for members, less that of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.attack.control.base import Attack, MissingFigure, Outcome, Successes, Trial

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


def recognize(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """Take persons for members if a released row covers their values in all columns."""
    from sqlanon.attack.kernels.nearest import match

    inside, outside, every = trial.draw(trial.affords(len(trial.columns)))

    def succeed(rows: Ints) -> Successes:
        return Successes(int(match(trial.space, rows).sum()), len(rows))

    names = tuple(column.name for column in trial.columns)
    yield Outcome("membership", names, succeed(inside), succeed(outside), 0.5, every, gain=True)


MEMBERSHIP = Attack("membership", "persons taken for members as a released row covers them", recognize)
