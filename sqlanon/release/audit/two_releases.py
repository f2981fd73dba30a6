"""Two releases of one source that one reader holds: k and l left in the intersections of their classes."""

from __future__ import annotations

from sqlanon.column_spec import ColumnSpec
from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.base import Engine
from sqlanon.engines.rows import number, read_integer, read_integers
from sqlanon.errors import PolicyError
from sqlanon.release.audit.together_certificates import together_candidates
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry, refuse_counts
from sqlanon.release.catalog.refresh import link_columns_of
from sqlanon.release.catalog.views import form_of
from sqlanon.release.history.side import counts_candidates
from sqlanon.release.verify import persons
from sqlanon.release.verify.stored_rows import columns_in
from sqlanon.results import SensitiveAudit, TogetherReport
from sqlanon.spec import PrivacySpec, ReleaseSpec, person_name
from sqlanon.table.reading import find_counted_columns
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import StagedHashes, take_stage


def audit_together(engine: Engine, first: str, second: str) -> TogetherReport:
    """Measure k and l over the intersections of two releases' classes, which a reader of both knows.

    Rows are matched through the private link tables, as by a reader who knows a person's place in both releases.
    Where a release is of events, persons are counted in the intersections as `audit` counts them. Where a release has
    boxes of their own, candidates are counted: see `together_candidates`.

    Cost: one pass over the source and two joins.

    Raises:
        PolicyError: not two published releases of one source.
    """
    catalog = Catalog(engine)
    catalog.guard()
    first_entry, second_entry = _find_published(catalog, first), _find_published(catalog, second)
    if first_entry.source != second_entry.source:
        raise PolicyError(
            f"{first} and {second} have different sources ({first_entry.source}, {second_entry.source}); rows are "
            "matched within one source"
        )
    if first_entry.release == second_entry.release:
        raise PolicyError(f"{first} and {second} are the same release; name two different releases")
    for entry in (first_entry, second_entry):
        refuse_counts(
            entry, "what a reader of it and of rows of the same source learns is not measured; give no reader both"
        )
        form = form_of(entry)
        if form.facts.paired:
            raise PolicyError(
                f"{entry.release} has format {form.facts.name}: its sensitive values belong to groups, not to rows, so "
                "that intersections of classes do not say what a reader of both learns; give no reader both"
            )
    relation = engine.relation(first_entry.source)
    roles: dict[str, str] = {}
    for entry in (first_entry, second_entry):
        for column in entry.policy["columns"]:
            if column["role"] in ("sensitive", "identifier") or column["name"] not in roles:
                roles[column["name"]] = column["role"]
    column_names = [column.name for column in relation.columns]
    sensitive = [name for name in column_names if roles.get(name) == "sensitive"]
    if link_columns_of(first_entry, column_names) != link_columns_of(second_entry, column_names):
        raise PolicyError(
            f"{first} and {second} name different identifiers, so their rows cannot be matched; give both policies the "
            "same and run them again"
        )
    spec = ReleaseSpec(
        "together",
        first_entry.source,
        tuple(ColumnSpec(name, "sensitive") for name in sensitive),
        PrivacySpec(),
        rest="drop",
    )
    policies = (first_entry.policy, second_entry.policy)
    spelled = {name.lower(): name for name in column_names}
    person_columns = {
        person_name(spelled[name.lower()] for name in columns): tuple(spelled[name.lower()] for name in columns)
        for policy in policies
        for columns in columns_in(policy).values()
        if all(name.lower() in spelled for name in columns)
    }
    persons_counted = find_counted_columns(
        relation, person_columns, {name: persons.nulls_in(policies, name) for name in person_columns}
    )
    with Scratch(engine) as scratch:
        roles_found = assign_roles(spec, relation)
        with engine.snapshot():
            stage = take_stage(
                scratch, roles_found, link_columns_of(first_entry, column_names), StagedHashes(persons=persons_counted)
            )
        rows = scratch.count("table/count", source=stage)
        if counts_candidates(first_entry, second_entry):
            return together_candidates(scratch, first_entry, second_entry, stage, rows)
        floor = min(first_entry.report["min_class"], second_entry.report["min_class"])
        aliases = [reading.alias for reading in roles_found.sensitive]
        row = scratch.fetch(
            "audit/together",
            {"floor": floor},
            stage=stage,
            first=first_entry.link,
            second=second_entry.link,
            sensitive=aliases,
            persons=[person.alias for person in persons_counted],
        )[0]
    classes, k, singles, matched, below = read_integers(row[:5])
    diversity = tuple(
        SensitiveAudit(name, read_integer(row[5 + 2 * i]), number(row[6 + 2 * i])) for i, name in enumerate(sensitive)
    )
    numbers = read_integers(row[5 + 2 * len(sensitive) :])
    fewest = dict(zip((person.name for person in persons_counted), numbers, strict=True))
    results, not_measured = persons.check_together(policies, fewest)
    compared = sorted(
        {
            key
            for policy in policies
            for key in policy["privacy"]
            if key in REQUIREMENTS and REQUIREMENTS[key].population
        }
    )
    not_measured += tuple(
        f"{key}: rows of the population in intersections of classes are not counted" for key in compared
    )
    return TogetherReport(
        first=f"{first_entry.release}@{first_entry.version}",
        second=f"{second_entry.release}@{second_entry.version}",
        source=first_entry.source,
        matched=matched,
        unmatched=max(rows - matched, 0),
        classes=classes,
        k=k,
        k_first=first_entry.report["min_class"],
        k_second=second_entry.report["min_class"],
        rows_below=below,
        unique_rows=singles,
        sensitive=diversity,
        requirements=results,
        min_identifiers=fewest,
        not_measured=not_measured,
    )


def _find_published(catalog: Catalog, name: str) -> Entry:
    entry = catalog.find_published(name)
    if entry is None:
        names = catalog.list_published_names()
        raise PolicyError(f"{name} is not a published release of this database; published: {names}")
    return entry
