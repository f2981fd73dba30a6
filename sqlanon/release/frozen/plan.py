"""What the next run of a lineage would do: for plan."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.errors import InfeasibleError
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.lineage import Lineage
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.next_version import Outlook, look
from sqlanon.release.prepare.prepare import profiled
from sqlanon.release.prepare.staged import Prepared, Staged
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Planned:
    """The next run of a lineage.

    Attributes:
        ready: the rows that would be tried; where none are, the source's, of which the columns alone were read.
        tried: a method would run.
        notes: what happens to which rows.
    """

    ready: Prepared
    tried: bool
    notes: tuple[str, ...]


def planned(
    scratch: Scratch,
    state: ReleaseState,
    lineage: Lineage,
    staged: Staged,
    watch: Stopwatch,
    *,
    begins: bool,
    runs: bool,
    memory: int,
) -> Planned:
    """What a run would do with the rows that wait. Whether a cohort can be published is decided by counts; the method does not run.

    Args:
        scratch: the run.
        state: the release.
        lineage: the lineage of the next version.
        staged: the source as it was read.
        watch: what measures the stages.
        begins: the lineage begins with it.
        runs: a run would make a version.
        memory: bytes for the kernels.

    Raises:
        PrivacyViolation: a limit would stop the run, or no row would stay published.
        InfeasibleError: the first version of a lineage cannot meet the requirements.
    """
    spec = state.spec
    with watch.stage("profile"):
        looked = look(scratch, state, lineage, staged, begins=begins)
        if runs:
            looked.hold(spec)
    ready, why = None, ""
    if looked.tried is not None:
        try:
            ready = profiled(scratch, spec, looked.tried, watch, memory=memory, part=not begins)
        except InfeasibleError as error:
            if begins:
                raise
            why = str(error)
            looked = looked.refused()
            looked.hold(spec)
    if runs:
        limits.some(spec, looked.report())
    tried = ready is not None
    if ready is None:
        ready = profiled(scratch, spec, staged, watch, memory=memory, part=True, judged=False)
    return Planned(ready, tried, _notes(spec, looked, why, begins=begins))


def _notes(spec: ReleaseSpec, looked: Outlook, why: str, *, begins: bool) -> tuple[str, ...]:
    seen, number = looked.seen, looked.lineage.number
    if begins:
        apart = f", but {seen.erased} whose keys were erased" if seen.erased else ""
        return (f"lineage {number} begins: all rows of the source are published{apart}",)
    found, size = looked.report(), spec.refresh.cohort_rows(spec.privacy.k)
    if looked.tried is not None:
        does = "are tried now, as a cohort of their own: columns, requirements and the estimate are about them alone"
    elif why:
        does = f"are due and cannot be published, so that a run makes them wait whole for a new lineage ({why})"
    else:
        does = f"wait: a cohort has {size}"
        if spec.refresh.cohort and spec.refresh.cohort.every is not None:
            does += f", or is due by the time since the first of them came, {found.waits_since}, when there are k"
    stays = (
        f"lineage {number}: {looked.stays.published} published rows stay as they are, {found.retained} of which the source does not have any more, and "
        f"{found.stale} with other values; {looked.stays.before - looked.stays.published} leave"
    )
    waits = f"{seen.cohort} rows of the source {does}" if seen.cohort else "no row of the source waits for a cohort"
    return stays, waits, f"{found.for_new_lineage} rows of the source wait for a new lineage"
