"""Contents of the next version of a lineage, before any method runs.

They are the rows that stay, the rows that wait, and the cohort to be tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.errors import InfeasibleError
from sqlanon.release.catalog.lineage import Lineage
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.choose_lineage import find_newest
from sqlanon.release.frozen.row_counts import Census, Comparison, compare, is_due, too_long
from sqlanon.release.frozen.shape import shape_of
from sqlanon.release.frozen.stale_rows import stale_rows
from sqlanon.release.prepare.key import refuse_key
from sqlanon.release.prepare.staged_source import StagedSource
from sqlanon.results import LineageReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class StayingRows:
    """Published rows, counted before the version is written.

    Attributes:
        before: rows in the version before; ``published`` of them stay. Of these, the source no longer has ``retained``,
            and has ``stale`` with other values.
    """

    before: int = 0
    published: int = 0
    retained: int = 0
    stale: int = 0


@dataclass(frozen=True, slots=True)
class NextVersion:
    """The next version of a lineage in rows.

    Attributes:
        lineage: the version's lineage.
        rows: number of rows of the source.
        now: the time of the run.
        compared: the source compared with the lineage; None if the lineage begins.
        seen: the source's rows by their state in the lineage.
        tried: rows of the cohort to try now; None without a cohort.
        stays: the published rows.
        after: as ``seen``, after publication of the version.
        entered: rows that are new in the version.
    """

    lineage: Lineage
    rows: int
    now: str
    compared: Comparison | None
    seen: Census
    tried: StagedSource | None
    stays: StayingRows
    after: Census
    entered: int

    def refuse(self) -> NextVersion:
        """The outlook if the cohort could not be published."""
        return replace(self, tried=None, after=self.seen.with_refused(self.now), entered=0)

    def hold(self, spec: ReleaseSpec) -> None:
        """Stop a version that has drifted too far from the source, before a cohort is tried.

        Raises:
            PrivacyViolation: a limit is exceeded, or the source has none of the published rows.
        """
        report = self.report()
        limits.require_kept_rows(spec, report)
        limits.hold(spec, self.rows, report, too_long(spec, self.after, self.now))

    def report(self) -> LineageReport:
        """Numbers of rows that stay published, of other rows of the source, and of rows that are new in the version."""
        stays, census, entered = self.stays, self.after, self.entered
        return LineageReport(
            self.lineage.number,
            stays.published + entered,
            entered,
            stays.before - stays.published,
            stays.published - stays.retained - stays.stale + entered,
            stays.stale,
            stays.retained,
            census.cohort,
            census.refused,
            census.gone,
            census.erased,
            waits_since=(census.waits_since or self.now) if census.cohort else None,
            refused_since=census.refused_since,
            later=census.later,
        )


def look(
    scratch: Scratch,
    state: ReleaseState,
    lineage: Lineage,
    staged: StagedSource,
    *,
    begins: bool,
    erasing: TableRef | None = None,
    whole: bool = False,
) -> NextVersion:
    """Compare the source with the lineage, and take the cohort that is due.

    Args:
        scratch: the run.
        state: the release as the run found it.
        lineage: the lineage of the version.
        staged: the source as it was read.
        begins: the lineage begins with this version.
        erasing: scratch table of hashes of all keys that are never published again; None if this version erases no key.
        whole: rows of persons who are published wait.

    Raises:
        InfeasibleError: the lineage begins, and all rows of the source have erased keys.
    """
    now = staged.source.read_at
    compared, census = _compare_source(scratch, lineage, staged, begins=begins, erasing=erasing, whole=whole)
    part = _cohort(scratch, lineage, staged, compared, census, begins=begins, erasing=erasing)
    stays = _stays(scratch, state, lineage, compared, staged) if compared else StayingRows()
    after, entered = (census.without_cohort(), census.cohort) if part is not None else (census, 0)
    return NextVersion(lineage, staged.rows, now, compared, census, part, stays, after, entered)


def _compare_source(
    scratch: Scratch, lineage: Lineage, staged: StagedSource, *, begins: bool, erasing: TableRef | None, whole: bool
) -> tuple[Comparison | None, Census]:
    """The source compared with the lineage, None if the lineage begins; and the source's rows by state."""
    if begins:
        return None, _of_new(scratch, staged.spec, lineage, staged)
    compared = compare(scratch, lineage, staged.roles, staged.stage, erasing or lineage.erased, whole=whole)
    row = scratch.fetch("frozen/key", compared=compared.rows, rows=lineage.rows, stage=staged.stage)[0]
    refuse_key(staged.spec, *read_integers(row), needed=True)
    return compared, compared.census


def _cohort(
    scratch: Scratch,
    lineage: Lineage,
    staged: StagedSource,
    compared: Comparison | None,
    seen: Census,
    *,
    begins: bool,
    erasing: TableRef | None,
) -> StagedSource | None:
    """Rows of the cohort to try now, as a separate table; None without a cohort."""
    if begins and not seen.erased:
        return staged
    if erasing is not None or (not begins and not is_due(staged.spec, seen, staged.source.read_at)):
        return None
    cohort = scratch.table("cohort")
    columns = scratch.engine.look_up([staged.stage]).columns(staged.stage)
    scratch.execute(
        "frozen/cohort",
        cohort=cohort,
        stage=staged.stage,
        compared=compared.rows if compared else None,
        erased=lineage.erased,
        columns=[column.name for column in columns if column.name != "rid"],
    )
    return replace(staged, stage=cohort, rows=seen.cohort)


def _of_new(scratch: Scratch, spec: ReleaseSpec, lineage: Lineage, staged: StagedSource) -> Census:
    if not scratch.engine.exists(lineage.erased):
        return Census(staged.rows)
    erased = scratch.fetch("frozen/erased_rows", stage=staged.stage, erased=lineage.erased)
    number = read_integer(erased[0][0])
    if 0 < number == staged.rows:
        raise InfeasibleError(
            f"{spec.name}: all {number} rows of the source have keys that were erased, so that there is nothing to "
            "publish: check the source"
        )
    return Census(staged.rows - number, erased=number)


def _stays(
    scratch: Scratch, state: ReleaseState, lineage: Lineage, compared: Comparison, staged: StagedSource
) -> StayingRows:
    before = int(last_report(state, lineage)["lineage"]["published"])  # as readers had it
    shape = shape_of(state.spec, staged.roles, lineage.list_published_parts(), {})
    stale = stale_rows(scratch, state.spec, lineage, compared, staged.roles, staged.stage, shape)
    return StayingRows(before, compared.stays, compared.retained, stale)


def last_report(state: ReleaseState, lineage: Lineage) -> Mapping[str, Any]:
    """The report of the lineage's newest version."""
    return find_newest(state, lineage.number).report
