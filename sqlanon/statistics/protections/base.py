"""Interface between a release of counts and the protection of the numbers: `Protection`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.progress import Progress
from sqlanon.statistics.cube import Cube
from sqlanon.statistics.private_tables import Tables
from sqlanon.statistics.shape import Shape
from sqlanon.statistics_spec import Method
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True)
class Run:
    """Counted cells that are to be protected.

    Attributes:
        scratch: the run.
        shape: the published columns, margins and measures.
        cube: the counted cells.
        stage: the staged source.
        secret: key of the release.
        release: its name, for messages.
        progress: gets the progress.
    """

    scratch: Scratch
    shape: Shape
    cube: Cube
    stage: TableRef
    secret: bytes = field(repr=False)
    release: str
    progress: Progress


@dataclass(frozen=True)
class ProtectedCells:
    """Protected cells.

    Attributes:
        view: the statement that makes the published table at a place.
        tables: scratch tables of the private tables.
        witnesses: tables that prove the protection, besides the true table.
        facts: further metadata.
        errors: of numbers with noise the expected root of the mean squared error, as published and after all readers'
            averaging.
        hidden: where cells are hidden the scratch table of them.
    """

    view: Callable[[TableRef], Statement]
    tables: Tables
    witnesses: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    errors: tuple[float, float] | None = None
    hidden: TableRef | None = None


class Protection(Protocol):
    """How the numbers of cells are protected."""

    @property
    def method(self) -> Method:
        """The word of policies."""

    @property
    def owned(self) -> bool:
        """Whether the staged source needs a hash of each person."""

    @property
    def several(self) -> bool:
        """Whether persons may be counted who have rows in several of the finest cells."""

    @property
    def burden(self) -> str:
        """What many small cells of a margin lead to, for the notes of a plan."""

    def describe(self, release: str, threshold: int) -> str:
        """What the stage does, in one line."""

    def note(self, run: Run) -> tuple[str, ...]:
        """What a plan says of it."""

    def protect(self, run: Run) -> ProtectedCells:
        """Protect the cells.

        Raises:
            InfeasibleError, PolicyError: it cannot be done; nothing is published.
        """

    def verify_source(self, run: Run, private_tables: Tables) -> None:
        """The kept tables are those of the staged rows.

        Raises:
            PrivacyViolation: they are not.
        """

    def verify(
        self, scratch: Scratch, shape: Shape, physical: TableRef, private_tables: Tables, release: str
    ) -> tuple[int, int]:
        """Verify the published table by sums of it and the kept tables alone.

        Returns:
            how many cells have their true number, and how many have not.

        Raises:
            PrivacyViolation: the failed rule, and how often; no value.
        """


def refuse(release: str, names: tuple[str, ...], failing: tuple[int, ...]) -> None:
    """Raise the first of some rules that failed."""
    for name, many in zip(names, failing, strict=True):
        if many:
            raise PrivacyViolation(f"{release}: the certificate fails: {name}: {many}")
