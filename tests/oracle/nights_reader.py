"""A reader of all versions of counts: every history of a source that agrees with them, one by one.

A history is a table of whole numbers for each version. The reader knows that rows only come. Of each version he sees
which cells are not empty, the number and the version of it of each shown cell, and which cells are hidden; a cell that
had a number and keeps an older one grew. It shares no code with sqlanon, and is for tiny tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Cell = tuple[object, ...]
Table = tuple[int, ...]


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
    tables = [list(_nights(views, within, leaves, most, night)) for night in range(len(views))]

    def extend(made: tuple[Table, ...]) -> Iterator[tuple[Table, ...]]:
        night = len(made)
        if night == len(views):
            yield made
            return
        for more in tables[night]:
            table = more if not made else tuple(a + b for a, b in zip(made[-1], more, strict=True))
            if _agrees(views[: night + 1], within, (*made, table)):
                yield from extend((*made, table))

    yield from extend(())


def _nights(
    views: Sequence[View], within: Mapping[Cell, Sequence[int]], leaves: int, most: int, night: int
) -> Iterator[Table]:
    """Rows that may have come in a night: of sums that are known by themselves, only these."""
    sums = {}
    for cell, seen in views[night].items():
        before = views[night - 1].get(cell, Shown(0, night)) if night else Shown(0, 0)
        fresh = before.number is not None and (not night or before.as_of == night)
        if seen.number is not None and seen.as_of == night + 1 and fresh:
            sums[cell] = seen.number - (before.number or 0)
    for made in itertools.product(range(most + 1), repeat=leaves):
        if all(sum(made[at] for at in within[cell]) == number for cell, number in sums.items()):
            yield made


def _agrees(views: Sequence[View], within: Mapping[Cell, Sequence[int]], made: Sequence[Table]) -> bool:
    night = len(made)
    for cell, places in within.items():
        total = sum(made[-1][at] for at in places)
        seen = views[-1].get(cell)
        if (total > 0) != (seen is not None):
            return False
        if seen is None:
            continue
        if seen.number is not None and sum(made[seen.as_of - 1][at] for at in places) != seen.number:
            return False
        if seen.number is not None and seen.as_of < night and total <= seen.number:
            return False
    return True
