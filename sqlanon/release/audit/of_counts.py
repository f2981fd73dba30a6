"""Audit of a release of counts by the certificate: sums of the view, private cells, atoms and witnesses."""

from __future__ import annotations

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.release.audit.place import Place
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import batches_of
from sqlanon.results import AuditReport, RequirementResult, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.statistics.certificate import Kept, verify_published
from sqlanon.statistics.neighbour import stored_neighbour
from sqlanon.statistics.nights import verify_versions
from sqlanon.statistics.shape import Shape, stored_shape
from sqlanon.table.scratch import Scratch


def audit_counts(engine: Engine, place: Place, named: bool, spec: ReleaseSpec | None) -> AuditReport:
    """Repeat the check of the certificate of the version that a view shows, made before publication.

    Whether cells are those of the source is checked by run, and not here: the source may have changed.

    Args:
        engine: the session.
        place: the release.
        named: columns are named for the audit.
        spec: a policy's release, for the check of the threshold against the policy.

    Raises:
        PolicyError: the private tables cannot be read from here, or columns are named.
        PrivacyViolation: the certificate fails.

    Cost: that of `verify_published`.
    """
    entry, problem = place.entry, f"audit {place.shown}: it has counts of cells"
    if named:
        raise PolicyError(f"{problem}, so that columns make no classes; name no columns")
    if entry is None or not all(engine.exists(table) for table in entry.statistics):
        raise PolicyError(
            f"{problem}, and its certificate is in the private schema, which this session does not see; audit it as "
            "the owner, in the database of its source"
        )
    with Scratch(engine) as scratch:
        shape = shape_of_entry(entry)
        shown_cells, hidden = _verify(scratch, shape, place.relation.ref, entry)
    threshold = spec.statistics.threshold if spec is not None and spec.statistics is not None else shape.threshold
    results = (
        RequirementResult("certificate", None, 1, 1, True),
        RequirementResult("persons in a shown cell", None, threshold, shape.threshold, shape.threshold >= threshold),
    )
    return AuditReport(
        table=place.shown,
        rows=shown_cells + hidden,
        quasi=tuple(column.name for column in shape.columns),
        requirements=results,
        hidden_cells=hidden,
    )


def _verify(scratch: Scratch, shape: Shape, physical: TableRef, entry: Entry) -> tuple[int, int]:
    batches = batches_of(entry)
    if batches:
        return verify_versions(scratch, shape, physical, Kept(*entry.statistics), batches, entry.release)
    return verify_published(scratch, shape, physical, Kept(*entry.statistics), entry.release)


def shape_of_entry(entry: Entry) -> Shape:
    """The shape of a version, as the policy and the report have it."""
    report = RunReport.from_dict(entry.report)
    assert report.statistics is not None
    found = report.statistics.neighbour
    neighbour = None
    if found is not None:
        neighbour = stored_neighbour(found.release, found.version, found.shown, found.columns)
    return stored_shape(entry.policy["statistics"], report.statistics.levels, entry.version, neighbour)
