"""Checks counts of persons with several rows: witnesses are numbers of persons for each pattern of rows.

Every statement adds and compares. A witness is a source: numbers of a cell are counted from persons and their rows, so
that numbers of rows and persons that no source has do not pass.
"""

from __future__ import annotations

from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.statistics.certificate_errors import refuse, refuse_each
from sqlanon.statistics.class_certificate import list_person_parts, verify_class_patterns
from sqlanon.statistics.least_numbers import list_least
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.shape import Shape
from sqlanon.table.scratch import Scratch


def list_able(scratch: Scratch, shape: Shape, stored: KeptTables, name: str) -> TableRef:
    """A scratch table of the atoms, with those without rows of which witnesses have some; next to rows the atoms.

    So it is without a table of the latter, as versions that older releases of the software wrote.
    """
    if shape.neighbour is not None or stored.able is None:
        return stored.atoms
    every = scratch.table(name)
    scratch.execute("statistics/able_atoms", every=every, atoms=stored.atoms, able=stored.able, **shape.context())
    return every


def verify_patterns(
    scratch: Scratch, shape: Shape, keyed: TableRef, stage: TableRef, stored: KeptTables, release: str
) -> None:
    """The kept patterns are those of the staged rows, and witnesses give nobody more rows than persons have.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        keyed: see statistics/verify_rows.
        stage: the staged source.
        stored: the private tables.
        release: name of the release, for messages.

    Raises:
        PrivacyViolation: they are not.

    Cost: a join of the persons with the patterns that share a finest combination with them.
    """
    context, classes = shape.context(), shape.neighbour is not None
    if classes:
        listed = list_person_parts(scratch, shape, keyed, stage, stored.atoms, release)
    else:
        listed = scratch.table("verified_person_rows")
        scratch.execute("statistics/verify_person_rows", listed=listed, keyed=keyed, atoms=stored.atoms, **context)
    tables: dict[str, Any] = {"listed": listed, "patterns": stored.patterns}
    refuse_each(
        release,
        ("persons with the rows of a pattern", "patterns of more rows than a person has"),
        scratch.numbers("statistics/verify_patterns", **tables),
    )
    every = list_able(scratch, shape, stored, "able_of_patterns")
    mixed = scratch.count("statistics/verify_values", **tables, atoms=every, classes=classes, **context)
    refuse(release, "columns of which a pattern has several values, and no person", mixed)
    scratch.drop(listed)
    if every != stored.atoms:
        scratch.drop(every)


def verify_persons(
    scratch: Scratch, shape: Shape, compared: TableRef, stored: KeptTables, release: str, wholes: TableRef | None = None
) -> TableRef:
    """Verify that witnesses have all that is published, both ends of each small cell, and those for each insider.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        compared: see statistics/compared.
        stored: the private tables of the version.
        release: name of the release, for messages.
        wholes: where atoms are parts of the finest combinations, the table of these.

    Returns:
        the scratch table of statistics/able_atoms.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.

    Cost: a grouping of the witnesses by every margin, and joins of small cells with insiders and witnesses.
    """
    context = shape.context()
    tables: dict[str, Any] = {"cells": stored.cells, "atoms": stored.atoms}
    every: dict[str, Any] = {"cells": stored.cells, "atoms": list_able(scratch, shape, stored, "able_atoms")}
    patterned: dict[str, Any] = {**every, "witness": stored.witness, "patterns": stored.patterns}
    if shape.neighbour is None and stored.able is not None:
        of_able: dict[str, Any] = {"every": every["atoms"], "atoms": stored.atoms, "able": stored.able}
        refuse(release, "cells that are empty", scratch.count("statistics/verify_able", **of_able, **context))
    refuse(release, "numbers of cells", scratch.count("statistics/verify_numbers", **every, **context))
    numbers = context if shape.neighbour is None else {**context, "sums": []}
    refuse(release, "sums", scratch.count("statistics/verify_sums", **tables, **numbers))
    refuse_each(
        release,
        ("changes of no pattern", "patterns that a witness changes twice", "changes"),
        scratch.numbers("statistics/verify_pattern_changes", **patterned),
    )
    total: dict[str, Any] = {"cells": stored.cells, "witness": stored.witness, "least": shape.least_rows}
    refuse(release, "sources of too few persons", scratch.count("statistics/verify_pattern_came", **total))
    moved, ends = scratch.table("moved"), scratch.table("ends")
    scratch.execute("statistics/pattern_moved", moved=moved, **patterned, **context)
    refuse_each(
        release,
        ("shown cells that a witness changes", "cells that a witness makes empty", "bounds that a witness leaves"),
        scratch.numbers("statistics/verify_pattern_moved", moved=moved, compared=compared, **context),
    )
    least = list_least(scratch, shape, stored.cells, stored.atoms)
    if shape.neighbour is not None:
        least = verify_class_patterns(scratch, shape, stored, least, release)
    scratch.execute("statistics/pattern_ends", ends=ends, moved=moved, compared=compared)
    demand: dict[str, Any] = {
        "least_of": "n" if shape.has_rows and not shape.alike else "persons",
        "threshold": shape.threshold,
        "least": least,
    }
    wrong = scratch.count("statistics/verify_pattern_ends", ends=ends, **demand)
    refuse(release, "small cells without witnesses", wrong)
    able: TableRef = every["atoms"]
    if not shape.insiders:
        return able
    inside, touching, insiders = (scratch.table(name) for name in ("inside", "touching", "insiders"))
    scratch.execute("statistics/inside", inside=inside, **every, **context)
    scratch.execute("statistics/pattern_inside", touching=touching, inside=inside, patterns=stored.patterns)
    owners: dict[str, Any] = {"cells": stored.cells, "touching": touching}
    refuse(release, "owners of cells", scratch.count("statistics/verify_owners", **owners))
    scratch.execute("statistics/pattern_insiders", insiders=insiders, **owners)
    of_sums: dict[str, Any] = {}
    if shape.sums:
        of_sums = {"known": scratch.table("known"), "paid": stored.paid}
        if wholes is not None:
            inside = scratch.table("inside_wholes")
            scratch.execute("statistics/inside", inside=inside, cells=stored.cells, atoms=wholes, **context)
        scratch.execute("statistics/pattern_known", known=of_sums["known"], inside=inside, **owners)
    unwitnessed = scratch.count(
        "statistics/verify_pattern_insiders",
        ends=ends,
        compared=compared,
        witness=stored.witness,
        touching=touching,
        insiders=insiders,
        sums=context["sums"],
        **of_sums,
        **demand,
    )
    refuse(release, "pairs of a small cell and an insider without witnesses", unwitnessed)
    return able
