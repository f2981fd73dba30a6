"""Verify the promises of the two tables of format anatomy. Trusts only tables, as `verify` does.

The covering predicate of this format is equality: every row shows the original quasi and insensitive values. Only the
group links a row to a sensitive value, so the requirements are counted on the groups of the second table.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import numbers, read_integers
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import COUNT, GROUP, RecodedClasses
from sqlanon.privacy.base import Requirement
from sqlanon.release.verify.verify import Verification, measure_requirements, verify_rows
from sqlanon.sqltext import statement
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.scratch import Scratch


def verify_pair(
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    counted: Relation,
    physical: Relation,
    requirements: Sequence[Requirement],
) -> Verification:
    """Check that both tables hold the staged rows and sensitive values, and that every group meets the requirements.

    Args:
        scratch: the run.
        classed: staged rows with their class; the private row ids are still there.
        recoded: groups of the classes, and the columns of both tables.
        counted: the table of sensitive values.
        physical: the table of rows.
        requirements: requirements on every group.

    Raises:
        PrivacyViolation: a promise does not hold.
    """
    verify_rows(scratch, classed, recoded, physical)
    if [column.name for column in counted.columns] != [column.name for column in recoded.sensitive]:
        raise PrivacyViolation(
            "the table of sensitive values does not have exactly the policy's columns; nothing was published"
        )
    (sensitive,) = classed.encoded.sensitive
    name = sensitive.reading.name
    row = scratch.fetch(
        "verify/sensitive",
        counted=counted.ref,
        classed=classed.table,
        released=recoded.released,
        group=GROUP,
        value=name,
        count=COUNT,
        alias=sensitive.reading.alias,
    )[0]
    matched, expected, wrong = read_integers(row)
    if wrong or matched != expected:
        raise PrivacyViolation(
            f"of {expected} sensitive values of groups {matched} are in the table and {wrong} are not those of the "
            "staged rows; nothing was published"
        )
    groups, apart = count_disagreeing(scratch.engine, physical.ref, counted.ref)
    if apart:
        raise PrivacyViolation(
            f"the two tables hold different numbers of rows for {apart} of {groups} groups; nothing was published"
        )
    return measure_requirements(scratch, recoded.grouping(physical.ref, counted.ref), (name,), requirements)


def count_disagreeing(engine: Engine, rows: TableRef, counted: TableRef) -> tuple[int, int]:
    """Number of groups in the two tables of a release, and number of groups with different row counts in them."""
    query = statement("verify/pair", engine.dialect, rows=rows, counted=counted, group=GROUP, count=COUNT)
    groups, wrong = numbers(engine, query)
    return groups, wrong
