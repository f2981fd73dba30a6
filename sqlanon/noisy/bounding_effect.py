"""Effect of bounding on an interval: statements about the answer before each person's rows are bounded.

Bounding leaves out rows of a person, or scales them down, so that numbers of rows, of persons and sums of values of one
sign only come nearer to 0: one end of the interval holds before bounding as well, and costs nothing. Another end of
numbers of rows and of sums does not exist for any epsilon: what holds in 19 of 20 drawings for one more person of any
number of rows is infinite with a probability of at least (0.95 - delta) / e^epsilon. The paid share of a person's
rows does not help, as it is a mean of shares, of which a heavy person has one.
"""

from __future__ import annotations

from typing import Literal

from sqlanon.noisy_spec import NoisyMeasure

Held = Literal["", "low", "high", "both"]
"""The ends of an interval that hold before bounding as well; each fails half as often as the interval."""
COUNTS = ("rows", "persons", "arrivals")


def find_held_ends(measure: NoisyMeasure) -> Held:
    """The ends of a measure's intervals that hold before bounding, in every group.

    Values beyond the declared range are taken as its ends, before bounding as after it.

    >>> find_held_ends(NoisyMeasure("n", "rows")), find_held_ends(NoisyMeasure("cost", "mean", "cost"))
    ('low', '')
    """
    if measure.quantity in COUNTS or (measure.quantity == "sum" and measure.low >= 0):
        return "low"
    return "high" if measure.quantity == "sum" and measure.high <= 0 else ""


def describe_held(measure: NoisyMeasure, *, scaled: bool) -> dict[str, str | None]:
    """The same for the metadata: the end of which the answer before bounding is at least, or at most; None: unknown.

    Args:
        measure: the measure.
        scaled: persons are scaled to a weight, so that their total is not exact.
    """
    end = find_held_ends(measure)
    most = "high" if end == "high" else None
    if measure.quantity in ("persons", "arrivals") and not scaled:
        most = "high of the total"  # in which everybody counts who has a row
    return {"at_least": "low" if end == "low" else None, "at_most": most}
