"""Disclosure by few known columns: k over all sets of so many columns, and special uniques.

A row is a *minimal sample unique* of a set of columns if it is the only one with its values there, and of no smaller
set among them. Rows with such a set of few columns are special: they are likelier to be unique in the population, too.

Elliot, Manning and Ford 2002, "A computational algorithm for handling the special uniques problem"; Manning, Haglin and
Keane 2008, "A recursive search algorithm for statistical disclosure assessment" (SUDA2 finds the same sets faster;
here every set up to a size is looked at, which gives k as well). Scores and DIS as sdcMicro computes them (Templ,
Kowarik and Meindl 2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.results import KnownReport, KnownSize, SpecialUniques
from sqlanon.risk.assess import columns_of
from sqlanon.risk.distinct import DistinctRows, read_distinct
from sqlanon.risk.identifying_columns import Groups, divide_groups

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Doubles, Longs

    Bytes = npt.NDArray[np.uint8]

MOST_SETS = 50_000
"""Sets of columns, at most."""
FRACTION = 0.01
"""The sampling fraction of DIS, where nothing is known: sdcMicro's default."""


def measure_known(
    engine: Engine, table: str, most: int, columns: Sequence[str] | None = None, left_out: Sequence[str] = ()
) -> KnownReport:
    """The least class over every set of up to ``most`` columns, and the rows that few columns identify.

    Args:
        engine: where the table is.
        table: any table or view.
        most: columns that an attacker knows, from 1.
        columns: of which he may know any; None: all but ``left_out``.
        left_out: columns to leave out.

    Raises:
        PolicyError: a column does not exist, there is none, or there are more than `MOST_SETS` sets.

    Cost: one grouping of the table, and in memory a pass over its different rows for each set. Nothing is written
    but for very many columns, see `read_distinct`.
    """
    relation = engine.relation(table)
    left_names = columns_of(relation, table, left_out)
    names = (
        [column.name for column in relation.columns if column.name not in left_names] if columns is None else columns
    )
    chosen_columns = columns_of(relation, table, names)
    if not chosen_columns:
        raise PolicyError(f"audit {table}: there is no column to combine; name some with quasi")
    if not 1 <= most <= len(chosen_columns):
        raise PolicyError(
            f"audit {table}: {most} known columns: a whole number from 1 to {len(chosen_columns)}, its columns"
        )
    sets = sum(math.comb(len(chosen_columns), size) for size in range(1, most + 1))
    if sets > MOST_SETS:
        raise PolicyError(
            f"audit {table}: {most} of {len(chosen_columns)} columns are {sets:,} sets, more than {MOST_SETS:,}; name "
            "fewer columns, or fewer known ones"
        )
    rows = read_distinct(engine, relation.ref, chosen_columns)
    return KnownReport(str(relation.ref), int(rows.n.sum()), chosen_columns, *find_minimal(rows, chosen_columns, most))


def find_minimal(
    rows: DistinctRows, names: Sequence[str], most: int
) -> tuple[tuple[KnownSize, ...], SpecialUniques | None]:
    """Figures of all sets of up to ``most`` columns, by size, and of special uniques.

    Args:
        rows: the different rows.
        names: of the columns.
        most: columns of a set.
    """
    import numpy as np

    if not len(rows.n):
        return (), None
    alone = np.flatnonzero(rows.n == 1)
    per_row = np.zeros((most, len(alone)), np.int64)
    per_column = np.zeros(len(names), np.int64)
    before: dict[tuple[int, ...], Bytes] = {}
    worst: tuple[int, ...] = ()
    size_reports = []
    for size in range(1, most + 1):
        unique: dict[tuple[int, ...], Bytes] = {}
        k, sets, everywhere = 0, 0, np.zeros(len(alone), np.bool_)
        for places, groups in _sets_of(rows, size):
            sets += 1
            sizes = np.bincount(groups.number, rows.n, groups.count).astype(np.int64)
            least = int(sizes.min())
            if not k or least < k:
                k, worst = least, places
            single = sizes[groups.number[alone]] == 1
            unique[places] = np.packbits(single)
            for index in range(size) if size > 1 else ():
                smaller = before[places[:index] + places[index + 1 :]]
                single &= ~np.unpackbits(smaller, count=len(alone)).astype(np.bool_)
            per_row[size - 1] += single
            per_column[list(places)] += int(single.sum())
            everywhere |= single
        before = unique
        minimal = int(per_row[size - 1].sum())
        size_reports.append(KnownSize(size, sets, k, tuple(names[a] for a in worst), minimal, int(everywhere.sum())))
    return tuple(size_reports), _score(rows, per_row, per_column, names)


def _sets_of(rows: DistinctRows, size: int) -> Iterator[tuple[tuple[int, ...], Groups]]:
    """Every set of so many columns, with its groups."""
    import numpy as np

    last = len(rows.codes)

    def grow(places: tuple[int, ...], groups: Groups) -> Iterator[tuple[tuple[int, ...], Groups]]:
        if len(places) == size:
            yield places, groups
            return
        for i in range(places[-1] + 1 if places else 0, last - (size - len(places)) + 1):
            yield from grow((*places, i), divide_groups(groups, rows.codes[i]))

    return grow((), Groups(np.zeros(len(rows.n), np.int64), 1))


def _score(rows: DistinctRows, per_row: Longs, per_column: Longs, names: Sequence[str]) -> SpecialUniques:
    pairs = 2 * int((rows.n == 2).sum())
    score, dis = score_rows(per_row, len(names), pairs)
    total = int(per_row.sum())
    special = int((score > 0).sum())
    return SpecialUniques(
        rows=special,
        highest_score=float(score.max(initial=0.0)),
        mean_score=float(score.sum()) / special if special else 0.0,
        highest_dis=float(dis.max(initial=0.0)),
        mean_dis=float(dis.sum()) / special if special else 0.0,
        columns={name: int(n) / total if total else 0.0 for name, n in zip(names, per_column, strict=True)},
    )


def score_rows(per_row: Longs, columns: int, pairs: int) -> tuple[Doubles, Doubles]:
    """SUDA and DIS-SUDA scores of unique rows.

    With M the largest size and A columns, a minimal unique of size s below A scores the product of A - i over i from s
    to M, at most A - 1 (Elliot et al. 2005); one of all columns is no special unique. DIS is the probability that a
    unique match is right, U f / (U f + P (1 - f)) (Skinner and Elliot 2002), with U unique rows, P rows that are in
    pairs and f the sampling fraction. DIS-SUDA is 1 / (1 + (U / DIS - U) / (z^q a)), with z the score in which a set of
    size s counts (2^(A - s) - 1) s! (A - s)! / A!, q = 1 + (8 - A) / 20 and a the sum of z^-q over all rows with a
    score.

    Args:
        per_row: int64[M, u], the minimal uniques of each size of each unique row.
        columns: A.
        pairs: P; f is `FRACTION`.

    Returns:
        float64[u] both.
    """
    import numpy as np

    most, unique = per_row.shape
    last = min(most, columns - 1)
    weights = np.array(
        [math.prod(columns - i for i in range(s, last + 1)) * (s < columns) for s in range(1, most + 1)], np.float64
    )
    score = weights @ per_row
    shares = np.array([(2.0 ** (columns - s) - 1) / math.comb(columns, s) for s in range(1, most + 1)])
    z = shares @ per_row
    some = z > 0
    dis = np.zeros(unique)
    if some.any():
        whole = unique * FRACTION / (unique * FRACTION + pairs * (1 - FRACTION))
        power = z[some] ** (1 + (8 - columns) / 20)
        dis[some] = 1 / (1 + (unique / whole - unique) / (power * (1 / power).sum()))
    return score, dis
