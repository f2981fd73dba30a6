"""What every class must meet: k, frequency l, distinct l, and both also jointly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.domains import Table


@dataclass(frozen=True)
class Privacy:
    """The requirements of a release."""

    k: int = 1
    l: Fraction | None = None  # noqa: E741 - the papers' symbol
    distinct_l: int | None = None
    joint: bool = False


def diverse(codes: Sequence[int], privacy: Privacy) -> bool:
    """Whether the values of one sensitive attribute in one set of rows are diverse enough."""
    counts = Counter(codes)
    if privacy.l is not None and max(counts.values()) * Fraction(privacy.l) > len(codes):
        return False
    return privacy.distinct_l is None or len(counts) >= privacy.distinct_l


def meets(table: Table, rows: Sequence[int], privacy: Privacy) -> bool:
    """Whether a set of rows may be a class."""
    if not rows or len(rows) < privacy.k:
        return False
    for j in range(len(table.sensitive)):
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for row in rows:
            codes = table.sa_codes[row]
            groups[codes[:j] + codes[j + 1 :]].append(codes[j])
        if not diverse([table.sa_codes[row][j] for row in rows], privacy):
            return False
        if privacy.joint and not all(diverse(group, privacy) for group in groups.values()):
            return False
    return True


def feasible(table: Table, privacy: Privacy) -> bool:
    """Whether one class of all rows meets the requirements; they are monotone, so otherwise nothing does."""
    return meets(table, range(table.rows), privacy)
