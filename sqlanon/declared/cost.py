"""Cost of a method, as a few numbers: a rough estimate for `plan`, before anything is computed.

The numbers are fitted by ``python -m benchmarks.cost`` to one processor of the machine named in the result; data,
hierarchies and options move them by a factor of some units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROWS, COLUMNS, K = 10_000, 8, 10
"""The table that `Cost.seconds` is stated for."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The numbers of a table and a policy that costs depend on.

    Attributes:
        rows: of the table.
        columns: quasi columns of the table.
        k: rows of a class, at least.
        flat: the share of quasi columns that publish a value or nothing.
        beyond: more than k is required of a class.
    """

    rows: int
    columns: int
    k: int
    flat: float = 0.0
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """How processor seconds and memory grow with a table.

    Attributes:
        start: seconds of the same columns whatever the rows are.
        seconds: in addition to these, for `ROWS` rows, `COLUMNS` quasi columns of an integer each, and k = `K`.
        rows, columns, k: exponents: seconds grow as rows^rows columns^columns k^k.
        squared: the share of the seconds that grows with the square of the columns, and with the rows.
        worst: how many times that on other data, at most, as far as was seen.
        row_bytes: memory of a row in addition to the columns.
        column_bytes: memory of a row's quasi column.
        k_bytes: memory of a row for each of k.
        pair_bytes: memory of every two rows that are looked at together, of one block.
        pushed: cost of the execution ``pushdown``, where it is not about the same.
        block: the option that says how many rows are looked at together; from there on seconds grow with the rows.
        sized: rows that are looked at together, of the options, the table's rows and k; for a ``block`` with a default
            that depends on them.
        times: the option that says how often everything is done anew, and ``once`` how often it is done besides.
        slower: an option, a value of it, and how many times as long everything takes with it; any number of these.
        flat: how many times as long it takes, or which part of the time, where every quasi column publishes a value or
            nothing.
        budget: an option, and the seconds that it takes at most where the option is 0.
        beyond: how many times as long it takes where more than a number of rows is required of a class.
    """

    start: float
    seconds: float
    rows: float = 1.0
    columns: float = 1.0
    k: float = 0.0
    squared: float = 0.0
    worst: float = 3.0
    row_bytes: int = 120
    column_bytes: int = 48
    k_bytes: int = 0
    pair_bytes: int = 0
    pushed: Cost | None = None
    block: str | None = None
    sized: Callable[[Mapping[str, object], int, int], int] | None = None
    times: str | None = None
    once: int = 0
    slower: tuple[tuple[str, str, float], ...] = ()
    flat: float = 1.0
    beyond: float = 1.0
    budget: tuple[str, float] | None = None

    def time(
        self,
        rows: int,
        columns: int,
        k: int,
        options: Mapping[str, object] | None = None,
        flat: float = 0.0,
        beyond: bool = False,
    ) -> float:
        """Seconds for a table.

        Args:
            rows: of the table.
            columns: quasi columns of the table.
            k: rows of a class, at least.
            options: the method's, with their values.
            flat: the share of quasi columns that publish a value or nothing.
            beyond: more than k is required of a class.
        """
        settings = options or {}
        times = settings.get(self.times or "", 1 - self.once)
        assert isinstance(times, int)
        together = self._together(rows, k, settings)
        width = max(columns, 1) / COLUMNS
        wide: float = width**self.columns
        often = (times + self.once) * (max(k, 1) / K) ** self.k
        long: float = (together / ROWS) ** self.rows * rows / together * often
        long *= math.prod(more for name, value, more in self.slower if settings.get(name) == value)
        long *= (1 + (self.flat - 1) * flat) * (self.beyond if beyond else 1)
        once = self.start + self.seconds * (1 - self.squared) * long
        return min(wide * once + self.seconds * self.squared * width**2 * long, self._most(settings))

    def worst_time(self, seconds: float, options: Mapping[str, object]) -> float:
        """Seconds on other data, at most, where `time` gives ``seconds`` with these options."""
        return min(seconds * self.worst, self._most(options))

    def _most(self, options: Mapping[str, object]) -> float:
        return self.budget[1] if self.budget and options.get(self.budget[0]) == 0 else math.inf

    def memory(self, rows: int, columns: int, k: int = 1, options: Mapping[str, object] | None = None) -> int:
        """Bytes for a table, where it is held in memory as a whole; arguments as those of `time`."""
        row = self.row_bytes + self.column_bytes * columns + self.k_bytes * k
        return rows * row + self.pair_bytes * self._together(rows, k, options or {}) ** 2

    def _together(self, rows: int, k: int, options: Mapping[str, object]) -> int:
        """Rows that are looked at together."""
        block = self.sized(options, rows, k) if self.sized else options.get(self.block or "", rows)
        assert isinstance(block, int)
        return max(min(rows, block), 1)


WALK = Cost(0.45, 0.025, columns=0.8, worst=4.0)
"""The SQL around a method, in DuckDB; PostgreSQL was seen to take up to ``worst`` times as long."""
WALK_OF_WORKERS = Cost(40.0, 0.3, columns=0.8, worst=4.0)
"""The same on an engine with workers, which is Spark with two cores: most is of statements, whatever their rows are."""
