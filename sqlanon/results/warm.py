"""The report of `sqlanon warm`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class WarmReport(Report):
    """Compiled functions and releases.

    Attributes:
        functions: that were compiled, none where all were before.
        seconds: that compiling took.
        releases: releases with compiled kernels.
        missed: releases of which some kernels may not be, each with the reason.
    """

    functions: int
    seconds: float
    releases: tuple[str, ...]
    missed: tuple[str, ...]
