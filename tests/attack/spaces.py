"""Released rows as arrays, and their distances in plain Python."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

from sqlanon.attack.control.base import Column, Trial
from sqlanon.attack.kernels.nearest import ONE, Space

Cell = tuple[str, Any]
"""("range", (low, high, null)) or ("set", codes)."""


def make_space(columns: list[list[Cell]], codes: list[int], ordered: list[bool], nulls: list[bool]) -> Space:
    """The space of distinct released rows; ``columns``: per column the cell of each row."""
    d, b = len(columns), len(columns[0])
    low, high, null = np.zeros((d, b), np.int32), np.zeros((d, b), np.int32), np.zeros((d, b), np.bool_)
    cells, sets = np.zeros((d, b), np.int32), []
    for a, column in enumerate(columns):
        if column[0][0] == "set":
            kinds = sorted({tuple(sorted(what)) for _, what in column})
            cells[a] = [kinds.index(tuple(sorted(what))) for _, what in column]
            low[a], high[a] = ([end(what) for _, what in column] for end in (min, max))
            sets.append(np.array([[code in one for code in range(codes[a])] for one in kinds], np.bool_))
        else:
            sets.append(np.zeros((0, 0), np.bool_))
            low[a], high[a] = ([what[i] for _, what in column] for i in (0, 1))
            null[a] = [what[2] for _, what in column]
    return Space(
        low,
        high,
        null,
        cells,
        np.cumsum([0, *(one.size for one in sets)])[:-1].astype(np.int64),
        np.array([len(one) for one in sets], np.int64),
        np.concatenate([np.zeros(0, np.bool_), *(one.T.ravel() for one in sets)]),
        np.array(ordered, np.bool_),
        np.array(codes, np.int64),
        np.array(nulls, np.bool_),
        np.ones(b, np.int64),
    )


def draw_space(seed: int, rows: int = 9) -> tuple[Space, list[list[Cell]]]:
    """A random space of an ordered column with NULL, a column of sets, a nominal column of values, and a secret."""
    rng = random.Random(seed)
    ends = [sorted((rng.randint(0, 8), rng.randint(0, 8))) for _ in range(rows)]
    columns: list[list[Cell]] = [
        [("range", (low, high, rng.random() < 0.2)) for low, high in ends],
        [("set", frozenset(rng.sample(range(5), rng.randint(1, 4)))) for _ in range(rows)],
        [("range", (value, value, False)) for value in (rng.randint(0, 3) for _ in range(rows))],
        [("range", (value, value, False)) for value in (rng.randint(0, 2) for _ in range(rows))],
    ]
    space = make_space(columns, [9, 5, 4, 3], [True, False, False, False], [True, False, False, False])
    return space._replace(members=np.array([rng.randint(1, 3) for _ in range(rows)], np.int64)), columns


def covers(cell: Cell, code: int) -> bool:
    """Whether a cell covers a code."""
    kind, what = cell
    return code in what if kind == "set" else what[0] <= code <= what[1] or (code == 0 and what[2])


def distance(space: Space, columns: list[list[Cell]], a: int, j: int, code: int) -> int:
    """By its definition."""
    cell = columns[a][j]
    if covers(cell, code):
        return 0
    first = int(space.nulls[a])
    if cell[0] == "set" or not space.ordered[a] or code < first or cell[1][1] < first:
        return ONE
    gap = min(abs(code - end) for end in cell[1][:2])
    return int(Fraction(gap * ONE, int(space.codes[a]) - first - 1))


def make_trial(space: Space, inside: Any, outside: Any, roles: str = "qqqqs") -> Trial:
    """A trial over columns named by number; ``roles``: q, s or i of each."""
    names = {"q": "quasi", "s": "sensitive", "i": "insensitive"}
    columns = tuple(Column(f"c{at}", names[role]) for at, role in enumerate(roles))
    quasi = [at for at, role in enumerate(roles) if role == "q"]
    half = len(quasi) // 2
    return Trial(
        columns,
        space,
        np.asarray(inside, np.int32),
        np.asarray(outside, np.int32),
        np.arange(len(inside)),
        np.arange(len(outside)),
        (tuple(quasi[:half]), tuple(quasi[half:])),
        7,
    )
