"""Verification of a version of a lineage, in the publishing transaction.

It trusts only tables, and shares no code with the writer of the version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Relation, TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Grouping
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.population import of_rows
from sqlanon.release.frozen.version import Draft, Step, make_published
from sqlanon.release.prepare.key import count_repeated
from sqlanon.release.verify.proof import DividedSource
from sqlanon.release.verify.verify import Verification, measure_persons, measure_requirements
from sqlanon.results import LineageReport, RequirementResult
from sqlanon.sqltext import table_name
from sqlanon.table.scratch import Scratch

_FAULTS = {
    "mixed": "published rows have no class of their own version",
    "parted": "classes have lost a part of their rows",
    "refused": "rows of a cohort that could not be published are published",
    "repeated": "classes have the number of another one",
    "later": "rows came or went in a version that is yet to come",
}


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """The version before in the same lineage, as readers have it."""

    version: int
    table: TableRef


def verify_version(
    scratch: Scratch,
    draft: Draft,
    physical: Relation,
    before: EarlierVersion | None,
    last: Sequence[RequirementResult] = (),
) -> tuple[Verification, Verification]:
    """Check a written version of a lineage.

    Args:
        scratch: the run.
        draft: the version, as it was recorded in the lineage.
        physical: the written table.
        before: the version before; None without a version or its table.
        last: results of the version before in the lineage.

    Returns:
        measurements of the classes that a reader of the version sees, with the results of their exit groups; and of the
        exit groups.

    Raises:
        PrivacyViolation: a key is in two classes, a class has changed or lost a part of its rows, a class or a group of
            the table does not meet a requirement, or the table differs from the lineage.
    """
    step, shape, kept_columns, counts = draft.step, draft.shape, draft.kept, draft.found
    requirements, sensitive = draft.staged.requirements, draft.staged.roles.sensitive
    cohort, lineage = draft.made if step.entered else None, step.lineage
    here = None if step.stage is None or step.begins else _in_source(scratch, step, step.stage, counts)
    twice = here.twice if here else sum(count_repeated(scratch, lineage.rows, "_sqlanon_key"))
    if twice:
        raise PrivacyViolation(f"{twice} keys have more than one record in the lineage; nothing was published")
    faults = scratch.fetch("frozen/faults", rows=lineage.rows, classes=lineage.classes, version=step.version)[0]
    for name, number in zip(_FAULTS, faults, strict=True):
        if read_integer(number):
            raise PrivacyViolation(f"{number} {_FAULTS[name]}; nothing was published")
    if here is not None:
        _check_counts(here, counts)
    parts = list(shape.parts)
    published = make_published(scratch, lineage, step.version, kept_columns, parts, "verified", placed=False)
    expected = [column.name for column in shape.layout.columns]
    if [column.name for column in physical.columns] != expected:
        raise PrivacyViolation("the released table does not have exactly the policy's columns; nothing was published")
    written_fingerprint = _fingerprint_written(scratch, physical, kept_columns, parts)
    now = _fingerprint_staged(scratch, published.rows, published.classes, physical, kept_columns, parts, "now")
    if now != written_fingerprint:
        raise PrivacyViolation("the released rows are not those of the lineage; nothing was published")
    if int(written_fingerprint[0]) != counts.published:
        raise PrivacyViolation(
            f"{written_fingerprint[0]} of {counts.published} rows were written; nothing was published"
        )
    if before is not None:
        _as_before(scratch, step, before, kept_columns, physical, parts, now)
    if cohort is not None:
        _check_cohort(scratch, step, cohort, physical, kept_columns)
    rows = of_rows([requirement for requirement in requirements if not requirement.counts_persons])
    aliases, names = [reading.alias for reading in sensitive], [reading.name for reading in sensitive]
    by_class = measure_requirements(scratch, Grouping(published.rows, ("class",)), aliases, rows)
    by_cells = measure_requirements(scratch, Grouping(physical.ref, shape.layout.of_class), names, rows)
    of_persons = _persons(
        scratch, step, cohort, [requirement for requirement in requirements if requirement.counts_persons], last
    )
    return replace(by_cells, requirements=(*by_class.requirements, *of_persons)), by_class


@dataclass(frozen=True, slots=True)
class _InSource:
    """Counts of the source's rows in the lineage: ``published``; ``early``: in classes that leave.

    ``twice``: the number of rows of the lineage minus that of keys.
    """

    published: int
    early: int
    twice: int


def _in_source(scratch: Scratch, step: Step, stage: TableRef, counted: LineageReport) -> _InSource:
    """Compare keys, first by 64 bits of a hash.

    If that finds a difference, which may be two keys with the same hash, the keys themselves are compared.
    """
    lineage = step.lineage
    for exact in (False, True):
        row = scratch.fetch(
            "frozen/in_source", rows=lineage.rows, stage=stage, erased=lineage.erased, version=step.version, exact=exact
        )[0]
        counts = _InSource(*read_integers(row))
        if counts == _InSource(counted.published - counted.retained, early=0, twice=0):
            break
    return counts


def _check_counts(here: _InSource, report: LineageReport) -> None:
    """Check that no class left too early, and that as many rows of the source are published as were counted."""
    if here.early:
        raise PrivacyViolation(f"{here.early} rows of the source are in classes that leave; nothing was published")
    if here.published != report.published - report.retained:
        raise PrivacyViolation(
            f"{here.published} rows of the source are published, and {report.published - report.retained} were "
            "counted; nothing was published"
        )


def _persons(
    scratch: Scratch,
    step: Step,
    cohort: DividedSource | None,
    requirements: Sequence[Requirement],
    last: Sequence[RequirementResult],
) -> tuple[RequirementResult, ...]:
    """Results of requirements over persons: each class was measured when it was made, and has the same rows since.

    No person may be in two classes.

    Rows of a class hold no lasting number of the person, so the result is the worst of the version before and the
    cohort.
    """
    if step.whole:
        apart = scratch.fetch("frozen/persons_apart", rows=step.lineage.rows)
        if read_integer(apart[0][0]):
            raise PrivacyViolation(
                f"{apart[0][0]} persons are in more than one class of the lineage; nothing was published"
            )
    before = {(result.name, result.column): result for result in last}
    if cohort is None:
        return tuple(
            before[requirement.name, requirement.column]
            for requirement in requirements
            if (requirement.name, requirement.column) in before
        )
    persons = measure_persons(scratch, cohort.classed, cohort.recoded, requirements) if requirements else ()
    lowest = {
        (requirement.name, requirement.column): max if requirement.at_most else min for requirement in requirements
    }
    return tuple(
        replace(
            result,
            reached=lowest[result.name, result.column](
                result.reached, before.get((result.name, result.column), result).reached
            ),
        )
        for result in persons
    )


def _as_before(
    scratch: Scratch,
    step: Step,
    before: EarlierVersion,
    unchanged: Sequence[Mapping[str, object]],
    physical: Relation,
    parts: Sequence[str],
    now: tuple[str, ...],
) -> None:
    """Check that the lineage still matches the readers' version before: no row has moved, no cell has changed.

    Fingerprints are sums over rows: this version's without the rows that came, with the rows that left, is the
    fingerprint of the version before.
    """
    earlier = scratch.engine.relation(table_name(before.table))
    there = [column.name for column in earlier.columns]
    if sorted(there) == sorted(column.name for column in physical.columns):
        entered, exited = (
            _fingerprint_differing(scratch, step, before, physical, unchanged, parts, came=entered)
            for entered in (True, False)
        )
        expected = tuple(str(int(a) - int(b) + int(c)) for a, b, c in zip(now, entered, exited, strict=True))
        _check_fingerprint(expected, _fingerprint_written(scratch, earlier, unchanged, parts), before)
    else:
        verify_before(scratch, step, before, unchanged, parts)


def verify_before(
    scratch: Scratch,
    step: Step,
    before: EarlierVersion,
    unchanged: Sequence[Mapping[str, object]],
    parts: Sequence[str] | None = None,
) -> None:
    """Check that the lineage matches the readers' version before, by all rows.

    Args:
        scratch: the run.
        step: the step, before or after it is recorded in the lineage.
        before: the version before.
        unchanged: the columns published unchanged.
        parts: the published columns that come from the class; None for the lineage's present columns.

    Raises:
        PrivacyViolation: they differ.
    """
    earlier = scratch.engine.relation(table_name(before.table))
    there = {column.name for column in earlier.columns}
    shown = [name for name in (step.lineage.list_published_parts() if parts is None else parts) if name in there]
    name = "earlier" if parts is None else "then"
    published = make_published(scratch, step.lineage, before.version, unchanged, shown, name, placed=False)
    staged = _fingerprint_staged(scratch, published.rows, published.classes, earlier, unchanged, shown, name)
    _check_fingerprint(staged, _fingerprint_written(scratch, earlier, unchanged, shown), before)


def _check_fingerprint(staged: tuple[str, ...], stored: tuple[str, ...], before: EarlierVersion) -> None:
    if staged != stored:
        raise PrivacyViolation(
            f"the lineage does not say what version {before.version} published: a row was moved, or a cell changed; "
            "nothing was published"
        )


def _fingerprint_differing(
    scratch: Scratch,
    step: Step,
    before: EarlierVersion,
    physical: Relation,
    unchanged: Sequence[Mapping[str, object]],
    parts: Sequence[str],
    *,
    came: bool,
) -> tuple[str, ...]:
    """Fingerprint of the rows that only this version has, or of the rows that only the version before has."""
    name = "came" if came else "left"
    rows, classes = scratch.table(f"{name}_rows"), scratch.table(f"{name}_classes")
    scratch.execute(
        "frozen/differing",
        made=rows,
        rows=step.lineage.rows,
        before=before.version,
        version=step.version,
        came=came,
        kept=unchanged,
    )
    scratch.execute(
        "publish/kept_classes",
        made=classes,
        classes=step.lineage.classes,
        rows=rows,
        columns=list(parts),
        placed=False,
    )
    return _fingerprint_staged(scratch, rows, classes, physical, unchanged, parts, name)


def _check_cohort(
    scratch: Scratch, step: Step, cohort: DividedSource, physical: Relation, unchanged: Sequence[Mapping[str, object]]
) -> None:
    """Check that the whole cohort is in the lineage as the method made it."""
    names = {
        column.name for column in scratch.engine.look_up([cohort.recoded.released]).columns(cohort.recoded.released)
    }
    parts = [name for name in step.lineage.list_published_parts() if name in names]
    rows, classes = scratch.table("cohort_rows"), scratch.table("cohort_classes")
    scratch.execute("frozen/since", made=rows, rows=step.lineage.rows, version=step.version, kept=unchanged)
    scratch.execute(
        "publish/kept_classes",
        made=classes,
        classes=step.lineage.classes,
        rows=rows,
        columns=parts,
        placed=False,
    )
    staged = _fingerprint_staged(scratch, rows, classes, physical, unchanged, parts, "kept")
    cohort_rows, released = cohort.classed.table, cohort.recoded.released
    if staged != _fingerprint_staged(scratch, cohort_rows, released, physical, unchanged, parts, "made"):
        raise PrivacyViolation("the lineage does not have the cohort as it was made; nothing was published")


def _columns(
    physical: Relation, unchanged: Sequence[Mapping[str, object]], parts: Sequence[str]
) -> list[dict[str, object]]:
    """Columns of a version in a fixed order, as templates compare them."""
    text_names = {column.name for column in physical.columns if column.own_operators}
    kinds = {column.name: column.kind for column in physical.columns}
    sources = [("r", name, name) for name in parts] + [("s", c["alias"], str(c["name"])) for c in unchanged]
    return [
        {"source": source, "column": column, "name": name, "as_text": name in text_names, "kind": kinds.get(name, "")}
        for source, column, name in sources
    ]


def _fingerprint_staged(
    scratch: Scratch,
    rows: TableRef,
    classes: TableRef,
    physical: Relation,
    unchanged: Sequence[Mapping[str, object]],
    parts: Sequence[str],
    name: str,
) -> tuple[str, ...]:
    """Fingerprint of rows with the published cells of their classes (defined in verify/fingerprint)."""
    marks = scratch.table(f"marks_{name}")
    text_names = {column.name for column in physical.columns if column.own_operators}
    kinds = dict.fromkeys(parts, "") | {column.name: column.kind for column in physical.columns}
    with scratch.together():
        scratch.execute("verify/marks", marks=marks, released=classes, names=parts, own=text_names, kinds=kinds)
        fingerprint = scratch.fetch(
            "verify/staged", classed=rows, marks=marks, published=_columns(physical, unchanged, parts), dense=False
        )[0]
    return tuple(map(str, fingerprint))


def _fingerprint_written(
    scratch: Scratch, physical: Relation, unchanged: Sequence[Mapping[str, object]], parts: Sequence[str]
) -> tuple[str, ...]:
    """Fingerprint of a written table, with the columns in the order of `_columns`.

    The order in the table follows the source's, which may change.
    """
    published = [{**column, "column": column["name"]} for column in _columns(physical, unchanged, parts)]
    names = {column["name"] for column in published}
    unexpected = [
        {
            "source": "s",
            "column": column.name,
            "name": column.name,
            "as_text": column.own_operators,
            "kind": column.kind,
        }
        for column in physical.columns
        if column.name not in names  # not in the lineage, so that the fingerprints differ
    ]
    fingerprint = scratch.fetch("verify/fingerprint", target=physical.ref, published=[*published, *unexpected])[0]
    return tuple(map(str, fingerprint))


def verify_counts(rows: int, report: LineageReport) -> None:
    """Check that every row of the source is published once or waits, and that every published row is in it or retained.

    Raises:
        PrivacyViolation: the numbers do not add up.
    """
    if rows != report.published - report.retained + report.unpublished:
        raise PrivacyViolation(
            f"of {rows} rows of the source {report.published - report.retained} are published and {report.unpublished} "
            "are not; nothing was published"
        )
