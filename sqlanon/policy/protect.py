"""How numbers of cells are protected: from the mapping in a policy file to the spec."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Final

from sqlanon.counted import CellKeySpec, Method, RoundSpec
from sqlanon.declared.records import Path
from sqlanon.declared.wording import join_words, show
from sqlanon.policy.models import ProtectModel
from sqlanon.policy.problems import Problems

OF_METHOD: Final[Mapping[Method, Collection[str]]] = {
    "suppress": ("insiders", "interval", "bounds"),
    "cell_key": ("deviation", "variance", "no_result", "rule", "additive"),
    "round": ("base",),
}
"""The keys that a method has besides those of all."""
RULE_DEVIATION = 9
"""Rule ``10_5`` changes 9 to 0, and no number by more."""


def read_protection(
    protect: ProtectModel, written: Collection[str], path: Path, problems: Problems
) -> CellKeySpec | RoundSpec | None:
    """The protection; None: cells are hidden, or a problem was noted.

    Args:
        protect: the mapping that was read.
        written: the keys that it has.
        path: where it is.
        problems: collects the problems.
    """
    others = {key for method, keys in OF_METHOD.items() for key in keys if method != protect.method}
    for key in sorted(others.intersection(written)):
        what = f"{key} is of another method than {show(protect.method)}"
        problems.add((*path, key), what, f"leave it out; its keys: {join_words(OF_METHOD[protect.method])}")
    if protect.method == "suppress" or problems.broken(path):
        return None
    if protect.method == "round":
        return _read_round(protect, path, problems)
    return _read_cell_key(protect, path, problems)


def _read_round(protect: ProtectModel, path: Path, problems: Problems) -> RoundSpec | None:
    if protect.base is None:
        problems.add((*path, "base"), "is missing", "base: 5")
        return None
    if protect.persons > protect.base:
        what = f"a number that is rounded to 0 is below {protect.base}, so that it cannot be any below persons"
        problems.add((*path, "persons"), what, "persons is at most base")
    return RoundSpec(protect.base)


def _read_cell_key(protect: ProtectModel, path: Path, problems: Problems) -> CellKeySpec | None:
    own = {"deviation": protect.deviation, "variance": protect.variance}
    if protect.rule is not None:
        no = {**own, "no_result": protect.no_result, "additive": protect.additive or None}
        for key in (key for key, value in no.items() if value is not None):
            problems.add((*path, key), "a rule has none: it rounds, and its noise has no mean of 0", "leave one out")
        return CellKeySpec(RULE_DEVIATION, None, 0, protect.rule)
    if protect.deviation is None or protect.variance is None:
        missing = [key for key, value in own.items() if value is None]
        problems.add((*path, missing[0]), "is missing", "deviation: 5 and variance: 3, or a rule")
        return None
    variance = Fraction(protect.variance)
    spec = CellKeySpec(protect.deviation, variance, protect.no_result or 0, None, bool(protect.additive))
    spreads = [spec.spread(count) for count in range(1, spec.small + 2)]
    least, most = max(low for low, _ in spreads), min(high for _, high in spreads)
    if not least < variance <= most - Fraction(1, 1000):
        what = "there is no such noise of mean 0 for every number"
        allowed = f"a variance above {least} and below {most}" if least < most else "a greater deviation"
        problems.add((*path, "variance"), what, f"with this deviation and no_result: {allowed}")
    return spec
