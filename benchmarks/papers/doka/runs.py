"""Measurement of the points of a figure.

It has GCP and processor seconds, and for a few rows the distance of each system from the optimum.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.kept import Kept
from benchmarks.papers.doka.data import Rows
from benchmarks.papers.doka.experiments import Point
from benchmarks.papers.doka.systems import NotMeasuredError
from sqlanon.papers.matchings.solvers.greedy import sort_rows

Figures = dict[str, Any]


def run(tables: dict[str, Rows], points: Iterable[Point], kept: Kept, seed: int, work: float) -> list[Figures]:
    """A line for every point, measured or kept from before; one without ``gcp`` was not measured."""
    found: list[Figures] = []
    loaded = set[str]()
    for point in points:
        one = kept.get(*point.key)
        if one is None:
            if point.who.name not in loaded:  # compilation is not measured
                point.who.total(tables[point.data].picked(np.arange(8)), 2, np.inf)
                loaded.add(point.who.name)
            one = _measured(tables[point.data], point, seed, work)
            if one["gcp"] is not None:
                kept.add(one, *point.key)
                print(
                    f"{point.figure} {point.data} {point.panel} x={point.x} {point.who.name}: {one['gcp']:.5f}, "
                    f"{one['processor_seconds']:.2f} s",
                    flush=True,
                )
        facts = {"figure": point.figure, "data": point.data, "panel": point.panel, "x": point.x, "rows": point.rows}
        found.append({**facts, "d": point.d, "k": point.k, "system": point.who.name, **one})
    return found


def _measured(table: Rows, point: Point, seed: int, work: float) -> Figures:
    losses, seconds = [], []
    if point.rows > table.size:
        return {"gcp": None, "processor_seconds": None, "losses": []}
    for rows in _drawn(table, point, seed):
        try:
            start = time.process_time()
            total, parts = _solved(rows, point, work)
        except NotMeasuredError:
            return {"gcp": None, "processor_seconds": None, "losses": []}
        seconds.append((time.process_time() - start) / parts)
        losses.append(rows.gcp(total))
    return {"gcp": fmean(losses), "processor_seconds": fmean(seconds), "losses": losses if point.samples else []}


def _drawn(table: Rows, point: Point, seed: int) -> Iterator[Rows]:
    table = table.columns(point.d)
    if not point.samples:
        yield table.picked(np.arange(point.rows))
    for sample in range(point.samples):
        yield table.picked(np.random.default_rng([seed, sample]).permutation(table.size)[: point.rows])


def _solved(rows: Rows, point: Point, work: float) -> tuple[int, int]:
    """The loss, and how many parts share the time.

    As in the paper one part's time counts, since machines work side by side.
    """
    if not point.segment:
        return point.who.total(rows, point.k, work), 1
    order, size = sort_rows(rows.codes.T), point.segment
    cuts = list(range(size, rows.size - size // 2, size))
    parts = np.split(order, cuts)
    return sum(point.who.total(rows.picked(part), point.k, work) for part in parts), len(parts)
