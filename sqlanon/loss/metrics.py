"""The metrics of the papers, exactly.

Per class G and attribute i, NCP_i(G) is for numbers (max - min) / (range of the domain), for a hierarchy node or a nominal
set u 0 if |u| = 1 and |u| / |A| else; a constant attribute scores 0, a class with some NULLs 1, one of NULLs only 0
(Xu et al. 2006; Ghinita et al. 2009, section 2.2). LM_i uses (|u| - 1) / (|A| - 1) instead (Iyengar 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.engines.base import TableRef
from sqlanon.results import LossReport
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Attribute:
    """A quasi column as metrics see it: its code column, its name, its weight."""

    code: str
    name: str
    weight: int


class Metric(Protocol):
    """A number over all classes: SQL aggregates over boxes ``b``, then arithmetic on what they give."""

    @property
    def name(self) -> str:
        """As reports name it."""

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """Alias -> SQL over the box table ``b``; equal aliases are computed once."""

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """The metric from its aggregates."""


_ROWS = "CAST(COALESCE(SUM(b.n), 0) AS DOUBLE)"


def _sums(attributes: Sequence[Attribute], part: str) -> dict[str, str]:
    return {
        f"{part}_{a.code}": f"CAST(COALESCE(SUM(b.n * b.{part}_{a.code}), 0) AS DOUBLE)" for a in attributes
    } | {"n_rows": _ROWS}  # fmt: skip


def _weighted(values: Mapping[str, float], attributes: Sequence[Attribute], part: str) -> float:
    total = sum(a.weight for a in attributes)
    return sum(a.weight * values[f"{part}_{a.code}"] for a in attributes) / (total * values["n_rows"])


@dataclass(frozen=True, slots=True)
class GCP:
    """GCP = sum over classes |G| NCP(G) / N, NCP(G) = sum w_i NCP_i / sum w_i (Ghinita et al., equation 3; weighted)."""

    name: str = "gcp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return _sums(attributes, "ncp")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return _weighted(values, attributes, "ncp")


@dataclass(frozen=True, slots=True)
class NCP:
    """The mean of NCP_i over attributes and rows, unweighted: equal to GCP where all weights are."""

    name: str = "ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return _sums(attributes, "ncp")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return sum(values[f"ncp_{a.code}"] for a in attributes) / (len(attributes) * values["n_rows"])


@dataclass(frozen=True, slots=True)
class LM:
    """LM (Iyengar 2002): as GCP, with (|u| - 1) / (|A| - 1) for nodes and sets."""

    name: str = "lm"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return _sums(attributes, "lm")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return _weighted(values, attributes, "lm")


@dataclass(frozen=True, slots=True)
class Discernability:
    """DM (C_DM) = sum over classes |G|^2 (Bayardo & Agrawal; LeFevre et al., section 1.2)."""

    name: str = "dm"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"squares": "CAST(COALESCE(SUM(CAST(b.n AS DOUBLE) * b.n), 0) AS DOUBLE)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["squares"]


@dataclass(frozen=True, slots=True)
class AverageClass:
    """C_AVG = N / (classes x k) (LeFevre et al., section 1.2)."""

    name: str = "c_avg"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"n_rows": _ROWS, "n_classes": "CAST(COUNT(*) AS DOUBLE)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["n_rows"] / (values["n_classes"] * k)


_ALL: tuple[Metric, ...] = (NCP(), GCP(), Discernability(), AverageClass(), LM())
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""Every metric by name; a new one is a class and an entry here."""


def reconstruction_error(scratch: Scratch, classed: TableRef, value: str) -> float:
    """RCE of format anatomy (Xiao & Tao 2006, section 4): the squared error of each row's distribution, as a reader rebuilds it.

    A reader takes a row of group G to have sensitive value v with c(v) / |G|; the truth is 1 for one value. Summed over rows
    that is sum over groups of |G| - sum_v c(v)^2 / |G|: 0 if every row's value is known, at least n (1 - 1/l) if the groups
    are l-diverse.

    Args:
        scratch: the run.
        classed: rows with their class.
        value: the sensitive column there.
    """
    return float(str(scratch.fetch("loss/reconstruction", classed=classed, value=value)[0][0]))


def measure(
    scratch: Scratch, boxes: TableRef, released: TableRef, attributes: Sequence[Attribute], k: int
) -> LossReport:
    """All metrics of a release in one scan of its boxes.

    Args:
        scratch: the run.
        boxes: table (class, n, ncp_<code>, lm_<code>).
        released: table that tells which boxes publish the same.
        attributes: the quasi columns.
        k: the k that was asked, for C_AVG.
    """
    wanted: dict[str, str] = {}
    for metric in METRICS.values():
        wanted |= metric.aggregates(attributes)
    row = scratch.fetch(
        "loss/scan",
        boxes=boxes,
        released=released,
        columns=[a.code for a in attributes],
        aggregates=[{"alias": alias, "sql": sql} for alias, sql in wanted.items()],
    )[0]
    values = {alias: float(str(cell)) for alias, cell in zip(wanted, row, strict=True)}
    rows = values["n_rows"]
    return LossReport(
        **{name: metric.finish(values, attributes, k) for name, metric in METRICS.items()},
        columns={
            a.name: {"ncp": values[f"ncp_{a.code}"] / rows, "lm": values[f"lm_{a.code}"] / rows}
            for a in attributes
        },
    )
