"""Searches that solve a problem through another.

They solve the dual through the direct problem (IPCSD), and the direct through the dual.

Both are given as functions; nothing here knows rows or a database (Ghinita et al. 2009, Figure 3 and section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

THRESHOLD = Fraction(1, 10)
"""Thr of Figure 3: the search ends when the interval is shorter."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A solution of the direct problem: the l that was asked and the largest loss of a class it gave."""

    l: Fraction  # noqa: E741 - the papers' symbol
    loss: int | None


@dataclass(frozen=True, slots=True)
class IpcsdResult:
    """Result of IPCSD.

    Attributes:
        l: the largest probed l with classes that keep to the bound; None if none does.
        probes: all probes, in order.
        broken: pairs of probes, the lower l first, where a higher l lost less. The search assumes that there are none;
            with such a pair the answer may not be the largest l.
    """

    l: Fraction | None  # noqa: E741 - the papers' symbol
    probes: tuple[Probe, ...]
    broken: tuple[tuple[Probe, Probe], ...] = field(default=())


def search_l(
    solve: Callable[[Fraction], int | None], top: Fraction, bound: int, threshold: Fraction = THRESHOLD
) -> IpcsdResult:
    """The dual problem by binary search over l in [1, ``top``].

    Args:
        solve: the largest loss of a class of an l-diverse solution, None if the method finds none.
        top: the largest l that the table admits, n / frequency of the most frequent value.
        bound: E, in the unit of ``solve``.
        threshold: the search ends when the interval is shorter; positive.
    """
    probes: list[Probe] = []

    def keeps(l: Fraction) -> bool:  # noqa: E741 - the papers' symbol
        probes.append(Probe(l, solve(l)))
        loss = probes[-1].loss
        return loss is not None and loss <= bound

    low, high, best = Fraction(1), max(top, Fraction(1)), None
    while high - low >= threshold:
        middle = (low + high) / 2
        if keeps(middle):
            low = best = middle
        else:
            high = middle
    if best is None and keeps(Fraction(1)):
        best = Fraction(1)
    solved = sorted((p for p in probes if p.loss is not None), key=lambda p: p.l)
    broken = tuple((a, b) for a, b in pairwise(solved) if (a.loss or 0) > (b.loss or 0))
    return IpcsdResult(best, tuple(probes), broken)


def least_bound(reaches: Callable[[int], Fraction], goal: Fraction, most: int) -> int | None:
    """The direct problem through the dual: the least bound E with a solution that is private enough.

    It minimizes IL-infinity only.

    Args:
        reaches: the privacy of the dual's solution under a bound. For an optimal solver it never falls as the bound
            grows, and the result is the least bound; for the heuristic it is a bound that suffices.
        goal: the privacy wanted.
        most: the largest bound there is, such as the extent of the whole domain.

    Returns:
        The bound; None if even ``most`` does not suffice.
    """
    if reaches(most) < goal:
        return None
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        if reaches(middle) >= goal:
            high = middle
        else:
            low = middle
    return high
