"""Audit of a release of counts by the certificate: sums of the view, private cells, atoms and witnesses."""

from __future__ import annotations

from typing import cast

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.release.audit.place import Place
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import version_in
from sqlanon.release.catalog.other_counts import batches_of
from sqlanon.results import AuditReport, RequirementResult, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.statistics.neighbour import Alike, OfPersons, read_stored_neighbour
from sqlanon.statistics.nights import verify_versions
from sqlanon.statistics.past_versions import PastTables
from sqlanon.statistics.private_tables import kept_of
from sqlanon.statistics.protections import find_protection, read_stored_statistics
from sqlanon.statistics.shape import Shape, read_stored_shape
from sqlanon.statistics_spec import ABLE, STATUS
from sqlanon.table.scratch import Scratch

PROMISED = {
    "suppress": "persons in a shown cell",
    "round": "persons of a cell that is not small",
    "cell_key": "persons of a cell that attacks do not look for",
}
"""What the threshold is, by the method."""


def audit_counts(engine: Engine, place: Place, columns_given: bool, spec: ReleaseSpec | None) -> AuditReport:
    """Repeat the check of the certificate of the version that a view shows, made before publication.

    Whether cells are those of the source is checked by run, and not here: the source may have changed.

    Args:
        engine: the session.
        place: the release.
        columns_given: columns are named for the audit.
        spec: a policy's release, for the check of the threshold against the policy.

    Raises:
        PolicyError: the private tables cannot be read from here, columns are named, or a run was killed.
        PrivacyViolation: the certificate fails.

    Cost: that of `verify_published`.
    """
    entry, problem = place.entry, f"audit {place.shown}: it has counts of cells"
    if columns_given:
        raise PolicyError(f"{problem}, so that columns make no classes; name no columns")
    tables = {} if entry is None else dict(entry.counts)
    if ABLE in tables and not engine.exists(tables[ABLE]):
        # An older version has no such table, and its witnesses no such combinations: changes of others are refused.
        del tables[ABLE]
    if entry is None or not all(engine.exists(table) for table in (*tables.values(), *entry.past)):
        raise PolicyError(
            f"{problem}, and its certificate is in the private schema, which this session does not see; audit it as "
            "the owner, in the database of its source"
        )
    if not engine.transactions and version_in(engine, entry) != entry.version:
        raise PolicyError(
            f"{problem}, and a run was killed before the catalog said which version readers have: sqlanon clean first"
        )
    with Scratch(engine) as scratch:
        shape = shape_of_entry(entry)
        protection = find_protection(read_stored_statistics(entry.policy["statistics"]))
        batches, physical = batches_of(entry), place.relation.ref
        if batches:
            kept_tables = kept_of(tables)
            past = PastTables(*entry.past) if entry.past else None
            shown_cells, hidden = verify_versions(scratch, shape, physical, kept_tables, batches, entry.release, past)
        else:
            shown_cells, hidden = protection.verify(scratch, shape, physical, tables, entry.release)
    threshold = spec.statistics.threshold if spec is not None and spec.statistics is not None else shape.threshold
    results = (
        RequirementResult("certificate", None, 1, 1, True),
        RequirementResult(PROMISED[protection.method], None, threshold, shape.threshold, shape.threshold >= threshold),
        *_rules_of_sums(shape, spec),
    )
    return AuditReport(
        table=place.shown,
        rows=shown_cells + hidden,
        quasi=tuple(column.name for column in shape.columns),
        requirements=results,
        hidden_cells=hidden,
        cell_status=STATUS[protection.method],
    )


def _rules_of_sums(shape: Shape, spec: ReleaseSpec | None) -> list[RequirementResult]:
    """The distance to each contribution that the policy asks for, in percent, and that of the version."""
    statistics = spec.statistics if spec is not None else None
    percents = {summed.name: summed.percent for summed in statistics.sums} if statistics is not None else {}
    results = []
    for summed in shape.sums:
        least = percents.get(summed.name, summed.percent)
        name = f"percent of a contribution to {summed.name}"
        results.append(RequirementResult(name, None, least / 100, summed.percent / 100, summed.percent >= least))
    return results


def shape_of_entry(entry: Entry) -> Shape:
    """The shape of a version, as the policy and the report have it."""
    report = RunReport.from_dict(entry.report)
    assert report.statistics is not None
    counts, neighbour_report, neighbour = report.statistics, report.statistics.neighbour, None
    if neighbour_report is not None:
        neighbour = read_stored_neighbour(
            neighbour_report.release,
            neighbour_report.version,
            neighbour_report.shown,
            neighbour_report.columns,
            OfPersons(
                neighbour_report.persons,
                neighbour_report.share,
                cast("Alike", neighbour_report.alike),
                neighbour_report.weighed,
            ),
        )
    return read_stored_shape(
        entry.policy["statistics"], counts.levels, entry.version, counts.scales, neighbour, patterns=counts.patterns
    )
