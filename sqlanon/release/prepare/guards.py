"""Guards: refusals of a release before any work, each with an explicit opt-out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.declared import limit_suppressed
from sqlanon.declared.combinations import list_refused
from sqlanon.engines.base import Column, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import GuardError, InfeasibleError, PolicyError
from sqlanon.formats import format_of
from sqlanon.privacy.base import Grouped, Requirement, as_number, round_reachable
from sqlanon.privacy.values import values_of
from sqlanon.results import FeasibleLevel
from sqlanon.results.figures import format_rows
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.release.prepare.staged_source import StagedSource

UNIQUE_SHARE = 0.01
"""Share of rows alone with their value above which an insensitive column identifies people."""
DISTINCT_SHARE = 0.5
"""Largest share of distinct values.

Above it a sensitive column identifies people, and so does a quasi column that is published as sets of values.
"""
_OWN = 2
"""Persons who have a value, on average, from which values are not those of single persons."""
FEW_VALUES = 50
"""Largest number of values of a column of categories.

Quasi columns qualify however few rows have a value, sensitive columns however few persons.
"""


def guard_source(scratch: Scratch, spec: ReleaseSpec, roles: Roles, rows: int, *, needs_key: bool) -> None:
    """Guards that read the source: identifiers that repeat, insensitive columns that identify.

    Raises:
        GuardError: every guard that stops the release, each with the opt-out.
    """
    problems = []
    columns = {column.name: column for column in roles.relation.columns}
    if spec.rows_are == "persons":
        for item in roles.identifier_specs:
            if needs_key and [item.name.lower()] == [name.lower() for name in spec.key]:
                continue  # `check_key` refuses it: a lineage needs the key, whatever rows are
            if item.accept_repeats or _all_differ(scratch, roles.relation.ref, columns[item.name]):
                continue
            as_text = not columns[item.name].hashable
            filled, distinct, _, _ = _uniques(scratch, roles.relation.ref, item.name, as_text=as_text)
            values = distinct + (filled < rows)  # NULLs are one value: who they are is not known
            if rows > values:
                nulls = ", NULL being one" if filled < rows - 1 else ""
                problems.append(
                    f"{spec.name}: identifier {item.name} repeats ({rows - values} rows more than values{nulls}): one "
                    "person may have several rows, and k would count rows, not persons. If rows are events, say "
                    f"rows_are: events; if equal values of {item.name} are not one person, accept_repeats: true"
                )
    if spec.person and spec.null_person is None:
        (person,) = roles.list_counted(spec)
        row = scratch.fetch("table/lacking", source=roles.relation.ref, columns=list(person.columns))[0]
        if read_integer(row[0]):
            problems.append(
                f"{spec.name}: person {person.name} is NULL in {row[0]} of {rows} rows: whose they are is not known. "
                "Say null_person: one (all are one person's) or null_person: distinct (each is another's), or leave "
                "these rows out in a view"
            )
    persons = {name.lower() for name in spec.person}
    for reading in roles.pseudonyms:
        if reading.name.lower() in persons:
            continue
        filled, distinct, _, _ = _uniques(scratch, roles.relation.ref, reading.name)
        if distinct < rows:
            problems.append(
                f"{spec.name}: pseudonym {reading.name} is the same, or NULL, in {rows - distinct} of {rows} rows: "
                "only a number that is another one in every row is a token of an event; what several rows share is a "
                "quasi-identifier, so make it quasi, or an identifier (not published)"
            )
    for reading in roles.insensitive:
        if reading.spec.accept_unique:
            continue
        _, _, singles, _ = _uniques(scratch, roles.relation.ref, reading.name)
        if singles > UNIQUE_SHARE * rows:
            problems.append(
                f"{spec.name}: insensitive column {reading.name} is unique for {singles} of {rows} rows and could "
                "identify them; make it an identifier (not published) or quasi, or say accept_unique: true"
            )
    if problems:
        raise GuardError(problems)


def guard_insensitive(scratch: Scratch, spec: ReleaseSpec, staged: StagedSource) -> None:
    """Guard of persons with several rows.

    It finds insensitive columns with too many rows that have a value of a single person.

    Raises:
        GuardError: there is such a column, and the policy does not accept it.
    """
    if not spec.person:
        return
    problems = []
    for reading in staged.roles.insensitive:
        if reading.spec.accept_unique:
            continue
        owned_rows = scratch.fetch(
            "table/owned", source=staged.stage, column=reading.alias, person=staged.persons[0].alias
        )
        owned = read_integer(owned_rows[0][0])
        if owned > UNIQUE_SHARE * staged.rows:
            problems.append(
                f"{spec.name}: insensitive column {reading.name} has a value that is one person's alone in {owned} of "
                f"{staged.rows} rows and could identify them; make it an identifier (not published) or quasi, or say "
                "accept_unique: true"
            )
    if problems:
        raise GuardError(problems)


def guard_sensitive(scratch: Scratch, spec: ReleaseSpec, staged: StagedSource, sensitive: Sequence[Domain]) -> None:
    """Guard of sensitive columns of mostly distinct values, which identify rows, or the persons who have several.

    Raises:
        GuardError: there is such a column, and the policy does not accept it.
    """
    problems = []
    for domain in sensitive:
        if domain.reading.spec.accept_unique:
            continue
        among, rows_text = _those_with(scratch, spec, staged, domain)
        if domain.distinct > DISTINCT_SHARE * among:
            problems.append(
                f"{spec.name}: sensitive column {domain.reading.name} has {domain.distinct} distinct values in "
                f"{rows_text} and could identify them; give it another role, coarsen it in a view, or say "
                "accept_unique: true"
            )
    if problems:
        raise GuardError(problems)


def _those_with(scratch: Scratch, spec: ReleaseSpec, staged: StagedSource, domain: Domain) -> tuple[int, str]:
    """Largest number of owners of values in a column, in words too.

    They are the persons if each value is of a single person, else the rows.
    """
    rows = staged.rows
    if spec.person and domain.distinct > FEW_VALUES:
        person, alias = staged.persons[0].alias, domain.reading.alias
        pairs = scratch.fetch("table/pairs", source=staged.stage, one=alias, other=person)[0][0]
        if read_integer(pairs) < _OWN * domain.distinct:
            persons = _uniques(scratch, staged.stage, person)[1]
            return persons, f"{format_rows(rows)} of {persons} persons"
    return rows, format_rows(rows)


def guard_sets(
    scratch: Scratch, spec: ReleaseSpec, staged: StagedSource, quasi: Sequence[Domain], *, part: bool
) -> None:
    """Refuse quasi columns of text without hierarchy that would be published as lists of nearly all their values.

    Such a column is published as sets of values, or as the first and the last of them.

    Where the values are mostly different, that is a list of them all. Where `person` is named and each value is of a
    single person, they are compared with the number of persons.

    Args:
        scratch: the database.
        spec: the release.
        staged: the staged source.
        quasi: the quasi columns.
        part: the stage has a part of the source's rows: the column is then looked at in the source.

    Raises:
        GuardError: they are, and the policy does not accept it.
    """
    if format_of(spec.format.kind).facts.either:
        return
    source, problems = staged.roles.relation.ref, []
    for domain in quasi:
        reading = domain.reading
        texts = reading.treatment == "nominal" or (reading.treatment == "ordered" and reading.column.kind == "text")
        if not texts or domain.distinct <= FEW_VALUES or reading.spec.accept_unique:
            continue
        distinct = domain.distinct
        if part:
            among, distinct, _, _ = _uniques(scratch, source, reading.name)
            rows_text = format_rows(among)
        else:
            among, rows_text = _those_with(scratch, spec, staged, domain)
        if distinct > DISTINCT_SHARE * among:
            problems.append(
                f"{spec.name}: quasi column {reading.name} has {distinct} distinct values in {rows_text}, and "
                "classes would publish lists of them, in clear; make it an identifier (not published), give it a "
                "hierarchy, or say accept_unique: true"
            )
    if problems:
        raise GuardError(problems)


def guard_values(
    scratch: Scratch, spec: ReleaseSpec, sensitive: Sequence[Domain], requirements: Sequence[Requirement]
) -> None:
    """Check that requirements on values find the values they need.

    Raises:
        PolicyError: every requirement that does not.
    """
    by_name = {domain.reading.name: domain for domain in sensitive}
    problems = []
    for requirement in requirements:
        if requirement.reads_values and requirement.column is not None:
            refused = requirement.refusal(values_of(scratch, by_name[requirement.column]))
            problems += [f"{spec.name}: {refused}"] if refused else []
    if problems:
        raise PolicyError(list(dict.fromkeys(problems)))


def guard_format(spec: ReleaseSpec, roles: Roles) -> None:
    """Check that the format can keep the policy.

    Raises:
        PolicyError: every problem, each with a remedy.
    """
    problems = format_of(spec.format.kind).problems(spec, roles)
    if problems:
        raise PolicyError(problems)


def guard_combinations(spec: ReleaseSpec) -> None:
    """Keys that do not go together; policies have been checked, and a spec that was made by hand is checked here.

    Raises:
        PolicyError: every combination.
    """
    problems = [f"{spec.name}: {refused}" for _, refused in list_refused(spec)]
    if problems:
        raise PolicyError(problems)


def _all_differ(scratch: Scratch, source: TableRef, column: Column) -> bool:
    """Whether no number repeats, as far as that can be seen without grouping.

    Serial numbers mostly come in ascending order.
    """
    if column.kind != "integer":
        return False
    return scratch.count("table/distinct", source=source, column=column.name) <= 1


def _uniques(scratch: Scratch, source: TableRef, column: str, *, as_text: bool = False) -> tuple[int, int, int, int]:
    filled, distinct, singles, top = scratch.fetch("table/uniques", source=source, column=column, as_text=as_text)[0]
    return read_integer(filled), read_integer(distinct), read_integer(singles), read_integer(top)


def guard_loss_limit(spec: ReleaseSpec, quasi: Sequence[Domain]) -> None:
    """The bounds on the loss are such that a method could keep them.

    Raises:
        PolicyError: every problem at once.
    """
    accuracy = spec.privacy.accuracy
    if accuracy is None:
        return
    from sqlanon.methods.shared.loss_bound import list_unmeasurable

    problems = [f"{spec.name}: {problem}" for problem in list_unmeasurable(accuracy, quasi)]
    if problems:
        raise PolicyError(problems)


def check_feasible(
    scratch: Scratch,
    spec: ReleaseSpec,
    stage: TableRef,
    roles: Roles,
    requirements: Sequence[Requirement],
    rows: int,
    persons: Sequence[str] = (),
) -> tuple[FeasibleLevel, ...]:
    """Values that the whole table reaches as one class: no release of all rows reaches more in a monotone requirement.

    Where rows may be left out, those that remain may be more diverse: the method finds out.

    ``persons`` are the stage's columns of counted identifiers.

    Raises:
        InfeasibleError: a requirement asks for more; the text gives the largest feasible value.
    """
    if rows == 0:
        raise InfeasibleError(f"{spec.name}: {roles.relation.ref} has no rows; there is nothing to release")
    feasible = []
    problems = []
    names = [reading.alias for reading in roles.sensitive]
    leaves_out = (
        spec.suppression is not None and spec.suppression.rows == "left_out" and limit_suppressed(spec, rows) > 0
    )
    for requirement in requirements:
        if requirement.shape.kind == "rows":
            largest = Fraction(rows)
        else:
            largest = requirement.largest(scratch.engine, Grouped(stage, (), names, persons=persons))
        met = requirement.reaches(largest)
        feasible.append(
            FeasibleLevel(requirement.name, requirement.column, as_number(requirement.asked), as_number(largest), met)
        )
        fewer = requirement.column is not None and leaves_out
        if not met and not fewer:
            of_column = f" of {requirement.column}" if requirement.column else ""
            extreme = "least" if requirement.at_most else "largest"
            best = f"the {extreme} feasible value is {round_reachable(requirement, largest):g}"
            if not largest and not requirement.at_most:
                best = "no value is feasible"
            problems.append(
                f"{spec.name}: no release of {roles.relation.ref} ({format_rows(rows)}) reaches {requirement.name} = "
                f"{as_number(requirement.asked):g}{of_column}; {best}"
            )
    if problems:
        raise InfeasibleError(problems)
    return tuple(feasible)
