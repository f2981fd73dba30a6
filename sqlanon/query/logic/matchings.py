"""Least and largest number of rows that satisfy a condition, where each box is the least cover of k candidates.

Every row is a candidate for k boxes, and every box has k candidates. Such a graph is the union of k perfect matchings
of rows and boxes, and any of these may be the one that was drawn: so a source is consistent exactly if its rows have
such a graph with the boxes. Of the rows with equal values it does not matter which of them is a candidate: they are
counted, N(v) for each value v, and so are the candidates f(v, b) of a box with this value:

    the sum over b of f(v, b) = k N(v)
    the sum over v of f(v, b) = k, and at least 1 over the values at each end of the box
    f(v, b) <= N(v)

Whole numbers that agree with this can be dealt out to single rows (those of a value in turn), so that they are the
consistent sources. Boxes that look alike are taken together. Linear programs propose multipliers of the rows, and exact
arithmetic makes bounds of them (weak duality; Neumaier and Shcherbina 2004), so that nothing depends on tolerances, and
no end of the search in time makes a wrong one.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import NEAR, import_highs, make_program, make_solver

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles


MOST_PAIRS = 5_000
"""Most pairs of a box and a value in it."""
SCALE = 2**8 * 3**3 * 5 * 7 * 11
"""Multipliers are rounded to parts of this: those of vertices are fractions of small numbers."""
MOST_DUAL = 2.0**16
"""Multipliers, at most."""
SECONDS = 5.0
"""Most time for the linear programs of a condition."""
MOST_PARTS = 40
"""Sources are divided into at most so many parts for an end; beyond that the bound is that of fractions."""

Point = tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """The values of a box in a column.

    Attributes:
        cells: the numbers of the values.
        ends: sets of them; of each set some candidate has one.
    """

    cells: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]


def count_pairs(boxes: Collection[tuple[Span, ...]]) -> int:
    """The number of pairs of a box and a value in it: the size of the program."""
    return sum(math.prod(len(span.cells) for span in box) for box in boxes)


class Matchings:
    """The program of a condition's columns.

    Args:
        boxes: the different boxes in these columns, and how many rows show each of them.
        k: the number of candidates of a box.

    Raises:
        UnsupportedError: HiGHS is not installed.
    """

    def __init__(self, boxes: Mapping[tuple[Span, ...], int], k: int) -> None:
        self._highs = import_highs()
        self._rows = sum(boxes.values())
        self._points: dict[Point, int] = {}
        edges: list[tuple[int, int]] = []
        many = list(boxes.values())
        for index, box in enumerate(boxes):
            inside = itertools.product(*(span.cells for span in box))
            edges += [(self._points.setdefault(point, len(self._points)), index) for point in inside]
        self._count = len(self._points) + len(edges)
        self._upper = [self._rows] * len(self._points) + [k * many[box] for _, box in edges]
        self._entries: list[tuple[int, int, int]] = []
        self._low: list[int] = []
        self._high: list[int | None] = []
        self._add_rows(list(boxes), many, edges, k)
        self._program = self._make_program()

    def bound(self, good: Collection[Point]) -> tuple[int, int]:
        """The least and the largest number of rows with one of some values.

        Args:
            good: the values, by their numbers in each column.

        Cost: two linear programs, or up to `MOST_PARTS` for each end.
        """
        weights = [0] * self._count
        for point in good:
            if point in self._points:
                weights[self._points[point]] = 1
        return max(self._least(weights), 0), min(-self._least([-weight for weight in weights]), self._rows)

    def _add_rows(
        self, boxes: Sequence[tuple[Span, ...]], many: Sequence[int], edges: Sequence[tuple[int, int]], k: int
    ) -> None:
        """The rows of the program: see above, where a box may occur several times."""
        first = len(self._points)
        of_point: dict[int, list[int]] = {}
        of_box: dict[int, list[int]] = {}
        for index, (point, box) in enumerate(edges):
            of_point.setdefault(point, []).append(first + index)
            of_box.setdefault(box, []).append(first + index)
            self._add([(first + index, -1), (point, many[box])], 0, None)
        points = list(self._points)
        for point, incident in of_point.items():
            self._add([(point, -k), *((edge, 1) for edge in incident)], 0, 0)
        for box, incident in of_box.items():
            self._add([(edge, 1) for edge in incident], k * many[box], k * many[box])
            for column, span in enumerate(boxes[box]):
                for end in span.ends:
                    there = [edge for edge in incident if points[edges[edge - first][0]][column] in end]
                    self._add([(edge, 1) for edge in there], many[box], None)

    def _add(self, entries: Sequence[tuple[int, int]], low: int, high: int | None) -> None:
        self._entries += [(len(self._low), column, value) for column, value in entries]
        self._low.append(low)
        self._high.append(high)

    def _make_program(self) -> Any:  # noqa: ANN401 - HiGHS has no types
        highs, entries = self._highs, sorted(self._entries, key=lambda pair: pair[1])
        none = np.zeros(self._count)
        row_high = np.array([highs.kHighsInf if limit is None else limit for limit in self._high], np.float64)
        ends, row_ends = (none, np.array(self._upper, np.float64)), (np.array(self._low, np.float64), row_high)
        rows, columns, values = (np.array([entry[part] for entry in entries]) for part in range(3))
        matrix = (np.searchsorted(columns, np.arange(self._count + 1)), rows, values.astype(np.float64))
        solver = make_solver(make_program(none, ends, row_ends, matrix, by_column=True))
        solver.setOptionValue("time_limit", SECONDS)
        return solver

    def _least(self, weights: list[int]) -> int:
        """A number that no consistent source goes below, in the sum of N(v) times the weight of v.

        Where the best numbers of rows have fractions, sources are divided by one of them, as in branch and bound: the
        least bound of the parts holds.
        """
        self._program.changeColsCost(self._count, np.arange(self._count, dtype=np.int32), np.array(weights, np.float64))
        points, order = len(self._points), itertools.count()
        first = (0,) * points, (self._rows,) * points
        bound, solution = self._solve(weights, first, -self._rows)
        parts = [(bound, next(order), solution, first)]
        while parts and len(parts) < MOST_PARTS:
            bound, _, solution, (low, high) = parts[0]
            if solution is None:
                return bound
            heapq.heappop(parts)
            point, value = solution
            for half in (
                (low, (*high[:point], value, *high[point + 1 :])),
                ((*low[:point], value + 1, *low[point + 1 :]), high),
            ):
                half_bound, next_ = self._solve(weights, half, bound)
                if half_bound <= self._rows:
                    heapq.heappush(parts, (half_bound, next(order), next_, half))
        return parts[0][0] if parts else -self._rows

    def _solve(
        self, weights: list[int], part: tuple[tuple[int, ...], tuple[int, ...]], floor: int
    ) -> tuple[int, tuple[int, int] | None]:
        """A number that no source of a part goes below, at least ``floor``, and where to divide the part.

        The number is larger than that of all rows where the part has no sources. A part is divided by a number of rows
        that has a fraction; None: there is none, or no solution.
        """
        solver, highs, points = self._program, self._highs, len(self._points)
        low, high = (np.array(end, np.float64) for end in part)
        solver.changeColsBounds(points, np.arange(points, dtype=np.int32), low, high)
        solver.run()
        if solver.getModelStatus() == highs.HighsModelStatus.kInfeasible:
            ray = solver.getDualRay()
            multipliers = np.array(ray[2], np.float64) if ray[1] else np.zeros(len(self._low))
            multipliers = multipliers / max(np.abs(multipliers).max(initial=0.0), 1e-9)
            nothing = [0] * self._count
            empty = any(self._certify(nothing, part, sign * multipliers) > 0 for sign in (1.0, -1.0))
            return (self._rows + 1 if empty else floor), None
        solution = solver.getSolution()
        bound = max(floor, self._certify(weights, part, np.array(solution.row_dual, np.float64)))
        if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
            return bound, None
        rows = solution.col_value[:points]
        broken = next((i for i, value in enumerate(rows) if abs(value - round(value)) > NEAR), None)
        return bound, None if broken is None else (broken, math.floor(rows[broken]))

    def _certify(self, weights: list[int], part: tuple[tuple[int, ...], tuple[int, ...]], duals: Doubles) -> int:
        """The bound that multipliers of the rows prove, in whole numbers."""
        if len(duals) != len(self._low):
            duals = np.zeros(len(self._low))
        rounded = np.rint(np.clip(np.nan_to_num(duals), -MOST_DUAL, MOST_DUAL) * SCALE)
        # A row is an equation, or has no end above: then a multiplier below 0 proves nothing.
        many = [
            0 if high is None and multiplier < 0 else int(multiplier)
            for multiplier, high in zip(rounded.tolist(), self._high, strict=True)
        ]
        total = sum(multiplier * low for multiplier, low in zip(many, self._low, strict=True))
        reduced = [weight * SCALE for weight in weights]
        for row, column, value in self._entries:
            reduced[column] -= many[row] * value
        points = len(self._points)
        lows, highs = [*part[0], *[0] * (self._count - points)], [*part[1], *self._upper[points:]]
        total += sum(cost * (high if cost < 0 else low) for cost, low, high in zip(reduced, lows, highs, strict=True))
        return -(-total // SCALE)
