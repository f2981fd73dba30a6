"""Interface of metrics, and their input.

A metric of every run is a sum over classes; others read `sqlanon.loss.facts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlanon.loss.facts import Facts, OfValue


@dataclass(frozen=True, slots=True)
class Attribute:
    """A quasi column as metrics see it: code column, name, weight, |A|, and whether its LM is its NCP."""

    code: str
    name: str
    weight: int
    size: int
    ordered: bool = False


class Metric(Protocol):
    """A number over all classes: SQL aggregates over boxes ``b``, then arithmetic on the results."""

    @property
    def name(self) -> str:
        """As reports name it."""

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """Alias -> SQL over the classes ``b`` of ``loss/scan``.

        Equal aliases are computed once, and NULL (no class) counts as 0.
        """

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """The metric from the aggregates."""


class AskedMetric(Protocol):
    """A number of the cells that a release publishes, measured where a policy asks for it."""

    def of(self, facts: Facts, value: OfValue | None) -> float:
        """The metric.

        Args:
            facts: of the release and the source; facts that no metric reads are not computed.
            value: the facts about one sensitive column; None: the metric is declared without a column.
        """
