"""The metrics of the papers, exactly.

A class is what a reader sees, all rows of equal released values: so the papers count (LeFevre et al., section 1.1; Ghinita
et al., definition 3). In format ``ranges`` that is one box; where another format publishes several boxes alike, the class's
NCP, LM and volume are means over its rows, but `LargestExtent` looks at each box, for a bound holds for each.

Per class G and attribute i, NCP_i(G) is for numbers (max - min) / (range of the domain), for a hierarchy node or a nominal
set u 0 if |u| = 1 and |u| / |A| else; a constant attribute scores 0, a class with some NULLs 1, one of NULLs only 0
(Xu et al. 2006; Ghinita et al. 2009, section 2.1). NCP(G) = sum w_i NCP_i(G) / sum w_i (equation 1), in 0 to 1, is also the
class's extent, which the paper's one-dimensional IL metrics take unscaled. LM_i uses (|u| - 1) / (|A| - 1) instead (Iyengar 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol

from sqlanon.declared import METRICS, MetricDeclaration
from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.results import LossReport
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Attribute:
    """A quasi column as metrics see it: its code column, its name, its weight, |A|."""

    code: str
    name: str
    weight: int
    size: int


class Groups(Protocol):
    """Which class is in which group of the release (`sqlanon.formats.RowGroups`)."""

    @property
    def table(self) -> TableRef:
        """A row a class."""

    @property
    def key(self) -> str:
        """Its column of the class."""

    @property
    def group(self) -> str:
        """Its column of the group."""


class Lost(Protocol):
    """Rows that lose all their quasi values (`sqlanon.formats.Recoded`)."""

    @property
    def left_out(self) -> int:
        """Rows that are not published."""

    @property
    def suppressed(self) -> int:
        """These, and those that are starred."""

    @property
    def starred(self) -> int | None:
        """The starred class."""


class Metric(Protocol):
    """A number over all classes: SQL aggregates over boxes ``b``, then arithmetic on what they give."""

    @property
    def name(self) -> str:
        """As reports name it."""

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """Alias -> SQL over the classes ``b`` of ``loss/scan``; equal aliases are computed once."""

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """The metric from its aggregates."""


_ROWS = "CAST(COALESCE(SUM(b.n), 0) AS DOUBLE)"
_CLASSES = "CAST(COUNT(*) AS DOUBLE)"


def _sums(attributes: Sequence[Attribute], part: str) -> dict[str, str]:
    return {
        f"{part}_{a.code}": f"CAST(COALESCE(SUM(b.n * b.{part}_{a.code}), 0) AS DOUBLE)" for a in attributes
    } | {"n_rows": _ROWS}  # fmt: skip


def _weighted(values: Mapping[str, float], attributes: Sequence[Attribute], part: str) -> float:
    total = sum(a.weight for a in attributes)
    return sum(a.weight * values[f"{part}_{a.code}"] for a in attributes) / (total * values["n_rows"])


def _extent(attributes: Sequence[Attribute]) -> str:
    """NCP(G) of one class ``b``."""
    parts = " + ".join(f"{a.weight} * b.ncp_{a.code}" for a in attributes)
    return f"({parts}) / {sum(a.weight for a in attributes)}"


def _extents(attributes: Sequence[Attribute]) -> dict[str, str]:
    return {"extents": f"CAST(COALESCE(SUM({_extent(attributes)}), 0) AS DOUBLE)", "n_classes": _CLASSES}


@dataclass(frozen=True, slots=True)
class GCP:
    """GCP = sum over classes |G| NCP(G) / N, NCP(G) = sum w_i NCP_i / sum w_i (Ghinita et al., equation 2; weighted)."""

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
    """DM (C_DM) = sum over classes |G|^2 (Bayardo & Agrawal; LeFevre et al., section 1.2).

    Each suppressed row, left out or starred, counts N in place of |G| (Bayardo & Agrawal 2005).
    """

    name: str = "dm"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"squares": "CAST(COALESCE(SUM((b.n - b.suppressed) * b.n), 0) AS DOUBLE)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["squares"]


@dataclass(frozen=True, slots=True)
class AverageClass:
    """C_AVG = N / (classes x k) (LeFevre et al., section 1.2)."""

    name: str = "c_avg"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"n_rows": _ROWS, "n_classes": _CLASSES}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["n_rows"] / (values["n_classes"] * k)


@dataclass(frozen=True, slots=True)
class AverageExtent:
    """IL1 = sum over classes NCP(G) / classes (Ghinita et al., equation 3, on scaled extents)."""

    name: str = "il1"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return _extents(attributes)

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["extents"] / values["n_classes"]


@dataclass(frozen=True, slots=True)
class LargestExtent:
    """IL-infinity = max over classes NCP(G) (Ghinita et al., equation 4, on scaled extents).

    What a bound E on every class bounds (section 2.5), so it is taken over the boxes even where a format merges them.
    """

    name: str = "il_inf"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"widest": "CAST(COALESCE(MAX(b.widest), 0) AS DOUBLE)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["widest"]


@dataclass(frozen=True, slots=True)
class SumOfExtents:
    """Sum over classes NCP(G): what the one-dimensional solvers call the sum of extents; IL1 x classes."""

    name: str = "il_sum"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return _extents(attributes)

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["extents"]


@dataclass(frozen=True, slots=True)
class WeightedMaximum:
    """Weighted maximum NCP = max over classes |G| NCP(G), in rows (Ghinita et al., section 7.2, metric i).

    "The NCP of the group with largest extent times group cardinality": a maximum loss per group, weighted as GCP is.
    """

    name: str = "weighted_max_ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"heaviest": f"CAST(COALESCE(MAX(b.n * {_extent(attributes)}), 0) AS DOUBLE)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["heaviest"]


@dataclass(frozen=True, slots=True)
class AverageNCP:
    """Average NCP = sum over classes and attributes NCP_i / (classes x d) (Ghinita et al., section 7.2, metric ii).

    The paper's "normalized version of IL1": equal to `AverageExtent` where all weights are, as `NCP` is to `GCP`.
    """

    name: str = "avg_ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {
            "plain": f"CAST(COALESCE(SUM({' + '.join(f'b.ncp_{a.code}' for a in attributes)}), 0) AS DOUBLE)",
            "n_classes": _CLASSES,
        }

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["plain"] / (len(attributes) * values["n_classes"])


@dataclass(frozen=True, slots=True)
class AverageVolume:
    """Weighted average volume = sum over classes |G| V(G) / N (Ghinita et al., section 7.2, metric iii).

    V(G) = product over attributes of NCP_i(G), or of 1 / |A_i| where the class has one value, lest the product be 0. The
    weights of attributes play no part: in a product they would scale all classes alike. Volumes below 1e-304 count as that.
    """

    name: str = "weighted_avg_volume"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        """See `Metric`."""
        return {"volumes": "CAST(COALESCE(SUM(b.n * b.volume), 0) AS DOUBLE)", "n_rows": _ROWS}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        """See `Metric`."""
        return values["volumes"] / values["n_rows"]


def code(declared: MetricDeclaration) -> Metric:
    """Import and make what a declaration names."""
    found = declared.code
    if isinstance(found, str):
        module, _, name = found.partition(":")
        found = getattr(import_module(module), name)
    made: Metric = found()
    return made


def measure(
    scratch: Scratch,
    boxes: TableRef,
    groups: Groups,
    attributes: Sequence[Attribute],
    k: int | None,
    lost: Lost,
) -> LossReport:
    """All metrics of a release in one scan of its boxes.

    Args:
        scratch: the run.
        boxes: table (class, n, ncp_<code>, lm_<code>).
        groups: which boxes publish the same.
        attributes: the quasi columns.
        k: the k that was asked; None: none was, and there is no C_AVG.
        lost: rows of the source that are not published, or starred. Each has lost everything: its NCP, LM and volume are 1, and
            it is as any other row of the source (DM). The boxes of the starred class say so themselves but for DM.

    Raises:
        PolicyError: a metric of an extension calls an aggregate as another metric calls a different one.
    """
    wanted: dict[str, str] = {}
    metrics = {name: code(declared) for name, declared in METRICS.items()}
    for name, metric in metrics.items():
        for alias, sql in metric.aggregates(attributes).items():
            if wanted.setdefault(alias, sql) != sql:
                raise PolicyError(
                    f"metric {name}: {alias} is another aggregate already; choose another alias"
                )
    row = scratch.fetch(
        "loss/scan",
        boxes=boxes,
        groups=groups,
        columns=[{"code": a.code, "weight": a.weight, "size": max(a.size, 1)} for a in attributes],
        weights=sum(a.weight for a in attributes),
        aggregates=[{"alias": alias, "sql": sql} for alias, sql in wanted.items()],
        starred=lost.starred,
    )[0]
    values = {alias: float(str(cell)) for alias, cell in zip(wanted, row, strict=True)}
    if lost.left_out:
        values["n_rows"] += lost.left_out
        for alias in values:
            if alias.startswith(("ncp_", "lm_")) or alias == "volumes":
                values[alias] += lost.left_out
    rows = values["n_rows"]
    values["squares"] += lost.suppressed * rows
    finished = {name: metric.finish(values, attributes, k or 1) for name, metric in metrics.items()}
    own = {declared.name for declared in METRICS.own}
    named: dict[str, Any] = {name: found for name, found in finished.items() if name in own}
    report = LossReport(
        **named,
        columns={
            a.name: {"ncp": values[f"ncp_{a.code}"] / rows, "lm": values[f"lm_{a.code}"] / rows}
            for a in attributes
        },
        more={name: found for name, found in finished.items() if name not in own},
    )
    return report if k else replace(report, c_avg=None)
