"""The certificate of a release: sums that prove, of the written tables, that no small cell can be found.

It shares nothing with the search for hidden cells and trusts no linear program: every statement here adds and compares.
The witnesses are changes of the true table, and the true table is one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.statistics.shape import Shape
from sqlanon.table.scratch import Scratch

PARTS = ("cells", "atoms", "witness")
"""Suffixes of the names of a version's private tables."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The private tables of a version: cells, atoms, and the changes of the witnesses."""

    cells: TableRef
    atoms: TableRef
    witness: TableRef


def kept_beside(physical: TableRef) -> Kept:
    """The private tables of a version by the name of the version's table."""
    return Kept(*(replace(physical, name=f"{physical.name}_{part}") for part in PARTS))


def columns_kept(shape: Shape) -> dict[str, list[str]]:
    """The columns of the private tables of a version."""
    levels = [name for column in shape.columns for name in (f"l{column.place}", f"k{column.place}")]
    ranks = [] if shape.neighbour is None else [f"r{column.place}" for column in shape.neighbour.columns]
    classes = [] if shape.neighbour is None else ["whole", "kind", "class", *ranks]
    return {
        "cells": ["cell", *levels, "n", "persons"],
        "atoms": ["atom", *shape.key_columns(), "n", "persons", "owner", *classes],
        "witness": ["witness", "atom", "change"],
    }


def keep_statements(scratch: Scratch, shape: Shape, made: Kept, kept: Kept) -> list[Statement]:
    """The statements that copy scratch tables into the private tables of a version."""
    columns = columns_kept(shape)
    return [
        scratch.sql("statistics/keep", kept=getattr(kept, part), table=getattr(made, part), columns=columns[part])
        for part in PARTS
    ]


def verify_source(scratch: Scratch, shape: Shape, stage: TableRef, kept: Kept, release: str) -> None:
    """The kept cells and atoms are those of the staged rows.

    Raises:
        PrivacyViolation: they are not.
    """
    context, keyed = shape.context(), scratch.table("verified_rows")
    scratch.execute("statistics/verify_rows", keyed=keyed, stage=stage, **context)
    _refuse(release, "cells", scratch.count("statistics/verify_cells", keyed=keyed, cells=kept.cells, **context))
    atoms, neighbour = kept.atoms, shape.neighbour
    if neighbour is not None:
        atoms = scratch.table("wholes")
        scratch.execute("statistics/whole_atoms", wholes=atoms, atoms=kept.atoms, **context)
    failing, shared = scratch.numbers("statistics/verify_atoms", keyed=keyed, atoms=atoms, **context)
    _refuse(release, "finest cells", failing)
    _refuse(release, "owners of cells", shared)
    if neighbour is not None:
        rows: dict[str, Any] = {"keyed": keyed, "stage": stage, "atoms": kept.atoms}
        found = scratch.count(
            "statistics/verify_placed", linked=neighbour.linked, link=neighbour.link, **rows, **context
        )
        _refuse(release, f"rows of classes of {neighbour.release}", found)
        for column in neighbour.columns:
            if column.how == "branches":
                found = scratch.count("statistics/verify_branches", column=column, atoms=kept.atoms)
            else:
                found = scratch.count("statistics/verify_ranks", column=column, **rows)
            _refuse(release, "ranks", found)
    scratch.drop(keyed)


def verify_published(scratch: Scratch, shape: Shape, physical: TableRef, kept: Kept, release: str) -> tuple[int, int]:
    """Verify that the published table has each cell once, and that no reader or insider can find a small cell.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        physical: the published table.
        kept: the private tables of the version.
        release: name of the release, for messages.

    Returns:
        how many cells are shown, and how many are hidden.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.

    Cost: a grouping of the witnesses by every margin, and joins of small cells with insiders and witnesses.
    """
    context = shape.context()
    _refuse(
        release,
        "numbers of cells",
        scratch.count("statistics/verify_numbers", cells=kept.cells, atoms=kept.atoms, **context),
    )
    if shape.counted == "n":
        _refuse(release, "sums", scratch.count("statistics/verify_sums", cells=kept.cells, atoms=kept.atoms, **context))
    published, compared, moved, least, ends = (
        scratch.table(name) for name in ("published", "compared", "moved", "least", "ends")
    )
    scratch.execute("statistics/published", published=published, physical=physical, **context)
    scratch.execute("statistics/compared", compared=compared, published=published, cells=kept.cells, **context)
    _refuse_each(
        release,
        ("cells that are not published", "rows that are no cell", "cells published twice", "rows", "small cells shown"),
        scratch.numbers("statistics/verify_view", compared=compared),
    )
    made: dict[str, Any] = {"atoms": kept.atoms, "cells": kept.cells, "witness": kept.witness}
    _refuse_each(
        release,
        ("changes of no cell", "cells that a witness changes twice", "changes"),
        scratch.numbers("statistics/verify_changes", **made, **context),
    )
    scratch.execute("statistics/moved", moved=moved, **made, **context)
    _refuse_each(
        release,
        ("shown cells that a witness changes", "cells that a witness makes empty", "bounds that a witness leaves"),
        scratch.numbers("statistics/verify_moved", moved=moved, compared=compared, **context),
    )
    scratch.execute("statistics/least", least=least, **made, **context)
    inside = scratch.table("inside")
    if shape.insiders or shape.neighbour is not None:
        scratch.execute("statistics/inside", inside=inside, **made, **context)
    if shape.neighbour is not None:
        least = _verify_classes(scratch, shape, kept, least, inside, release)
    scratch.execute("statistics/ends", ends=ends, moved=moved, compared=compared)
    found = scratch.count("statistics/verify_ends", ends=ends, compared=compared, least=least, **context)
    _refuse(release, "small cells without witnesses", found)
    if shape.insiders:
        insiders, own = scratch.table("insiders"), scratch.table("own_parts")
        whole = "atom" if shape.neighbour is None else "whole"
        scratch.execute("statistics/insiders", insiders=insiders, inside=inside, **made)
        scratch.execute(
            "statistics/own_parts", own=own, inside=inside, insiders=insiders, whole=whole, **made, **context
        )
        found = scratch.count(
            "statistics/verify_insiders",
            ends=ends,
            compared=compared,
            least=least,
            insiders=insiders,
            own=own,
            **made,
            **context,
        )
        _refuse(release, "pairs of a small cell and an insider without witnesses", found)
    shown, hidden = scratch.numbers("statistics/counts", compared=compared)
    return shown, hidden


def _verify_classes(
    scratch: Scratch, shape: Shape, kept: Kept, least: TableRef, inside: TableRef, release: str
) -> TableRef:
    """Every witness has the rows of each class, within what the class shows.

    Returns:
        the least numbers of small cells that readers of the classes know.
    """
    assert shape.neighbour is not None
    context = shape.neighbour.context()
    needs, raised = scratch.table("needs"), scratch.table("raised")
    name = shape.neighbour.release
    _refuse_each(
        release,
        (f"parts that a class of {name} does not have", f"mixed kinds of {name}", f"kinds of {name} apart"),
        scratch.numbers("statistics/verify_parts", atoms=kept.atoms, **context),
    )
    scratch.execute("statistics/needs", needs=needs, atoms=kept.atoms, **context)
    _refuse_each(
        release,
        (f"numbers of {name} that a witness changes", f"values of classes of {name} that a witness loses"),
        scratch.numbers("statistics/verify_classes", atoms=kept.atoms, witness=kept.witness, needs=needs, **context),
    )
    scratch.execute(
        "statistics/least_of_classes",
        raised=raised,
        least=least,
        inside=inside,
        atoms=kept.atoms,
        needs=needs,
        **context,
    )
    return raised


def _refuse(release: str, what: str, failing: int) -> None:
    if failing:
        raise PrivacyViolation(f"{release}: the certificate fails: {what}: {failing}")


def _refuse_each(release: str, names: tuple[str, ...], failing: tuple[int, ...]) -> None:
    for name, many in zip(names, failing, strict=True):
        _refuse(release, name, many)
