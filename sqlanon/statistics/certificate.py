"""Checks a written release of counts: sums over private tables prove that no small cell can be computed.

The check shares nothing with the search for hidden cells and trusts no linear program: every statement adds and
compares. Witnesses are changes of the true table, and the true table is one of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.statistics.certificate_errors import refuse, refuse_each
from sqlanon.statistics.class_certificate import verify_classes, verify_placed
from sqlanon.statistics.least_numbers import list_least
from sqlanon.statistics.pattern_certificate import verify_patterns, verify_persons
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_certificate import verify_demands, verify_sums
from sqlanon.table.scratch import Scratch


def verify_source(scratch: Scratch, shape: Shape, stage: TableRef, stored: KeptTables, release: str) -> None:
    """The kept cells and atoms are those of the staged rows.

    Raises:
        PrivacyViolation: they are not.
    """
    context, keyed = shape.context(), scratch.table("verified_rows")
    scratch.execute("statistics/verify_rows", keyed=keyed, stage=stage, **context)
    refuse(release, "cells", scratch.count("statistics/verify_cells", keyed=keyed, cells=stored.cells, **context))
    atoms, neighbour = stored.atoms, shape.neighbour
    if neighbour is not None:
        atoms = scratch.table("wholes")
        scratch.execute("statistics/whole_atoms", wholes=atoms, atoms=stored.atoms, **context)
    failing, shared = scratch.numbers("statistics/verify_atoms", keyed=keyed, atoms=atoms, **context)
    if shape.sums:
        verify_demands(scratch, shape, keyed, replace(stored, atoms=atoms), release)
    refuse(release, "finest cells", failing)
    refuse(release, "owners of cells", shared)
    if neighbour is None:
        empty = scratch.count("statistics/verify_empty", atoms=atoms, **context)
        refuse(release, "combinations that a table shows to be empty", empty)
    if shape.patterns:
        verify_patterns(scratch, shape, keyed, stage, stored, release)
    if neighbour is not None:
        verify_placed(scratch, shape, keyed, stage, stored.atoms, release)
    scratch.drop(keyed)


def verify_published(
    scratch: Scratch, shape: Shape, physical: TableRef, stored: KeptTables, release: str
) -> tuple[int, int]:
    """Verify that the published table has each cell once, and that no reader or insider can find a small cell.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        physical: the published table.
        stored: the private tables of the version.
        release: name of the release, for messages.

    Returns:
        how many cells are shown, and how many are hidden.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.

    Cost: a grouping of the witnesses by every margin, and joins of small cells with insiders and witnesses.
    """
    context = _with_sums(shape, stored)
    numbers = context if shape.neighbour is None else {**context, "sums": []}
    compared = _verify_view(scratch, context, physical, stored, release)
    if shape.patterns:
        over_wholes = stored if shape.neighbour is None else _list_wholes(scratch, shape, stored)
        wholes = None if shape.neighbour is None else over_wholes.atoms
        every = verify_persons(scratch, shape, compared, stored, release, wholes)
        if shape.sums:
            of_sums = over_wholes if shape.neighbour is not None else replace(stored, atoms=every)
            _verify_paid(scratch, shape, compared, of_sums, release)
        shown, hidden = scratch.numbers("statistics/counts", compared=compared)
        return shown, hidden
    tables: dict[str, Any] = {"atoms": stored.atoms, "cells": stored.cells, "witness": stored.witness}
    least_rows: dict[str, Any] = {
        "atoms": stored.atoms,
        "witness": stored.witness,
        "least": shape.least_rows,
        "counted": shape.counted,
    }
    ends, least, moved = verify_ends(scratch, shape, numbers, compared, stored, release, shape.threshold)
    refuse(release, "tables of too few rows", scratch.count("statistics/verify_came", **least_rows))
    if shape.insiders:
        inside, insiders, own_parts = (scratch.table(name) for name in ("inside", "insiders", "own_parts"))
        scratch.execute("statistics/inside", inside=inside, **tables, **context)
        whole = "atom" if shape.neighbour is None else "whole"
        scratch.execute("statistics/insiders", insiders=insiders, inside=inside, **tables)
        scratch.execute(
            "statistics/own_parts", own=own_parts, inside=inside, insiders=insiders, whole=whole, **tables, **context
        )
        unwitnessed = scratch.count(
            "statistics/verify_insiders",
            ends=ends,
            compared=compared,
            least=least,
            insiders=insiders,
            own=own_parts,
            **tables,
            **numbers,
        )
        refuse(release, "pairs of a small cell and an insider without witnesses", unwitnessed)
    if shape.sums:
        if shape.neighbour is not None:
            stored, moved = _verify_wholes(scratch, context, compared, stored, release)
        verify_sums(scratch, shape, stored, (moved, compared), release)
    shown, hidden = scratch.numbers("statistics/counts", compared=compared)
    return shown, hidden


def _with_sums(shape: Shape, stored: KeptTables) -> dict[str, Any]:
    """Parameters of templates, with the limits of sums."""
    context = shape.context()
    if shape.sums:
        context["sums"] = [
            {**summed.context(), "limits": sum_tables.limits}
            for summed, sum_tables in zip(shape.sums, stored.sums, strict=True)
        ]
    return context


def _list_wholes(scratch: Scratch, shape: Shape, stored: KeptTables) -> KeptTables:
    """The tables of the finest combinations, where atoms are parts of these, with the patterns over them."""
    wholes, patterns = scratch.table("wholes_of_patterns"), scratch.table("patterns_of_wholes")
    scratch.execute("statistics/whole_atoms", wholes=wholes, atoms=stored.atoms, **shape.context())
    scratch.execute("statistics/whole_patterns", wholes=patterns, patterns=stored.patterns, atoms=stored.atoms)
    return replace(stored, atoms=wholes, patterns=patterns)


def _verify_paid(scratch: Scratch, shape: Shape, compared: TableRef, stored: KeptTables, release: str) -> None:
    """Witnesses have all sums that are published, in the range of the rows of their persons, and meet every demand.

    Raises:
        PrivacyViolation: they do not.
    """
    sums = []
    for place, of_sum in enumerate(stored.sums, 1):
        if stored.able is None:
            sums.append(of_sum)
            continue
        limits = scratch.table(f"able_limits{place}")
        scratch.execute("statistics/able_limits", every=limits, limits=of_sum.limits, able=stored.able)
        sums.append(replace(of_sum, limits=limits))
    stored = replace(stored, sums=tuple(sums))
    context = _with_sums(shape, stored)
    refuse_each(
        release,
        ("changes of no sum", "sums that a witness changes twice", "changes of sums"),
        scratch.numbers("statistics/verify_paid", paid=stored.paid, atoms=stored.atoms, **context),
    )
    changes = scratch.table("changes_of_rows")
    scratch.execute(
        "statistics/pattern_changes",
        changes=changes,
        witness=stored.witness,
        patterns=stored.patterns,
        paid=stored.paid,
        sums=context["sums"],
    )
    of_rows = replace(stored, witness=changes)
    moved = _verify_moves(scratch, context, compared, of_rows, release, "moved_of_sums")
    verify_sums(scratch, shape, of_rows, (moved, compared), release)


def _verify_view(
    scratch: Scratch, context: dict[str, Any], physical: TableRef, stored: KeptTables, release: str
) -> TableRef:
    """Each cell is published once, as its numbers are, and no small one is shown.

    Returns:
        the scratch table of statistics/compared.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.
    """
    published, compared = scratch.table("published"), scratch.table("compared")
    scratch.execute("statistics/published", published=published, physical=physical, **context)
    scratch.execute("statistics/compared", compared=compared, published=published, cells=stored.cells, **context)
    refuse_each(
        release,
        ("cells that are not published", "rows that are no cell", "cells published twice", "rows", "small cells shown"),
        scratch.numbers("statistics/verify_view", compared=compared),
    )
    if stored.bounds is not None:
        wrong = scratch.count("statistics/verify_bounds", compared=compared, kept=stored.bounds, **context)
        refuse(release, "bounds of hidden cells", wrong)
    return compared


def verify_shown(scratch: Scratch, shape: Shape, physical: TableRef, stored: KeptTables, release: str) -> TableRef:
    """Verify that the published table has each cell once, and no small one; nothing of witnesses.

    Returns:
        the scratch table of statistics/compared.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.
    """
    context = shape.context()
    tables: dict[str, Any] = {"atoms": stored.atoms, "cells": stored.cells}
    compared = _verify_view(scratch, context, physical, stored, release)
    refuse(release, "numbers of cells", scratch.count("statistics/verify_numbers", **tables, **context))
    refuse(release, "sums", scratch.count("statistics/verify_sums", **tables, **context))
    return compared


def _verify_wholes(
    scratch: Scratch, context: dict[str, Any], compared: TableRef, stored: KeptTables, release: str
) -> tuple[KeptTables, TableRef]:
    """Witnesses have all sums that are published: those of the finest combinations, where atoms are parts of these.

    Returns:
        the tables of the finest combinations and the changes of these, and what witnesses change of each cell.

    Raises:
        PrivacyViolation: they have not.
    """
    wholes, changes = scratch.table("wholes_of_sums"), scratch.table("whole_changes")
    scratch.execute("statistics/whole_atoms", wholes=wholes, atoms=stored.atoms, **context)
    scratch.execute(
        "statistics/whole_changes", changes=changes, witness=stored.witness, atoms=stored.atoms, sums=context["sums"]
    )
    whole = replace(stored, atoms=wholes, witness=changes)
    return whole, _verify_moves(scratch, context, compared, whole, release, "moved_of_wholes")


def verify_ends(
    scratch: Scratch,
    shape: Shape,
    context: dict[str, Any],
    compared: TableRef,
    stored: KeptTables,
    release: str,
    most: int,
) -> tuple[TableRef, TableRef, TableRef]:
    """Verify that witnesses have all that is published, and both ends of each small cell.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        context: parameters of templates.
        compared: see statistics/compared.
        stored: the private tables of the version.
        release: name of the release, for messages.
        most: for each small cell a witness has this number or more.

    Returns:
        the scratch tables of statistics/ends, statistics/least and statistics/moved.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.
    """
    moved = _verify_moves(scratch, context, compared, stored, release, "moved")
    least, ends = list_least(scratch, shape, stored.cells, stored.atoms), scratch.table("ends")
    if shape.neighbour is not None:
        least = verify_classes(scratch, shape, stored, least, release)
    scratch.execute("statistics/ends", ends=ends, moved=moved, compared=compared)
    demand = {**context, "threshold": most}
    wrong = scratch.count("statistics/verify_ends", ends=ends, compared=compared, least=least, **demand)
    refuse(release, "small cells without witnesses", wrong)
    return ends, least, moved


def _verify_moves(
    scratch: Scratch,
    context: dict[str, Any],
    compared: TableRef,
    stored: KeptTables,
    release: str,
    name: str,
) -> TableRef:
    """Witnesses have all that is published; see `verify_ends`. The scratch table gets a name.

    Returns:
        the scratch table of statistics/moved.
    """
    tables: dict[str, Any] = {"cells": stored.cells, "atoms": stored.atoms}
    wrong = scratch.count("statistics/verify_numbers", **tables, **context)
    refuse(release, "numbers of cells", wrong)
    refuse(release, "sums", scratch.count("statistics/verify_sums", **tables, **context))
    moved = scratch.table(name)
    with_witness: dict[str, Any] = {**tables, "witness": stored.witness}
    refuse_each(
        release,
        ("changes of no cell", "cells that a witness changes twice", "changes"),
        scratch.numbers("statistics/verify_changes", **with_witness, **context),
    )
    scratch.execute("statistics/moved", moved=moved, **with_witness, **context)
    refuse_each(
        release,
        ("shown cells that a witness changes", "cells that a witness makes empty", "bounds that a witness leaves"),
        scratch.numbers("statistics/verify_moved", moved=moved, compared=compared, **context),
    )
    return moved
