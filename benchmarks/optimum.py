"""The least loss of any division of a small table, with proof, and the loss of releases of it.

Classes of k to 2k - 1 rows are columns of a linear program, which chooses them so that every row is in one, and a
search over all boxes finds the classes that it lacks (Castro, Gentile and Spagnolo, "An algorithm for the
microaggregation problem using column generation", Computers & Operations Research 144, 2022). The program's dual
solution, in whole numbers, is a bound from below: no division loses less. Its best whole solution is a division.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.generators import INTEGERS, load_duckdb
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALE = 1 << 16
"""Costs are whole numbers of so many parts, so that whole dual values are exact enough."""
_COLUMNS, _NEAR, _SECONDS = 400, 20_000, 30
"""New classes of a round, at most; classes of the last program, at most; and seconds of a search in whole numbers."""
CASES = (
    (("age", "education"), 40, 3),
    (("age", "education"), 60, 3),
    (("age", "education"), 60, 5),
    (("education", "marital", "workclass"), 60, 3),
    (("age", "education"), 100, 5),
)
"""Columns of the integers, rows and k."""


@dataclass(frozen=True)
class Optimum:
    """The least range NCP (GCP) of a table lies from ``bound`` to ``loss``.

    Attributes:
        bound: no division loses less.
        loss: of ``classes``.
        classes: row numbers of each class.
        rounds: linear programs that were solved.
    """

    bound: float
    loss: float
    classes: Sequence[Sequence[int]]
    rounds: int

    @property
    def proved(self) -> bool:
        """Whether no division loses less than this one."""
        return self.loss - self.bound <= 1e-6 * self.loss


class _Boxes:
    """All boxes of the values of a table: intervals of the first column, by boxes of the others."""

    def __init__(self, values: NDArray[np.int64], k: int) -> None:
        self.k = k
        spans = [max(int(column.max() - column.min()), 1) for column in values.T]
        self.common = math.lcm(*spans)
        self._share = [self.common // span * SCALE for span in spans]
        self._values = values
        intervals = [self._list_intervals(j) for j in range(values.shape[1])]
        self._first = [(inside, width) for inside, width in intervals[0]]
        n = len(values)
        rest = list(product(*intervals[1:]))
        self._inside = np.ones((len(rest), n), np.bool_)
        self._width = np.zeros(len(rest), np.int64)
        for place, box in enumerate(rest):
            for inside, width in box:
                self._inside[place] &= inside
                self._width[place] += width
        enough = self._inside.sum(axis=1) >= k
        self._inside, self._width = self._inside[enough], self._width[enough]

    def _list_intervals(self, j: int) -> list[tuple[NDArray[np.bool_], int]]:
        column = self._values[:, j]
        ends = np.unique(column)
        return [
            ((column >= low) & (column <= high), int(high - low) * self._share[j])
            for place, low in enumerate(ends)
            for high in ends[place:]
        ]

    def measure(self, rows: Sequence[int]) -> int:
        """The loss of a class: its rows times its width."""
        members = self._values[list(rows)]
        spans = members.max(axis=0) - members.min(axis=0)
        return len(rows) * sum(int(span) * share for span, share in zip(spans, self._share, strict=True))

    def find_better(self, price: NDArray[np.int64]) -> tuple[int, list[tuple[int, tuple[int, ...]]]]:
        """The least of loss - price over all classes of k to 2k - 1 rows, and classes with less than 0."""
        k, order = self.k, np.argsort(-price, kind="stable")
        least, better = 0, []
        for inside, width in self._first:
            rows = order[inside[order]]
            if len(rows) < k:
                continue
            paid = np.cumsum(price[rows[: 2 * k - 1]])
            sizes = np.arange(k, len(paid) + 1)
            if (sizes * width - paid[k - 1 :]).min() >= 0:
                continue
            member = self._inside[:, rows]
            size = np.cumsum(member, axis=1)
            gain = np.cumsum(np.where(member, price[rows], 0), axis=1)
            cost = size * (self._width + width)[:, None] - gain
            cost = np.where(member & (size >= k) & (size < 2 * k), cost, 0)
            best = cost.argmin(axis=1)
            costs = cost[np.arange(len(cost)), best]
            least = min(least, int(costs.min(initial=0)))
            for box in np.argsort(costs, kind="stable")[:4]:
                if costs[box] < 0:
                    chosen = rows[: best[box] + 1][member[box, : best[box] + 1]]
                    better.append((int(costs[box]), tuple(sorted(map(int, chosen)))))
        return least, sorted(set(better))[:_COLUMNS]

    def list_near(self, price: NDArray[np.int64], slack: int, most: int) -> list[tuple[int, ...]] | None:
        """All classes of k to 2k - 1 rows with a loss of at most ``slack`` above their price; None: above ``most``."""
        k, order, near = self.k, np.argsort(-price, kind="stable"), set[tuple[int, ...]]()
        for inside, width in self._first:
            rows = order[inside[order]]
            for place in range(len(self._width) if len(rows) >= k else 0):
                member = rows[self._inside[place, rows]]
                wide = int(self._width[place]) + width
                paid = np.cumsum(price[member[: 2 * k - 1]])
                if len(member) < k or (np.arange(k, len(paid) + 1) * wide - paid[k - 1 :]).min() > slack:
                    continue
                for size in range(k, min(2 * k, len(member) + 1)):
                    least = size * wide - slack
                    for chosen in _list_rich(member.tolist(), price[member].tolist(), size, least):
                        near.add(tuple(sorted(chosen)))
                        if len(near) > most:
                            return None
        return sorted(near)


def _list_rich(rows: list[int], price: list[int], size: int, least: int) -> Iterator[tuple[int, ...]]:
    """Sets of ``size`` rows with prices of at least ``least`` together; prices descend."""
    total = [0, *accumulate(price)]

    def extend(start: int, chosen: tuple[int, ...], paid: int) -> Iterator[tuple[int, ...]]:
        left = size - len(chosen)
        if left == 0:
            yield chosen
            return
        for place in range(start, len(rows) - left + 1):
            if paid + total[place + left] - total[place] < least:
                return
            yield from extend(place + 1, (*chosen, rows[place]), paid + price[place])

    yield from extend(0, (), 0)


class _Program:
    """Chooses classes, so that every row is in one."""

    def __init__(self, boxes: _Boxes, rows: int) -> None:
        import highspy

        self._highs, self._boxes, self._rows = highspy, boxes, rows
        self.classes: list[tuple[int, ...]] = []
        self._known: set[tuple[int, ...]] = set()
        self._solver = highspy.Highs()
        for name, option in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0)):
            self._solver.setOptionValue(name, option)
        for _ in range(rows):
            self._solver.addRow(1.0, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))

    def add(self, classes: Iterator[tuple[int, ...]]) -> bool:
        """Add the classes that it lacks; whether there was one."""
        fresh = [rows for rows in classes if rows not in self._known]
        for rows in fresh:
            self._known.add(rows)
            self.classes.append(rows)
            cost = self._boxes.measure(rows) / SCALE
            self._solver.addCol(cost, 0.0, 1.0e30, len(rows), np.array(rows, np.int32), np.ones(len(rows)))
        return bool(fresh)

    def find_prices(self) -> NDArray[np.int64]:
        """Solve, and round the dual value of every row."""
        self._solver.run()
        return np.rint(np.array(self._solver.getSolution().row_dual) * SCALE).astype(np.int64)

    def choose(self, start: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], bool]:
        """The best whole solution that was found in time, ``start`` or a better one; whether none is better."""
        n = len(self.classes)
        kinds = np.full(n, self._highs.HighsVarType.kInteger)
        known = self._highs.HighsSolution()
        known.col_value = [float(rows in start) for rows in self.classes]
        self._solver.setSolution(known)
        self._solver.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + _SECONDS)
        self._solver.run()
        chosen = np.array(self._solver.getSolution().col_value) > 0.5
        is_best = self._solver.getModelStatus() == self._highs.HighsModelStatus.kOptimal
        return [rows for rows, is_chosen in zip(self.classes, chosen, strict=True) if is_chosen], is_best


def find_optimum(values: NDArray[np.int64], k: int) -> Optimum:
    """The least range NCP of a division of whole numbers, int64[n, d] with n >= k, into classes of at least k rows.

    Larger classes than 2k - 1 rows are left out: two halves lose no more. Cost: all boxes in every round.
    """
    n, d = values.shape
    boxes = _Boxes(values, k)
    program = _Program(boxes, n)
    order = [int(row) for row in np.lexsort(tuple(values.T[::-1]))]
    starts = list(range(0, n - k + 1, k))
    ends = [*starts[1:], n]
    classes = [tuple(sorted(order[start:end])) for start, end in zip(starts, ends, strict=True)]
    program.add(iter(classes))
    bound, rounds = 0, 0
    while True:
        price = program.find_prices()
        rounds += 1
        least, better = boxes.find_better(price)
        bound = max(bound, int(price.sum()) + least * (n // k))
        if not program.add(rows for _, rows in better):
            break
    classes, _ = program.choose(classes)
    loss = sum(map(boxes.measure, classes))
    # A division that loses less than ``loss`` has only classes that are so near to their price.
    near = boxes.list_near(price, loss - int(price.sum()) - least * (n // k), _NEAR) if bound < loss else None
    if near is not None:
        program.add(iter(near))
        classes, is_best = program.choose(classes)
        loss = sum(map(boxes.measure, classes))
        bound = loss if is_best else bound
    if sorted(row for rows in classes for row in rows) != list(range(n)):
        raise AssertionError("the classes do not have every row once")
    whole = n * d * boxes.common * SCALE
    # Losses are multiples of the scale.
    return Optimum(min(-(-bound // SCALE) * SCALE, loss) / whole, loss / whole, classes, rounds)


def measure(columns: Sequence[str], rows: int, k: int, efforts: Sequence[str]) -> dict[str, Any]:
    """The optimum of the first rows of the integers, and the losses of releases."""
    import duckdb

    import sqlanon

    with duckdb_url() as url:
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            load_duckdb(connection, INTEGERS, rows)
            quoted = ", ".join(f'"{column}"' for column in columns)
            values = np.array(connection.execute(f"SELECT {quoted} FROM integers").fetchall(), np.int64)
        optimum = find_optimum(values, k)
        with sqlanon.connect(url) as db:
            asked: dict[str, Any] = {"quasi": list(columns), "k": k, "rest": "drop"}
            releases = {
                effort: db.anonymize("integers", **asked, effort=effort, name=effort, publish=f"release.{effort}")
                for effort in efforts
            }
            losses = {effort: release.report.loss.gcp for effort, release in releases.items()}
    return {
        "columns": list(columns),
        "rows": rows,
        "k": k,
        "bound": optimum.bound,
        "optimum": optimum.loss,
        "proved": optimum.proved,
        "rounds": optimum.rounds,
        "loss": losses,
        "above_bound": {effort: loss / optimum.bound - 1 if optimum.bound else 0.0 for effort, loss in losses.items()},
    }


def main(words: list[str] | None = None) -> None:
    """Measure all of it."""
    parser = options(__doc__, RESULTS / "optimum.json")
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many")
    parser.add_argument("--effort", default="fast,normal,high", help="comma list")
    args = parser.parse_args(words)
    record, cases = Record("optimum"), []
    for columns, rows, k in CASES[: args.cases]:
        case = measure(columns, rows, k, args.effort.split(","))
        cases.append(case)
        above = ", ".join(f"{effort} {share:+.1%}" for effort, share in case["above_bound"].items())
        print(
            f"{rows} rows of {', '.join(columns)}, k={k}: least {case['bound']:.5f} to {case['optimum']:.5f}; {above}",
            flush=True,
        )
    record.write(args.out, cases=cases)


if __name__ == "__main__":
    main()
