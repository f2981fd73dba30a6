"""Lower bounds of the loss of every release of a table, as metrics measured on request."""

from __future__ import annotations

from sqlanon.loss.facts import Facts, OfValue


class LeastGCP:
    """A lower bound of GCP, for any release of the table in classes of k rows, by any method; 0 to 1.

    For every row's class GCP counts at least the width of the narrowest box of k rows around the row. It is 0 where
    rows show their own values.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        return 0.0 if facts.regions is None else facts.joint.least
