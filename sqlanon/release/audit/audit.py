"""Audit: disclosures by the groups of a table, also of a table that sqlanon did not make.

All numbers come from the table alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlanon.declared import limit_suppressed
from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import read_integers
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.formats import COUNT, GROUP, Grouping
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.diversity.requirement import DistinctDiversity, FrequencyDiversity
from sqlanon.privacy.population import of_rows
from sqlanon.privacy.requirements import make_requirements, read_stored
from sqlanon.release.audit.audit_pair import audit_groups, facts_beside, find_counted
from sqlanon.release.audit.by_certificate import audit_candidates, has_own_boxes
from sqlanon.release.audit.distinguishing_columns import find_lowering
from sqlanon.release.audit.judge_persons import judge_persons
from sqlanon.release.audit.of_counts import audit_counts
from sqlanon.release.audit.of_noisy import audit_noisy
from sqlanon.release.audit.place import Place, open_place
from sqlanon.release.audit.unknown_values import unknown_values
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import place_of
from sqlanon.release.verify import persons
from sqlanon.release.verify.population import HiddenRows, audit_population
from sqlanon.release.verify.source_shares import audit_compared
from sqlanon.release.verify.tokens import audit_tokens
from sqlanon.release_kind import COUNTS, NOISY, ROWS, ReleaseKind, kind_of
from sqlanon.results import AuditReport, RequirementResult, SensitiveAudit
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.reading import hashes_of

PUBLISHED = ("sensitive", "insensitive", "pseudonym")
"""Roles of columns that do not come from a class."""


def audit(
    engine: Engine,
    table: str,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    spec: ReleaseSpec | None = None,
) -> AuditReport:
    """Group any table or view and measure k, l and re-identification risk.

    Risks count the fewest persons of a class wherever persons can be counted: by ``identifiers``, and for a release of
    events by the private tables of its catalog's schema, over the release's own classes.

    A release that went into another file (``publish_file``) is read there, by its policy and from the database of its
    source.

    A release in format anatomy is two tables: name the one with the rows, and both are read.

    Args:
        engine: the database of the table.
        table: the table's name.
        quasi: the columns that make the classes; None: every column except sensitive columns (and identifiers).
        sensitive: columns for which diversity is measured.
        identifiers: columns with distinct values counted per class, each column by itself, NULLs as one value.
        spec: a policy's release; its requirements are then checked as well. None: the catalog's requirements on the
            version that the view shows.

    Raises:
        PolicyError: a column does not exist, or has two roles.
    """
    with open_place(engine, table, spec) as place:
        facts = facts_beside(engine, place.relation.ref)
        audit_of = AUDITS[_find_kind(place.entry, facts)]
        report = audit_of(engine, place, Request(table, quasi, sensitive, identifiers, spec, facts))
        return replace(report, not_measured=(*report.not_measured, *_look_outside(engine, place)))


def _look_outside(engine: Engine, place: Place) -> Sequence[str]:
    """Reasons why the readers of another database or lake may have other rows than those that were audited.

    Cost: of another database a scan of the rows there.
    """
    entry = place.entry
    if entry is None or entry.file or place_of(entry).of(entry) is None:
        return ()
    try:
        place_kind = place_of(entry)
        reason = place_kind.explain_missing(engine, entry) or place_kind.explain_change(engine, entry)
    except DatabaseError as error:
        reason = str(error)
    return (f"what readers have: {reason}",) if reason else ()


def _roles(spec: ReleaseSpec | None, entry: Entry | None) -> dict[str, str]:
    """The roles of the source's columns: by the policy, else by the catalog where the table is a release."""
    if spec is not None:
        return {item.name: item.role for item in spec.columns}
    if entry is not None:
        return {column["name"]: column["role"] for column in entry.policy["columns"]}
    return {}


@dataclass(frozen=True, slots=True)
class Request:
    """An audit that is asked for: the arguments of `audit`, and the facts in the metadata beside the table."""

    table: str
    quasi: Sequence[str] | None
    sensitive: Sequence[str]
    identifiers: Sequence[str]
    spec: ReleaseSpec | None
    facts: Mapping[str, Any]

    @property
    def named(self) -> bool:
        """Whether columns are named."""
        return bool(self.quasi or self.sensitive or self.identifiers)


def _find_kind(entry: Entry | None, facts: Mapping[str, Any]) -> ReleaseKind:
    """The kind of a release, by the catalog, or by its metadata; a table of another program has rows."""
    if entry is not None:
        return entry.kind
    statistics = facts.get("statistics") or {}
    return kind_of(statistics=statistics, noisy="epsilon" in statistics)


def _audit_rows(engine: Engine, place: Place, request: Request) -> AuditReport:
    relation, facts = place.relation, request.facts
    table, quasi, sensitive, identifiers = request.table, request.quasi, request.sensitive, request.identifiers
    spec = request.spec
    if has_own_boxes(place.entry, facts):
        return audit_candidates(engine, place, request.named, spec)
    groups_table = find_counted(engine, relation, facts)
    missing, starred = (int(facts.get(kind, 0)) for kind in ("left_out", "starred"))
    names = [column.name for column in relation.columns if groups_table is None or column.name != GROUP]
    roles = _roles(spec, place.entry)
    own_sensitive = [name for name in names if roles.get(name) == "sensitive"]
    if spec is not None and not sensitive:
        sensitive = own_sensitive
    spellings = {name.lower(): name for name in names}
    columns = None if quasi is None else list(dict.fromkeys(_resolve_column(table, spellings, name) for name in quasi))
    beside = (
        [column.name for column in groups_table.columns if column.name not in (GROUP, COUNT)] if groups_table else []
    )
    spellings |= {name.lower(): name for name in beside}
    sensitive = [name for name in (_resolve_column(table, spellings, name) for name in sensitive) if name not in beside]
    identifiers = [_resolve_column(table, spellings, name) for name in identifiers]
    twice = sorted((set(columns or ()) & set(sensitive)) | (set(identifiers) & {*(columns or ()), *sensitive}))
    if twice:
        raise PolicyError(f"audit {table}: {', '.join(twice)} cannot have two roles")
    hidden = (*sensitive, *identifiers, *(name for name in names if roles.get(name) == "pseudonym"))
    everything = [name for name in names if name not in hidden or name in (columns or ())]
    if columns is None:
        columns = [name for name in everything if roles.get(name) not in PUBLISHED]
    classes, k, largest, singles, rows, _ = _sizes(engine, relation.ref, columns)
    k_all = k if columns == everything else _sizes(engine, relation.ref, everything)[1]
    left_out = tuple(name for name in everything if name not in columns)
    alone, together = (
        find_lowering(k, columns, left_out, lambda names: _sizes(engine, relation.ref, names)[1])
        if k_all < k
        else ((), ())
    )
    grouping = Grouping(relation.ref, tuple(columns))
    diversities = tuple(_diversity(engine, grouping, sensitive, i) for i in range(len(sensitive)))
    results: tuple[RequirementResult, ...] = ()
    not_measured: tuple[str, ...] = ()
    groups = None
    if groups_table is not None:
        groups, diversity, results = audit_groups(engine, relation, groups_table, columns, spec)
        diversities = (diversity, *diversities)
    elif spec is not None:
        # The policy's promises are judged over the policy's own classes and sensitive columns, whatever columns the
        # audit names.
        classed = [name for name in names if roles.get(name) not in PUBLISHED]
        class_grouping = Grouping(relation.ref, tuple(name for name in classed if name not in identifiers))
        counted_persons = hashes_of(spec.list_counted()) if spec.rows_are == "events" else ()
        requirements = make_requirements(spec.privacy, tuple(own_sensitive), tuple(counted_persons), spec.columns)
        results = tuple(
            _check_requirement(engine, class_grouping, own_sensitive, item)
            for item in of_rows(requirements)
            if not (item.counts_persons or item.compares_source)
        )
        # Where rows were left out, a value may be among them alone.
        not_measured = () if missing else unknown_values(engine, relation.ref, requirements)
        more, uncounted = audit_population(engine, relation, spec, requirements, HiddenRows(missing, starred))
        results, not_measured = results + more, not_measured + uncounted
        more, uncounted = audit_compared(engine, relation, class_grouping.columns, spec, requirements, missing)
        results, not_measured = results + more, not_measured + uncounted
        of_persons = [item for item in requirements if item.counts_persons]
        if of_persons:
            more, uncounted = judge_persons(
                engine, place.entry, spec, tuple(counted_persons), own_sensitive, of_persons, relation.ref
            )
            results, not_measured = results + more, not_measured + uncounted
    elif place.entry is not None and place.entry.file is None:
        results, not_measured = _judge_promises(engine, relation, place.entry, names, roles, own_sensitive)
    if spec is not None:
        results += audit_tokens(engine, relation, place.entry, spec)
    results += _all_rows(rows, missing, starred, place.entry, spec)
    person_risk = persons.measure(engine, relation.ref, columns, {name: name for name in identifiers})
    linked = persons.of_version(engine, place.entry)
    if spec is not None:
        more, uncounted = persons.check_counts(engine, spec, place.entry, linked)
        results += more
        not_measured += uncounted
    elif place.entry is not None:
        results += persons.check_together([place.entry.policy], linked.fewest)[0]
    return AuditReport(
        table=place.shown,
        rows=rows,
        quasi=tuple(columns),
        left_out=left_out,
        classes=classes,
        k=k,
        max_class=largest,
        k_all=k_all,
        unique_rows=singles,
        highest_risk=max(1 / k if k else 0.0, person_risk.highest, linked.highest),
        average_risk=max(classes / rows if rows else 0.0, person_risk.average, linked.average),
        sensitive=diversities,
        requirements=results,
        min_identifiers={**person_risk.fewest, **linked.fewest},
        groups=groups,
        not_measured=not_measured,
        lowering=alone,
        lowering_together=together,
        suppressed=missing + starred,
        missing=missing,
    )


AUDITS: Mapping[ReleaseKind, Callable[[Engine, Place, Request], AuditReport]] = {
    ROWS: _audit_rows,
    COUNTS: lambda engine, place, request: audit_counts(engine, place, request.named, request.spec),
    NOISY: lambda engine, place, request: audit_noisy(engine, place, columns_given=request.named),
}
"""The audit of each kind of releases."""


def _judge_promises(
    engine: Engine,
    relation: Relation,
    entry: Entry,
    names: Sequence[str],
    roles: Mapping[str, str],
    sensitive: Sequence[str],
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """The catalog's promises for the version in a view, judged over the view's own classes.

    The second result lists the promises that could not be measured.

    Requirements over persons and against a population need the policy (``-p``): the view does not have them.
    """
    try:
        privacy = read_stored(entry.policy["privacy"])
    except PolicyError as error:
        return (), (str(error),)
    class_grouping = Grouping(relation.ref, tuple(name for name in names if roles.get(name) not in PUBLISHED))
    requirements = make_requirements(privacy, tuple(sensitive))
    return tuple(
        _check_requirement(engine, class_grouping, sensitive, item)
        for item in of_rows(requirements)
        if not (item.counts_persons or item.compares_source)
    ), tuple(
        f"{item.name} of {item.column}: it compares with the source; audit with the policy"
        for item in requirements
        if item.compares_source
    )


def _all_rows(
    rows: int, missing: int, starred: int, version: Entry | None, spec: ReleaseSpec | None
) -> tuple[RequirementResult, ...]:
    """Check that the rows left out and those in the release are the source's.

    No more rows may be left out than the policy allows.
    """
    if not missing and not starred:
        return ()
    results = []
    source = rows + missing
    if version is not None and missing:
        released_rows = int(version.report["rows"])
        results.append(
            RequirementResult("rows, with those left out", None, released_rows, source, released_rows == source)
        )
    if spec is not None:
        most, lost = limit_suppressed(spec, source), missing + starred
        results.append(RequirementResult("rows suppressed, at most", None, most, lost, lost <= most))
    return tuple(results)


def _resolve_column(table: str, columns: dict[str, str], name: str) -> str:
    if name in columns.values():
        return name
    if name.lower() not in columns:
        raise PolicyError(f"audit {table}: there is no column {name}; columns: {', '.join(columns.values())}")
    return columns[name.lower()]


def _sizes(engine: Engine, target: TableRef, classes: Sequence[str]) -> tuple[int, ...]:
    row = engine.fetch(
        statement(
            "verify/k_anonymity",
            engine.dialect,
            {"asked": 1},
            target=target,
            classes=list(classes),
            count=None,
        )
    )[0]
    return read_integers(row)


def _diversity(engine: Engine, grouping: Grouping, sensitive: Sequence[str], i: int) -> SensitiveAudit:
    unit = Fraction(1)
    frequency = grouping.measure(engine, FrequencyDiversity(unit, sensitive[i], i), sensitive).reached
    distinct = grouping.measure(engine, DistinctDiversity(unit, sensitive[i], i), sensitive).reached
    return SensitiveAudit(sensitive[i], int(distinct), float(frequency))


def _check_requirement(
    engine: Engine, grouping: Grouping, sensitive: Sequence[str], requirement: Requirement
) -> RequirementResult:
    return requirement.result(grouping.measure(engine, requirement, sensitive))
