"""Rounding, top and bottom coding, and substitutes for values that a hierarchy does not list, as a policy asks."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlanon.column_spec import Hierarchy, HierarchyTable, Recode, Rule
from sqlanon.declared.records import Path
from sqlanon.policy.builders import is_date
from sqlanon.policy.models import ColumnModel
from sqlanon.policy.problems import Problems

RECODES = ("bottom", "top", "round")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,9})?")


def is_recoded(column: ColumnModel) -> bool:
    """Whether a column is rounded or coded at an end."""
    return any(getattr(column, key) is not None for key in RECODES)


def build_recode(
    column: ColumnModel, path: Path, hierarchy: Hierarchy | HierarchyTable | Rule | None, problems: Problems
) -> Recode | None:
    """The recoding of a column by the policy, None if it asks for none. Problems are noted at ``path``."""
    replacement = column.hierarchy.other if column.hierarchy is not None else None
    if replacement is not None and column.role != "quasi":
        problems.add((*path, "hierarchy", "other"), f"the column is {column.role}", "other is for quasi columns")
    if not is_recoded(column):
        return Recode(other=replacement) if replacement is not None else None
    if isinstance(hierarchy, Hierarchy | HierarchyTable):
        problems.add(
            path,
            "bottom, top or round, and a hierarchy that lists its values",
            "a hierarchy of steps or the calendar, or none",
        )
    ends = [end for end in (column.bottom, column.top) if end is not None]
    for key in ("bottom", "top"):
        value = getattr(column, key)
        if value is not None and not _NUMBER.fullmatch(value) and not is_date(value):
            problems.add((*path, key), "neither a number nor a date", "a number, or a date as 2000-01-31")
            return None
    if column.round is not None and (not _NUMBER.fullmatch(column.round) or Fraction(column.round) <= 0):
        problems.add(
            (*path, "round"), "no number above 0, of at most 15 digits and 9 decimals", "a number such as 5, or 0.5"
        )
        return None
    if len({is_date(end) for end in ends}) > 1:
        problems.add((*path, "top"), "bottom and top are a number and a date", "two numbers, or two dates")
    elif len(ends) == 2 and (ends[0] >= ends[1] if is_date(ends[0]) else Fraction(ends[0]) >= Fraction(ends[1])):
        problems.add((*path, "top"), "not above bottom", "a value above bottom")
    return Recode(column.bottom, column.top, column.round)
