"""Bounds of sums of atoms over all tables of whole numbers that agree with what is published.

A linear program proposes, and integers decide: of its dual solution, whatever it is, exact arithmetic makes a bound
that no table leaves, and of its primal solution a table of whole numbers that reaches the bound, or not. By weak
duality every vector of multipliers of the shown cells gives a bound, so that no tolerance and no end of the program in
time makes a wrong one (Neumaier and Shcherbina 2004, "Safe bounds in linear and mixed-integer linear programming").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.highs import import_highs, make_solver
from sqlanon.statistics.seen import UNBOUNDED, Narrowed, Seen, narrow

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

SCALE = 2**8 * 3**3 * 5 * 7 * 11
"""Multipliers are rounded to parts of this: those of vertices are fractions of small numbers."""
MOST_DUAL = 2.0**20
"""Multipliers, at most."""
MOST_WEIGHT = 2**31
"""Weights of sums, at most."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a sum.

    Attributes:
        value: no table leaves it; None: nothing bounds the sum.
        table: int64[atoms], a table that agrees with all shown cells and reaches it; None: none was found.
    """

    value: int | None
    table: Longs | None = None


class Reach:
    """The sums that readers can bound.

    Args:
        seen: the published cells.
        fixed: values of atoms that are known besides.
        seconds: how many are left, asked before each linear program.

    Raises:
        PolicyError: the cells contradict each other.

    Cost: a linear program for each end that sums of shown cells do not give; each starts where the last one ended.
    """

    def __init__(
        self, seen: Seen, fixed: Mapping[int, int] | None = None, seconds: Callable[[], float] | None = None
    ) -> None:
        self._seen, self._seconds = seen, seconds
        self.narrowed: Narrowed = narrow(seen, fixed)
        if len(self.narrowed.wrong):
            raise ContradictionError(self.narrowed.wrong)
        self._free = np.flatnonzero(self.narrowed.low < self.narrowed.high)
        self._low, self._high = self.narrowed.low[self._free], self.narrowed.high[self._free]
        self._rows, self._right = self._build_rows()
        self._solver: Any = None

    def within(self, seconds: Callable[[], float]) -> Reach:
        """The same; programs end when so many seconds are over."""
        self._seconds = seconds
        return self

    def bound(self, weight: Longs) -> tuple[End, End]:
        """The least and the greatest sum of the atoms with such weights.

        Args:
            weight: int64[atoms], at most `MOST_WEIGHT` each.

        Raises:
            UnsupportedError: HiGHS is needed, and not installed.
            PolicyError: the cells contradict each other.
        """
        known = self._sum_shown(weight)
        if known is not None:
            return End(known), End(known)
        return self.least(weight), self.greatest(weight)

    def least(self, weight: Longs) -> End:
        """The least such sum."""
        free = weight[self._free]
        fixed = int(sum(map(int, weight * self.narrowed.low))) - int(sum(map(int, free * self._low)))
        if not free.any():
            return End(fixed)
        dual, table = self._solve(free)
        bound = self._certify(free, np.zeros(len(self._right)))
        found = self._certify(free, dual) if dual is not None else None
        best = max((one for one in (bound, found) if one is not None), default=None)
        if best is None:
            return End(None)
        reached = table is not None and int(free @ table) == best
        return End(best + fixed, self._whole(table) if reached and table is not None else None)

    def greatest(self, weight: Longs) -> End:
        """The greatest such sum."""
        found = self.least(-weight)
        return End(None if found.value is None else -found.value, found.table)

    def is_known(self, weight: Longs) -> bool:
        """Whether a sum follows from shown cells without a linear program."""
        return self._sum_shown(weight) is not None

    def _whole(self, free: Longs) -> Longs:
        made = self.narrowed.low.copy()
        made[self._free] = free
        return made

    def _sum_shown(self, weight: Longs) -> int | None:
        """The sum, where weights are one on atoms that shown cells divide among them, or on known atoms; else None."""
        left = weight.copy()
        left[self.narrowed.low == self.narrowed.high] = 0
        found = int(sum(map(int, (weight - left) * self.narrowed.low)))
        values = np.unique(left[left != 0])
        if len(values) > 1:
            return None
        if not len(values):
            return found
        inside = weight == values[0]
        covered = np.zeros(len(weight), bool)
        total = 0
        cells = len(self._seen.value)
        for row in sorted(self._seen.of, key=lambda one: len(np.unique(one))):
            listed = row >= 0
            size, own = (np.bincount(row[listed & some], minlength=cells) for some in (listed, inside & ~covered))
            whole = np.flatnonzero((size > 0) & (size == own) & (self._seen.value >= 0))
            total += int(self._seen.value[whole].sum())
            covered |= listed & np.isin(row, whole)
        rest = inside & ~covered
        if (left[rest] != 0).any():
            return None
        total += int(self.narrowed.low[rest].sum())
        others = ~inside & (weight != 0)
        return total * int(values[0]) + int(sum(map(int, weight[others] * self.narrowed.low[others])))

    def _build_rows(self) -> tuple[Longs, Longs]:
        """Shown cells over the free atoms, equal ones once.

        Returns:
            int64[margins, free atoms], the row of each; the last row is none. int64[rows], what is left for them.
        """
        seen, free = self._seen, self._free
        # Cells of equal sums are taken for one: where they are not, a bound is wider.
        marks = np.random.default_rng(0).integers(1, 2**62, len(free), dtype=np.int64)
        cells = len(seen.value)
        known: dict[int, int] = {}
        right: list[int] = []
        rows = np.full((len(seen.of), len(free)), -1, np.int64)
        for margin, of in enumerate(seen.of):
            least, sums = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
            listed = of >= 0
            np.add.at(least, of[listed], self.narrowed.low[listed])
            np.add.at(least, of[free][of[free] >= 0], -self._low[of[free] >= 0])
            inside = np.flatnonzero(of[free] >= 0)
            np.add.at(sums, of[free][inside], marks[inside])
            number = np.full(cells, -1, np.int64)
            for cell in np.unique(of[free][inside]):
                mark = int(sums[cell])
                if seen.value[cell] >= 0 and mark not in known:
                    known[mark] = number[cell] = len(right)
                    right.append(int(seen.value[cell] - least[cell]))
            rows[margin, inside] = number[of[free][inside]]
        rows[rows < 0] = len(right)
        return rows, np.array(right, np.int64)

    def _make_solver(self) -> Any:  # noqa: ANN401 - HiGHS has no types
        highs = import_highs()
        many = len(self._free)
        program = highs.HighsLp()
        program.num_col_, program.num_row_ = many, len(self._right)
        program.col_cost_, program.col_lower_ = np.zeros(many), self._low.astype(np.float64)
        program.col_upper_ = np.where(self._high < UNBOUNDED, self._high.astype(np.float64), highs.kHighsInf)
        program.row_lower_ = program.row_upper_ = self._right.astype(np.float64)
        margin, atom = np.nonzero(self._rows < len(self._right))
        order = np.lexsort((self._rows[margin, atom], atom))
        program.a_matrix_.format_ = highs.MatrixFormat.kColwise
        starts = np.searchsorted(atom[order], np.arange(many + 1))
        program.a_matrix_.start_ = starts.astype(np.int32)
        program.a_matrix_.index_ = self._rows[margin, atom][order].astype(np.int32)
        program.a_matrix_.value_ = np.ones(len(atom))
        return make_solver(program)

    def _solve(self, cost: Longs) -> tuple[Floats | None, Longs | None]:
        """Multipliers of the rows, and a table of whole numbers that has them; None: the program has none."""
        highs = import_highs()
        if self._solver is None:
            self._solver = self._make_solver()
        solver = self._solver
        if self._seconds is not None:
            solver.setOptionValue("time_limit", solver.getRunTime() + max(self._seconds(), 0.0))
        places = np.arange(len(cost), dtype=np.int32)
        solver.changeColsCost(len(cost), places, cost.astype(np.float64))
        solver.run()
        status = solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            raise ContradictionError(np.zeros(0, np.int64))
        if status != highs.HighsModelStatus.kOptimal:
            return None, None
        solution = solver.getSolution()
        dual = np.array(solution.row_dual, np.float64)
        table = np.rint(np.array(solution.col_value)).astype(np.int64)
        sums = np.zeros(len(self._right) + 1, np.int64)
        for row in self._rows:
            np.add.at(sums, row, table)
        fits = (sums[:-1] == self._right).all() and (table >= self._low).all() and (table <= self._high).all()
        return dual, table if fits else None

    def _certify(self, cost: Longs, dual: Floats) -> int | None:
        """A bound from below, by exact arithmetic of these multipliers; None: they give none."""
        many = np.rint(np.clip(np.nan_to_num(dual), -MOST_DUAL, MOST_DUAL) * SCALE).astype(np.int64)
        padded = np.append(many, 0)
        reduced = cost * SCALE
        for row in self._rows:
            reduced = reduced - padded[row]
        total: int = sum(a * b for a, b in zip(many.tolist(), self._right.tolist(), strict=True))
        at = np.flatnonzero(reduced)
        falls = reduced[at] < 0
        if (self._high[at][falls] >= UNBOUNDED).any():
            return None
        ends = np.where(falls, self._high[at], self._low[at])
        total += sum(a * b for a, b in zip(reduced[at].tolist(), ends.tolist(), strict=True))
        return -(-total // SCALE)


class ContradictionError(PolicyError):
    """No table has the published numbers.

    Attributes:
        cells: some whose numbers no table has; empty: they are not known.
    """

    def __init__(self, cells: Longs) -> None:
        super().__init__("the published numbers contradict each other: no table has all of them")
        self.cells = cells
