"""The metric ``least_gcp``: see `sqlanon.loss.least`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.loss.facts import Facts, OfValue


class LeastGCP:
    """What GCP is at least, of any release of the table in classes of k rows, whatever makes it; 0 to 1.

    Of every row's class GCP counts at least the width of the narrowest box of k rows around the row. It is 0 where rows
    show their own values.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        return 0.0 if facts.regions is None else facts.joint.least
