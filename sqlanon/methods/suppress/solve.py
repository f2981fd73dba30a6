"""TP and the cascade on cells: divides rows of cells into classes (Xiao, Yi and Tao 2010; the cascade is ours).

TP keeps as many rows as it can of every group of equal quasi values; the rest, the residue, is one class. The cascade
goes on with the residue: with one column starred, two and so on, for every subset of the columns that are left, it
groups by these and keeps rows again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.suppress import Rules, number
from sqlanon.methods.suppress.cells import Cells, Parts
from sqlanon.methods.suppress.kernels.cascade_step import count_keepable, keep
from sqlanon.privacy.base import Shape, least_rows, shapes_beyond_rows
from sqlanon.progress import Progress

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.privacy.base import Requirement


_WORD = 1 << 62
_NONE = np.zeros(0, np.int64)
BITS = 1 << 20
"""A bit, in the whole numbers that hidden bits are added up in."""


def cut_of(requirements: Sequence[Requirement], divide: str) -> Shape | None:
    """The frequency l by which groups are divided; None where they are kept whole or not at all."""
    checks = checks_of(requirements)
    if divide == "whole" or len(checks) != 1:
        return None
    return checks[0] if checks[0].kind == "frequency" and not checks[0].within else None


def checks_of(requirements: Sequence[Requirement]) -> list[Shape]:
    """The requirements beyond rows, each once: of one column ``joint`` asks the same again."""
    return list(dict.fromkeys(shapes_beyond_rows(requirements)))


def rules_of(requirements: Sequence[Requirement], cells: Cells, cut: Shape | None) -> Rules:
    """The requirements of every class, for kernels."""
    checks = checks_of(requirements) if cut is None else []
    item = np.zeros((len(checks), cells.values), np.int64)
    inside = np.zeros((len(checks), max(cells.values, 1)), np.int64)
    for c, check in enumerate(checks):
        # An item is a value within a combination of the other columns; an unused number is of no combination.
        within = cells.combinations[list(check.within)]
        combination = np.unique(within, axis=1, return_inverse=True)[1].reshape(-1) if len(within) else 0
        pair = np.stack([np.zeros(cells.values, np.int64) + combination, cells.combinations[check.value]])
        pairs, which = np.unique(pair, axis=1, return_inverse=True)
        item[c], inside[c, : pairs.shape[1]] = which.reshape(-1), pairs[0]
    return Rules(
        bool(checks),
        least_rows(requirements),
        cut.p if cut else 1,
        cut.q if cut else 1,
        item,
        inside,
        np.array([check.kind == "distinct" for check in checks], np.bool_),
        np.array([check.p for check in checks], np.int64),
        np.array([check.q for check in checks], np.int64),
    )


@dataclass(frozen=True, slots=True)
class SolvedClasses:
    """Classes of cells.

    Attributes:
        parts: the rows of the cells by class.
        residue: the class of the rows that nothing has kept; None without such rows.
        left: the number of these rows.
        phase: the phase of TP that groups of all columns ended in.
        least: the fewest rows with a star of any solution, for l of one sensitive column and k = 1.
    """

    parts: Parts
    residue: int | None
    left: int
    phase: int
    least: int


@dataclass(frozen=True, slots=True)
class _RemainingCells:
    """The rows without a class: cells with rows left, and their groups, numbered anew without gaps."""

    cell: Longs
    count: Longs
    value: Longs
    group: Longs
    codes: Longs

    def without(self, rows: Longs) -> _RemainingCells:
        """The rows left without these rows of the cells."""
        count = self.count - rows
        some = count > 0
        group = self.group[some]
        new = np.ones(len(group), np.bool_)
        new[1:] = group[1:] != group[:-1]
        codes = np.ascontiguousarray(self.codes[:, group[new]])
        return _RemainingCells(self.cell[some], count[some], self.value[some], np.cumsum(new) - 1, codes)

    def sets(self, columns: Sequence[int], sizes: Sequence[int]) -> tuple[Longs, int]:
        """The set of every cell where sets are rows of equal codes in these columns, and how many sets there are."""
        key, size = np.zeros(self.codes.shape[1], np.int64), 1
        for j in columns:
            if size * sizes[j] >= _WORD:
                size = number(key, key)
            key, size = key * sizes[j] + self.codes[j], size * sizes[j]
        of = np.empty_like(key)
        numbered = number(key, of)
        return of[self.group], numbered


class _Classes:
    """Classes as they are found."""

    def __init__(self) -> None:
        self.made = 0
        self._parts: list[tuple[Longs, Longs, Longs]] = []

    def add(self, cell: Longs, rows: Longs, of: Longs, sets: int) -> None:
        """Every set with rows becomes a class."""
        some = rows > 0
        is_used = np.zeros(sets, np.bool_)
        is_used[of[some]] = True
        name = np.cumsum(is_used) - 1 + self.made
        self._parts.append((cell[some], rows[some], name[of[some]]))
        self.made += int(is_used.sum())

    def parts(self) -> Parts:
        """All of them."""
        cell, rows, name = (np.concatenate(some) for some in zip(*self._parts, strict=True))
        return Parts(cell, rows, name)


def solve(cells: Cells, rules: Rules, progress: Progress, *, cascade: bool) -> SolvedClasses:
    """Divide the cells into classes.

    Cost: TP about linear in the cells; the cascade 2^d times that in the residue of TP, for d columns.
    """
    # To keep a column of one value in the whole table divides no rows.
    varied, classes = np.flatnonzero(cells.codes.min(axis=1) < cells.codes.max(axis=1)).tolist(), _Classes()
    remaining = _RemainingCells(np.arange(len(cells.count)), cells.count, cells.value, cells.group, cells.codes)
    kept_cells = cells.kept if cells.kept is not None else _NONE
    kept_rows = np.empty_like(remaining.count)
    phase, least = keep(
        remaining.group,
        remaining.codes.shape[1],
        remaining.value,
        remaining.count,
        cells.values,
        rules,
        False,
        kept_cells,
        kept_rows,
    )
    classes.add(remaining.cell, kept_rows, remaining.group, remaining.codes.shape[1])
    remaining = remaining.without(kept_rows)
    bits = _bits(cells, varied)
    for columns in _subsets(varied) if cascade else ():
        remaining = _step(remaining, columns, bits, cells, rules, classes)
        progress.update(len(varied) - len(columns[0]), len(varied), "starred columns")
    rows = int(remaining.count.sum())
    classes.add(remaining.cell, remaining.count, np.zeros_like(remaining.cell), 1)
    return SolvedClasses(classes.parts(), classes.made - 1 if rows else None, rows, phase, least)


def _subsets(varied: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """The subsets of the d columns that keep d - 1 of them, then d - 2 ..., not that of none."""
    for size in range(len(varied) - 1, 0, -1):
        yield list(combinations(varied, size))


def _bits(cells: Cells, varied: Sequence[int]) -> dict[int, int]:
    """Of each column the entropy of the values in the table, in parts of a bit."""
    rows = np.bincount(cells.group, cells.count)
    shares = {j: np.bincount(cells.codes[j], rows) / rows.sum() for j in varied}
    return {j: max(round(-BITS * sum(p * math.log2(p) for p in share.tolist() if p)), 1) for j, share in shares.items()}


def _step(
    left: _RemainingCells,
    subsets: Sequence[tuple[int, ...]],
    bits: dict[int, int],
    cells: Cells,
    rules: Rules,
    classes: _Classes,
) -> _RemainingCells:
    """Keep values in this many columns, first in the subsets that keep most and hide least.

    The measure of a subset is the rows over the bits to the fourth.
    """
    most = []
    for columns in subsets if len(left.cell) else ():
        of, candidates = left.sets(columns, cells.sizes)
        most.append(count_keepable(of, candidates, left.value, left.count, cells.values, rules))
    hidden = [sum(bits.values()) - sum(bits[j] for j in columns) for columns in subsets]
    for place in sorted(range(len(most)), key=lambda i: Fraction(-most[i], hidden[i] ** 4)):
        if not len(left.cell):
            break
        of, candidates = left.sets(subsets[place], cells.sizes)
        taken_rows = np.empty_like(left.count)
        keep(of, candidates, left.value, left.count, cells.values, rules, True, _NONE, taken_rows)
        classes.add(left.cell, taken_rows, of, candidates)
        left = left.without(taken_rows)
    return left
