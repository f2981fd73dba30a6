"""Counted cost of linear programs, which is the same on every machine."""

from __future__ import annotations

from typing import Any

STEPS_OF_NODE = 100
"""A node of a search for whole numbers costs so many steps of the simplex method."""
MOST_WORK = 5_000_000_000
"""Cost limit of the programs of a run, in steps of the simplex method times rows; minutes of one core."""
MOST_READ = 8_000_000_000
"""Entries of the matrices of all programs of a run, at most: where programs are many and take few steps, to read their
matrices is most of the cost; minutes of one core."""
ENTRIES_OF_PROGRAM = 100_000
"""To make a program costs as much as to read so many entries."""
ENTRIES_OF_SCAN = 4
"""A scan of a matrix costs the part 1 / n of what a program costs to read it."""
STEPS_OF_READING = 200
"""So many steps cost as much as to read the matrix once more."""


class ExhaustedError(Exception):
    """The programs of a run reached the cost limit."""


class Work:
    """Counts the cost of programs, which is the same on every machine.

    Args:
        most: the limit, in steps of the simplex method times rows.
        most_read: that of the entries of matrices.
    """

    def __init__(self, most: int = MOST_WORK, most_read: int = MOST_READ) -> None:
        self.most = self.left = most
        self.unread = most_read

    def add(self, solver: Any) -> None:  # noqa: ANN401 - HiGHS has no types
        """Count the last run of a solver.

        Raises:
            ExhaustedError: a limit is exceeded.
        """
        info = solver.getInfo()
        steps = max(int(info.simplex_iteration_count), 1) + STEPS_OF_NODE * max(int(info.mip_node_count), 0)
        self.left -= steps * (1000 + int(solver.getNumRow()))
        self.unread -= ENTRIES_OF_PROGRAM + int(solver.getNumNz()) * (1 + steps // STEPS_OF_READING)
        if self.left < 0 or self.unread < 0:
            raise ExhaustedError

    def read(self, entries: int) -> None:
        """Count a scan of so many entries.

        Raises:
            ExhaustedError: the limit is exceeded.
        """
        self.unread -= entries // ENTRIES_OF_SCAN
        if self.unread < 0:
            raise ExhaustedError

    def limit(self, solver: Any, most: int) -> None:  # noqa: ANN401
        """Let the next run of a solver take so many steps, or those that are left."""
        readings = self.unread // max(1, int(solver.getNumNz()))
        most_steps = min(most, STEPS_OF_READING * (1 + max(readings, 0)))
        solver.setOptionValue("simplex_iteration_limit", most_steps)
