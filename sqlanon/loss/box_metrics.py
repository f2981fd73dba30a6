"""Metrics of every run: sums, means and maxima over the boxes of classes, and of the sizes of classes.

A metric of rows counts a class once for each row; a metric of widths counts each class once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.loss.base import Attribute

_ROWS = {"n_rows": "SUM(b.n)"}
"""Rows of the source."""
_CLASSES = {"n_classes": "COUNT(*)"}
"""Classes, rows that are left out being one more."""
_PUBLISHED = {"n_published": "SUM(b.published)"}
"""Classes that are published."""


@dataclass(frozen=True, slots=True)
class BoxMetric:
    """A metric by parts; see `sqlanon.loss.base.Metric`."""

    name: str
    aggregates: Callable[[Sequence[Attribute]], Mapping[str, str]]
    finish: Callable[[Mapping[str, float], Sequence[Attribute], int], float]


def _sum_rows(attributes: Sequence[Attribute], part: str) -> dict[str, str]:
    return {f"{part}_{a.code}": f"SUM(b.n * b.{part}_{a.code})" for a in attributes} | _ROWS


def _weigh(values: Mapping[str, float], attributes: Sequence[Attribute], part: str) -> float:
    total = sum(a.weight for a in attributes)
    return sum(a.weight * values[f"{part}_{a.code}"] for a in attributes) / (total * values["n_rows"])


def _extent(attributes: Sequence[Attribute]) -> str:
    """NCP(G) of a class ``b``."""
    parts = " + ".join(f"{a.weight} * b.ncp_{a.code}" for a in attributes)
    return f"({parts}) / {sum(a.weight for a in attributes)}"


def _sum_extents(attributes: Sequence[Attribute]) -> dict[str, str]:
    return {"extents": f"SUM({_extent(attributes)})"} | _CLASSES


GCP = BoxMetric("gcp", lambda of: _sum_rows(of, "ncp"), lambda values, of, _: _weigh(values, of, "ncp"))
"""Weighted mean loss GCP (Ghinita et al., equation 2).

GCP = sum over classes |G| NCP(G) / N, with NCP(G) = sum w_i NCP_i / sum w_i.
"""
NCP = BoxMetric(
    "ncp",
    lambda of: _sum_rows(of, "ncp"),
    lambda values, of, _: sum(values[f"ncp_{a.code}"] for a in of) / (len(of) * values["n_rows"]),
)
"""The mean of NCP_i over attributes and rows, unweighted: equal to GCP where all weights are."""
LM = BoxMetric("lm", lambda of: _sum_rows(of, "lm"), lambda values, of, _: _weigh(values, of, "lm"))
"""LM (Iyengar 2002): as GCP, with (|u| - 1) / (|A| - 1) for nodes and sets."""
VOLUME = BoxMetric(
    "weighted_avg_volume",
    lambda _: {"volumes": "SUM(b.n * b.volume)"} | _ROWS,
    lambda values, *_: values["volumes"] / values["n_rows"],
)
"""Weighted average volume = sum over classes |G| V(G) / N (Ghinita et al., section 7.2, metric iii).

V(G) = product over attributes of NCP_i(G), or of 1 / |A_i| where the class has one value, lest the product be 0.
The weights of attributes play no part: in a product they would scale all classes alike. Volumes below 1e-304 count
as that.
"""
AVERAGE_EXTENT = BoxMetric("il1", _sum_extents, lambda values, *_: values["extents"] / values["n_classes"])
"""IL1 = sum over classes NCP(G) / classes (Ghinita et al., equation 3, on scaled extents)."""
LARGEST_EXTENT = BoxMetric("il_inf", lambda _: {"widest": "MAX(b.widest)"}, lambda values, *_: values["widest"])
"""IL-infinity = max over classes NCP(G) (Ghinita et al., equation 4, on scaled extents).

A bound E on every class limits this (section 2.5), so it is taken over the boxes even where a format merges them.
"""
SUM_OF_EXTENTS = BoxMetric("il_sum", _sum_extents, lambda values, *_: values["extents"])
"""Sum over classes NCP(G): the sum of extents of the one-dimensional solvers; IL1 x classes."""
WEIGHTED_MAXIMUM = BoxMetric(
    "weighted_max_ncp", lambda of: {"heaviest": f"MAX(b.n * {_extent(of)})"}, lambda values, *_: values["heaviest"]
)
"""Weighted maximum NCP = max over classes |G| NCP(G), in rows (Ghinita et al., section 7.2, metric i).

"The NCP of the group with largest extent times group cardinality": a maximum loss per group, weighted as GCP is.
"""
AVERAGE_NCP = BoxMetric(
    "avg_ncp",
    lambda of: {"plain": f"SUM({' + '.join(f'b.ncp_{a.code}' for a in of)})"} | _CLASSES,
    lambda values, of, _: values["plain"] / (len(of) * values["n_classes"]),
)
"""Average NCP = sum over classes and attributes NCP_i / (classes x d) (Ghinita et al., section 7.2, metric ii).

The paper's "normalized version of IL1": equal to `AVERAGE_EXTENT` where all weights are, as `NCP` is to `GCP`.
"""
DISCERNABILITY = BoxMetric(
    "dm", lambda _: {"squares": "SUM((b.n - b.suppressed) * b.n)"}, lambda values, *_: values["squares"]
)
"""DM (C_DM) = sum over classes |G|^2 (Bayardo & Agrawal; LeFevre et al., section 1.2).

Each suppressed row, left out or starred, counts N in place of |G| (Bayardo & Agrawal 2005).
"""
AVERAGE_CLASS = BoxMetric(
    "c_avg", lambda _: _ROWS | _PUBLISHED, lambda values, _, k: values["n_rows"] / (values["n_published"] * k)
)
"""C_AVG = N / (classes x k) (LeFevre et al., section 1.2), of the classes that are published."""
