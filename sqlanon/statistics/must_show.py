"""Margins that the policy wants shown: witnesses change none of their cells, so that none is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

Asked = Sequence[tuple[str, int]]
"""A margin by columns and their levels."""
Levels = tuple[int, ...]
"""A margin by the level of each column."""


def find_levels(release: str, requested: Sequence[Asked], heights: Sequence[tuple[str, int]]) -> tuple[Levels, ...]:
    """The levels of margins.

    Args:
        release: its name, for messages.
        requested: the margins.
        heights: the columns in the order of the cells, and how many levels each has below the total.

    Raises:
        PolicyError: a column has no such level.
    """
    margins = []
    for margin in requested:
        levels = {name.lower(): level for name, level in margin}
        for name, height in heights:
            if levels.get(name.lower(), 0) >= height:
                raise PolicyError(
                    f"{release}: protect: show: column {name} has levels 0 to {height - 1} below its total: name one "
                    "of them, or leave the column out"
                )
        margins.append(tuple(levels.get(name.lower(), height) for name, height in heights))
    return tuple(margins)


def fix_margins(system: System, margins: Sequence[Levels]) -> System:
    """The same system, in which no table changes a cell of some margins.

    A cell of another margin that is the same for every reader is not hidden either.
    """
    fixed, wholes = system.fixed.copy(), system.wholes
    for margin in margins:
        fixed[_classes_of(system, margin)] = True
    fixed = system.with_twins(fixed)
    if wholes is not None:
        wholes = replace(wholes, system=fix_margins(wholes.system, margins))
    return replace(system, fixed=fixed, wholes=wholes)


def find_hidden(system: System, margins: Sequence[Levels], must: npt.NDArray[np.bool_]) -> Levels | None:
    """The first of some margins with a cell that must be hidden.

    Args:
        system: the cells.
        margins: the margins.
        must: bool[classes], which must be hidden.
    """
    return next((margin for margin in margins if must[_classes_of(system, margin)].any()), None)


def _classes_of(system: System, margin: Levels) -> npt.NDArray[np.int64]:
    of_margin = (system.levels == np.array(margin, np.int64)[:, np.newaxis]).all(axis=0)
    classes: npt.NDArray[np.int64] = system.listed[of_margin]
    return classes
