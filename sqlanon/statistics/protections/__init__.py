"""Protections of the numbers of cells, by the word of policies: a registry of strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from sqlanon.statistics.protections.base import Protection
from sqlanon.statistics.protections.cell_key import CellKey
from sqlanon.statistics.protections.controlled_rounding import RoundedProtection
from sqlanon.statistics.protections.suppress import SuppressedProtection
from sqlanon.statistics_spec import CellKeySpec, Method, RoundSpec, StatisticsSpec, StatisticsTable, SumMeasure

PROTECTIONS: Final[Mapping[Method, Callable[[StatisticsSpec], Protection]]] = {
    "suppress": SuppressedProtection,
    "cell_key": CellKey,
    "round": RoundedProtection,
}
"""The protections."""


def find_protection(spec: StatisticsSpec) -> Protection:
    """The protection that a policy asks for."""
    return PROTECTIONS[spec.method](spec)


def read_stored_statistics(policy: Mapping[str, Any]) -> StatisticsSpec:
    """``statistics`` of a policy, as the catalog keeps it."""
    return StatisticsSpec(
        tuple(StatisticsTable(str(table["name"]), tuple(table["by"])) for table in policy["tables"]),
        tuple((name, kind) for name, kind in policy["measures"]),
        int(policy["threshold"]),
        policy["insiders"],
        policy["bounds"],
        tuple(SumMeasure(**fields) for fields in policy.get("sums", ())),
        _read_stored_other(policy.get("other")),
        show=tuple(tuple((str(name), int(level)) for name, level in margin) for margin in policy.get("show", ())),
    )


def _read_stored_other(other: Mapping[str, Any] | None) -> CellKeySpec | RoundSpec | None:
    if other is None:
        return None
    if other["method"] == "round":
        return RoundSpec(int(other["base"]))
    variance = None if other["variance"] is None else Fraction(other["variance"])
    return CellKeySpec(int(other["deviation"]), variance, int(other["no_result"]), other["rule"], other["additive"])
