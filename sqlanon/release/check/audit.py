"""Audit: what the groups of a table show, also of a table that sqlanon did not make. Its numbers come from the table alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlanon.declared import most_suppressed
from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.formats import COUNT, GROUP, Grouping
from sqlanon.privacy import requirements
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.diversity import DistinctDiversity, FrequencyDiversity
from sqlanon.release.check import persons
from sqlanon.release.check.audit_columns import lowering
from sqlanon.release.check.audit_pair import audit_groups, counted_beside, facts_beside
from sqlanon.release.check.audit_place import Place, audited
from sqlanon.release.store.catalog import Catalog, Entry
from sqlanon.release.store.refresh import link_columns_of
from sqlanon.release.store.target import form_of
from sqlanon.results import AuditReport, RequirementResult, SensitiveAudit, TogetherReport
from sqlanon.spec import ColumnSpec, PrivacySpec, ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import assign_roles, counted_columns, hashes_of, take_stage


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

    Risks count the fewest persons of a class wherever persons can be counted: by ``identifiers``, and for a release of events
    by the private tables of its catalog's schema, over the release's own classes.

    A release that went into another file (``publish_file``) is read there, by its policy and from the database of its source.

    A release in format anatomy is two tables: name the one with the rows, and both are read.

    Args:
        engine: where the table is.
        table: its name.
        quasi: the columns that make the classes; None: every column but the sensitive ones (and identifiers).
        sensitive: columns whose diversity is measured.
        identifiers: columns whose distinct values are counted per class, each by itself, NULLs as one value.
        spec: a policy's release, whose requirements are then checked as well.

    Raises:
        PolicyError: a column does not exist, or plays two roles.
    """
    with audited(engine, table, spec) as place:
        return _audit(engine, place, table, quasi, sensitive, identifiers, spec)


def _roles(spec: ReleaseSpec | None, entry: Entry | None) -> dict[str, str]:
    """The roles of the source's columns: by the policy, else by the catalog where the table is a release."""
    if spec is not None:
        return {item.name: item.role for item in spec.columns}
    if entry is not None:
        return {column["name"]: column["role"] for column in entry.policy["columns"]}
    return {}


def _audit(
    engine: Engine, place: Place, table: str, quasi: Sequence[str] | None, sensitive: Sequence[str], identifiers: Sequence[str],
    spec: ReleaseSpec | None,
) -> AuditReport:  # fmt: skip
    relation = place.relation
    facts = facts_beside(engine, relation.ref)
    counted = counted_beside(engine, relation, facts)
    missing, starred = (int(facts.get(kind, 0)) for kind in ("left_out", "starred"))
    names = [column.name for column in relation.columns if counted is None or column.name != GROUP]
    roles = _roles(spec, place.entry)
    own_sensitive = [name for name in names if roles.get(name) == "sensitive"]
    if spec is not None and not sensitive:
        sensitive = own_sensitive
    known = {name.lower(): name for name in names}
    chosen = [_known(table, known, name) for name in quasi] if quasi is not None else None
    beside = (
        [column.name for column in counted.columns if column.name not in (GROUP, COUNT)] if counted else []
    )
    known |= {name.lower(): name for name in beside}
    sensitive = [name for name in (_known(table, known, name) for name in sensitive) if name not in beside]
    identifiers = [_known(table, known, name) for name in identifiers]
    twice = sorted((set(chosen or ()) & set(sensitive)) | (set(identifiers) & {*(chosen or ()), *sensitive}))
    if twice:
        raise PolicyError(f"audit {table}: {', '.join(twice)} cannot have two roles")
    everything = [name for name in names if name not in sensitive and name not in identifiers]
    if chosen is None:
        chosen = [name for name in everything if roles.get(name) not in ("sensitive", "insensitive")]
    classes, k, largest, singles, rows, _ = _sizes(engine, relation.ref, chosen)
    k_all = k if chosen == everything else _sizes(engine, relation.ref, everything)[1]
    left_out = tuple(name for name in everything if name not in chosen)
    alone, together = (
        lowering(k, chosen, left_out, lambda names: _sizes(engine, relation.ref, names)[1])
        if k_all < k
        else ((), ())
    )
    grouping = Grouping(relation.ref, tuple(chosen))
    found = tuple(_diversity(engine, grouping, sensitive, i) for i in range(len(sensitive)))
    results: tuple[RequirementResult, ...] = ()
    not_measured: tuple[str, ...] = ()
    groups = None
    if counted is not None:
        groups, diversity, results = audit_groups(engine, relation, counted, chosen, spec)
        found = (diversity, *found)
    elif spec is not None:
        # What the policy promises is judged over its own classes and sensitive columns, whatever columns are named here.
        classed = [name for name in names if roles.get(name) not in ("sensitive", "insensitive")]
        own = Grouping(relation.ref, tuple(name for name in classed if name not in identifiers))
        named = hashes_of(item.name for item in spec.counted()) if spec.rows_are == "events" else ()
        asked = requirements(spec.privacy, tuple(own_sensitive), tuple(named))
        results = tuple(
            _checked(engine, own, own_sensitive, item) for item in asked if not item.counts_persons
        )
        of_persons = [item for item in asked if item.counts_persons]
        if of_persons:
            more, not_measured = persons.judged(engine, place.entry, tuple(named), own_sensitive, of_persons)
            results += more
    results += _all_rows(rows, missing, starred, place.entry, spec)
    here = persons.measure(engine, relation.ref, chosen, {name: name for name in identifiers})
    linked = persons.of_version(engine, place.entry)
    if spec is not None:
        more, uncounted = persons.checked(spec, place.entry, linked)
        results += more
        not_measured += uncounted
    return AuditReport(
        table=place.shown,
        rows=rows,
        quasi=tuple(chosen),
        left_out=left_out,
        classes=classes,
        k=k,
        max_class=largest,
        k_all=k_all,
        unique_rows=singles,
        highest_risk=max(1 / k if k else 0.0, here.highest, linked.highest),
        average_risk=max(classes / rows if rows else 0.0, here.average, linked.average),
        sensitive=found,
        requirements=results,
        min_identifiers={**here.fewest, **linked.fewest},
        groups=groups,
        not_measured=not_measured,
        lowering=alone,
        lowering_together=together,
        suppressed=missing + starred,
        missing=missing,
    )


def _all_rows(
    rows: int, missing: int, starred: int, version: Entry | None, spec: ReleaseSpec | None
) -> tuple[RequirementResult, ...]:
    """Of a release with suppressed rows: those left out and those in it are the source's; no more than the policy allows."""
    if not missing and not starred:
        return ()
    found = []
    source = rows + missing
    if version is not None and missing:
        known = int(version.report["rows"])
        found.append(RequirementResult("rows, with those left out", None, known, source, known == source))
    if spec is not None:
        most, lost = most_suppressed(spec, source), missing + starred
        found.append(RequirementResult("rows suppressed, at most", None, most, lost, lost <= most))
    return tuple(found)


def _known(table: str, known: dict[str, str], name: str) -> str:
    if name in known.values():
        return name
    if name.lower() not in known:
        raise PolicyError(f"audit {table}: there is no column {name}; columns: {', '.join(known.values())}")
    return known[name.lower()]


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
    return tuple(int(str(cell)) for cell in row)


def _diversity(engine: Engine, grouping: Grouping, sensitive: Sequence[str], i: int) -> SensitiveAudit:
    one = Fraction(1)
    frequency = grouping.measure(engine, FrequencyDiversity(one, sensitive[i], i), sensitive).reached
    distinct = grouping.measure(engine, DistinctDiversity(one, sensitive[i], i), sensitive).reached
    return SensitiveAudit(sensitive[i], int(distinct), float(frequency))


def _checked(
    engine: Engine, grouping: Grouping, sensitive: Sequence[str], requirement: Requirement
) -> RequirementResult:
    return requirement.result(grouping.measure(engine, requirement, sensitive))


def together(engine: Engine, first: str, second: str) -> TogetherReport:
    """Measure k and l over the intersections of two releases' classes, which a reader of both knows.

    Rows are matched through the private link tables, so this is what a reader who knows a person's place in both
    releases is left with. Where one of them is of events, persons are counted in the
    intersections as `audit` counts them.

    Cost: one pass over the source and two joins.

    Raises:
        PolicyError: not two published releases of one source.
    """
    catalog = Catalog(engine)
    catalog.guard()
    one, two = _published(catalog, engine, first), _published(catalog, engine, second)
    if one.source != two.source:
        raise PolicyError(f"{first} and {second} have different sources ({one.source}, {two.source})")
    if one.release == two.release:
        raise PolicyError("name two different releases")
    for entry in (one, two):
        form = form_of(entry)
        if form.facts.paired:
            raise PolicyError(
                f"{entry.release} has format {form.facts.name}: its sensitive values belong to groups, not to rows, so that "
                "intersections of classes do not say what a reader of both learns; give no reader both"
            )
    relation = engine.relation(one.source)
    roles: dict[str, str] = {}
    for entry in (one, two):
        for column in entry.policy["columns"]:
            if column["role"] in ("sensitive", "identifier") or column["name"] not in roles:
                roles[column["name"]] = column["role"]
    here = [column.name for column in relation.columns]
    sensitive = [name for name in here if roles.get(name) == "sensitive"]
    if link_columns_of(one, here) != link_columns_of(two, here):
        raise PolicyError(f"{first} and {second} name different identifiers, so their rows cannot be matched")
    spec = ReleaseSpec("together", one.source, tuple(ColumnSpec(name, "sensitive") for name in sensitive),
                       PrivacySpec(), rest="drop")  # fmt: skip
    policies = (one.policy, two.policy)
    named = {name.lower() for policy in policies for name in persons.counted_in(policy)}
    counted = counted_columns(relation, [name for name in here if name.lower() in named])
    with Scratch(engine) as scratch:
        found = assign_roles(spec, relation)
        with engine.snapshot():
            stage = take_stage(scratch, found, link_columns_of(one, here), persons=counted)
        rows = int(str(scratch.fetch("table/count", source=stage)[0][0]))
        floor = min(one.report["min_class"], two.report["min_class"])
        aliases = [reading.alias for reading in found.sensitive]
        row = scratch.fetch(
            "audit/together",
            {"floor": floor},
            stage=stage,
            first=one.link,
            second=two.link,
            sensitive=aliases,
            persons=[person.alias for person in counted],
        )[0]
    classes, k, singles, matched, below = (int(str(cell)) for cell in row[:5])
    diversity = tuple(
        SensitiveAudit(name, int(str(row[5 + 2 * i])), float(str(row[6 + 2 * i])))
        for i, name in enumerate(sensitive)
    )
    numbers = (int(str(cell)) for cell in row[5 + 2 * len(sensitive) :])
    fewest = dict(zip((person.name for person in counted), numbers, strict=True))
    results, not_measured = persons.checked_together(policies, fewest)
    return TogetherReport(
        first=f"{one.release}@{one.version}", second=f"{two.release}@{two.version}", source=one.source, matched=matched,
        unmatched=max(rows - matched, 0), classes=classes, k=k, k_first=one.report["min_class"],
        k_second=two.report["min_class"], rows_below=below, unique_rows=singles, sensitive=diversity,
        requirements=results, min_identifiers=fewest, not_measured=not_measured,
    )  # fmt: skip


def _published(catalog: Catalog, engine: Engine, name: str) -> Entry:
    entries = [entry for entry in catalog.entries() if entry.status == "published"]
    found = [entry for entry in entries if entry.release == name]
    if not found:
        view = engine.target(name)
        found = [entry for entry in entries if entry.view == view]
    if not found:
        known = ", ".join(sorted(entry.release for entry in entries)) or "none"
        raise PolicyError(f"{name} is not a published release of this database; published: {known}")
    return found[-1]


__all__ = ["audit", "together"]
