"""Counts the rows of cells by the classes of a release of rows, and makes the system of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.neighbour import NeighbourColumn, make_changed_error
from sqlanon.statistics.part_weights import weigh_rows
from sqlanon.statistics.parts import Parts, PlacedRows, TooManyPartsError, list_parts

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.statistics.shape import Shape
    from sqlanon.table.scratch import Scratch

PersonRows = tuple["Longs", "Longs", "Longs", "Longs"]
"""See `read_person_rows`."""


def divide_cells(
    scratch: Scratch,
    shape: Shape,
    rows: TableRef,
    atoms: TableRef,
    stage: TableRef,
    of_persons: tuple[PersonRows | None, Longs | None] = (None, None),
) -> tuple[TableRef, Parts]:
    """Divide the finest combinations among the classes of the release of rows.

    Args:
        scratch: the run.
        shape: the counted columns, with the release of rows.
        rows: see statistics/rows.
        atoms: see statistics/atoms.
        stage: the staged source.
        of_persons: where a person has several rows, these as `read_person_rows` returns them; and of each combination
            without rows for each column a combination with the value.

    Returns:
        the table of parts, see statistics/part_atoms, and the parts.

    Raises:
        GuardError: the source has other rows than the release of rows.
        PolicyError: there are too many parts.

    Cost: a sort of the rows by their link, and that of `list_parts`.
    """
    neighbour, (person_rows, sources) = shape.neighbour, of_persons
    assert neighbour is not None
    assert neighbour.linked is not None
    columns, placed = list(neighbour.columns), scratch.table("placed")
    scratch.execute(
        "statistics/placed",
        placed=placed,
        rows=rows,
        stage=stage,
        linked=neighbour.linked,
        link=neighbour.link,
        columns=columns,
        merged=not columns and person_rows is None,
    )
    if any(scratch.numbers("statistics/not_placed", placed=placed, linked=neighbour.linked)):
        raise make_changed_error(neighbour.release, neighbour.version)
    try:
        parts = list_parts(_read_placed(scratch, shape, placed, atoms, sources))
    except TooManyPartsError:
        raise PolicyError(
            f"together: the classes of {neighbour.release} and the cells have too many combinations; count by fewer "
            "columns, or by coarser values in a view"
        ) from None
    listed, table = scratch.table("listed_parts"), scratch.table("part_atoms")
    number = np.arange(1, len(parts) + 1, dtype=np.int64)
    arrays = {"atom": number, "whole": parts.atom + 1, "kind": parts.kind, "class": parts.of, "n": parts.count}
    persons = {} if person_rows is None else count_class_persons(person_rows)
    arrays["class_persons"] = np.array([persons.get(of, 0) for of in parts.of.tolist()], np.int64)
    arrays["weight"] = np.zeros(len(parts), np.int64) if person_rows is None else weigh_kinds(parts, person_rows)
    arrays |= {f"r{column.place}": parts.ranks[index] for index, column in enumerate(columns)}
    scratch.engine.load_arrays(listed, arrays)
    scratch.execute("statistics/part_atoms", parts=table, atoms=atoms, listed=listed, **shape.context())
    scratch.drop(placed)
    return table, parts


def read_person_rows(scratch: Scratch, shape: Shape, rows: TableRef, stage: TableRef) -> PersonRows:
    """Rows of persons: int64[n] each, the person, the finest combination from 0, the class, and how many rows.

    Args:
        scratch: the run.
        shape: the counted columns, with the release of rows.
        rows: see statistics/rows.
        stage: the staged source.

    Cost: a sort of the rows by their link, and the codes of all persons' rows leave the engine.
    """
    listed, neighbour = scratch.table("person_classes"), shape.neighbour
    assert neighbour is not None
    placing: dict[str, Any] = {
        "stage": stage,
        "linked": neighbour.linked,
        "link": neighbour.link,
        "columns": list(neighbour.columns),
    }
    scratch.execute("statistics/person_classes", listed=listed, rows=rows, **placing)
    query = scratch.sql("statistics/person_class_codes", listed=listed)
    person, atom, of, times = (cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * 4))
    scratch.drop(listed)
    return person, atom - 1, of, times


def place_persons(parts: Parts, person_rows: PersonRows) -> tuple[Longs, Longs, Longs]:
    """The same rows by part: the person, the part, and how many rows."""
    person, atom, of, times = person_rows
    base = int(parts.atom.max(initial=0)) + 1
    keys = (parts.of + 1) * base + parts.atom
    order = np.argsort(keys, kind="stable")
    place: Longs = order[np.searchsorted(keys[order], (of + 1) * base + atom)].astype(np.int64)
    return person, place, times


def count_class_persons(person_rows: PersonRows) -> dict[int, int]:
    """The persons with rows in each class."""
    person, _, of, _ = person_rows
    numbers, persons = np.unique(np.unique(np.stack([of, person]), axis=1)[0], return_counts=True)
    return dict(zip(numbers.tolist(), persons.tolist(), strict=True))


def weigh_kinds(parts: Parts, person_rows: PersonRows) -> Longs:
    """What the persons of a class weigh of the kind of each part: int64[parts]; see `weigh_rows`."""
    person, place, times = place_persons(parts, person_rows)
    weights, _, of = weigh_rows(person, np.stack([parts.of[place], parts.kind[place]]), times)
    of_kinds = np.bincount(of[1] + 1, weights, int(parts.kind.max(initial=-1)) + 2)
    return of_kinds.astype(np.int64)[parts.kind + 1]


def _read_placed(
    scratch: Scratch, shape: Shape, placed: TableRef, atoms: TableRef, sources: Longs | None
) -> PlacedRows:
    neighbour = shape.neighbour
    assert neighbour is not None
    atom, of, count, *_ = _codes(scratch, neighbour.columns, placed)
    query = scratch.sql("statistics/atom_codes", atoms=atoms, **shape.context())
    levels = sum(column.levels for column in shape.columns)
    _, _, *codes = (cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * (2 + levels)))
    finest, position = [], 0
    for column in shape.columns:
        finest.append(codes[position])
        position += column.levels
    exact = np.zeros(len(finest[0]), np.int64)
    if neighbour.shown:
        exact = np.unique(np.stack([finest[place - 1] for place in neighbour.shown]), axis=1, return_inverse=True)[1]
    ranks = _read_ranks(scratch, neighbour.columns, placed)
    if sources is not None and len(sources):
        of_empty = [rank[sources[:, column.place - 1]] for rank, column in zip(ranks, neighbour.columns, strict=True)]
        ranks = np.concatenate([ranks, np.array(of_empty, np.int64).reshape(len(ranks), -1)], axis=1)
    return PlacedRows(
        atom - 1,
        of,
        count,
        exact.reshape(-1).astype(np.int64),
        ranks,
        tuple(column.how for column in neighbour.columns),
        tuple(column.known for column in neighbour.columns),
        {index: _nodes(column, ranks[index]) for index, column in enumerate(neighbour.columns) if column.nodes},
        tuple(column.place - 1 for column in neighbour.columns),
        tuple(place - 1 for place in neighbour.shown),
    )


def _codes(scratch: Scratch, columns: Sequence[NeighbourColumn], placed: TableRef) -> list[Longs]:
    query = scratch.sql("statistics/placed_codes", placed=placed, columns=list(columns))
    return [cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * (3 + len(columns)))]


def _read_ranks(scratch: Scratch, columns: Sequence[NeighbourColumn], placed: TableRef) -> Longs:
    """int64[columns, atoms]: the ranks of the finest combinations."""
    atom, _, _, *ranks = _codes(scratch, columns, placed)
    coded_ranks = np.zeros((len(columns), int(atom.max(initial=0))), np.int64)
    for index, rank in enumerate(ranks):
        coded_ranks[index, atom - 1] = rank
    return coded_ranks


def _nodes(column: NeighbourColumn, ranks: Longs) -> Longs:
    """int64[levels, atoms]: the nodes of each finest combination; NULL has a node of its own below the top."""
    nodes = np.array([(0, *level) for level in column.nodes], np.int64)[:, ranks]
    nodes[-1] = 1
    return nodes
