"""Rows of a population in the cells of a written table.

Only published cells and the staged rows of the population count.

The format decides which values lie in the published cells of a column, once per value and distinct cell; nothing here
knows codes, levels or methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.declared.combinations import list_populations
from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError, PolicyError, PrivacyViolation
from sqlanon.formats import RecodedClasses, format_of
from sqlanon.formats.base import Format
from sqlanon.formats.layout import Names
from sqlanon.privacy.base import Grouped, Measured, Requirement
from sqlanon.privacy.population import OfPopulation, of_population
from sqlanon.results import RequirementResult
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain
from sqlanon.table.encode import EncodedTable
from sqlanon.table.reading import Reading
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage


@dataclass(frozen=True, slots=True)
class HiddenRows:
    """Rows of the source that are in no published cell.

    Attributes:
        left_out: those that are not published.
        starred: those that are published with every quasi value hidden. A reader knows that they are of the population
            in no other cell, as a cell has all rows of the source that lie in it, or none.
    """

    left_out: int
    starred: int = 0


def verify_population(
    scratch: Scratch,
    encoded: EncodedTable,
    recoded: RecodedClasses,
    physical: TableRef,
    requirements: Sequence[OfPopulation],
) -> list[Measured]:
    """Count the population in the cells of the physical table, and measure the requirements on them.

    Raises:
        PrivacyViolation: rows of the population lie in several cells, so that a cell does not say of which of them a
            row may be.

    Cost: a grouping of the release and of the population, and per column a join of the values with the published cells.
    """
    population = encoded.population
    assert population is not None
    names = [recoded.layout.names[domain.code] for domain in encoded.quasi]
    columns = list(zip(encoded.quasi, names, population.readings, strict=True))
    missing = HiddenRows(recoded.left_out, recoded.starred_rows)
    cells, shared = _count_cells(scratch, recoded.form, physical, columns, population.stage, missing)
    if shared:
        raise PrivacyViolation(
            f"{shared} combinations of values of the population lie in more than one published cell; nothing was "
            "published"
        )
    return [_measure(scratch, requirement, cells) for requirement in requirements]


def audit_population(
    engine: Engine, relation: Relation, spec: ReleaseSpec, requirements: Sequence[Requirement], missing: HiddenRows
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Measure a release in the population as it is now.

    Args:
        engine: the session.
        relation: the release.
        spec: the policy's release.
        requirements: the policy's requirements; those that compare classes with a population are measured.
        missing: rows of the source that are in no cell.

    Returns:
        the results, and the requirements that could not be measured, each with the reason.
    """
    population = of_population(requirements)
    if not population:
        return (), ()
    table, form = next(iter(list_populations(spec).values())), format_of(spec.format.kind)
    what = " and ".join(dict.fromkeys(requirement.name for requirement in population))
    try:
        people = engine.relation(table)
        roles = assign_roles(replace(spec, columns=spec.with_role("quasi"), rest="drop"), people)
    except (DatabaseError, PolicyError) as error:
        return (), (f"{what}: the population cannot be read from here: {error}",)
    published = {column.name for column in relation.columns}
    names = [_find_published(form, reading, published) for reading in roles.quasi]
    if not all(names):
        return (), (
            f"{what}: the table has not the columns that format {form.facts.name} publishes of the quasi columns",
        )
    quasi = [Domain(reading, people.ref, 0, 0, 0, 0, 0, 0, f"c{i}") for i, reading in enumerate(roles.quasi, 1)]
    with Scratch(engine) as scratch, engine.snapshot():
        stage = take_stage(scratch, roles, (), step="population")
        columns = [
            (domain, published, reading)
            for domain, published, reading in zip(quasi, names, roles.quasi, strict=True)
            if published
        ]
        cells, shared = _count_cells(scratch, form, relation.ref, columns, stage, missing)
        if shared:
            return (), (
                f"{what}: {shared} combinations of values of the population lie in more than one published cell",
            )
        return tuple(requirement.result(_measure(scratch, requirement, cells)) for requirement in population), ()


def _find_published(form: Format, reading: Reading, columns: set[str]) -> Names | None:
    """Published columns of a quasi column; None if the table has other columns."""
    for nulls in (True, False):
        names = form.names(reading, mean=False, nulls=nulls)
        if columns.issuperset(names.list_columns()):
            return names
    return None


def _measure(scratch: Scratch, requirement: OfPopulation, counted: TableRef) -> Measured:
    return requirement.measure(scratch.engine, Grouped(counted, ("grp",), ("population",), "n"))


def _count_cells(
    scratch: Scratch,
    form: Format,
    target: TableRef,
    columns: Sequence[tuple[Domain, Names, Reading]],
    stage: TableRef,
    missing: HiddenRows,
) -> tuple[TableRef, int]:
    """A table of cells with their rows and those of the population, and a number of combinations.

    The number counts the combinations of values that lie in several cells.

    Args:
        scratch: the run.
        form: the format of the release.
        target: the release.
        columns: the quasi columns, with the published columns of each, and the column of the population.
        stage: the rows of the population.
        missing: rows of the source that are in no cell: the group of starred rows, whose cell is all values, is none.
    """
    groups, people, matched, cells = (
        scratch.table(f"population_{what}") for what in ("groups", "people", "matched", "counted")
    )
    scratch.execute(
        "verify/population_groups",
        groups=groups,
        target=target,
        columns=[list(layout.list_columns()) for _, layout, _ in columns],
    )
    read_columns = [
        {"alias": reading.alias, "as_text": reading.as_text or domain.reading.as_text, "as_float": reading.as_float}
        for domain, _, reading in columns
    ]
    scratch.execute("verify/population_people", people=people, stage=stage, columns=read_columns)
    pairs = []
    for index, (domain, layout, _) in enumerate(columns, 1):
        released_values, population_values = scratch.table(f"{domain.code}_said"), scratch.table(f"{domain.code}_seen")
        scratch.execute(
            "verify/population_each",
            each=released_values,
            source=groups,
            number=f"_sqlanon_said{index}",
            columns=[{"column": name, "name": name} for name in layout.list_columns()],
        )
        scratch.execute(
            "verify/population_each",
            each=population_values,
            source=people,
            number=f"seen{index}",
            columns=[{"column": domain.reading.alias, "name": "value"}],
        )
        pairs.append(form.match_cells(scratch, domain, released_values, population_values, layout))
    scratch.execute("verify/population_matched", matched=matched, people=people, groups=groups, pairs=pairs)
    starred = _find_starred(scratch, groups, people, matched, missing.starred) if missing.starred else None
    shared = scratch.count("verify/population_shared", matched=matched, starred=starred)
    scratch.execute(
        "verify/population_counted",
        counted=cells,
        groups=groups,
        people=people,
        matched=matched,
        starred=starred,
        missing=missing.left_out + (missing.starred if starred is not None else 0),
    )
    return cells, shared


def _find_starred(scratch: Scratch, groups: TableRef, people: TableRef, matched: TableRef, rows: int) -> int | None:
    """The group of so many rows in which the whole population lies; None where there is none, or more than one."""
    rows_found = scratch.fetch("verify/population_starred", groups=groups, people=people, matched=matched, rows=rows)
    return read_integer(rows_found[0][0]) if len(rows_found) == 1 else None
