"""Counts of all earlier versions and lineages, and the certificate of all together.

A lineage begins with numbers of all rows. Readers have the earlier numbers as well, so that all are one system (see
`sqlanon.statistics.lineages`): each witness has a part of each version's rows, and agrees with every published number.
The private tables of a version have the finest combinations of each version's rows, the cells of all earlier versions,
and these witnesses.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.statistics.bounds import WitnessTables, bound_cells
from sqlanon.statistics.certificate_errors import refuse, refuse_each
from sqlanon.statistics.choose import UnservedError, choose_hidden
from sqlanon.statistics.class_certificate import ClassTables, verify_parts
from sqlanon.statistics.cube import Cube, read_atoms, read_system
from sqlanon.statistics.lineages import Blocks, Window, build_lineages
from sqlanon.statistics.must_show import find_hidden, fix_margins
from sqlanon.statistics.neighbour import Neighbour
from sqlanon.statistics.parts import Parts, read_parts, with_classes
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.protections.base import ProtectedCells, Run
from sqlanon.statistics.protections.suppress import explain_show, explain_unserved
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.system import PublishedCells, System
from sqlanon.statistics_spec import PAST_PARTS
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


@dataclass(frozen=True, slots=True)
class PastTables:
    """The tables of all lineages: finest combinations of each version, cells of earlier versions, and witnesses."""

    atoms: TableRef
    cells: TableRef
    witness: TableRef

    def parts(self) -> dict[str, TableRef]:
        """The tables by their parts."""
        return dict(zip(PAST_PARTS, (self.atoms, self.cells, self.witness), strict=True))


@dataclass(frozen=True, slots=True)
class NewLineage:
    """A lineage that begins.

    Attributes:
        first: the first version of all lineages.
        began: the version with which the last lineage began.
        batches: the versions of the last beginning.
        stored: its private tables.
        past: those of the lineages before; they are empty in the first beginning.
        neighbour: the release of rows that readers have as well; the rows of the first version are in its classes.
    """

    first: int
    began: int
    batches: tuple[int, ...]
    stored: KeptTables
    past: PastTables
    neighbour: Neighbour | None = None


def list_part_columns(neighbour: Neighbour | None) -> list[str]:
    """The columns of atoms that are parts of classes of a release of rows; empty: there is none."""
    return [] if neighbour is None else ["kind", "class", *(f"r{column.place}" for column in neighbour.columns)]


def make_past(
    scratch: Scratch, shape: Shape, new: Cube, beginning: NewLineage | None, neighbour: Neighbour | None = None
) -> PastTables:
    """Scratch tables of all versions, without witnesses.

    Args:
        scratch: the run.
        shape: the counted columns.
        new: the new rows, counted.
        beginning: the lineage that begins; None: the first one, of which nothing is known before.
        neighbour: the release of rows that readers have as well.
    """
    context = shape.context() | {"parts": list_part_columns(neighbour), "placed": False}
    past = PastTables(*(scratch.table(part) for part in PAST_PARTS))
    version: dict[str, Any] = {"batch": shape.version, "empty": beginning is None}
    if beginning is None:
        atoms: dict[str, Any] = {"past": None, "atoms": None, "batches": [], "newcomers": new.atoms}
        cells: dict[str, Any] = {"past": None, "cells": None, "newcomers": new.cells, "first": 0, "began": 0}
    else:
        # With the rows of a version that began a later lineage are those of the versions before.
        blocks = [batch for batch in beginning.batches if batch == beginning.first or batch != beginning.began]
        atoms = {
            "past": beginning.past.atoms,
            "atoms": beginning.stored.atoms,
            "batches": blocks,
            "newcomers": new.atoms,
            # In later lineages the private atoms are of all rows, and the parts are among those of all lineages.
            "placed": neighbour is not None and beginning.began == beginning.first,
        }
        cells = {
            "past": beginning.past.cells,
            "cells": beginning.stored.cells,
            "newcomers": new.cells,
            "first": beginning.first,
            "began": beginning.began,
        }
    scratch.execute("statistics/past_atoms", made=past.atoms, **(context | version | atoms))
    scratch.execute("statistics/past_cells", made=past.cells, **version, **cells, **context)
    if beginning is None:
        _load_witness(scratch, past.witness, np.zeros((0, 0), np.int64))
    return past


def begin_lineage(run: Run, beginning: NewLineage, past: PastTables, facts: Mapping[str, Any]) -> ProtectedCells:
    """Hide cells of all rows, so that readers of all versions find no small number; loads the witnesses of ``past``.

    Args:
        run: the counted cells, those of all rows.
        beginning: the lineage that begins.
        past: the tables that `make_past` made.
        facts: metadata.

    Raises:
        InfeasibleError: a small number cannot be protected, or a margin that must be shown has a cell to hide.

    Cost: that of `choose_hidden` for a system with the atoms and cells of every version.
    """
    scratch, cube = run.scratch, run.cube
    system = _read_lineages(run, beginning, past)
    margin = find_hidden(system, run.shape.show, system.small)
    if margin is not None:
        raise explain_show(run, margin)
    try:
        choice = choose_hidden(
            fix_margins(system, run.shape.show),
            run.shape.threshold,
            insiders=run.shape.insiders,
            secret=run.secret,
            step=lambda ended, many: run.progress.update(ended, many, "small cells of all versions"),
        )
    except UnservedError as error:
        raise explain_unserved(run.release, run.shape, system.levels_of(error.margin), error) from None
    hidden, witness = scratch.table("hidden"), scratch.table("no_witness")
    scratch.engine.load_arrays(hidden, _bound_hidden(run, choice.hidden[system.listed]))
    _load_witness(scratch, past.witness, choice.witnesses)
    _load_witness(scratch, witness, np.zeros((0, 0), np.int64))

    def view(place: TableRef) -> Statement:
        return scratch.sql("statistics/view", physical=place, cells=cube.cells, hidden=hidden, **run.shape.context())

    tables = KeptTables(cube.cells, cube.atoms, witness).parts()
    return ProtectedCells(view, tables, len(choice.witnesses) - 1, facts, hidden=hidden)


def _bound_hidden(run: Run, is_hidden: Flags) -> dict[str, Longs]:
    """The hidden cells of all rows, and with bounds those that readers of this version alone can compute.

    Whoever has versions of earlier lineages as well may have narrower ones: so only one number is said to be tight.
    """
    cells = np.flatnonzero(is_hidden)
    hidden = {"cell": (cells + 1).astype(np.int64)}
    if not run.shape.bounds:
        return hidden
    system = read_system(run.scratch, run.shape, run.cube, run.secret)
    classes = np.zeros(len(system), bool)
    classes[system.listed[cells]] = True
    nothing = WitnessTables(np.zeros((1, len(system.atoms.count)), np.int64))
    (ends,) = bound_cells(system, classes, nothing, least_rows=run.shape.least_rows)
    low, high = ends.low[cells], ends.high[cells]
    return hidden | {"low": low, "high": high, "tight": (low == high).astype(np.int64)}


def _load_witness(scratch: Scratch, table: TableRef, witnesses: Longs) -> None:
    number, atom = np.nonzero(witnesses)
    changes = {"witness": number.astype(np.int64), "atom": (atom + 1).astype(np.int64)}
    scratch.engine.load_arrays(table, {**changes, "change": witnesses[number, atom]})


def _read_lineages(run: Run, beginning: NewLineage, past: PastTables) -> System:
    """All versions as one system."""
    scratch, shape, context = run.scratch, run.shape, run.shape.context()
    many = len(shape.columns)
    query = scratch.sql("statistics/sum_read", table=past.atoms, columns=["batch"], order=["atom"])
    (batch,) = scratch.fetch_arrays(query, ["int64"])
    batches, of = np.unique(cast("Longs", batch), return_inverse=True)
    blocks = Blocks(read_atoms(scratch, shape, past.atoms), of.reshape(-1).astype(np.int64), shape.finest)
    query = scratch.sql(
        "statistics/past_places", cells=run.cube.cells, whole=run.cube.finest, atoms=past.atoms, **context
    )
    first, persons, *levels = (cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * (2 + many)))
    whole = PublishedCells(np.stack(levels), first - 1, persons < shape.threshold)
    rows = scratch.fetch(
        "statistics/past_windows",
        atoms=past.atoms,
        cells=past.cells,
        first=beginning.first,
        batch=shape.version,
        **context,
    )
    came = np.bincount(blocks.of, weights=blocks.atoms.count).astype(np.int64)
    windows = []
    numbers = [tuple(map(read_integer, row)) for row in rows]
    for (since, upto), group in itertools.groupby(numbers, lambda row: row[:2]):
        table = np.array(list(group), np.int64).T
        cells = PublishedCells(table[5:], table[2] - 1, table[3] == 1)
        start, end = np.searchsorted(batches, [since, upto]).tolist()
        floor = shape.threshold if since == beginning.first else shape.fewest
        if since == upto != beginning.first and came[start] >= shape.cohort:
            floor = shape.cohort
        windows.append(Window(start, end, cells, table[4] == 1, floor))
    system = build_lineages(blocks, windows, whole, run.secret)
    if beginning.neighbour is None:
        return system
    return with_classes(system, _read_parts(scratch, past, beginning.neighbour))


def _read_parts(scratch: Scratch, past: PastTables, neighbour: Neighbour) -> Parts:
    """The atoms of the first version as parts of classes, and the others as parts of none."""
    columns = list_part_columns(neighbour)
    query = scratch.sql("statistics/past_parts", atoms=past.atoms, parts=columns)
    count, kind, of, *ranks = (
        cast("Longs", array) for array in scratch.fetch_arrays(query, ["int64"] * (1 + len(columns)))
    )
    shown = [(column.how, column.known) for column in neighbour.columns]
    return read_parts(kind, of, count, np.array(ranks, np.int64).reshape(len(ranks), -1), shown)


def keep_past(scratch: Scratch, shape: Shape, built: PastTables, stored: PastTables) -> list[Statement]:
    """The statements that copy the tables into the private tables of a version.

    Args:
        scratch: the run.
        shape: the counted columns; with the release of rows that readers have as well.
        built: the tables.
        stored: the tables to make.
    """
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    columns = {
        "past_atoms": [
            *("atom", "batch", *shape.key_columns(), "n", "persons", "whole", "owner"),
            *list_part_columns(shape.neighbour),
        ],
        "past_cells": [*levels, "n", "persons", "hidden", "since", "batch"],
        "past_witness": ["witness", "atom", "change"],
    }
    places = stored.parts()
    return [
        scratch.sql("statistics/keep", kept=places[part], table=table, columns=columns[part])
        for part, table in built.parts().items()
    ]


def verify_before(scratch: Scratch, shape: Shape, past: PastTables, beginning: NewLineage, release: str) -> None:
    """The cells that readers had are all stored, with their numbers.

    Raises:
        PrivacyViolation: they are not.
    """
    failing = scratch.count(
        "statistics/verify_past_before",
        made=past.cells,
        past=beginning.past.cells,
        cells=beginning.stored.cells,
        first=beginning.first,
        began=beginning.began,
        **shape.context(),
    )
    refuse(release, "cells of earlier versions", failing)


def first_of(scratch: Scratch, past: PastTables) -> int:
    """The first version of all lineages; 0: nothing is known before this beginning."""
    return scratch.count("statistics/past_first", atoms=past.atoms)


def verify_past(
    scratch: Scratch, shape: Shape, stored: KeptTables, past: PastTables, seen: tuple[int, TableRef], release: str
) -> None:
    """Verify that readers of all lineages, and insiders, find no small number.

    Args:
        scratch: the run.
        shape: the shape of the rows with which the lineage began; with the release of rows that readers have as well.
        stored: the private tables of these, all rows.
        past: the tables of all lineages.
        seen: the first version of all, and the scratch table of statistics/compared of the rows.
        release: name of the release, for messages.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.

    Cost: a grouping of the witnesses by every margin for each two versions, and joins of small cells with them.
    """
    context, (first, compared) = shape.context(), seen
    moved, small, serving = (scratch.table(name) for name in ("past_moved", "past_small", "past_serving"))
    tables: dict[str, Any] = {"atoms": past.atoms, "witness": past.witness}
    parts = list_part_columns(shape.neighbour)
    failing = scratch.count(
        "statistics/verify_past_atoms", whole=stored.atoms, atoms=past.atoms, parts=parts, **context
    )
    refuse(release, "finest cells of all lineages", failing)
    failing = scratch.count("statistics/verify_past_cells", cells=past.cells, atoms=past.atoms, **context)
    refuse(release, "cells of earlier lineages", failing)
    refuse_each(
        release,
        ("changes of no cell", "cells that a witness changes twice", "changes"),
        scratch.numbers("statistics/verify_changes", cells=past.cells, **tables, **context),
    )
    scratch.execute("statistics/past_moved", moved=moved, **tables, **context)
    window: dict[str, Any] = {"first": first, "batch": shape.version}
    refuse_each(
        release,
        ("shown cells that a witness changes", "cells that a witness makes empty", "bounds that a witness leaves"),
        scratch.numbers(
            "statistics/verify_past_moved",
            moved=moved,
            past=past.cells,
            cells=stored.cells,
            compared=compared,
            **window,
            **context,
        ),
    )
    rule: dict[str, Any] = {
        "cohort": shape.cohort,
        "fewest": shape.fewest,
        "threshold": shape.threshold,
        "first": first,
    }
    refuse(release, "tables of too few rows", scratch.count("statistics/verify_past_totals", **tables, **rule))
    scratch.execute("statistics/past_small", small=small, atoms=past.atoms, **context)
    if shape.neighbour is not None:
        small = _verify_past_classes(scratch, shape, past, (small, first), release)
    scratch.execute("statistics/past_serving", serving=serving, small=small, moved=moved, **context)
    failing = scratch.count("statistics/verify_past_ends", serving=serving, **context)
    refuse(release, "small cells without witnesses", failing)
    if shape.insiders:
        failing = scratch.count("statistics/verify_past_insiders", serving=serving, **tables, **context)
        refuse(release, "pairs of a small cell and an insider without witnesses", failing)


def _verify_past_classes(
    scratch: Scratch, shape: Shape, past: PastTables, small: tuple[TableRef, int], release: str
) -> TableRef:
    """Every witness has the rows of each class among those of the first version.

    Returns:
        the small cells, with the least numbers that readers of the classes know.
    """
    few, first = small
    atoms, numbered, inside, least, raised = (
        scratch.table(name)
        for name in ("past_first_atoms", "past_numbered", "past_inside", "past_least", "past_small_of_classes")
    )
    scratch.execute("statistics/batch", part=atoms, kept=past.atoms, batch=first)
    context: dict[str, Any] = {"numbered": numbered, **shape.context()}
    scratch.execute("statistics/past_numbered", small=few, **context)
    scratch.execute("statistics/past_inside", inside=inside, atoms=atoms, first=first, **context)
    tables = ClassTables(atoms, past.witness, numbered, inside)
    verify_parts(scratch, shape.neighbour, tables, least, release)
    scratch.execute("statistics/past_raised", made=raised, raised=least, **context)
    return raised
