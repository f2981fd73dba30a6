"""Hierarchies that a policy builds: checks of steps, units, lengths and groups, and the resulting objects.

Files and groups list their values in the policy, and are a `Hierarchy` here. A `Rule` becomes one with the values
(`sqlanon.table.rules`), a table when the database is open (`sqlanon.database.hierarchy_tables`). No message shows a
value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import cast

from sqlanon.column_spec import Hierarchy, HierarchyTable, Rule, RuleKind
from sqlanon.declared.records import Path
from sqlanon.declared.words import join_words
from sqlanon.declared.zip3 import INSTEAD, zip3_paths
from sqlanon.errors import PolicyError
from sqlanon.policy.hierarchies import in_order, with_other
from sqlanon.policy.models import HierarchyModel
from sqlanon.policy.problems import Problems

UNITS = ("day", "week", "month", "quarter", "year", "decade")
"""Units of the calendar, smallest first."""

ROOT = "*"
_KINDS = ("file", "steps", "calendar", "prefix", "mask", "groups", "table", "hipaa")
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,9})?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")

Reader = Callable[[Path, str, Problems], Hierarchy | None]


def build_hierarchy(
    path: Path, column: str, model: HierarchyModel, problems: Problems, read_file: Reader
) -> Hierarchy | Rule | HierarchyTable | None:
    """The hierarchy of a column by the policy; None after noting the problems at ``path``.

    Args:
        path: the key ``hierarchy``.
        column: name of the column.
        model: the value of that key.
        problems: collects the problems.
        read_file: reads a CSV file.
    """
    kinds = [kind for kind in _KINDS if getattr(model, kind) is not None]
    if not kinds and problems.broken(path):
        return None
    if len(kinds) != 1:
        what = f"{join_words(kinds)} together" if kinds else "no key says how it is built"
        problems.add(path, what, f"one of {join_words(_KINDS)}")
        return None
    if model.origin is not None and model.steps is None:
        problems.add((*path, "from"), f"from goes with steps, and this is {kinds[0]}", "leave it out")
    if model.table is not None:
        return HierarchyTable(model.table)
    if model.hipaa is not None:
        if model.other != INSTEAD:
            problems.add((*path, "other"), f"hipaa counts them as {INSTEAD}", "leave it out")
        zips = Hierarchy(f"hipaa {model.hipaa}", in_order(zip3_paths()))
        return _complete_hierarchy((*path, "other"), zips, INSTEAD, problems)
    if model.file is not None or model.groups is not None:
        rule = (
            read_file(path, model.file, problems)
            if model.file is not None
            else _groups((*path, "groups"), column, model.groups or {}, problems)
        )
        return _complete_hierarchy((*path, "other"), rule, model.other, problems)
    if model.other is not None:
        what = f"other goes with values that are listed, and this is {kinds[0]}"
        problems.add((*path, "other"), what, "a file, groups or a table")
    kind = cast("RuleKind", kinds[0])
    levels = [model.mask] if model.mask is not None else getattr(model, kind)
    checks = {"steps": _steps, "calendar": _calendar, "prefix": _prefix}
    if kind in checks:
        checks[kind]((*path, kind), levels, problems)
    if model.origin is not None and not (_NUMBER.fullmatch(model.origin) or is_date(model.origin)):
        problems.add((*path, "from"), "neither a number nor a date", "a number, or a date as 2000-01-31")
    return Rule(kind, tuple(levels), model.origin or "")


def _complete_hierarchy(
    path: Path, hierarchy: Hierarchy | None, other: str | None, problems: Problems
) -> Hierarchy | None:
    if hierarchy is None or other is None:
        return hierarchy
    try:
        return with_other(hierarchy, other)
    except PolicyError:
        problems.add(path, "the name of a node above the values", "one of the values, or a new one")
        return None


def is_date(text: str) -> bool:
    """Whether a text is a date of the calendar, as ``2000-01-31``."""
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def _steps(path: Path, steps: Sequence[str], problems: Problems) -> None:
    allowed = "numbers above 0, each a multiple of the one before it and larger: [5, 10, 20]"
    if not all(_NUMBER.fullmatch(step) and Fraction(step) > 0 for step in steps):
        problems.add(path, "a step is not a number above 0, of at most 15 digits and 9 decimals", allowed)
        return
    for number, (low, high) in enumerate(itertools.pairwise(steps), 2):
        if Fraction(high) <= Fraction(low) or Fraction(high) % Fraction(low):
            problems.add(path, f"step {number} does not nest: it is no larger multiple of step {number - 1}", allowed)


def _calendar(path: Path, units: Sequence[str], problems: Problems) -> None:
    allowed = f"some of {join_words(UNITS)}, smallest first; weeks nest in no other unit, so that week comes last"
    if not set(units) <= set(UNITS):
        problems.add(path, "a unit that is not known", allowed)
        return
    ranks = [UNITS.index(unit) for unit in units]
    if ranks != sorted(set(ranks)) or "week" in units[:-1]:
        problems.add(path, "the units do not nest in this order", allowed)


def _prefix(path: Path, lengths: Sequence[str], problems: Problems) -> None:
    allowed = "whole numbers from 1, each smaller than the one before it: [3, 2, 1]"
    if not all(re.fullmatch(r"[1-9]\d{0,3}", length) for length in lengths):
        problems.add(path, "a length is not a whole number from 1 to 9999", allowed)
    elif [int(length) for length in lengths] != sorted({int(length) for length in lengths}, reverse=True):
        problems.add(path, "the lengths do not nest in this order", allowed)


def _groups(path: Path, column: str, groups: Mapping[str, object], problems: Problems) -> Hierarchy | None:
    allowed = "name: [values], each value in one list; or name: {name: [values]}, as deep everywhere"
    try:
        paths = [tuple(reversed(node_path)) for node_path in _paths(groups, (ROOT,))]
    except ValueError as error:
        problems.add(path, str(error), allowed)
        return None
    if len({len(node_path) for node_path in paths}) != 1:
        problems.add(path, "groups are not as deep everywhere" if paths else "no group", allowed)
    elif len({node_path[0] for node_path in paths}) < len(paths):
        problems.add(path, "a value is listed twice", allowed)
    else:
        nodes = {(level, node_path[level]) for node_path in paths for level in range(1, len(node_path))}
        if len(nodes) < len({(level, node_path[level:]) for node_path in paths for level in range(1, len(node_path))}):
            problems.add(path, "two groups of one level have the same name", allowed)
        else:
            return Hierarchy(f"groups of {column}", in_order(paths))
    return None


def _paths(groups: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """From the root to each value."""
    if isinstance(groups, Mapping):
        if not groups:
            raise ValueError("a group is empty")
        for name, inner in groups.items():
            if not str(name) or "\0" in str(name):
                raise ValueError("a group without a name")
            yield from _paths(inner, (*above, str(name)))
    elif isinstance(groups, Sequence) and not isinstance(groups, str | bytes | bytearray) and len(above) > 1:
        if not groups:
            raise ValueError("a group is empty")
        for value in groups:
            if isinstance(value, Mapping | list | tuple) or value is None:
                raise ValueError("a value of a list is not text or a number")
            yield (*above, str(value))
    else:
        raise ValueError("a group is not a list of values")
