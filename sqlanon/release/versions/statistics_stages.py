"""The stages of a release of counts: count, protect, assemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.release.stages.work import Work


@dataclass(frozen=True, slots=True)
class Count:
    """Count the cells of all tables and their margins."""

    release: str
    tables: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: count the cells of {self.tables} table{'s' if self.tables > 1 else ''} and all margins"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.profile(work)


@dataclass(frozen=True, slots=True)
class Protect:
    """Protect the numbers of the cells."""

    release: str
    text: str

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.divide(work)


@dataclass(frozen=True, slots=True)
class Assemble:
    """Put the content to publish together."""

    release: str

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: put together what is published"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.measure(work)
