"""Effects of the next run of a lineage on rows, for plan."""

from __future__ import annotations

from sqlanon.release.frozen.next_version import NextVersion
from sqlanon.spec import ReleaseSpec


def plan_notes(spec: ReleaseSpec, looked: NextVersion, why: str, *, begins: bool) -> tuple[str, ...]:
    """Notes of a plan on the rows of a lineage: rows that stay, rows that wait, and rows for a new lineage.

    Args:
        spec: the release.
        looked: the source compared with the lineage.
        why: reason why the cohort cannot be published; empty if it can, or without a cohort.
        begins: the lineage begins.
    """
    census, number = looked.seen, looked.lineage.number
    if begins:
        apart = f", but {census.erased} whose keys were erased" if census.erased else ""
        return (f"lineage {number} begins: all rows of the source are published{apart}",)
    report, size = looked.report(), spec.refresh.cohort_rows(spec.privacy.k)
    if looked.tried is not None:
        does = "are tried now, as a cohort of their own: columns, requirements and the estimate are about them alone"
    elif why:
        does = f"are due and cannot be published, so that a run makes them wait whole for a new lineage ({why})"
    else:
        does = f"wait: a cohort has {size}"
        if spec.refresh.cohort and spec.refresh.cohort.every is not None:
            does += f", or is due by the time since the first of them came, {report.waits_since}, when there are k"
    stays = (
        f"lineage {number}: {looked.stays.published} published rows stay as they are, {report.retained} of which the "
        f"source does not have any more, and {report.stale} with other values; "
        f"{looked.stays.before - looked.stays.published} leave"
    )
    waits = f"{census.cohort} rows of the source {does}" if census.cohort else "no row of the source waits for a cohort"
    return stays, waits, f"{report.for_new_lineage} rows of the source wait for a new lineage"
