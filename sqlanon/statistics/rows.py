"""Rows of a linear program: published cells over the unknown atoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.links import Links
from sqlanon.statistics.program import Box
from sqlanon.statistics.reader_cells import UNBOUNDED, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


def build_rows(seen: SeenCells, free: Longs, values: Longs) -> tuple[Longs, Box, Longs, Links | None]:
    """Cells over the free atoms, equal ones once.

    Args:
        seen: the cells.
        free: int64[free atoms], their places.
        values: int64[atoms], the values of the others.

    Returns:
        int64[margins, free atoms], the row of each; the last row is none. The ends left for the rows, and their cells.
        Conditions that are no cells, over the free atoms: their rows are the last ones, and have no cell.
    """
    # Cells of equal sums are taken for one cell: where they differ, a bound is wider.
    marks = np.random.default_rng(0).integers(1, 2**62, len(free), dtype=np.int64)
    cells, (bottom, top) = len(seen.value), seen.bounds()
    marked: set[tuple[int, int, int]] = set()
    low: list[int] = []
    high: list[int] = []
    numbered: list[int] = []
    rows = np.full((len(seen.of), len(free)), -1, np.int64)
    for margin, of in enumerate(seen.of):
        least, sums = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        listed = of >= 0
        np.add.at(least, of[listed], values[listed])
        np.add.at(least, of[free][of[free] >= 0], -values[free][of[free] >= 0])
        inside = np.flatnonzero(of[free] >= 0)
        np.add.at(sums, of[free][inside], marks[inside])
        number = np.full(cells, -1, np.int64)
        for cell in np.unique(of[free][inside]).tolist():
            rest, most = int(least[cell]), int(top[cell])
            if most == UNBOUNDED and bottom[cell] <= 0:
                continue
            ends = (int(bottom[cell]) - rest, UNBOUNDED if most == UNBOUNDED else most - rest)
            mark = (int(sums[cell]), *ends)
            if mark in marked:
                continue
            marked.add(mark)
            number[cell] = len(low)
            numbered.append(cell)
            low.append(ends[0])
            high.append(ends[1])
        rows[margin, inside] = number[of[free][inside]]
    box, links = Box(np.array(low, np.int64), np.array(high, np.int64)), None
    if seen.links is not None:
        links = seen.links.reduce(free, values)
        box = Box(np.concatenate([box.low, links.low]), np.concatenate([box.high, links.high]))
    rows[rows < 0] = len(box.low)
    return rows, box, np.array(numbered, np.int64), links
