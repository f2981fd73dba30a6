"""Metrics of mean loss over rows: NCP, GCP, LM and the volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.loss.base import ROWS, Attribute


def _sums(attributes: Sequence[Attribute], part: str) -> dict[str, str]:
    return {f"{part}_{a.code}": f"SUM(b.n * b.{part}_{a.code})" for a in attributes} | {"n_rows": ROWS}


def _weighted_mean(values: Mapping[str, float], attributes: Sequence[Attribute], part: str) -> float:
    total = sum(a.weight for a in attributes)
    return sum(a.weight * values[f"{part}_{a.code}"] for a in attributes) / (total * values["n_rows"])


@dataclass(frozen=True, slots=True)
class GCP:
    """Weighted mean loss GCP (Ghinita et al., equation 2).

    GCP = sum over classes |G| NCP(G) / N, with NCP(G) = sum w_i NCP_i / sum w_i.
    """

    name: str = "gcp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return _sums(attributes, "ncp")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return _weighted_mean(values, attributes, "ncp")


@dataclass(frozen=True, slots=True)
class NCP:
    """The mean of NCP_i over attributes and rows, unweighted: equal to GCP where all weights are."""

    name: str = "ncp"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return _sums(attributes, "ncp")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return sum(values[f"ncp_{a.code}"] for a in attributes) / (len(attributes) * values["n_rows"])


@dataclass(frozen=True, slots=True)
class LM:
    """LM (Iyengar 2002): as GCP, with (|u| - 1) / (|A| - 1) for nodes and sets."""

    name: str = "lm"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return _sums(attributes, "lm")

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return _weighted_mean(values, attributes, "lm")


@dataclass(frozen=True, slots=True)
class AverageVolume:
    """Weighted average volume = sum over classes |G| V(G) / N (Ghinita et al., section 7.2, metric iii).

    V(G) = product over attributes of NCP_i(G), or of 1 / |A_i| where the class has one value, lest the product be 0.
    The weights of attributes play no part: in a product they would scale all classes alike. Volumes below 1e-304 count
    as that.
    """

    name: str = "weighted_avg_volume"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {"volumes": "SUM(b.n * b.volume)", "n_rows": ROWS}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["volumes"] / values["n_rows"]
