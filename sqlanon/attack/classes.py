"""Attack on counts together with a release of rows (``together``), by readers who have both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.rows import read_integer
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, Label, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.statistics.joined_tables import JoinedSystem
    from sqlanon.statistics.shape import Shape
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class JoinedCells:
    """The cells as readers of both have them.

    Attributes:
        seen: the cells over the parts, with what the classes show.
        whole: int64[parts], the place of each part's combination.
    """

    seen: SeenCells
    whole: Longs


def label_of(key: object) -> Label:
    """The label of a private key: `v` and the text, or `n` for NULL."""
    return None if key == "n" else str(key)[1:]


def see_classes(
    scratch: Scratch, shape: Shape, atoms: TableRef, joined: JoinedSystem, order: Sequence[int]
) -> JoinedCells:
    """The published cells over the finest combinations that each class of rows may have.

    A reader knows how many rows a class has, with each value that it shows as it is, and that both ends of a range and
    all members of a set occur. In how many branches below a node its rows are is not used.

    Args:
        scratch: the database of the private tables.
        shape: the published columns, with the release of rows.
        atoms: the private table of parts.
        joined: the view of the counts.
        order: the place of each column of the release among those of the readers.

    Cost: the parts are read once.
    """
    assert shape.neighbour is not None
    needs, context, many = scratch.table("needs"), shape.context(), len(shape.columns)
    scratch.execute("statistics/needs", needs=needs, atoms=atoms, **context)
    hidden = {
        (read_integer(row[1]), read_integer(row[0]), read_integer(row[2]))
        for row in scratch.fetch(
            "statistics/sum_read", table=needs, columns=["class", "place", "rank", "known"], order=["class", "place"]
        )
        if read_integer(row[3])
    }
    places = np.argsort(order).tolist()
    whole: list[int] = []
    kinds: list[int] = []
    sums: dict[int, int] = {}
    needed: list[list[tuple[int, int, int]]] = []
    for row in scratch.fetch("statistics/part_codes", atoms=atoms, **context):
        labels = [label_of(cell) for cell in row[:many]]
        kind, of, n, *ranks = map(read_integer, row[many:])
        whole.append(joined.seen.places[tuple(labels[place] for place in places)])
        kinds.append(kind)
        if kind >= 0:
            sums[kind] = sums.get(kind, 0) + n
        keys = [(column.place, of, rank) for column, rank in zip(shape.neighbour.columns, ranks, strict=True)]
        needed.append([key if key in hidden else (0, 0, 0) for key in keys])
    cells, numbers = len(joined.seen.value), {kind: index for index, kind in enumerate(sums)}
    of_kind = [cells + numbers[kind] if kind >= 0 else -1 for kind in kinds]
    of_need = {key: cells + len(sums) + index for index, key in enumerate(sorted(hidden))}
    rows = [[of_need.get(keys[index], -1) for keys in needed] for index in range(len(shape.neighbour.columns))]
    seen = replace(
        joined.seen,
        of=np.concatenate([joined.seen.of[:, whole], np.array([of_kind, *rows], np.int64)]),
        value=np.concatenate([joined.seen.value, list(sums.values()), [HIDDEN] * len(hidden)]).astype(np.int64),
        least=np.zeros(len(whole), np.int64),
        hidden=1,
        ends=None if joined.seen.ends is None else _add_ends(joined.seen.ends, list(sums.values()), len(hidden)),
    )
    return JoinedCells(seen, np.array(whole, np.int64))


def _add_ends(ends: tuple[Longs, Longs], rows: list[int], needs: int) -> tuple[Longs, Longs]:
    """The ends of the cells, and after these those of the classes' numbers, and of what occurs in them."""
    low, high = ends
    return (
        np.concatenate([low, rows, np.ones(needs)]).astype(np.int64),
        np.concatenate([high, np.array([*rows, *[UNBOUNDED] * needs], np.int64)]),
    )
