"""Verify the promises of the physical table. Written apart from every method; trusts only tables.

Runs inside the publishing transaction. It checks three things. Every staged row is covered by the cells published for
it. The table holds exactly the staged rows that are not left out by declaration, and exactly the columns of the policy.
Every requirement holds over the groups of *every* released QI-derived column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlanon.engines.base import Relation, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Grouping, RecodedClasses, format_of
from sqlanon.privacy.base import Measured, Requirement, Sizes, as_number
from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.population import of_population, of_rows
from sqlanon.release.verify.class_sums import ClassSums
from sqlanon.release.verify.population import verify_population
from sqlanon.release.verify.source_shares import measure_compared
from sqlanon.release.verify.tight_bounds import least_covers
from sqlanon.results import RequirementResult
from sqlanon.spec import FormatSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.scratch import Scratch

MANY_ROWS = 100_000
"""Rows below which a second scan of the written table takes no time that counts."""

_LEFT_OUT = (
    ". Where rows are left out, a hidden column without a hierarchy is published as the range, or the set, of the "
    "other rows alone, in which fewer of the population may lie: give such columns a hierarchy, or leave suppression "
    "out"
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Measurements on the physical table."""

    requirements: tuple[RequirementResult, ...]
    classes: int
    min_class: int
    max_class: int
    pm: dict[str, float]


def verify_staged(scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, form: FormatSpec) -> tuple[str, ...]:
    """Check that published cells contain the original values, and that every row has one class or is left out.

    Args:
        scratch: the run.
        classed: staged rows with their original values and class.
        recoded: published cells of every class.
        form: the policy's format, which has the covering predicate to count.

    Returns:
        the quasi columns in which each published end, or member of a set, is the value of some row of the class.

    Raises:
        PrivacyViolation: some row is lost or not covered; the text counts them.
    """
    encoded = classed.encoded
    expected = encoded.rows - recoded.left_out
    if classed.links is None:
        row_count, distinct = _rows(scratch, classed.table, encoded.rows)
        if (row_count, distinct) != (expected, expected):
            raise PrivacyViolation(
                f"of {encoded.rows} rows {distinct} have a class and {row_count - distinct} more than one; nothing was "
                "published"
            )
    sums = ClassSums(scratch, classed, recoded)
    least = least_covers(scratch, classed, recoded, sums.of_columns)
    sums.check()
    members, expected = recoded.members.each(classed.table, expected)
    counts = format_of(form.kind).count_covered(scratch, replace(classed, table=members), recoded, least)
    if counts is None:
        return ()  # the staged values themselves are published; `verify_rows` compares the written table with them
    reached, uncovered = counts
    if reached != expected:
        raise PrivacyViolation(f"{expected - reached} of {expected} rows have no class; nothing was published")
    if uncovered:
        raise PrivacyViolation(f"{uncovered} rows are not covered by what would be published; nothing was published")
    return tuple(name for domain in encoded.quasi if least.wide.get(name := domain.reading.name) == 0)


def _rows(scratch: Scratch, classed: TableRef, rows: int) -> tuple[int, int]:
    """Number of rows with a class, and number of staged rows among them."""
    if scratch.engine.capabilities.distinct_numbers:
        present, distinct, least, greatest = scratch.fetch("verify/distinct_rows", classed=classed)[0]
        if (least, greatest) == (0, rows - 1):
            return read_integer(present), read_integer(distinct)
    import numpy as np

    rid = scratch.fetch_arrays(scratch.sql("verify/rows", classed=classed), ["int32"])[0].astype(np.int32)
    present = np.zeros(rows, dtype=np.bool_)
    present[rid[(rid >= 0) & (rid < rows)]] = True
    return len(rid), int(np.count_nonzero(present))


def verify_physical(
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    physical: Relation,
    requirements: Sequence[Requirement],
) -> Verification:
    """Check that the physical table has the staged rows and the policy's columns, and meets every requirement.

    The requirements are measured over the groups of the table.

    Args:
        scratch: the run.
        classed: staged rows with their class.
        recoded: published cells of every class.
        physical: the written table with its columns.
        requirements: requirements on the groups.

    Returns:
        measurements on the written table.

    Raises:
        PrivacyViolation: a promise does not hold; the message names the requirement and the number of classes that
            fail.
    """
    encoded = classed.encoded
    sizes = verify_rows(scratch, classed, recoded, physical)
    names = [domain.reading.name for domain in encoded.sensitive]
    of_persons = [requirement for requirement in requirements if requirement.counts_persons]
    results = measure_persons(scratch, classed, recoded, of_persons) if of_persons else ()
    row_requirements = of_rows([requirement for requirement in requirements if not requirement.counts_persons])
    compared = of_population(requirements)
    if compared:
        reached = verify_population(scratch, encoded, recoded, physical.ref, compared)
        advice = _LEFT_OUT if recoded.left_out else ""
        results += tuple(
            _judge(requirement, value, advice) for requirement, value in zip(compared, reached, strict=True)
        )
    of_source = [requirement for requirement in row_requirements if requirement.compares_source]
    if of_source:
        row_requirements = [requirement for requirement in row_requirements if not requirement.compares_source]
        measured = measure_compared(scratch, classed, recoded, of_source)
        results += tuple(_judge(requirement, value) for requirement, value in zip(of_source, measured, strict=True))
    grouping = recoded.grouping(physical.ref)
    if grouping != Grouping(physical.ref, recoded.layout.of_class):
        sizes = None  # the groups are others than those of equal class columns
    verified = measure_requirements(scratch, grouping, names, row_requirements, sizes)
    return replace(verified, requirements=(*verified.requirements, *results))


def measure_persons(
    scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, requirements: Sequence[Requirement]
) -> tuple[RequirementResult, ...]:
    """Measure requirements that count persons, and refuse if one fails.

    A release does not identify persons. So the rows of the run are counted; `verify_rows` found them equal to the rows
    of the release. Groups of equal published cells have numbers, as hashes of different cells could be equal.
    """
    rows, numbers = scratch.table("rows_of_persons"), scratch.table("numbers_of_persons")
    sensitive = [domain.reading.alias for domain in classed.encoded.sensitive]
    persons = [domain.reading.alias for domain in classed.encoded.persons]
    scratch.execute("verify/numbers", numbers=numbers, released=recoded.released, names=recoded.layout.of_class)
    scratch.execute("verify/persons", rows=rows, classed=classed.table, numbers=numbers, columns=[*sensitive, *persons])
    grouping = Grouping(rows, ("number",), persons=tuple(persons))
    return tuple(
        _judge(requirement, grouping.measure(scratch.engine, requirement, sensitive)) for requirement in requirements
    )


def verify_rows(scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, physical: Relation) -> Grouping | None:
    """Check that the physical table has the policy's columns and the staged rows with the cells of their classes.

    Args:
        scratch: the run.
        classed: staged rows with their class.
        recoded: published cells of every class.
        physical: the written table with its columns.

    Returns:
        the groups of the physical table with their sizes, if the scan that compared the rows counted them: by a hash of
        the published cells of the class, if all hashes differ. None if they are still to be counted.

    Raises:
        PrivacyViolation: the table has other columns or other rows.
    """
    expected = [column.name for column in recoded.columns]
    names = [column.name for column in physical.columns]
    if names != expected:
        raise PrivacyViolation("the released table does not have exactly the policy's columns; nothing was published")
    text_names = {column.name for column in physical.columns if column.own_operators}
    kinds = {column.name: column.kind for column in physical.columns}
    published = [
        {
            "source": c.source,
            "column": c.column,
            "name": c.name,
            "as_text": c.name in text_names,
            "kind": kinds[c.name],
        }
        for c in recoded.columns
    ]
    marks = scratch.table("marks")
    sizes, links = None, classed.links
    with scratch.together():
        scratch.execute(
            "verify/marks",
            marks=marks,
            released=recoded.released,
            names=recoded.layout.of_class,
            own=text_names,
            kinds=kinds,
        )
        if links is not None:
            both, sizes = fingerprint_written(scratch, marks, recoded, physical.ref, published, sums=links.sums)
            written_fingerprint, staged = both[:2], both[2:]
        else:
            if scratch.engine.capabilities.groups_by_mark and classed.encoded.rows >= MANY_ROWS:
                written_fingerprint, sizes = fingerprint_written(scratch, marks, recoded, physical.ref, published)
            else:
                written_fingerprint = scratch.fetch("verify/fingerprint", target=physical.ref, published=published)[0]
            staged = scratch.fetch(
                "verify/staged", classed=classed.table, marks=marks, published=published, dense=recoded.groups.dense
            )[0]
    published_rows = classed.encoded.rows - recoded.left_out
    if (
        tuple(map(str, staged)) != tuple(map(str, written_fingerprint))
        or read_integer(written_fingerprint[0]) != published_rows
    ):
        raise PrivacyViolation("the released rows are not the staged ones; nothing was published")
    return sizes


def fingerprint_written(
    scratch: Scratch,
    marks: TableRef,
    recoded: RecodedClasses,
    physical: TableRef,
    published: Sequence[Mapping[str, object]],
    *,
    sums: TableRef | None = None,
) -> tuple[tuple[object, ...], Grouping | None]:
    """Fingerprint of the written table and, from the same scan, the groups by mark.

    Two groups of the same mark would be counted together, and could hide that each is too small. So the groups are
    returned only if different published cells have different marks; the fingerprint shows that the table holds nothing
    else.

    ``sums``: of the staged rows by class; the fingerprint is a sum over marks then (``verify/written``), not over rows,
    and that of the staged rows follows it.
    """
    groups = scratch.table("written")
    with scratch.together():
        scratch.execute(
            "verify/written", written=groups, target=physical, published=published, by_mark=sums is not None
        )
        names = recoded.layout.of_class
        n, mark, apart, *staged = scratch.fetch(
            "verify/of_written", written=groups, marks=marks, released=recoded.released, names=names, sums=sums
        )[0]
    if not apart:
        row = scratch.fetch("verify/shared_marks", marks=marks, released=recoded.released, names=names)
        apart = read_integer(row[0][0]) == 0
    return (n, mark, *staged), Grouping(groups, ("mark",), count="n") if apart else None


def measure_requirements(
    scratch: Scratch,
    grouping: Grouping,
    names: Sequence[str],
    requirements: Sequence[Requirement],
    counted: Grouping | None = None,
) -> Verification:
    """Measure every requirement over the groups, and refuse if one fails.

    Args:
        scratch: the run.
        grouping: the groups.
        names: the sensitive columns there.
        requirements: requirements to measure.
        counted: the same groups with sizes alone; None if they were not counted.
    """
    results = []
    sizes = Sizes(0, 0, 0)
    for requirement in requirements:
        groups = counted if counted is not None and requirement.shape.kind == "rows" else grouping
        measured = groups.measure(scratch.engine, requirement, names)
        sizes = measured.sizes or sizes
        results.append(_judge(requirement, measured))
    pm = _privacy(scratch, grouping, names, results)
    return Verification(tuple(results), sizes.classes, sizes.smallest, sizes.largest, pm)


def _judge(requirement: Requirement, measured: Measured, advice: str = "") -> RequirementResult:
    result = requirement.result(measured)
    if not result.satisfied:
        of = f" of {requirement.column}" if requirement.column else ""
        raise PrivacyViolation(
            f"{requirement.name}{of}: asked {as_number(requirement.asked):g}, reached "
            f"{as_number(measured.reached):g}; {measured.failing} classes fail; nothing was published{advice}"
        )
    return result


def _privacy(
    scratch: Scratch, grouping: Grouping, names: Sequence[str], results: Sequence[RequirementResult]
) -> dict[str, float]:
    """PM of each sensitive column: min over classes |G| / most frequent value (Ghinita et al. 2009, equation 6).

    Empty for k-anonymity alone: PM is the smallest class (section 2.5), and a query would cost a second pass.
    """
    if not any(result.column for result in results):
        return {}
    pm: dict[str, float] = {}
    for i, name in enumerate(names):
        # The reached frequency l is PM.
        measured = [
            result.reached for result in results if (result.name, result.column, result.joint) == ("l", name, False)
        ]
        pm[name] = (
            measured[0]
            if measured
            else as_number(grouping.measure(scratch.engine, FrequencyDiversity(Fraction(1), name, i), names).reached)
        )
    return pm
