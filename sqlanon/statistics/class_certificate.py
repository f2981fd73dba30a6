"""Checks counts next to a release of rows: every witness agrees with the classes of that release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.statistics.certificate_errors import refuse, refuse_each
from sqlanon.statistics.neighbour import Neighbour
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.shape import Shape
from sqlanon.table.scratch import Scratch


def verify_placed(
    scratch: Scratch, shape: Shape, keyed: TableRef, stage: TableRef, atoms: TableRef, release: str
) -> None:
    """The parts are those of the staged rows and of the release of rows that readers have as well.

    Raises:
        PrivacyViolation: they are not.
    """
    neighbour = shape.neighbour
    rows: dict[str, Any] = {"keyed": keyed, "stage": stage, "atoms": atoms}
    assert neighbour is not None
    placing: dict[str, Any] = {"linked": neighbour.linked, "link": neighbour.link}
    mismatched = scratch.count(
        "statistics/verify_placed",
        merged=not neighbour.columns and not shape.patterns,
        **placing,
        **rows,
        **shape.context(),
    )
    refuse(release, f"rows of classes of {neighbour.release}", mismatched)
    for column in neighbour.columns:
        if column.how == "branches":
            mismatched = scratch.count("statistics/verify_branches", column=column, atoms=atoms)
        else:
            mismatched = scratch.count("statistics/verify_ranks", column=column, **rows)
        refuse(release, "ranks", mismatched)


@dataclass(frozen=True, slots=True)
class ClassTables:
    """Parts of classes of a release of rows, witnesses, the least numbers of cells, and the parts of small cells."""

    atoms: TableRef
    witness: TableRef
    least: TableRef
    inside: TableRef


def verify_classes(scratch: Scratch, shape: Shape, stored: KeptTables, least: TableRef, release: str) -> TableRef:
    """Every witness has the rows of each class, within the ends, members and nodes that the class shows.

    Returns:
        the least numbers of small cells that readers of the classes know.
    """
    raised, inside = scratch.table("raised"), scratch.table("inside_classes")
    class_tables: dict[str, Any] = {"cells": stored.cells, "atoms": stored.atoms}
    scratch.execute("statistics/inside", inside=inside, **class_tables, **shape.context())
    tables = ClassTables(stored.atoms, stored.witness, least, inside)
    verify_parts(scratch, shape.neighbour, tables, raised, release)
    return raised


def verify_parts(
    scratch: Scratch, neighbour: Neighbour | None, tables: ClassTables, raised: TableRef, release: str
) -> None:
    """The same of parts, wherever these are stored.

    Args:
        scratch: the run.
        neighbour: the release of rows.
        tables: the parts and witnesses.
        raised: table to make, of the least numbers that readers of the classes know: (cell, least).
        release: name of the release, for messages.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.
    """
    assert neighbour is not None
    context, needs, name = neighbour.context(), scratch.table("needs"), neighbour.release
    refuse_each(
        release,
        (f"parts that a class of {name} does not have", f"mixed kinds of {name}", f"kinds of {name} apart"),
        scratch.numbers("statistics/verify_parts", atoms=tables.atoms, **context),
    )
    scratch.execute("statistics/needs", needs=needs, atoms=tables.atoms, **context)
    refuse_each(
        release,
        (f"numbers of {name} that a witness changes", f"values of classes of {name} that a witness loses"),
        scratch.numbers(
            "statistics/verify_classes", atoms=tables.atoms, witness=tables.witness, needs=needs, **context
        ),
    )
    cells: dict[str, Any] = {"least": tables.least, "inside": tables.inside, "atoms": tables.atoms, "needs": needs}
    scratch.execute("statistics/least_of_classes", raised=raised, **cells, **context)


def list_person_parts(
    scratch: Scratch, shape: Shape, keyed: TableRef, stage: TableRef, atoms: TableRef, release: str
) -> TableRef:
    """The scratch table of how many rows each person has of each part (person, atom, times), of the staged rows.

    Raises:
        PrivacyViolation: the kept persons of a class are others.
    """
    neighbour, listed = shape.neighbour, scratch.table("verified_person_rows")
    assert neighbour is not None
    rows: dict[str, Any] = {"keyed": keyed, "stage": stage, "linked": neighbour.linked, "link": neighbour.link}
    scratch.execute("statistics/verify_person_parts", listed=listed, atoms=atoms, **rows, **shape.context())
    failing = scratch.count("statistics/verify_class_persons", listed=listed, atoms=atoms)
    refuse(release, f"persons of classes of {neighbour.release}", failing)
    if shape.weighed:
        failing = scratch.count("statistics/verify_class_weights", listed=listed, atoms=atoms)
        refuse(release, f"weights of values in classes of {neighbour.release}", failing)
    return listed


def verify_class_patterns(
    scratch: Scratch, shape: Shape, stored: KeptTables, least: TableRef, release: str
) -> TableRef:
    """Every witness of persons has the rows of each class, and as many persons as are promised.

    Where the rows promise more, it has as many persons as the source with the same rows by class and shown values.

    Returns:
        the least numbers of small cells that readers of the classes know.

    Raises:
        PrivacyViolation: it has not.
    """
    assert shape.neighbour is not None
    changes, promised, name = scratch.table("changes_of_parts"), shape.neighbour.persons, shape.neighbour.release
    patterned: dict[str, Any] = {"witness": stored.witness, "patterns": stored.patterns}
    scratch.execute("statistics/pattern_changes", changes=changes, **patterned, sums=[])
    part, whole = promised.share
    refuse_each(
        release,
        (f"classes of {name} of too few persons", f"patterns of too many rows of a class of {name}"),
        scratch.numbers(
            "statistics/verify_promised", atoms=stored.atoms, least=promised.least, part=part, whole=whole, **patterned
        ),
    )
    if promised.alike:
        refuse_each(
            release,
            (f"patterns with unlike rows of classes of {name}", f"persons of classes of {name} that a witness changes"),
            scratch.numbers(
                "statistics/verify_alike", atoms=stored.atoms, apart=promised.alike == "classes", **patterned
            ),
        )
    for place, p, q in promised.weighed:
        limit: dict[str, Any] = {"place": place, "p": p, "q": q}
        failing = scratch.count("statistics/verify_weights", atoms=stored.atoms, **limit, **patterned)
        refuse(release, f"values that weigh too much in a class of {name}", failing)
    return verify_classes(scratch, shape, replace(stored, witness=changes), least, release)
