"""Versions of counts that follow one another (``refresh: {mode: frozen}``): the next version of a run."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.errors import GuardError
from sqlanon.release.audit.of_counts import shape_of_entry
from sqlanon.release.catalog.other_counts import batches_of
from sqlanon.release.catalog.state import SHOWN
from sqlanon.results import RunReport
from sqlanon.shell import command
from sqlanon.statistics.cube import Cube, count_cells
from sqlanon.statistics.nights import Growth, find_newcomers
from sqlanon.statistics.past_versions import NewLineage, PastTables
from sqlanon.statistics.private_tables import KeptTables, kept_of

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.release.catalog.refresh import Decision
    from sqlanon.release.catalog.state import ReleaseState
    from sqlanon.release.stages.work import Work
    from sqlanon.statistics.neighbour import Neighbour
    from sqlanon.statistics.shape import Shape
    from sqlanon.table.scratch import Scratch


def is_old(age: int | None, entry: Entry, now: datetime.datetime) -> bool:
    """Whether a version has an age, in seconds; None: there is no limit."""
    if age is None:
        return False
    return (now - datetime.datetime.fromisoformat(entry.published_at)).total_seconds() >= age


def kept_before(entry: Entry) -> KeptTables:
    """The private tables of a version, without those of all lineages."""
    return kept_of(entry.counts)


class Nights:
    """The version before, and the rows that it does not have. For one run only."""

    def __init__(self) -> None:
        self._before: Entry | None = None
        self._newest: int = 0
        self._began: Entry | None = None
        self._begins = False
        self._growth: Growth | None = None

    def follow(self, state: ReleaseState, previous: Entry) -> None:
        """The published version is followed by others, if its policy says so."""
        if batches_of(previous):
            self._before = previous
            began = batches_of(previous)[0]
            self._began = next((entry for entry in state.every_version() if entry.version == began), None)
            shown = [entry.version for entry in state.every_version() if entry.status in SHOWN]
            self._newest = max(shown)

    @property
    def follows(self) -> bool:
        """Whether there is a version before."""
        return self._before is not None

    @property
    def neighbour(self) -> Neighbour | None:
        """The release of rows that the rows of the first version are protected together with."""
        return shape_of_entry(self._before).neighbour if self._before is not None else None

    @property
    def before(self) -> KeptTables | None:
        """The private tables of the version before, if it is of the same lineage."""
        return kept_before(self._before) if self._before is not None and not self._begins else None

    def shape(self, shape: Shape) -> Shape:
        """The shape of the rows that a run protects: the new ones, or all."""
        return shape if self._growth is None or self._begins else self._shape_of_new(shape)

    def _shape_of_new(self, shape: Shape) -> Shape:
        assert self._growth is not None
        return shape.of_new_rows(shape.version, self._growth.came)

    @property
    def past(self) -> PastTables | None:
        """The tables of all lineages, of the version before; None: there are none."""
        return PastTables(*self._before.past) if self._before is not None and self._before.past else None

    @property
    def earlier(self) -> tuple[int, ...]:
        """The versions of earlier lineages."""
        if self._before is None:
            return ()
        report = RunReport.from_dict(self._before.report).statistics
        assert report is not None
        return (*report.earlier, *(report.batches if self._begins else ()))

    def beginning(self) -> NewLineage | None:
        """The lineage that begins; None: none does, or it is the first."""
        before, past = self._before, self.past
        if not self._begins or before is None or past is None:
            return None
        batches = batches_of(before)
        earlier = self.earlier
        return NewLineage(earlier[0], batches[0], batches, kept_before(before), past, self.neighbour)

    def count_new(self, scratch: Scratch, shape: Shape, release: str) -> Cube:
        """The cells of the new rows."""
        assert self._growth is not None
        return count_cells(scratch, self._shape_of_new(shape), self._growth.stage, release)

    @property
    def stage(self) -> TableRef | None:
        """The staged rows that are new; None: all are."""
        return self._growth.stage if self._growth is not None and not self._begins else None

    def note(self, scratch: Scratch, shape: Shape, cells: TableRef) -> tuple[str, ...]:
        """Notes for a plan: how many cells may go on.

        Args:
            scratch: the plan.
            shape: the counted columns.
            cells: the cells of the new rows.
        """
        if self._growth is None or self._before is None:
            return ()
        if self._begins:
            return (f"a new lineage begins, with {self._growth.came} persons who are new: the cells are of all rows",)
        version, before = self._before.version, kept_before(self._before)
        listed, stopped, few, many = scratch.numbers(
            "statistics/moving_on", cells=cells, before=before.cells, **shape.context()
        )
        new = f"{self._growth.came} persons are new since version {version}: the cells counted above"
        goes_on = (
            f"of {listed} cells of version {version} at most {many} get a new number, without those that are hidden "
            f"for the sake of small ones; {few} stop, as fewer than {shape.threshold} persons came; {stopped} have "
            f"stopped already, or are hidden; to {listed - stopped - few - many} nobody came"
        )
        return f"{new} are theirs; cells in which they are hidden keep their numbers", goes_on

    def batches(self, work: Work) -> tuple[int, ...]:
        """The versions whose new rows are in this one; empty: there is one version."""
        statistics = work.spec.statistics
        assert statistics is not None
        if statistics.cohort is None:
            return ()
        before = self._before if not self._begins else None
        return (*(batches_of(before) if before is not None else ()), work.target.version)

    def look(self, work: Work, shape: Shape) -> Decision:
        """Compare the rows with those of the version before.

        Returns:
            the decision: too few persons are new, and nothing is published; or as it was.

        Raises:
            GuardError: rows went, or another version is the last that readers had.
        """
        name, before, statistics = work.spec.name, self._before, work.spec.statistics
        assert before is not None
        assert statistics is not None
        assert statistics.cohort is not None
        if self._newest != before.version:
            advice = command("rollback", name, options=("--to", str(self._newest)))
            raise GuardError(
                f"{name}: version {before.version} is published, and readers had version {self._newest} after it: new "
                f"rows are counted from the last version on. Return to it first: {advice}"
            )
        growth = find_newcomers(work.scratch, shape, work.staged.stage, kept_before(before), name)
        if growth.went:
            amounts = ", or have another amount" if shape.sums else ""
            raise GuardError(
                f"{name}: rows of version {before.version} are no longer in the source, or in another cell{amounts}: "
                "what versions reveal together of who left or moved is not known, so that nothing is published, and "
                f"version {before.version} stays as it is. If nobody has kept it, unpublish the release, and then run "
                "--allow-weaker"
            )
        now = datetime.datetime.now(datetime.UTC)
        old_enough = is_old(statistics.cohort_every, before, now)
        if growth.came >= statistics.cohort or (old_enough and growth.came > statistics.threshold):
            self._growth = growth
            self._begins = self._began is not None and is_old(statistics.lineage_age, self._began, now)
            if self._begins:
                return replace(work.decision, why=(*work.decision.why, "a new lineage begins"))
            return work.decision
        fewest = statistics.threshold + 1 if old_enough else statistics.cohort
        why = f"fewer than {fewest} persons are new: they wait"
        return replace(work.decision, state="unchanged", same_as=work.source.fingerprint, why=(why,))
