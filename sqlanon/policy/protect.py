"""Reads the protection of numbers of cells: from the mapping in a policy file to the spec."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Final

from sqlanon.declared.records import Path
from sqlanon.declared.values import Integer
from sqlanon.declared.words import join_words, near, show
from sqlanon.policy.models import ProtectModel
from sqlanon.policy.problems import Problems
from sqlanon.statistics_spec import CellKeySpec, Method, RoundSpec, StatisticsTable

OF_METHOD: Final[Mapping[Method, Collection[str]]] = {
    "suppress": ("insiders", "interval", "bounds", "show"),
    "cell_key": ("deviation", "variance", "no_result", "rule", "additive"),
    "round": ("base",),
}
"""The keys that a method has besides those of all."""
TOTAL = "total"
"""The grand total, as a margin that must be shown."""
RULE_DEVIATION = 9
"""Rule ``10_5`` changes 9 to 0, and no number by more."""


def read_protection(
    protect: ProtectModel, keys_given: Collection[str], path: Path, problems: Problems
) -> CellKeySpec | RoundSpec | None:
    """The protection; None: cells are hidden, or a problem was noted.

    Args:
        protect: the mapping that was read.
        keys_given: the keys that it has.
        path: where it is.
        problems: collects the problems.
    """
    keys_elsewhere = {key for method, keys in OF_METHOD.items() for key in keys if method != protect.method}
    for key in sorted(keys_elsewhere.intersection(keys_given)):
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
    noise = {"deviation": protect.deviation, "variance": protect.variance}
    if protect.rule is not None:
        no = {**noise, "no_result": protect.no_result, "additive": protect.additive or None}
        for key in (key for key, value in no.items() if value is not None):
            problems.add((*path, key), "a rule has none: it rounds, and its noise has no mean of 0", "leave one out")
        return CellKeySpec(RULE_DEVIATION, None, 0, protect.rule)
    if protect.deviation is None or protect.variance is None:
        missing = [key for key, value in noise.items() if value is None]
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


def read_show(
    protect: ProtectModel,
    tables: Sequence[StatisticsTable],
    heights: Mapping[str, int | None],
    path: Path,
    problems: Problems,
) -> tuple[tuple[tuple[str, int], ...], ...]:
    """The margins that must be shown.

    Args:
        protect: the mapping that was read.
        tables: the tables.
        heights: of each column how many levels it has below the total; None: a run knows.
        path: where the list is.
        problems: collects the problems.
    """
    if protect.method != "suppress" or not protect.show:
        return ()
    spelled = {name.lower(): name for name in heights}
    margins: dict[tuple[tuple[str, int], ...], None] = {}
    for index, shown_margin in enumerate(protect.show):
        place, margin = (*path, index), {} if shown_margin == TOTAL else shown_margin
        if not isinstance(margin, Mapping):
            problems.add(place, "not a margin", "{region: 1}, or total")
            continue
        levels: dict[str, int] = {}
        for name, level in margin.items():
            read_height = _read_level(str(name), level, heights, (*place, str(name)), problems)
            if read_height is not None:
                levels[spelled[str(name).lower()]] = read_height
        if problems.broken(place):
            continue
        if not any(set(levels) <= set(table.by) for table in tables):
            what = f"no table has {join_words(map(show, levels))} together"
            problems.add(place, what, "columns of one table")
        level_key = tuple(sorted(levels.items()))
        if level_key in margins or len(levels) < len(margin):
            problems.add(place, "a margin or a column is named twice", "each once")
        margins[level_key] = None
    return tuple(margins)


def _read_level(
    name: str, level: object, heights: Mapping[str, int | None], place: Path, problems: Problems
) -> int | None:
    """A level below the total of a column of the counts; None: a problem was noted."""
    folded = {column.lower(): height for column, height in heights.items()}
    if name.lower() not in folded:
        what = f"{show(name)} is not a column of statistics{near(name, heights)}"
        problems.add(place, what, f"columns: {join_words(map(show, heights))}")
        return None
    height = folded[name.lower()]
    allowed = Integer(0) if height is None else Integer(0, height - 1)
    try:
        return allowed.read(level)
    except ValueError:
        what = "the column has no such level below its total"
        problems.add(place, what, f"{allowed.allowed}, or leave the column out")
        return None
