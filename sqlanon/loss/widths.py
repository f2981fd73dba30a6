"""Metrics of the widths of classes, each class counting once: means, sums and maxima of NCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.loss.base import CLASSES, Attribute


def _extent(attributes: Sequence[Attribute]) -> str:
    """NCP(G) of a class ``b``."""
    parts = " + ".join(f"{a.weight} * b.ncp_{a.code}" for a in attributes)
    return f"({parts}) / {sum(a.weight for a in attributes)}"


def _extents(attributes: Sequence[Attribute]) -> dict[str, str]:
    return {"extents": f"SUM({_extent(attributes)})", "n_classes": CLASSES}


@dataclass(frozen=True, slots=True)
class AverageExtent:
    """IL1 = sum over classes NCP(G) / classes (Ghinita et al., equation 3, on scaled extents)."""

    name: str = "il1"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return _extents(attributes)

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["extents"] / values["n_classes"]


@dataclass(frozen=True, slots=True)
class LargestExtent:
    """IL-infinity = max over classes NCP(G) (Ghinita et al., equation 4, on scaled extents).

    A bound E on every class limits this (section 2.5), so it is taken over the boxes even where a format merges them.
    """

    name: str = "il_inf"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {"widest": "MAX(b.widest)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["widest"]


@dataclass(frozen=True, slots=True)
class SumOfExtents:
    """Sum over classes NCP(G): the sum of extents of the one-dimensional solvers; IL1 x classes."""

    name: str = "il_sum"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return _extents(attributes)

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["extents"]


@dataclass(frozen=True, slots=True)
class WeightedMaximum:
    """Weighted maximum NCP = max over classes |G| NCP(G), in rows (Ghinita et al., section 7.2, metric i).

    "The NCP of the group with largest extent times group cardinality": a maximum loss per group, weighted as GCP is.
    """

    name: str = "weighted_max_ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {"heaviest": f"MAX(b.n * {_extent(attributes)})"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["heaviest"]


@dataclass(frozen=True, slots=True)
class AverageNCP:
    """Average NCP = sum over classes and attributes NCP_i / (classes x d) (Ghinita et al., section 7.2, metric ii).

    The paper's "normalized version of IL1": equal to `AverageExtent` where all weights are, as `NCP` is to `GCP`.
    """

    name: str = "avg_ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {
            "plain": f"SUM({' + '.join(f'b.ncp_{a.code}' for a in attributes)})",
            "n_classes": CLASSES,
        }

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["plain"] / (len(attributes) * values["n_classes"])
