"""Squared error of numbers, which microaggregation keeps low."""

from __future__ import annotations

from sqlanon.loss.facts import Facts, OfValue


class SquaredError:
    """SSE / SST (Domingo-Ferrer and Mateo-Sanz 2002), a mean over ordered columns by weight, 0 to 1.

    Per column the squared distances of rows from the mean of their class, in parts of those from the mean of all rows.
    A suppressed row is as far as from the latter; NULL counts in neither. Columns that have no order or one value are
    left out. 0 where rows show their own values.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        if facts.regions is None:
            return 0.0
        lost = weights = 0.0
        for domain in facts.quasi:
            if domain.reading.treatment != "ordered":
                continue
            error, total = facts.squares(domain)
            if total > 0:
                weights += domain.reading.spec.weight
                lost += domain.reading.spec.weight * min(max(error / total, 0.0), 1.0)
        return lost / weights if weights else 0.0
