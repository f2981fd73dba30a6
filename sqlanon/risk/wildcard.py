"""Risk where NULL and ``*`` match any value: f(r) is the number of rows compatible with r.

Two rows are compatible where no column has different values that are both known. That is not an equivalence: rows that
are compatible with a third need not be with each other, and an attacker who knows more than the columns show excludes
some of them. So the figures are optimistic, and there are no classes: for tables of others, where it is not known how
NULL came to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, Relation
from sqlanon.engines.rows import count
from sqlanon.errors import UnsupportedError
from sqlanon.results import WildcardRisk
from sqlanon.risk.attackers import of_rows
from sqlanon.risk.distinct import read_distinct
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs

MOST_KEYS = 100_000
"""Different combinations of quasi values, at most."""
_PAIR = 5e-5
_CELL = 3e-9
"""Rough seconds for a pair of patterns and for a column of a pair of combinations.

They are compared to choose a way.
"""
_BLOCK = 1 << 24


def measure_wildcard(
    engine: Engine, relation: Relation, quasi: Sequence[str], keys: int, threshold: float
) -> WildcardRisk:
    """Count the rows that each row is compatible with, exactly.

    Args:
        engine: where the table is.
        relation: the table, with at least one row.
        quasi: columns that make the classes.
        keys: how many different combinations of their values there are.
        threshold: rows with more risk are counted.

    Raises:
        UnsupportedError: more than `MOST_KEYS` combinations.

    Cost: at most one comparison for each pair of combinations and column, minutes at the bound; with few patterns of
    NULL seconds.
    """
    import numpy as np

    if keys > MOST_KEYS:
        raise UnsupportedError(
            f"null-is wildcard of {relation.ref}: {keys:,} combinations of quasi values are more than {MOST_KEYS:,}, "
            "and every pair of them is compared; name fewer columns, or leave NULL a value"
        )
    n = np.array([1], np.int64)
    if quasi:
        kinds = {column.name: column.kind for column in relation.columns}
        starred = [name for name in quasi if kinds[name] in ("text", "enum")]
        rows = read_distinct(engine, relation.ref, quasi, starred)
        n = rows.n
        counts = count_compatible(np.stack(rows.codes, axis=1), n)
    else:
        text = statement("table/count", engine.dialect, source=relation.ref)
        n = np.array([count(engine, text)], np.int64)
        counts = n
    risk = of_rows(1 / counts, n, "table", threshold)
    return WildcardRisk(int(counts.min()), int(n[counts == 1].sum()), risk.highest, risk.average, risk.above)


def count_compatible(codes: Longs, n: Longs) -> Longs:
    """The rows that each combination is compatible with, itself included.

    Args:
        codes: int64[keys, columns], 0: any value.
        n: int64[keys], rows of each.
    """
    import numpy as np

    masks, pattern = np.unique(codes != 0, axis=0, return_inverse=True)
    if len(masks) ** 2 * _PAIR < codes.size * len(codes) * _CELL:
        return _by_pattern(codes, n, masks, pattern.ravel())
    return _by_pair(codes, n)


def _by_pattern(codes: Longs, n: Longs, masks: Flags, pattern: Longs) -> Longs:
    """Combinations with the same known columns.

    Those of two patterns are compatible if they agree in the columns known in both.
    """
    import numpy as np

    members = [np.flatnonzero(pattern == i) for i in range(len(masks))]
    counts = np.zeros(len(n), np.int64)
    for member, mask in zip(members, masks, strict=True):
        partners: dict[bytes, list[int]] = {}
        for i, other in enumerate(masks):
            partners.setdefault((mask & other).tobytes(), []).append(i)
        for common, patterns in partners.items():
            columns = np.flatnonzero(np.frombuffer(common, np.bool_))
            other_rows = np.concatenate([members[i] for i in patterns])
            key = _number_rows(codes[np.concatenate([member, other_rows])][:, columns])
            rows = np.bincount(key[len(member) :], n[other_rows], int(key.max()) + 1)
            counts[member] += rows[key[: len(member)]].astype(np.int64)
    return counts


def _number_rows(codes: Longs) -> Longs:
    """A number of each row, the same where all columns are."""
    import numpy as np

    keys = np.zeros(len(codes), np.int64)
    for column in codes.T:
        keys = np.unique(keys * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return keys


def _by_pair(codes: Longs, n: Longs) -> Longs:
    """Every combination with every other, a block of them at a time."""
    import numpy as np

    counts = np.zeros(len(n), np.int64)
    step = max(_BLOCK // len(n), 1)
    for first in range(0, len(n), step):
        fits = np.ones((min(step, len(n) - first), len(n)), np.bool_)
        for column in codes.T:
            some = column[first : first + step, None]
            fits &= (some == column) | (some == 0) | (column == 0)
        counts[first : first + step] = fits @ n
    return counts
