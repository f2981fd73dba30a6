"""Persons of a release of events: every identifier is counted by itself, as a tuple of identifiers would count rows.

Several identifiers of a row (a visit, a patient) may have different numbers of values in a class: the smallest is the
number of persons that the class holds for certain. The stage and the private link table hold a number of each
identifier (a hash or a rank); audit counts those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import number, read_integers
from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.verify.stored_rows import find_stored_rows, read_counted
from sqlanon.results import FeasibleLevel, RequirementResult
from sqlanon.spec import NullPerson, ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.reading import CountedIdentifier, hashes_of
from sqlanon.table.scratch import Scratch

NAME = "persons"
"""The name of the requirement in reports."""

UNCOUNTED = (
    "rows_are: events, and no identifier without accept_repeats says whose rows they are: k counts rows, and persons "
    "are not counted; name such an identifier, or say persons: ignored"
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Persons in the classes of a table.

    Attributes:
        fewest: per identifier, the fewest values in any class.
        average: mean over rows of 1 / the fewest persons of the row's class, 0 where nothing was counted.
    """

    fewest: Mapping[str, int] = field(default_factory=dict)
    average: float = 0.0

    @property
    def highest(self) -> float:
        """The highest risk: 1 / the fewest persons of a class, 0 where nothing was counted."""
        smallest = min(self.fewest.values(), default=0)
        return 1 / smallest if smallest else 0.0


def is_promised(spec: ReleaseSpec) -> bool:
    """Whether classes of fewer than k persons violate the policy; with k = 1 they never do."""
    return spec.rows_are == "events" and spec.persons != "ignored" and spec.privacy.k > 1


def warn_of_persons(spec: ReleaseSpec) -> tuple[str, ...]:
    """Warning of plan and run if persons are promised and no identifier says to whom the rows belong."""
    return (UNCOUNTED,) if is_promised(spec) and not spec.list_counted() else ()


def plan_warnings(spec: ReleaseSpec) -> tuple[str, ...]:
    """Warnings of a plan, which has no classes yet: a run stops if a class holds too few persons."""
    if not is_promised(spec) or spec.person or not spec.list_counted():
        return warn_of_persons(spec)
    columns = ", ".join(spec.list_counted())
    return (
        (
            f"classes are made of {spec.privacy.k} rows, and the run stops where one has fewer than {spec.privacy.k} "
            f"values of {columns}; with person they are made of persons"
        ),
    )


def hold(spec: ReleaseSpec, fewest: Mapping[str, int]) -> None:
    """Refuse classes of fewer than k persons.

    Args:
        spec: the release.
        fewest: the fewest values in any class, per counted identifier.

    Raises:
        PrivacyViolation: a class has fewer than k, and the policy does not accept it.
    """
    if not is_promised(spec):
        return
    names = {name.lower() for name in spec.list_counted()}
    failing = [
        f"{spec.name}: a class holds {number} different values of {name}, and k is {spec.privacy.k}: rows of fewer "
        f"than k persons look alike; say person: {name}, so that classes are made of k persons, accept_repeats: true "
        "if equal values are not one person, or accept it with persons: ignored"
        for name, number in fewest.items()
        if number < spec.privacy.k and name.lower() in names
    ]
    if failing:
        raise PrivacyViolation(failing)


def feasible_persons(
    scratch: Scratch, spec: ReleaseSpec, stage: TableRef, persons: Sequence[CountedIdentifier]
) -> tuple[FeasibleLevel, ...]:
    """Persons in the whole table, where they are counted: no class holds more.

    Raises:
        InfeasibleError: fewer than k.
    """
    if not is_promised(spec) or not persons:
        return ()
    counts = measure(scratch.engine, stage, (), {person.name: person.alias for person in persons})
    failing = [
        f"{spec.name}: the table holds {number} different values of {name}, and k is {spec.privacy.k}: every class "
        "would hold rows of fewer than k persons; lower k, say accept_repeats: true if equal values are not one "
        "person, or accept it with persons: ignored"
        for name, number in counts.fewest.items()
        if number < spec.privacy.k
    ]
    if failing:
        raise InfeasibleError(failing)
    return tuple(FeasibleLevel(NAME, name, spec.privacy.k, number, True) for name, number in counts.fewest.items())


def measure(
    engine: Engine, target: TableRef, classes: Sequence[str], columns: Mapping[str, str], *, assigned: bool = False
) -> Counts:
    """Count every identifier by itself over the groups of ``classes``; ``columns``: identifier to column in ``target``.

    With ``assigned``, rows without a class (the first of ``classes``), which a version leaves out, are not counted.
    """
    if not columns:
        return Counts()
    query = statement(
        "audit/persons",
        engine.dialect,
        target=target,
        classes=list(classes),
        identifiers=list(columns.values()),
        assigned=assigned,
    )
    average, *fewest = engine.fetch(query)[0]
    numbers = read_integers(fewest)
    return Counts(dict(zip(columns, numbers, strict=True)), number(average))


def read_promised_persons(policy: Mapping[str, Any]) -> int | None:
    """Persons per class that a version of events promises, the version's k; None without such a promise."""
    k = int(policy["privacy"]["k"])
    return k if policy.get("rows_are") == "events" and policy.get("persons") != "ignored" and k > 1 else None


def check_together(
    policies: Sequence[Mapping[str, Any]], fewest: Mapping[str, int]
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Compare the persons that two releases promise with the fewest of any intersection.

    Returns the results, and the counts that are missing. The smaller promised k applies, as for rows; an identifier
    that either release counts binds both.
    """
    promises = [policy for policy in policies if read_promised_persons(policy) is not None]
    if not promises:
        return (), ()
    least = min(read_promised_persons(policy) or 0 for policy in promises)
    results, missing = _judge(least, sorted({name for policy in promises for name in read_counted(policy)}), fewest)
    what = (f"persons by {missing}: the source has no such column any more",) if missing else ()
    return results, what if all(read_counted(policy) for policy in promises) else (*what, UNCOUNTED)


def _judge(least: int, names: Sequence[str], fewest: Mapping[str, int]) -> tuple[tuple[RequirementResult, ...], str]:
    """The results for identifiers with a count, and the names of the others."""
    reached = {name.lower(): number for name, number in fewest.items()}
    results = tuple(
        RequirementResult(NAME, name, least, reached[name.lower()], reached[name.lower()] >= least)
        for name in names
        if name.lower() in reached
    )
    return results, ", ".join(name for name in names if name.lower() not in reached)


def of_version(engine: Engine, entry: Entry | None) -> Counts:
    """Persons in the classes of a version, by the private link table; empty if an older sqlanon wrote the table."""
    columns = find_link_columns(engine, entry)
    if entry is None or not columns:
        return Counts()
    with find_stored_rows(engine, entry).link() as table:
        return measure(engine, table, ("class",), columns, assigned=True)


@contextmanager
def open_counted_rows(engine: Engine, entry: Entry | None) -> Iterator[tuple[TableRef, tuple[str, ...]] | None]:
    """Yield the rows of a version with ``class`` and the persons' columns, and the names of these columns.

    Yields None if no such columns are known.
    """
    columns = tuple(find_link_columns(engine, entry).values())
    if entry is None or not columns:
        yield None
        return
    with open_published_rows(engine, entry, columns) as table:
        yield table, columns


@contextmanager
def open_published_rows(engine: Engine, entry: Entry, columns: Sequence[str]) -> Iterator[TableRef]:
    """Private link table of a version without the rows left out: a copy if there are such rows."""
    with find_stored_rows(engine, entry).link() as linked:
        if not entry.report.get("left_out"):
            yield linked
            return
        with Scratch(engine) as scratch:
            table = scratch.table("published")
            scratch.execute("audit/published", published=table, linked=linked, persons=list(columns))
            yield table


def find_link_columns(engine: Engine, entry: Entry | None) -> dict[str, str]:
    """Column in the private link table per counted identifier of a version; empty if the table has no such columns."""
    if entry is None or not read_counted(entry.policy):
        return {}
    columns = hashes_of(read_counted(entry.policy))
    return columns if find_stored_rows(engine, entry).columns().issuperset(columns.values()) else {}


def nulls_in(policies: Sequence[Mapping[str, Any]], name: str) -> NullPerson | None:
    """Treatment of rows without a person in policies that count persons of this name: distinct if all say so."""
    settings = [p.get("null_person") for p in policies if name.lower() in map(str.lower, read_counted(p))]
    return (
        "distinct"
        if settings and all(setting == "distinct" for setting in settings)
        else "one"
        if any(settings)
        else None
    )


def explain_missing(engine: Engine, entry: Entry | None) -> str:
    """Reason why the persons of a version cannot be counted, with the remedy."""
    if entry is None:
        return (
            "the private tables of this release are not in this database; audit it by the policy from the database of "
            "its source"
        )
    return find_stored_rows(engine, entry).why_uncounted


def check_counts(
    engine: Engine, spec: ReleaseSpec, entry: Entry | None, counts: Counts
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Compare the policy's requirements on persons with the counts; also gives the missing counts, with the remedy.

    A policy of persons promises no less: a version that was made of events is measured by it as well.
    """
    of_events = entry is not None and entry.policy.get("rows_are") == "events"
    if spec.privacy.of_persons:  # measured as requirements
        return (), ()
    if not is_promised(spec) and not (spec.rows_are == "persons" and of_events and spec.privacy.k > 1):
        return (), ()
    if not spec.list_counted():
        return (), (UNCOUNTED,) if spec.rows_are == "events" else ()
    results, missing = _judge(spec.privacy.k, spec.list_counted(), counts.fewest)
    if not missing:
        return results, ()
    return results, (f"persons by {missing}: {explain_missing(engine, entry)}",)
