"""A kind of versions: what the stages of a run do for it. `sqlanon.release.versions` has one file for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.prepare.staged import Prepared

if TYPE_CHECKING:
    from sqlanon.release.stages.stage import Stage
    from sqlanon.release.stages.work import Work


@dataclass(frozen=True, slots=True)
class Planned:
    """The rows of a version that is planned.

    Attributes:
        ready: the rows that a method would divide; where there are none, the source's, of which the columns alone were
            read.
        tried: a method would run.
        notes: what happens to which rows.
    """

    ready: Prepared
    tried: bool
    notes: tuple[str, ...] = ()


class Version(Protocol):
    """How the next version of a release is made of its source and of the versions before it."""

    @property
    def follows(self) -> bool:
        """Whether rows are matched with those of the version before by their keys while the source is read."""

    @property
    def anew(self) -> bool:
        """Whether every version is made of all rows of the source, whatever was published before."""

    @property
    def begins(self) -> bool:
        """Whether it is made of all rows of the source, and can be compared with the versions before it."""

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """The decision, with what this kind of versions adds to the reasons for a new one."""

    def look(self, work: Work) -> None:
        """Compare the source, which was read, with what is kept of the versions before.

        Raises:
            PrivacyViolation: a limit of the policy is exceeded.
        """

    def stages(self, work: Work) -> Sequence[Stage]:
        """The stages from here to the one that publishes, for a source that was looked at."""

    def plan(self, work: Work) -> Planned:
        """Profile the rows that a method would divide. Nothing is written."""

    def profile(self, work: Work) -> None:
        """Find the domains of the rows, and whether the policy can be met."""

    def divide(self, work: Work) -> None:
        """Make the classes."""

    def compare(self, work: Work) -> None:
        """Find what the version reveals together with those before it."""

    def measure(self, work: Work) -> None:
        """Make the report so far, and what is to be published."""
