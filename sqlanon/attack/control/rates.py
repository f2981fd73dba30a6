"""Rates of success with intervals, and the risk beyond the control group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.attack.control.base import Outcome, Successes

Z = 1.959963984540054
"""Of a 95 % interval."""


def find_interval(successes: Successes) -> tuple[float, float]:
    """The 95 % interval of a rate.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference"; 0 to 1 without attempts.

    >>> from sqlanon.attack.control.base import Successes
    >>> [round(end, 4) for end in find_interval(Successes(81, 263))]
    [0.2553, 0.3662]
    """
    n = successes.attempts
    if not n:
        return 0.0, 1.0
    share, square = successes.share, Z * Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * math.sqrt(max(share * (1 - share), 0.0) / n + square / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def measure_risk(outcome: Outcome) -> tuple[float, float, float]:
    """The risk of an attack with the interval: least, value, greatest, each from 0 to 1.

    (main - control) / (1 - control), Giomi et al. 2023, equation 3: the part of the share that control leaves open. It
    grows with main and falls with control, so that the ends are those of their 95 % intervals: both hold together in at
    least 90 % of all draws, and the ratio in more. Of membership it is main - control, with the square root of the sum
    of squares of both (Newcombe 1998, method 10). 0 where nothing could be attempted.
    """
    if not outcome.main.attempts:
        return 0.0, 0.0, 0.0
    main, control = outcome.main.share, outcome.control.share
    (low, high), (below, above) = find_interval(outcome.main), find_interval(outcome.control)
    if outcome.gain:
        value = main - control
        least = value - math.hypot(main - low, above - control)
        most = value + math.hypot(high - main, control - below)
    else:
        least, value, most = _beyond(low, above), _beyond(main, control), _beyond(high, below)
    return _clip(least), _clip(value), _clip(most)


def _beyond(main: float, control: float) -> float:
    """0 where the control group leaves nothing open."""
    return (main - control) / (1 - control) if control < 1 else 0.0


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
