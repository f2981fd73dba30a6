"""Requirements that compare the classes of a release with all rows of its source, those that are left out among them.

A run has both: `verify_rows` found the released rows equal to the staged ones, so the staged ones are counted. An audit
reads the source anew, and says so where it cannot be the source of the version: other numbers of rows, or fewer with a
value than are published. Values of left-out rows that changed since are not noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.formats import RecodedClasses
from sqlanon.privacy.base import Grouped, Measured, Requirement
from sqlanon.privacy.counts import count_compared
from sqlanon.results import RequirementResult
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage


def measure_compared(
    scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, requirements: Sequence[Requirement]
) -> list[Measured]:
    """Measure requirements over the groups of equal published cells, with the shares of all staged rows.

    Cost: two groupings of the rows.
    """
    table, numbers = scratch.table("compared"), scratch.table("numbers_compared")
    columns = [domain.reading.alias for domain in classed.encoded.sensitive]
    scratch.execute("verify/numbers", numbers=numbers, released=recoded.released, names=recoded.layout.of_class)
    scratch.execute(
        "verify/compared",
        compared=table,
        classed=classed.table,
        numbers=numbers,
        omitted=recoded.omitted,
        columns=columns,
    )
    return [_measure(scratch, requirement, table, columns) for requirement in requirements]


def audit_compared(
    engine: Engine,
    relation: Relation,
    classes: Sequence[str],
    spec: ReleaseSpec,
    requirements: Sequence[Requirement],
    left_out: int,
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Measure a release with the source as it is now.

    Args:
        engine: the session.
        relation: the release.
        classes: the columns of the release that come from the class.
        spec: the policy's release.
        requirements: the policy's requirements; those that compare classes with the source are measured.
        left_out: rows of the source that the release leaves out.

    Returns:
        the results, and the requirements that could not be measured, each with the reason.
    """
    compared = [requirement for requirement in requirements if requirement.compares_source]
    if not compared:
        return (), ()
    what = " and ".join(dict.fromkeys(requirement.name for requirement in compared))
    try:
        source = engine.relation(spec.source)
        roles = assign_roles(replace(spec, columns=spec.with_role("sensitive"), rest="drop"), source)
    except (DatabaseError, PolicyError) as error:
        return (), (f"{what}: the source cannot be read from here: {error}",)
    spelled = {column.name.lower(): column.name for column in relation.columns}
    columns = [
        {"name": spelled[reading.name.lower()], "alias": reading.alias, "as_text": reading.as_text}
        for reading in roles.sensitive
    ]
    aliases = [reading.alias for reading in roles.sensitive]
    with Scratch(engine) as scratch, engine.snapshot():
        table = scratch.table("compared")
        scratch.execute(
            "verify/compared_released",
            compared=table,
            target=relation.ref,
            classes=list(classes),
            stage=take_stage(scratch, roles, (), step="source"),
            columns=columns,
        )
        if any(_has_changed(engine, table, alias, left_out) for alias in aliases):
            return (), (f"{what}: the source has other rows than the version was made of",)
        measured = [_measure(scratch, requirement, table, aliases) for requirement in compared]
    return tuple(requirement.result(value) for requirement, value in zip(compared, measured, strict=True)), ()


def _has_changed(engine: Engine, table: TableRef, value: str, left_out: int) -> bool:
    """Whether the source cannot be that of the release: other numbers of rows, or fewer with a value."""
    import numpy as np

    counts = count_compared(engine, table, "number", value, "n")
    released = np.zeros(len(counts.whole), np.int64)
    np.add.at(released, counts.value, counts.n)
    return bool((released > counts.whole).any()) or int(released.sum()) + left_out != int(counts.whole.sum())


def _measure(scratch: Scratch, requirement: Requirement, table: TableRef, names: Sequence[str]) -> Measured:
    return requirement.measure(scratch.engine, Grouped(table, ("number",), names, "n", of_source=True))
