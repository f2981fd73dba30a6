"""Metrics of information loss as reports know them: the name, and where the code is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlanon.declared.registry import Registry


@dataclass(frozen=True, slots=True)
class MetricDeclaration:
    """A number over all classes of a release.

    Attributes:
        name: as reports name it.
        about: what it measures.
        code: ``module:class`` of a `sqlanon.loss.metrics.Metric`, or the class itself.
    """

    name: str
    about: str
    code: str | type[Any]


def _ours(name: str, code: str, about: str) -> MetricDeclaration:
    return MetricDeclaration(name, about, f"sqlanon.loss.metrics:{code}")


METRICS: Registry[MetricDeclaration] = Registry(
    "metric",
    (
        _ours("ncp", "NCP", "Mean of NCP over attributes and rows."),
        _ours("gcp", "GCP", "NCP weighted, a mean over rows."),
        _ours("dm", "Discernability", "Sum of squared class sizes."),
        _ours("c_avg", "AverageClass", "Mean class size, in units of k."),
        _ours("lm", "LM", "Iyengar's loss, weighted, a mean over rows."),
        _ours("il1", "AverageExtent", "Mean NCP of a class."),
        _ours("il_inf", "LargestExtent", "Largest NCP of a class."),
        _ours("il_sum", "SumOfExtents", "Sum of the NCP of all classes."),
        _ours("weighted_max_ncp", "WeightedMaximum", "Largest rows x NCP of a class."),
        _ours("avg_ncp", "AverageNCP", "Mean NCP over classes and attributes."),
        _ours("weighted_avg_volume", "AverageVolume", "Mean over rows of the product of NCP."),
    ),
    "sqlanon.metrics",
)
"""Every metric by name. Those of the package have a field each in `LossReport`; those of extensions are in its ``more``."""
