"""Risk added by each column: alone, and with all others (leave one out).

The risk of a row is 1 / the rows that are equal to it in the known columns. For each column c of the known columns C:

- alone: the risk by c;
- added: the risk by C less the risk by C without c. A column with nothing to add could be published in more detail at
  no risk, or is implied by the others.

Both are given as the highest over rows and as the mean, groups / rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.risk.distinct import read_distinct
from sqlanon.risk.identifying_columns import Groups, divide_groups

if TYPE_CHECKING:
    import numpy as np

    from sqlanon.arrays import Longs

MOST_NUMBERS = 100_000_000
"""Different rows x columns that are held in memory, 8 bytes each, some three times."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Probabilities over the rows of a table."""

    highest: float
    mean: float

    def less(self, other: Risk) -> Risk:
        """How much larger it is than another."""
        return Risk(self.highest - other.highest, self.mean - other.mean)


@dataclass(frozen=True, slots=True)
class Contribution:
    """Risk added by one column, see the module."""

    column: str
    alone: Risk
    added: Risk


def measure_contributions(
    engine: Engine, table: TableRef, shown_by: Mapping[str, Sequence[str]], groups: int
) -> tuple[Contribution, ...] | None:
    """Measure the risk added by each known column.

    Args:
        engine: where the table is.
        table: any table or view with rows.
        shown_by: by the name of each column the columns of the table that show it.
        groups: how many different rows there are at most in these columns.

    Returns:
        None: there are too many different rows and columns for memory.

    Cost: that of `read_distinct`, and in memory four numberings of the different rows for each column.
    """
    import numpy as np

    parts = [part for shown in shown_by.values() for part in shown]
    if not parts or groups * len(parts) > MOST_NUMBERS:
        return None
    rows = read_distinct(engine, table, parts)
    n = rows.n
    if not len(n):
        return None
    each = iter(rows.codes)
    by_column = [[next(each) for _ in shown] for shown in shown_by.values()]
    whole = Groups(np.zeros(len(n), np.int64), 1)
    after = [whole]  # after[i]: the groups by the last i columns
    for column in reversed(by_column[1:]):
        after.append(_divide(after[-1], column))
    before, risk = whole, []
    every = _risk(_divide(after[-1], by_column[0]), n)
    for index, (name, column) in enumerate(zip(shown_by, by_column, strict=True)):
        rest = after[len(by_column) - 1 - index]
        without = divide_groups(before, rest.number) if len(by_column) > 1 else whole
        risk.append(Contribution(name, _risk(_divide(whole, column), n), every.less(_risk(without, n))))
        before = _divide(before, column)
    return tuple(risk)


def _divide(groups: Groups, parts: Sequence[Longs]) -> Groups:
    for codes in parts:
        groups = divide_groups(groups, codes)
    return groups


def _risk(groups: Groups, n: np.ndarray) -> Risk:
    import numpy as np

    sizes = np.bincount(groups.number, n, groups.count)
    return Risk(float(1 / sizes.min()), groups.count / float(n.sum()))
