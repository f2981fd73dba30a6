"""A metric of an extension: how many rows share a row's class, on average over rows.

K-anonymity's k as readers feel it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.declared import MetricDeclaration

if TYPE_CHECKING:
    from sqlanon.loss import Attribute


class Crowd:
    """Sum over classes |G|^2 / sum over classes |G|."""

    name = "crowd"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """Sums over the classes ``b``; the loss is measured in one scan, however many metrics there are."""
        return {
            "crowd_squares": "CAST(COALESCE(SUM(CAST(b.n AS DOUBLE) * b.n), 0) AS DOUBLE)",
            "crowd_rows": "CAST(COALESCE(SUM(b.n), 0) AS DOUBLE)",
        }

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """The metric from its sums."""
        return values["crowd_squares"] / values["crowd_rows"]


DECLARED = MetricDeclaration(
    name="crowd",
    about="Rows in a row's class, on average over rows.",
    code="tests.extend.crowd:Crowd",
)
