"""Columns that identify: how well each set of columns distinguishes the rows of a table.

Motwani and Xu 2007, "Efficient algorithms for masking and finding quasi-identifiers", section 2, of a set of columns:

- distinction: different combinations of values by rows; 1 is a key.
- separation: pairs of rows with different values by all pairs of rows.

Both are exact, of all rows. Separation could be estimated from a sample; distinction could not: a sample has fewer
repeats than its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.results import ColumnSet, IdentifyingReport
from sqlanon.risk.assess import columns_of
from sqlanon.risk.distinct import DistinctRows, read_distinct

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

MOST_COLUMNS = 15
"""Columns of which all subsets are measured; of more, sets are grown greedily."""
_SPARSE = 8
"""Numbers for each row up to which new groups are numbered by an array of all possible ones."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that agree in some columns: a number of each, and how many groups there are."""

    number: Longs
    count: int


def identify(
    engine: Engine, table: str, columns: Sequence[str] | None = None, left_out: Sequence[str] = ()
) -> IdentifyingReport:
    """Measure distinction and separation of every set of columns.

    With more than 15 columns it measures sets that are grown greedily.

    The greedy search adds the column that separates most pairs, until no further column separates more.

    Args:
        engine: where the table is.
        table: any table or view.
        columns: the columns to combine; None: all but ``left_out``.
        left_out: columns to leave out.

    Raises:
        PolicyError: a column does not exist, or there is none.

    Cost: one grouping of the table, memory for one number a different row and column, and 2^columns groupings of
    numbers in memory, fewer where few columns are a key. Nothing is written but for very many
    columns, see `read_distinct`.
    """
    relation = engine.relation(table)
    left_names = columns_of(relation, table, left_out)
    names = (
        [column.name for column in relation.columns if column.name not in left_names] if columns is None else columns
    )
    chosen_columns = columns_of(relation, table, names)
    if not chosen_columns:
        raise PolicyError(f"audit {table}: there is no column to combine; name some with quasi")
    rows = read_distinct(engine, relation.ref, chosen_columns)
    exhaustive = len(chosen_columns) <= MOST_COLUMNS
    total = int(rows.n.sum())
    sets: tuple[ColumnSet, ...] = ()
    if total:
        column_sets = _list_all(rows) if exhaustive else _greedy(rows)
        sets = tuple(
            ColumnSet(tuple(chosen_columns[i] for i in places), count / total, apart)
            for places, count, apart in column_sets
        )
    if exhaustive:
        sets = tuple(sorted(sets, key=lambda entry: (len(entry.columns), -entry.distinction, -entry.separation)))
    return IdentifyingReport(str(relation.ref), total, chosen_columns, exhaustive, sets)


Found = tuple[tuple[int, ...], int, float]
"""Places of columns, groups, separation."""


def _list_all(rows: DistinctRows) -> Iterator[Found]:
    """Every set once, after the set without its last column."""
    import numpy as np

    last = len(rows.codes)

    def extend_set(places: tuple[int, ...], groups: Groups) -> Iterator[Found]:
        for i in range(places[-1] + 1 if places else 0, last):
            more = divide_groups(groups, rows.codes[i])
            apart = _separation(rows, more)
            yield (*places, i), more.count, apart
            if more.count < len(rows.n):
                yield from extend_set((*places, i), more)
                continue
            # All different rows are apart, and so they are by all larger sets.
            rest = range(i + 1, last)
            for size in range(1, len(rest) + 1):
                for beyond in combinations(rest, size):
                    yield (*places, i, *beyond), more.count, apart

    return extend_set((), Groups(np.zeros(len(rows.n), np.int64), 1))


def _greedy(rows: DistinctRows) -> Iterator[Found]:
    """One set of each size: the one before, and the column that separates most."""
    import numpy as np

    places: tuple[int, ...] = ()
    groups = Groups(np.zeros(len(rows.n), np.int64), 1)
    while groups.count < len(rows.n) and len(places) < len(rows.codes):
        rest = [i for i in range(len(rows.codes)) if i not in places]
        apart, best = max(
            ((_separation(rows, divide_groups(groups, rows.codes[i])), i) for i in rest),
            key=lambda entry: (entry[0], -entry[1]),
        )
        places, groups = (*places, best), divide_groups(groups, rows.codes[best])
        yield places, groups.count, apart


def divide_groups(groups: Groups, codes: Longs) -> Groups:
    """The groups divided by one more column."""
    import numpy as np

    width = int(codes.max()) + 1
    key = groups.number * width + codes
    size = groups.count * width
    if size > _SPARSE * len(codes):
        keys, number = np.unique(key, return_inverse=True)
        return Groups(number, len(keys))
    there = np.zeros(size, np.bool_)
    there[key] = True
    numbers = np.cumsum(there) - 1
    return Groups(numbers[key], int(numbers[-1]) + 1)


def _separation(rows: DistinctRows, groups: Groups) -> float:
    import numpy as np

    sizes = np.bincount(groups.number, rows.n, groups.count).astype(np.int64)
    total = int(rows.n.sum())
    pairs = total * (total - 1)
    return 1 - int((sizes * (sizes - 1)).sum()) / pairs if pairs else 1.0
