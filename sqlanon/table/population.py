"""A population beside a source.

It is staged in the same snapshot, found to hold the source, and counted by the source's codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Relation, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError
from sqlanon.table.domain import Domain
from sqlanon.table.reading import Reading, Roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage

KINDS = {"ordered": "ordered", "nominal": "set", "hierarchy": "tree"}


@dataclass(frozen=True, slots=True)
class Population:
    """A population by the codes of the source.

    Attributes:
        readings: the columns of the population, in the order of the quasi columns.
        stage: table of the population's rows, with the aliases of the quasi columns.
        cells: table of code columns and n, the number of rows. Of a column with ``codes`` codes, ``codes`` is a value
            that the source has not and that the last level covers all the same, ``codes`` + 1 a value without a level.
        rows: how many there are.
        inside: those that the last level of every column covers.
    """

    readings: tuple[Reading, ...]
    stage: TableRef
    cells: TableRef
    rows: int
    inside: int


def roles_in(relation: Relation, roles: Roles) -> Roles:
    """The quasi columns of a source as a population has them.

    Raises:
        PolicyError: every column that it lacks, or that has values of another kind there.
    """
    spellings = {column.name.lower(): column for column in relation.columns}
    spellings |= {column.name: column for column in relation.columns}
    problems, readings = [], []
    for reading in roles.quasi:
        column = spellings.get(reading.name) or spellings.get(reading.name.lower())
        if column is None:
            problems.append(
                f"population {relation.ref} has no column {reading.name}, which is a quasi column of "
                f"{roles.relation.ref}"
            )
            continue
        people_reading = replace(reading, column=column, listed=None)
        same = column.kind == reading.column.kind and people_reading.zoned == reading.zoned
        if not same or (reading.spec.ordered == "declared" and column.type != reading.column.type):
            problems.append(
                f"population {relation.ref}: {column.name} is {column.shown_type}, and {reading.name} of "
                f"{roles.relation.ref} is {reading.column.shown_type}; cast it in a view"
            )
        readings.append(people_reading)
    if problems:
        raise PolicyError(problems)
    return Roles(relation, tuple(readings), (), (), (), ())


def stage_population(scratch: Scratch, roles: Roles, rows: int) -> TableRef:
    """Copy the quasi columns of a population, in the snapshot that the source is staged in."""
    return take_stage(scratch, roles, (), rows=rows, step="population")


def count_population(
    scratch: Scratch, roles: Roles, people: Roles, stages: tuple[TableRef, TableRef], quasi: Sequence[Domain]
) -> Population:
    """Count the population by the codes of the source.

    Args:
        scratch: the run.
        roles: the source.
        people: the population, as `roles_in` found it.
        stages: the staged rows of both.
        quasi: the domains of the source's quasi columns.

    Raises:
        PolicyError: it has not all rows of the source, or values that no level can cover: NULL in a column where the
            source has none, or a value that a hierarchy or an order does not list.

    Cost: a scan of the population, and a grouping of both.
    """
    stage, people_stage = stages
    columns = [
        {
            "alias": people_reading.alias,
            "code": domain.code,
            "domain": domain.table,
            "codes": domain.codes,
            "nulls": domain.has_null,
            "kind": KINDS[people_reading.treatment or "ordered"],
            "as_text": people_reading.as_text or domain.reading.as_text,
            "as_float": people_reading.as_float,
            "ranks": scratch.name_table(f"{domain.code}_ranks")
            if isinstance(people_reading.spec.ordered, tuple)
            else None,
        }
        for people_reading, domain in zip(people.quasi, quasi, strict=True)
    ]
    cells = scratch.table("population_cells")
    lacking = scratch.fetch("table/population_lacking", stage=stage, people=people_stage, columns=columns)[0]
    if read_integer(lacking[0]):
        raise PolicyError(
            f"population {people.relation.ref} does not cover {roles.relation.ref}: {lacking[1]} rows of {lacking[0]} "
            "combinations of quasi values are in the source and not in the population; name a table that has every "
            "row of the source"
        )
    scratch.execute("table/population_cells", cells=cells, people=people_stage, columns=columns)
    rows, inside, *refused = (
        read_integer(cell) for cell in scratch.fetch("table/population_facts", cells=cells, columns=columns)[0]
    )
    problems = []
    for people_reading, nulls, unknown in zip(people.quasi, refused[::2], refused[1::2], strict=True):
        if nulls:
            problems.append(
                f"population {people.relation.ref}: {people_reading.name} is NULL in {nulls} rows and in none of "
                "the source, so that no cell says whether they lie in it; leave these rows out in a view"
            )
        if unknown:
            listing = "hierarchy" if people_reading.treatment == "hierarchy" else "given order"
            problems.append(
                f"population {people.relation.ref}: {unknown} rows have a value of {people_reading.name} that the "
                f"{listing} of the column does not list; add it"
            )
    if problems:
        raise PolicyError(problems)
    return Population(people.quasi, people_stage, cells, rows, inside)
