"""Counts the cells of a release in the database, and reads them as arrays of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integers
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.statistics.certificate_errors import make_several_rows_error
from sqlanon.statistics.class_counts import (
    count_class_persons,
    divide_cells,
    place_persons,
    read_person_rows,
    weigh_kinds,
)
from sqlanon.statistics.empty_combinations import list_empty
from sqlanon.statistics.empty_parts import list_class_empty
from sqlanon.statistics.part_patterns import list_classes, with_alike, with_class_persons
from sqlanon.statistics.part_weights import with_weights
from sqlanon.statistics.parts import Parts, with_classes
from sqlanon.statistics.pattern_cells import over_patterns
from sqlanon.statistics.patterns import Patterns, add_candidates, collect_patterns
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import SumTables, check_values, list_demands
from sqlanon.statistics.system import Atoms, PublishedCells, System, Wholes, build_system
from sqlanon.statistics.traces import over_traces
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_RANGE = 2**62
"""Rows times the range of a sum stay below it."""


@dataclass(frozen=True, slots=True)
class Cube:
    """Scratch tables of the counted cells.

    Attributes:
        atoms: see statistics/atoms; with ``parts`` see statistics/part_atoms.
        finest: see statistics/atoms.
        cells: see statistics/cells.
        counts: numbers of atoms and of cells.
        sums: of each column of sums the demands.
        single: each person has one row.
        parts: the classes of a release of rows; then the atoms are these parts.
        amounts: see statistics/amounts; None: no other versions are to follow, or there are no sums.
        patterns: of persons with several rows, who are counted; None: persons add up, or are not counted.
        class_persons: with both ``parts`` and ``patterns`` the persons of each class.
        weights: the same of each part what these weigh of its kind.
    """

    atoms: TableRef
    finest: TableRef
    cells: TableRef
    counts: tuple[int, int]
    sums: tuple[SumTables, ...] = ()
    single: bool = False
    parts: Parts | None = None
    amounts: TableRef | None = None
    patterns: Patterns | None = None
    class_persons: Mapping[int, int] = field(default_factory=dict)
    weights: Longs | None = None


def count_cells(scratch: Scratch, shape: Shape, stage: TableRef, release: str, *, several: bool = False) -> Cube:
    """Count the rows and persons of all cells.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        stage: the staged source.
        release: name of the release, for messages.
        several: persons may be counted who have rows in several of the finest cells.

    Raises:
        InfeasibleError: there are no rows.
        PolicyError: a measure cannot be published of persons with several rows.

    Cost: two groupings of the rows; the grouping of cells has a set for each margin. Where persons are counted who have
        several rows, the codes of all persons' rows leave the engine.
    """
    rows, atoms, cells = (scratch.table(name) for name in ("cube_rows", "atoms", "cells"))
    context = shape.context()
    check_values(scratch, shape, stage, release)
    scratch.execute("statistics/rows", rows=rows, stage=stage, **context)
    scratch.execute("statistics/atoms", atoms=atoms, rows=rows, **context)
    scratch.execute("statistics/cells", cells=cells, rows=rows, **context)
    n, persons, of_atoms, many, listed = scratch.numbers("statistics/totals", rows=rows, atoms=atoms, cells=cells)
    sums = list_demands(scratch, shape, rows, cells)
    if persons < shape.threshold:
        raise InfeasibleError(
            f"{release}: the source has fewer persons than {shape.threshold}, so that no cell may be shown, not even "
            "the grand total"
        )
    kinds = {column for _, column in shape.measures}
    apart = kinds == {"n", "persons"} and n != persons
    # A person's rows in one finest cell may be in several classes of a release of rows.
    beside = shape.neighbour is not None and n != persons
    patterned = "persons" in kinds and (of_atoms != persons or apart or beside)
    if patterned:
        _check_patterns(shape, release, several=several)
    if sums and kinds == {"persons"} and n != persons:
        raise PolicyError(
            f"{release}: a person has several rows, and the range of a sum is of rows: publish n: count next to it"
        )
    if any(max(abs(summed.low), abs(summed.high)) * n >= MOST_RANGE for summed in shape.sums):
        raise PolicyError(f"{release}: the range of a sum is too wide for so many rows; declare a narrower one")
    if n != persons and not patterned and shape.followed:
        raise make_several_rows_error(release)
    finest, parts, patterns, weights = atoms, None, None, None
    class_persons: dict[int, int] | None = None
    if shape.neighbour is not None:
        person_rows = read_person_rows(scratch, shape, rows, stage) if patterned else None
        class_persons = count_class_persons(person_rows) if person_rows is not None else None
        sources = None
        if person_rows is not None:
            occurring = read_atoms(scratch, shape, finest)
            sources = list_class_empty(occurring, person_rows[1], person_rows[2], shape.finest)
            if len(sources):
                finest = _add_empty(scratch, shape, finest, sources, len(occurring.count))
        atoms, parts = divide_cells(scratch, shape, rows, finest, stage, (person_rows, sources))
        if person_rows is not None:
            patterns = collect_patterns(*place_persons(parts, person_rows))
            weights = weigh_kinds(parts, person_rows)
    elif patterned:
        patterns = _read_patterns(scratch, rows)
    amounts = None
    if shape.followed and shape.sums:
        amounts = scratch.table("amounts")
        scratch.execute("statistics/amounts", amounts=amounts, rows=rows, **context)
    scratch.drop(rows)
    counts, of_classes = (many, listed), (class_persons or {}, weights)
    return Cube(atoms, finest, cells, counts, sums, n == persons, parts, amounts, patterns, *of_classes)


def _check_patterns(shape: Shape, release: str, *, several: bool) -> None:
    """Refuse where persons are counted who have several rows, and it is not built.

    Raises:
        PolicyError: the policy asks for it.
    """
    if shape.followed:
        raise make_several_rows_error(release)
    if not several:
        raise PolicyError(
            f"{release}: a person has several rows, so that persons do not add up over cells; with measures of persons "
            "noise and rounding of such a source is not built: take method: suppress, or round n: count without persons"
        )


def _read_patterns(scratch: Scratch, rows: TableRef) -> Patterns:
    listed = scratch.table("person_rows")
    scratch.execute("statistics/person_rows", listed=listed, rows=rows)
    query = scratch.sql("statistics/person_codes", listed=listed)
    person, atom, times = (cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * 3))
    scratch.drop(listed)
    return collect_patterns(person, atom - 1, times)


def read_system(scratch: Scratch, shape: Shape, cube: Cube, secret: bytes) -> System:
    """The cells as arrays of codes and counts.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        cube: the counted cells.
        secret: key for the order of equal levels.
    """
    query = scratch.sql("statistics/cell_levels", cells=cube.cells, **shape.context())
    types = ["int64", "int64", *["int32"] * len(shape.columns)]
    first, persons, *of = scratch.fetch_arrays(query, types)
    levels = np.stack([column_levels.astype(np.int64) for column_levels in of])
    listed = PublishedCells(levels, cast("Longs", first) - 1, cast("Longs", persons) < shape.threshold)
    whole = build_system(read_atoms(scratch, shape, cube.finest), listed, shape.finest, secret)
    system, parts = whole, cube.parts
    if parts is not None:
        listed = replace(listed, first=parts.first()[listed.first])
        system = build_system(read_atoms(scratch, shape, cube.atoms), listed, shape.finest, secret)
        system = replace(with_classes(system, parts), wholes=Wholes(whole, parts.atom))
    if cube.patterns is None:
        return system
    counted = np.zeros(len(system), np.int64)
    counted[system.listed] = persons
    tables = [tuple(place - 1 for place in places) for places, _ in shape.tables]
    over = None
    if parts is None:
        over = over_traces(system, counted, cube.patterns, tables, secret, rows=shape.has_rows)
    if over is not None:
        return over
    classes = None
    if parts is not None and shape.neighbour is not None:
        promised = shape.neighbour.persons
        classes = list_classes(parts, promised.share, cube.patterns.of, promised.alike)
    patterns = add_candidates(system, cube.patterns, secret, classes=classes)
    over = over_patterns(system, counted, patterns, rows=shape.has_rows)
    if parts is None or shape.neighbour is None:
        return over
    if shape.neighbour.persons.alike:
        return with_alike(over, parts, shape.neighbour.persons.alike)
    over = with_class_persons(over, parts, cube.class_persons, shape.neighbour.persons.least)
    for limit in shape.neighbour.persons.weighed:
        assert cube.weights is not None
        over = with_weights(over, parts, cube.weights, cube.class_persons, limit)
    return over


def with_empty(scratch: Scratch, shape: Shape, cube: Cube, system: System, secret: bytes) -> Cube:
    """The same cells with combinations without rows that readers of several tables have to think of, where these help.

    It is built for numbers of rows or persons that add up, of one version, and without a release of rows.
    """
    if cube.parts is not None or cube.patterns is not None or cube.sums or shape.followed:
        return cube
    sources = list_empty(system, shape.finest, secret)
    if not len(sources):
        return cube
    atoms = _add_empty(scratch, shape, cube.atoms, sources, len(system.atoms.count))
    return replace(cube, atoms=atoms, finest=atoms)


def _add_empty(scratch: Scratch, shape: Shape, atoms: TableRef, sources: Longs, many: int) -> TableRef:
    """The table of so many combinations, and of others without rows; of each column an atom with the value."""
    listed, with_empty_atoms = scratch.table("empty_combinations"), scratch.table("atoms_with_empty")
    number = np.arange(len(sources), dtype=np.int64) + many + 1
    places = {f"s{place}": of + 1 for place, of in enumerate(sources.T, 1)}
    scratch.engine.load_arrays(listed, {"atom": number, **places})
    scratch.execute("statistics/empty_atoms", made=with_empty_atoms, atoms=atoms, listed=listed, **shape.context())
    return with_empty_atoms


def read_atoms(scratch: Scratch, shape: Shape, table: TableRef) -> Atoms:
    """The atoms of a table, as arrays of codes and counts."""
    levels = sum(column.levels for column in shape.columns)
    query = scratch.sql("statistics/atom_codes", atoms=table, **shape.context())
    value, owner, *codes = (cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * (2 + levels)))
    nodes, position = [], 0
    for column in shape.columns:
        nodes.append(np.stack(codes[position : position + column.levels]))
        position += column.levels
    return Atoms(tuple(nodes), value, owner)


@dataclass(frozen=True, slots=True)
class Margin:
    """A margin before anything is hidden.

    Attributes:
        name: for messages.
        levels: level of each column.
        cells: number of cells.
        share: share of small cells among them.
    """

    name: str
    levels: tuple[int, ...]
    cells: int
    share: float


def list_margins(scratch: Scratch, shape: Shape, cube: Cube) -> list[Margin]:
    """The margins, those with the largest shares of small cells first.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        cube: the counted cells.
    """
    needs = [summed.needs for summed in cube.sums]
    rows = scratch.fetch("statistics/small_shares", cells=cube.cells, needs=needs, **shape.context())
    margins = [
        Margin(shape.margin_name(levels), tuple(levels), cells, small / cells)
        for cells, small, *levels in map(read_integers, rows)
    ]
    return sorted(margins, key=lambda margin: (-margin.share, margin.name))


def find_servable(margins: Sequence[Margin], of: Margin, able: int) -> Margin | None:
    """The margin with coarser levels of the same margin at which columns leave most cells, and few small ones in all.

    Args:
        margins: all margins.
        of: a margin.
        able: small cells of all margins that may be left; if none leaves so few, that with the fewest is taken.

    Returns:
        None: there is no coarser one.
    """
    totals = [max(levels) for levels in zip(*(margin.levels for margin in margins), strict=True)]
    columns = [place for place, level in enumerate(of.levels) if level < totals[place]]

    def count_left(coarser: Margin) -> tuple[int, int]:
        left = [m for m in margins if all(m.levels[place] >= coarser.levels[place] for place in columns)]
        return sum(round(m.share * m.cells) for m in left), sum(m.cells for m in left)

    coarser_ones = [
        (count_left(margin), margin)
        for margin in margins
        if margin is not of and all(a >= b for a, b in zip(margin.levels, of.levels, strict=True))
    ]
    few = [(cells, margin.name, margin) for (small, cells), margin in coarser_ones if small <= able]
    if few:
        return max(few, key=lambda entry: entry[:2])[2]
    return min(coarser_ones, key=lambda entry: (entry[0], entry[1].name), default=(None, None))[1]


def find_coarser(margins: Sequence[Margin], of: Margin, most: float) -> Margin | None:
    """The margin of most cells with coarser levels of the same margin, and at most such a share of small cells."""
    coarser = [
        margin
        for margin in margins
        if margin.share <= most
        and margin is not of
        and all(a >= b for a, b in zip(margin.levels, of.levels, strict=True))
    ]
    return max(coarser, key=lambda margin: (margin.cells, margin.name), default=None)
