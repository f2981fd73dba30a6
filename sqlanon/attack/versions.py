"""Readers of all versions of counts that follow one another, who look for the few persons who came to a cell.

Of each version they know the new rows of every cell that has gone on until then, and that somebody came to a cell that
stopped. Later rows of such a cell are in no version; of a release with bounds readers know those that are not hidden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.results.counts import CountsReader
from sqlanon.statistics.joined_tables import JoinedSystem, Key
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, Cells, SeenCells, SeenColumn, build_seen

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.statistics.shape import Shape

Truth = Mapping[Key, tuple[int, int, bool]]
"""Of each cell with new rows their number, the number of persons, and whether they are hidden."""


@dataclass(frozen=True, slots=True)
class NewRows:
    """The new rows of a version, as a reader of all versions has them.

    Attributes:
        seen: what the reader knows.
        value: int64[cells], the numbers.
        small: bool[cells], few persons came.
    """

    seen: SeenCells
    value: Longs
    small: Flags


def see_new_rows(
    columns: Sequence[SeenColumn], joined: JoinedSystem, versions: Sequence[int], came: Sequence[Truth], shape: Shape
) -> list[NewRows]:
    """The new rows of each version.

    Args:
        columns: the columns of the readers.
        joined: the view of the last version.
        versions: the versions.
        came: of each version the cells with new rows.
        shape: of the release. Where bounds are published, their differences are the new rows of each version that are
            not hidden among these.

    Cost: a sort of the atoms for each version and margin.
    """
    levels = np.array([[level for level, _ in key] for key in joined.keys], np.int64).T.reshape(len(columns), -1)
    labels = tuple([key[index][1] for key in joined.keys] for index in range(len(columns)))
    stops = _list_stops(joined, versions, came)
    new_rows = []
    for version, truth in enumerate(came):
        numbers = [truth.get(key, (0, 0, False)) for key in joined.keys]
        value = np.array([n for n, _, _ in numbers], np.int64)
        persons = np.array([many for _, many, _ in numbers], np.int64)
        hidden = np.array([is_hidden for _, _, is_hidden in numbers], bool) if shape.bounds else version >= stops
        visible = np.where(hidden, HIDDEN, value)
        seen = build_seen(columns, Cells(levels, labels, visible), joined.seen.atoms, 0)
        least = hidden if shape.bounds else version == stops
        ends = np.where(least, 1, 0).astype(np.int64), np.full(len(value), UNBOUNDED, np.int64)
        new_rows.append(NewRows(_with_ends(seen, ends), value, (persons > 0) & (persons < shape.threshold)))
    return new_rows


def add_readers(name: str, readers: Sequence[CountsReader]) -> CountsReader:
    """Readers of the new rows of each version as one kind.

    Args:
        name: of the kind.
        readers: those of each version.
    """
    cells = sum(reader.cells for reader in readers)
    insiders = name == "insider"
    return CountsReader(
        name,
        sum(reader.readers for reader in readers) if insiders else 1,
        sum(reader.possible for reader in readers) if insiders else 1,
        cells,
        sum(reader.exact for reader in readers),
        sum(reader.below for reader in readers),
        sum(reader.undecided for reader in readers),
        sum(reader.guess * reader.cells for reader in readers) / max(cells, 1),
        any(reader.promised for reader in readers),
    )


def _list_stops(joined: JoinedSystem, versions: Sequence[int], came: Sequence[Truth]) -> Longs:
    """int64[cells], the place of the version of which the new rows are hidden; after the last: of none."""
    older, stops = dict(joined.older), []
    for place, key in enumerate(joined.keys):
        if place in older:
            stops.append(versions.index(older[place]) + 1)
        elif joined.hidden[place]:
            stops.append(next(index for index, truth in enumerate(came) if key in truth))
        else:
            stops.append(len(versions))
    return np.array(stops, np.int64)


def _with_ends(seen: SeenCells, ends: tuple[Longs, Longs]) -> SeenCells:
    return SeenCells(seen.of, seen.value, seen.least, seen.atoms, seen.places, 0, None, ends)
