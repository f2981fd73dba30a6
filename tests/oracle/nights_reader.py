"""A reader of all versions of counts: every history of a source that agrees with them, one by one.

A history is a table of whole numbers for each version. The reader knows that rows only come. Of each version he sees
which cells are not empty, the number and the version of it of each shown cell, and which cells are hidden; a cell that
had a number and keeps an older one grew. It shares no code with sqlanon, and is for tiny tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Cell = tuple[object, ...]
Table = tuple[int, ...]
Tables = npt.NDArray[np.int64]
"""A table a row."""


@dataclass(frozen=True)
class Shown:
    """A published cell: the number (None: hidden), and the version of it."""

    number: int | None
    as_of: int


View = Mapping[Cell, Shown]


def histories(
    views: Sequence[View], within: Mapping[Cell, Sequence[int]], leaves: int, most: int
) -> Iterator[tuple[Table, ...]]:
    """All histories of some leaves that agree with the views; of each night a leaf gets at most so many rows."""
    arrivals = [_nights(views, within, leaves, most, night) for night in range(len(views))]

    def extend(versions: tuple[Table, ...]) -> Iterator[tuple[Table, ...]]:
        night = len(versions)
        if night == len(views):
            yield versions
            return
        tables = arrivals[night] + (np.array(versions[-1], np.int64) if versions else 0)
        agreeing = tables[_agree(views[: night + 1], within, versions, tables)]
        if night + 1 == len(views):
            yield from ((*versions, tuple(table)) for table in agreeing.tolist())
            return
        for table in agreeing.tolist():
            yield from extend((*versions, tuple(table)))

    yield from extend(())


def _nights(views: Sequence[View], within: Mapping[Cell, Sequence[int]], leaves: int, most: int, night: int) -> Tables:
    """Rows that may have come in a night: of sums that are known by themselves, only these."""
    tables = np.indices((most + 1,) * leaves).reshape(leaves, -1).T
    for cell, seen in views[night].items():
        before = views[night - 1].get(cell, Shown(0, night)) if night else Shown(0, 0)
        fresh = before.number is not None and (not night or before.as_of == night)
        if seen.number is not None and seen.as_of == night + 1 and fresh:
            number = seen.number - (before.number or 0)
            tables = tables[tables[:, list(within[cell])].sum(axis=1) == number]
    return tables


def _agree(
    views: Sequence[View], within: Mapping[Cell, Sequence[int]], versions: Sequence[Table], tables: Tables
) -> npt.NDArray[np.bool_]:
    """Which tables agree with the last view, as the version that follows some."""
    night = len(versions) + 1
    agrees = np.ones(len(tables), np.bool_)
    for cell, places in within.items():
        total = tables[:, list(places)].sum(axis=1)
        seen = views[-1].get(cell)
        agrees &= (total > 0) == (seen is not None)
        if seen is None or seen.number is None:
            continue
        if seen.as_of == night:
            agrees &= total == seen.number
        elif sum(versions[seen.as_of - 1][at] for at in places) != seen.number:
            agrees &= False
        else:
            agrees &= total > seen.number
    return agrees
