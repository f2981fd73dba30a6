"""Disclosure by two versions of a release together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class HistorySets:
    """The groups of a kind that a reader of two versions can distinguish.

    Attributes:
        rows: in all the groups; ``groups`` how many there are.
        smallest: rows of the smallest group; ``l`` the least rows / most frequent sensitive value. None where there is
            none.
        failing: rows in groups that do not meet the policy's k, l and distinct_l, and of events k persons.
        persons: of events: the fewest different values of a counted identifier in a group; None where none was counted.
    """

    rows: int
    groups: int
    smallest: int | None
    l: float | None  # noqa: E741 - the papers' symbol
    failing: int
    persons: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryReport(Report):
    """Disclosure by version ``new`` together with version ``old``.

    Attributes:
        values: whether rows were compared by their values too; else (the policies read other columns) by their key
            alone.
        components: sets of classes linked by rows that both versions have.
        arrived: per component the rows that only the new version has, changed ones among them.
        left: per component the rows that only the old version had, changed ones among them.
        common: per pair of an old and a new class the rows in both.
        failing: rows of all these groups that do not meet the policy, each person once.
        unknown: why the versions cannot be compared; then all rows of the new version count as failing, and the other
            figures are empty.
        not_measured: of events: why persons were not counted, in all groups or in some; rows count for them there. With
            `persons: whole`: inferences on a person with rows in several of these groups. With boxes of their own: the
            requirements of the policy that were not measured.
        candidates: a version has boxes of their own: every row is a group, of the rows that the records in both
            versions may be of, and fails with fewer than k. Rows are matched by key alone, a changed row is common, and
            there are no components.
    """

    old: int
    new: int
    values: bool
    components: int
    arrived: HistorySets
    left: HistorySets
    common: HistorySets
    failing: int
    unknown: str = ""
    not_measured: str = ""
    candidates: bool = False

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it."""
        sets = {kind: HistorySets(**report[kind]) for kind in ("arrived", "left", "common")}
        return cls(**{**report, **sets})
