"""Metrics of the sizes of classes alone: DM and C_AVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.loss.base import PUBLISHED, ROWS, Attribute


@dataclass(frozen=True, slots=True)
class Discernability:
    """DM (C_DM) = sum over classes |G|^2 (Bayardo & Agrawal; LeFevre et al., section 1.2).

    Each suppressed row, left out or starred, counts N in place of |G| (Bayardo & Agrawal 2005).
    """

    name: str = "dm"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {"squares": "SUM((b.n - b.suppressed) * b.n)"}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["squares"]


@dataclass(frozen=True, slots=True)
class AverageClass:
    """C_AVG = N / (classes x k) (LeFevre et al., section 1.2), of the classes that are published."""

    name: str = "c_avg"

    def aggregates(self, attributes: Sequence[Attribute]) -> Mapping[str, str]:
        return {"n_rows": ROWS, "n_published": PUBLISHED}

    def finish(self, values: Mapping[str, float], attributes: Sequence[Attribute], k: int) -> float:
        return values["n_rows"] / (values["n_published"] * k)
