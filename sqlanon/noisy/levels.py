"""Columns of groups, and the levels of a table, as declared; nothing depends on the data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column of groups.

    Attributes:
        name: the column.
        leaves: texts that name the groups.
        values: the values of each group as text; None: the groups are `ends`.
        ends: ends of the intervals.
        nodes: per level below the total the number of the node of each leaf, and the texts that name the nodes; level 0
            has the leaves themselves.
        clipped: values beyond the first and the last end are in the first and the last interval.
    """

    name: str
    leaves: tuple[str, ...]
    values: tuple[str, ...] | None
    ends: tuple[Fraction, ...]
    nodes: tuple[tuple[Longs, tuple[str, ...]], ...]
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a table.

    Attributes:
        depth: per column of the table the level of the hierarchy; None: the total.
        size: number of groups.
        node: int64[leaves], the group of each of the finest groups.
        widest: the most finest groups in one group.
    """

    depth: tuple[int | None, ...]
    size: int
    node: Longs
    widest: int


def dimension_of_paths(name: str, paths: Sequence[tuple[str, ...]]) -> Dimension:
    """A column with values as groups: for each the nodes that contain it, from the value itself up."""
    leaves = tuple(path[0] for path in paths)
    nodes = []
    for level in range(len(paths[0])):
        # A node is the path to the root: nodes of one name below different ones are different.
        numbers: dict[tuple[str, ...], int] = {}
        of_leaf = np.array([numbers.setdefault(path[level:], len(numbers)) for path in paths], np.int64)
        nodes.append((of_leaf, tuple(path[0] for path in numbers)))
    return Dimension(name, leaves, leaves, (), tuple(nodes))


def dimension_of_ends(name: str, ends: tuple[Fraction, ...]) -> Dimension:
    """A column with intervals of numbers as groups."""
    leaves = tuple(f"[{low}, {high})" for low, high in itertools.pairwise(decimal_text(end) for end in ends))
    return Dimension(name, leaves, None, ends, ((np.arange(len(leaves)), leaves),))


def levels_of(dimensions: Sequence[Dimension], *, totals: bool) -> tuple[Level, ...]:
    """The levels of a table as GROUP BY ROLLUP has them, hierarchies level by level."""
    depths: list[tuple[int | None, ...]] = [(None,) * len(dimensions)]
    for place, dimension in enumerate(dimensions):
        after = (None,) * (len(dimensions) - place - 1)
        depths += [(*(0,) * place, level, *after) for level in reversed(range(len(dimension.nodes)))]
    levels: list[Level] = []
    for depth in depths if totals else depths[-1:]:
        node = np.zeros(1, np.int64)
        size = 1
        for dimension, dimension_level in zip(dimensions, depth, strict=True):
            of_leaf, many = np.zeros(len(dimension.leaves), np.int64), 1
            if dimension_level is not None:
                of_leaf, many = dimension.nodes[dimension_level][0], len(dimension.nodes[dimension_level][1])
            node = (node[:, None] * many + of_leaf[None, :]).reshape(-1)
            size *= many
        widest = int(np.bincount(node, minlength=size).max())
        if not levels or size > levels[-1].size:  # a level that divides nothing further is the one before it
            levels.append(Level(depth, size, node, widest))
        else:
            levels[-1] = Level(depth, size, node, widest)
    return tuple(levels)


def decimal_text(number: Fraction) -> str:
    """A decimal number in full, as SQL and people write it.

    >>> decimal_text(Fraction(-121, 200)), decimal_text(Fraction(20))
    ('-0.605', '20')
    """
    if number.denominator == 1:
        return str(number.numerator)
    digits = 1
    while 10**digits % number.denominator:
        digits += 1
    whole = abs(number.numerator) * 10**digits // number.denominator
    text = f"{whole:0{digits + 1}d}"
    return f"{'-' if number < 0 else ''}{text[:-digits]}.{text[-digits:]}"
