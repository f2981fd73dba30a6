"""Verify: does the physical table keep its promises? Written apart from every method; it trusts only tables.

Runs inside the publishing transaction. It checks three things. Every staged row is covered by what is published for it.
The table holds exactly the staged rows that are not left out by declaration, and exactly the columns of the policy. Every
requirement holds over the groups of *every* released QI-derived column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlanon.engines.base import Relation, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Grouping, Recoded, format_of
from sqlanon.privacy.base import Measured, Requirement, Sizes, as_number
from sqlanon.privacy.diversity import FrequencyDiversity
from sqlanon.results import RequirementResult
from sqlanon.spec import FormatSpec
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Verified:
    """What verify measured on the physical table."""

    requirements: tuple[RequirementResult, ...]
    classes: int
    min_class: int
    max_class: int
    pm: dict[str, float]


def verify_staged(
    scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded, form: FormatSpec
) -> None:
    """Every original value lies in what is published for its row.

    Raises:
        PrivacyViolation: some row is lost or not covered; the text counts them.
    """
    found, distinct = _rows(scratch, classed, encoded.rows)
    kept = encoded.rows - recoded.left_out
    if (found, distinct) != (kept, kept):
        raise PrivacyViolation(
            f"of {encoded.rows} rows {distinct} have a class and {found - distinct} more than one; nothing was published"
        )
    counted = format_of(form.kind).covered(scratch, encoded, classed, recoded)
    if counted is None:
        return  # the staged values themselves are published; `verify_rows` compares what was written with them
    reached, uncovered = counted
    if reached != kept:
        raise PrivacyViolation(f"{kept - reached} of {kept} rows have no class; nothing was published")
    if uncovered:
        raise PrivacyViolation(
            f"{uncovered} rows are not covered by what would be published; nothing was published"
        )


def _rows(scratch: Scratch, classed: TableRef, rows: int) -> tuple[int, int]:
    """How many rows have a class, and how many of the staged rows are among them."""
    if scratch.engine.capabilities.distinct_numbers:
        found, distinct, least, greatest = scratch.fetch("verify/distinct_rows", classed=classed)[0]
        if (least, greatest) == (0, rows - 1):
            return int(str(found)), int(str(distinct))
    import numpy as np

    rid = scratch.fetch_arrays(scratch.sql("verify/rows", classed=classed), ["int32"])[0].astype(np.int32)
    found = np.zeros(rows, dtype=np.bool_)
    found[rid[(rid >= 0) & (rid < rows)]] = True
    return len(rid), int(np.count_nonzero(found))


def verify_physical(
    scratch: Scratch,
    encoded: Encoded,
    classed: TableRef,
    recoded: Recoded,
    physical: Relation,
    requirements: Sequence[Requirement],
) -> Verified:
    """The physical table holds the staged rows, the policy's columns, and every requirement.

    Raises:
        PrivacyViolation: what was promised does not hold; the message names the requirement and the number of classes that fail.
    """
    marks = verify_rows(scratch, encoded, classed, recoded, physical)
    names = [domain.reading.name for domain in encoded.sensitive]
    of_persons = [one for one in requirements if one.counts_persons]
    results = measure_persons(scratch, encoded, classed, marks, of_persons) if of_persons else ()
    others = [one for one in requirements if not one.counts_persons]
    verified = measure_requirements(scratch, recoded.grouping(physical.ref), names, others)
    return replace(verified, requirements=(*verified.requirements, *results))


def measure_persons(
    scratch: Scratch,
    encoded: Encoded,
    classed: TableRef,
    marks: TableRef,
    requirements: Sequence[Requirement],
) -> tuple[RequirementResult, ...]:
    """Measure requirements that count persons, and refuse if one fails.

    A release does not say whose a row is. So the rows of the run are counted, which `verify_rows` found to be those of the release, in
    groups of what is published for them: by ``marks`` as `verify_rows` returned it.
    """
    rows = scratch.table("rows_of_persons")
    sensitive = [domain.reading.alias for domain in encoded.sensitive]
    persons = [domain.reading.alias for domain in encoded.persons]
    scratch.execute("verify/persons", rows=rows, classed=classed, marks=marks, columns=[*sensitive, *persons])
    grouping = Grouping(rows, ("mark",), persons=tuple(persons))
    return tuple(_held(one, grouping.measure(scratch.engine, one, sensitive)) for one in requirements)


def verify_rows(
    scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded, physical: Relation
) -> TableRef:
    """The physical table has the policy's columns and holds the staged rows, each with what is published for its class.

    Returns a scratch table (class, mark): the mark is a hash of what is published for the class.

    Raises:
        PrivacyViolation: it does not.
    """
    expected = [column.name for column in recoded.columns]
    found = [column.name for column in physical.columns]
    if found != expected:
        raise PrivacyViolation(
            "the released table does not have exactly the policy's columns; nothing was published"
        )
    published = [{"source": c.source, "column": c.column, "name": c.name} for c in recoded.columns]
    marks = scratch.table("marks")
    with scratch.together():
        scratch.execute("verify/marks", marks=marks, released=recoded.released, names=recoded.layout.of_class)
        staged = scratch.fetch(
            "verify/staged", classed=classed, marks=marks, published=published, dense=recoded.groups.dense
        )[0]
    written = scratch.fetch("verify/fingerprint", target=physical.ref, published=published)[0]
    kept = encoded.rows - recoded.left_out
    if tuple(map(str, staged)) != tuple(map(str, written)) or int(str(written[0])) != kept:
        raise PrivacyViolation("the released rows are not the staged ones; nothing was published")
    return marks


def measure_requirements(
    scratch: Scratch, grouping: Grouping, names: Sequence[str], requirements: Sequence[Requirement]
) -> Verified:
    """Measure every requirement over the groups, and refuse if one fails; ``names``: the sensitive columns there."""
    results = []
    sizes = Sizes(0, 0, 0)
    for requirement in requirements:
        measured = grouping.measure(scratch.engine, requirement, names)
        sizes = measured.sizes or sizes
        results.append(_held(requirement, measured))
    pm = _privacy(scratch, grouping, names, results)
    return Verified(tuple(results), sizes.classes, sizes.smallest, sizes.largest, pm)


def _held(requirement: Requirement, measured: Measured) -> RequirementResult:
    result = requirement.result(measured)
    if not result.satisfied:
        of = f" of {requirement.column}" if requirement.column else ""
        raise PrivacyViolation(
            f"{requirement.name}{of}: asked {as_number(requirement.asked):g}, reached "
            f"{as_number(measured.reached):g}; {measured.failing} classes fail; nothing was published"
        )
    return result


def _privacy(
    scratch: Scratch, grouping: Grouping, names: Sequence[str], results: Sequence[RequirementResult]
) -> dict[str, float]:
    """PM of each sensitive column: min over classes |G| / most frequent value (Ghinita et al. 2009, equation 6).

    A release of k-anonymity alone has none: its PM is the smallest class (section 2.5), and a query would cost a second pass.
    """
    if not any(result.column for result in results):
        return {}
    pm: dict[str, float] = {}
    for i, name in enumerate(names):
        # What frequency l reached is PM. The joint form of it has the same name and comes later.
        known = [result.reached for result in results if (result.name, result.column) == ("l", name)]
        pm[name] = known[0] if known else as_number(
            grouping.measure(scratch.engine, FrequencyDiversity(Fraction(1), name, i), names).reached
        )  # fmt: skip
    return pm


__all__ = ["Verified", "measure_requirements", "verify_physical", "verify_rows", "verify_staged"]
