"""Functions that write and verify a version of a lineage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.engines.base import LookupResult, Statement, TableRef
from sqlanon.engines.rows import number, read_integer
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.collations import find_collated
from sqlanon.release.catalog.lineage import number_of
from sqlanon.release.catalog.metadata import metadata_rows
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.frozen.choose_lineage import find_newest
from sqlanon.release.frozen.verify import EarlierVersion, verify_before, verify_version
from sqlanon.release.frozen.version import Draft, Step, make_published, record
from sqlanon.release.publish.content import Content, list_columns, report_verified
from sqlanon.release.verify.exposure import count_exposure
from sqlanon.results import Exposure, RunReport
from sqlanon.table.scratch import Scratch


def content_of(state: ReleaseState, scratch: Scratch, draft: Draft, watch: Stopwatch) -> Content:
    """The writer and the verifier of the version.

    The lineage is recorded first, in the same transaction, and the tables are written from it.
    """
    step, shape, classification, report, kept_columns = draft.step, draft.shape, draft.made, draft.report, draft.kept
    last = () if step.begins else RunReport.from_dict(find_newest(state, step.lineage.number).report).requirements
    recorded: list[bool] = []
    facts: dict[str, object] = {}

    def keep() -> None:
        if not recorded:
            # An erasure empties the cells of classes that leave, so that nothing can be compared when it is recorded.
            before = _find_before(state, scratch, step) if step.erased and state.exists(step.lineage.erased) else None
            if before is not None:
                verify_before(scratch, step, before, kept_columns)
            record(scratch, step, shape.added, shape.filled)
            recorded.append(True)

    def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
        keep()
        rows = make_published(scratch, step.lineage, step.version, kept_columns, shape.parts, "version")
        table = scratch.sql(
            "publish/table",
            physical=place,
            classed=rows.rows,
            released=rows.classes,
            published=list_columns(shape.layout.columns),
            dense=False,
            alone=False,
            hashed=False,
            repeated=[],
            declared=False,
        )
        scratch.execute_all([table, *beside])
        for part in (rows.rows, rows.classes):
            scratch.drop(part)

    def verify(place: TableRef, facts: LookupResult) -> RunReport:
        with scratch.repeating():
            return verify_once(place, facts)

    def verify_once(place: TableRef, lookup: LookupResult) -> RunReport:
        before = _find_before(state, scratch, step)
        verified, groups = verify_version(scratch, draft, lookup.relations[place], before, last)
        starred, lost = scratch.fetch(
            "frozen/facts", rows=step.lineage.rows, classes=step.lineage.classes, at=step.version
        )[0]
        exact = [(reading.name, reading.name) for reading in draft.staged.roles.insensitive]
        exposure = count_exposure(scratch.engine, place, shape.layout.of_class, exact)
        verified_report = replace(
            report_verified(report, verified, watch),
            # Counted also without unchanged columns: versions before 0.2 have no figure here, and may show more.
            exposed=exposure or Exposure(verified.min_class, 0, 0, (), verified.classes),
            suppressed=read_integer(starred),
            lineage=replace(
                draft.found,
                loss=number(lost),
                groups=groups.classes,
                min_group=groups.min_class,
                max_group=groups.max_class,
            ),
        )
        facts.update(_facts(verified_report) | find_collated(scratch.engine, draft.staged.roles))
        return verified_report

    def metadata(report: RunReport) -> Iterable[tuple[object, ...]]:
        return metadata_rows(state.spec, draft.staged.roles, shape.names, step.version, facts, report.requirements)

    seed = classification.seed if classification else 0
    return Content(write, verify, (), keep, metadata, report, draft.staged.source, seed, draft.secret)


def _facts(report: RunReport) -> dict[str, object]:
    """Facts for the metadata: numbers of rows that differ from the source."""
    lineage = report.lineage
    assert lineage is not None
    facts: dict[str, object] = {
        "refresh": "frozen",
        "retained": lineage.retained,
        "stale": lineage.stale,
        "not_published": lineage.unpublished,
    }
    return facts | ({"starred": report.suppressed} if report.suppressed else {})


def _find_before(state: ReleaseState, scratch: Scratch, step: Step) -> EarlierVersion | None:
    """The newest version of the lineage with an existing table.

    None also if the lineage has erased the contents of classes in that version.
    """
    for entry in reversed(state.versions):
        of = number_of(entry) == step.lineage.number and entry.status in SHOWN and entry.version < step.version
        table = private_table(state.engine, entry.physical)
        if of and state.engine.exists(table):
            erased = scratch.fetch(
                "frozen/erased_since", rows=step.lineage.rows, erased=step.lineage.erased, at=entry.version
            )
            return None if read_integer(erased[0][0]) else EarlierVersion(entry.version, table)
    return None
