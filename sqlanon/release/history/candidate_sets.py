"""Compares two versions, where one or both have separate boxes for rows.

It finds the rows that a record may be of, to a reader of both.

The reader of docs/threat-model.md knows the quasi values of all rows in both versions, and so who came and who went.
Worse than there, he knows which two records are of one row, as private values may show it. A record of both versions is
then of a row that fits the old and the new box; one that arrived, of a row that arrived and fits the box; one that left
likewise. Of these candidates only such count as some assignment of all records has. How likely each of them is, is not
measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.results import HistorySets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlanon.arrays import Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.release.history.side import Side
    from sqlanon.table.scratch import Scratch

NO_DIVERSITY = "l and other requirements beside k: the values of candidates are not counted"


def candidate_sets(scratch: Scratch, old: Side, new: Side, k: int) -> Mapping[str, HistorySets]:
    """The candidates of rows that arrived, left, and are common.

    Every row is a group, and fails with fewer than ``k`` candidates.

    Rows are matched by key alone: a row that changed is common, as the record may be known by a private column that did
    not.

    Cost: joins of the rows that fit a box, k for every row, and a step for each.
    """
    return {
        "arrived": _measure(count_possible(scratch, new, old, common=False), k),
        "left": _measure(count_possible(scratch, old, new, common=False), k),
        "common": _measure(count_possible(scratch, old, new, common=True), k),
    }


def count_possible(scratch: Scratch, here: Side, there: Side, *, common: bool) -> Longs:
    """How many rows each record may be of: records of both versions, or of those that only the version ``here`` has."""
    end = f"{here.version}_{there.version}_{common:d}"
    records, fits = scratch.table(f"records{end}"), scratch.table(f"fits{end}")
    beside: TableRef | None = scratch.table(f"beside{end}") if common else None
    scratch.execute(
        "history/records",
        records=records,
        here=here.history,
        there=there.history,
        own_here=here.boxes,
        own_there=there.boxes,
        common=common,
    )
    scratch.execute("history/fits", fits=fits, records=records, place="place", boxes=here.boxes)
    if beside is not None:
        scratch.execute("history/fits", fits=beside, records=records, place="beside", boxes=there.boxes_beside)
    candidates = count_candidates(scratch, records, fits, beside)
    for table in (records, fits, *([beside] if beside is not None else [])):
        scratch.drop(table)
    return candidates


def count_candidates(scratch: Scratch, records: TableRef, fits: TableRef, beside: TableRef | None) -> Longs:
    """How many rows each record may be of.

    Args:
        scratch: the run.
        records: table (row, place, beside): 0, 1, .., and the class or box that it shows in each version.
        fits: table (row, box): all that a row fits; ``beside`` the same of the other version, where records show two.
        beside: see there; None: records show one.
    """
    # Most commands compare no versions, and need not import a compiler.
    from sqlanon.release.history.kernels.exchangeable import count_exchangeable

    statement = scratch.sql("history/candidates", records=records, fits=fits, fits_beside=beside)
    record, candidate = (column.astype(np.int64) for column in scratch.fetch_arrays(statement, ["int64", "int64"]))
    size = int(record[-1]) + 1 if len(record) else 0
    return count_exchangeable(np.searchsorted(record, np.arange(size + 1)).astype(np.int64), candidate)


def _measure(sizes: Longs, k: int) -> HistorySets:
    if not len(sizes):
        return HistorySets(0, 0, None, None, 0)
    return HistorySets(len(sizes), len(sizes), int(sizes.min()), None, int((sizes < k).sum()))
