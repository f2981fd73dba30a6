"""`persons: whole`: a method divides persons, not their rows, and every row gets the class of its person.

A person is one row to the method, with the least and the greatest code of the person's rows in every column (once
where no person has several): the box of a class over its persons' rows is as wide as both together. Every method that
divides rows by k does, with k persons. Of a sensitive column the method sees the value that most rows of the person
have, which is a guide only, and none where too few rows have it. Requirements over rows, and over persons except for
their number, are judged on the rows: classes that fail are united with the next class (see `merge_failing_groups`). A
union of classes meets the requirements that each met, as none of them shares a person with another.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, cast

from sqlanon.declared import FORMATS
from sqlanon.engines.base import TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Grouped, Requirement
from sqlanon.privacy.counts import OfCounts, count_values
from sqlanon.privacy.diversity.requirement import DistinctDiversity, FrequencyDiversity
from sqlanon.privacy.kanonymity.requirement import KAnonymity, of_units
from sqlanon.privacy.persons import Persons
from sqlanon.privacy.recursive.requirement import RecursiveDiversity
from sqlanon.privacy.values import of_numbers, rows_of_codes, values_of
from sqlanon.release.divide.division import DividedRows, Division, DivisionKeys
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain
from sqlanon.table.encode import EncodedTable
from sqlanon.table.scratch import Scratch

Guide = FrequencyDiversity | DistinctDiversity | OfCounts
"""Requirements on the values of rows: on persons they apply to the value that most rows of each have."""
_USUAL = Fraction(3, 4)
"""Least share of rows with the most frequent value of their person, if that value guides a method.

With a smaller share classes lose less if they are divided without a guide, and united where they fail (random tables of
mixed and of constant persons).
"""


def of_rows(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Requirements left to be judged on the rows; k persons have k rows, and verification counts both."""
    return [
        requirement
        for requirement in requirements
        if not requirement.across and not isinstance(requirement, KAnonymity | Persons)
    ]


def assign(context: Context, method: Method) -> Assignment:
    """The method's assignment of persons, for their rows. No boxes come with it, as these are of persons.

    Refining lowers persons x extents. Where the rows then lose more, by GCP or in format suppressed by stars, classes
    stay as they were.

    Cost: a GROUP BY of the rows by person, another for each sensitive column that must be diverse, and a join. With
    ``refine`` the method runs twice, and boxes of rows are made as often.
    """
    scratch, encoded = context.scratch, context.encoded
    units, part, usual = units_of(context, encoded)
    person_requirements = (
        *of_units(context.requirements),
        *guide_requirements(scratch, encoded, units, part, guides_of(context, usual)),
    )
    unit_context = replace(context, encoded=part, requirements=person_requirements, listed=False, read_again=True)
    if context.refine is None:
        assignment = _for_rows(context, unit_context, method, units, "assigned")
    else:
        from sqlanon.methods.best.loss import Losses

        losses = Losses(context, "stars" if FORMATS[context.format].either else "gcp")
        assignment = _for_rows(context, unit_context, method, units, "assigned_refined")
        plain = _for_rows(context, replace(unit_context, refine=None), method, units, "assigned")
        before, after = losses.of(plain), losses.of(assignment)
        if before < after:
            note = (
                f"refine is not used: by its classes the rows would lose {losses.metric} {losses.describe(after)}, not "
                f"{losses.describe(before)}"
            )
            assignment, plain = replace(plain, notes=(*plain.notes, note), refined=True), assignment
        scratch.drop(plain.table)
    scratch.drop(units)
    return assignment


def _for_rows(context: Context, person_context: Context, method: Method, units: TableRef, name: str) -> Assignment:
    """The classes that the method makes of persons, as seen by ``person_context``, in a table ``name`` of the rows."""
    scratch, table = context.scratch, context.scratch.table(name)
    (person,) = context.encoded.persons
    with scratch.beside() as beside:  # methods call their tables alike
        unit_assignment = method.assign(replace(person_context, scratch=beside))
        if unit_assignment.unassigned or unit_assignment.starred is not None or unit_assignment.matches is not None:
            raise PrivacyViolation(
                "with persons: whole the method gave some person no class, or one of its own; nothing was published"
            )
        scratch.execute(
            "persons/assigned",
            assigned=table,
            work=context.encoded.work,
            units=units,
            assign=unit_assignment.table,
            person=person.code,
        )
    # Rows of equal codes, which are one person's, are in one class.
    return Assignment(
        table,
        unit_assignment.execution,
        unit_assignment.notes,
        divided=False,
        refined=unit_assignment.refined,
        search=unit_assignment.search,
    )


def guides_of(context: Context, usual: Mapping[int, Fraction]) -> list[Guide]:
    """Requirements on values that most rows of their person have; ``usual`` is as `units_of` gives it."""
    return [
        requirement
        for requirement in context.requirements
        if isinstance(requirement, Guide) and usual[requirement.value] >= _USUAL
    ]


def units_of(context: Context, encoded: EncodedTable) -> tuple[TableRef, EncodedTable, dict[int, Fraction]]:
    """A table of the persons, the encoded form, and the share of rows that keep each value.

    The shares are of values that are asked about: the part of the rows that have the value which the method sees.

    The order of persons is drawn by the secret: neither source nor names decide ties of methods. Which of equally
    frequent values a method sees depends on the number of the person, so that no value is preferred.
    """
    import numpy as np

    scratch = context.scratch
    values = sorted({requirement.value for requirement in context.requirements if isinstance(requirement, Guide)})
    (person,) = encoded.persons
    generator = np.random.default_rng(
        int.from_bytes(hashlib.sha256(f"{context.secret}/persons".encode()).digest(), "big")
    )
    turns, units = scratch.table("turns"), scratch.table("units")
    scratch.engine.load_arrays(
        turns,
        {
            "person": np.arange(person.codes, dtype=np.int32),
            "rid": generator.permutation(person.codes).astype(np.int32),
        },
    )
    sensitive = [encoded.sensitive[i] for i in values]
    usual = [(domain.code, scratch.table(f"usual_{domain.code}")) for domain in sensitive]
    for (code, table), codes in zip(usual, (domain.codes for domain in sensitive), strict=True):
        scratch.execute(
            "persons/usual", {"codes": codes}, usual=table, work=encoded.work, person=person.code, value=code
        )
    shares = {
        i: Fraction(scratch.count("persons/usual_rows", usual=table), encoded.rows)
        for i, (_, table) in zip(values, usual, strict=True)
    }
    columns = [domain.code for domain in encoded.quasi]
    scratch.execute(
        "persons/units",
        units=units,
        work=encoded.work,
        turns=turns,
        person=person.code,
        columns=columns,
        values=[{"code": code, "table": table} for code, table in usual],
    )
    for table in (turns, *(table for _, table in usual)):
        scratch.drop(table)
    persons, *varied = scratch.numbers("persons/varied", units=units, columns=columns)
    quasi = [end for domain, n in zip(encoded.quasi, varied, strict=True) for end in _ends(domain, several=n > 0)]
    part = replace(
        encoded,
        coded=units,
        rows=persons,
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        persons=(),
        numbers=0,
    )
    return units, part, shares


def _ends(domain: Domain, *, several: bool) -> list[Domain]:
    """A column of the rows as columns of persons: the ends, or one column for both where they are equal."""
    if several:
        return [domain, replace(domain, code=f"{domain.code}h")]
    weighed = replace(domain.reading.spec, weight=2 * domain.reading.spec.weight)
    return [replace(domain, reading=replace(domain.reading, spec=weighed))]


def guide_requirements(
    scratch: Scratch, encoded: EncodedTable, units: TableRef, part: EncodedTable, guides: Sequence[Guide]
) -> list[Requirement]:
    """Requirements on values, for the value that most rows of each person have: few classes then fail over rows.

    The most frequent values of persons can be less even than the rows. A requirement could then be nearly all that the
    persons reach, met by a class of all of them and hardly any other: it is lowered (see `_lessen`), or dropped.
    """
    names = [domain.code for domain in part.sensitive]
    places = {domain.reading.name: i for i, domain in enumerate(part.sensitive)}
    lessened_guides: list[Requirement] = []
    for row_guide in guides:
        guide: Guide = replace(cast("Any", row_guide), value=places[row_guide.column], within=())
        domain = part.sensitive[guide.value]
        most = [_measure_reached(scratch, table, guide, names, domain) for table in (units, encoded.work)]
        lessened = _lessen(guide, *most)
        # A diversity of one asks nothing; a share of none has no class.
        if lessened > (0 if guide.at_most else 1):
            lessened_guides.append(replace(cast("Any", guide), asked=lessened))
    return lessened_guides


def _measure_reached(scratch: Scratch, table: TableRef, model: Guide, names: Sequence[str], domain: Domain) -> Fraction:
    """Value that all rows of a table of codes reach as one class."""
    if not isinstance(model, OfCounts):
        return model.measure(scratch.engine, Grouped(table, (), names)).reached
    counted_values = count_values(scratch.engine, table, (), domain.code)
    if model.reads_values:
        rows = rows_of_codes(scratch, table, domain)
        counted_values = replace(counted_values, values=of_numbers(values_of(scratch, domain), rows))
    return model.judge(counted_values).reached


def _lessen(model: Guide, persons: Fraction, rows: Fraction) -> Fraction:
    """The requirements on values, adjusted to persons.

    If persons leave less than half of the room that rows leave, they are scaled by the ratio of the reached values.
    """
    threshold = Fraction(model.asked)
    ratio = persons / rows if rows else Fraction(1)
    if model.at_most:
        if persons * persons <= threshold * rows or ratio <= 1:
            return threshold
        return Fraction(math.ceil(threshold * ratio * 1000), 1000)
    if persons * persons >= threshold * rows or ratio >= 1:
        return threshold
    if isinstance(model, DistinctDiversity | RecursiveDiversity):  # of whole numbers
        return Fraction(math.floor(threshold * ratio))
    return Fraction(math.floor(threshold * ratio * 1000), 1000)


class PersonsWhole(Division):
    """The method sees persons: requirements on their rows are judged afterwards."""

    brings: ClassVar[bool] = False
    title: ClassVar[str] = "whole persons"
    joins_persons: ClassVar[bool] = True
    by_choice: ClassVar[bool] = True

    def list_recognized(self, spec: ReleaseSpec) -> tuple[str, ...]:
        """Columns of the person: rows of persons who are published wait."""
        return spec.person

    def requirements_of(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        return of_units(requirements)

    def codes(self, persons: tuple[Domain, ...]) -> tuple[Domain, ...]:
        """None: a person is one row."""
        return ()

    def requirements_of_rows(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        return of_rows(requirements)

    def try_method(self, context: Context, method: Method) -> Assignment:
        return assign(context, method)

    def list_judged(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        """All that is asked over rows."""
        return of_rows(requirements)

    def notes(self, groups: int, requirements: Sequence[Requirement]) -> tuple[str, ...]:
        """How many classes of persons were united."""
        note = f"{groups} classes of k persons were united with others, as their rows did not meet what else is asked"
        return (note,) if groups else ()

    def divide(self, context: Context, method: Method, keyed: DivisionKeys) -> DividedRows:
        return DividedRows(assign(context, method))
