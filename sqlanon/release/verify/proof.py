"""Classes that cover the staged rows, and the proof that a version keeps besides the published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, Relation, Statement, TableRef
from sqlanon.formats.base import RecodedClasses
from sqlanon.formats.members import OF_CLASSES, Members
from sqlanon.loss import Joint
from sqlanon.release.verify.exposure import count_staged
from sqlanon.results import Exposure, RunReport
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.encode import EncodedTable
from sqlanon.table.reading import Reading
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.release.catalog.state import ReleaseState

Link = Sequence[tuple[str, bool]]
"""See `sqlanon.table.reading.Roles.link`."""


class Proof:
    """Proof of the boxes of a version: for classes, the published table alone.

    `sqlanon.release.verify.box_certificate.CertificateProof` is the proof of a box for every row.

    Attributes:
        boxes: history column with all boxes that a row fits; None if the row's class is the only box.
    """

    boxes: ClassVar[str | None] = None

    @property
    def members(self) -> Members:
        """Rows of each box."""
        return OF_CLASSES

    @property
    def content(self) -> str | None:
        """Key of draws besides secret and release, for the report; None if nothing is drawn."""
        return None

    @property
    def tables(self) -> tuple[TableRef, ...]:
        """Private tables of the version."""
        return ()

    def of_version(self, engine: Engine, physical: str) -> Proof:
        """The same proof with the table names of a version."""
        return self

    def statements(self, scratch: Scratch, classed: TableRef, link: Link) -> list[Statement]:
        """Statements that write the private tables."""
        return []

    def verify(self, scratch: Scratch, classes: DividedSource) -> None:
        """Check the private tables as they were written.

        Raises:
            PrivacyViolation: the tables prove nothing.
        """

    def add_marks(self, report: RunReport, engine: Engine, physical: Relation) -> RunReport:
        """Add marks to the report that reveal changes of the private tables and of the published table."""
        return report

    def expose(
        self,
        scratch: Scratch,
        classes: DividedSource,
        physical: Relation,
        exact: Sequence[Reading],
        persons: Sequence[str],
    ) -> Exposure | None:
        """Count the risk with every published column, over rows and persons.

        Args:
            scratch: the run.
            classes: the rows and classes.
            physical: the written table.
            exact: the columns published unchanged, except sensitive columns.
            persons: aliases of the identifiers that are counted.

        Returns:
            None if no column is published unchanged.
        """
        return count_staged(scratch, classes.classed, classes.recoded, exact, persons)

    def history_columns(self, columns: list[str]) -> list[str]:
        """Columns of the stored history; ``columns``: the columns of values and persons."""
        return columns

    def history(self, scratch: Scratch, history: TableRef, classed: TableRef, columns: Sequence[str]) -> TableRef:
        """History of the version, with the column ``boxes``; ``columns``: the columns of values and persons."""
        return history

    def same_as(
        self, scratch: Scratch, state: ReleaseState, classes: DividedSource, entries: Sequence[Entry], link: Link
    ) -> Entry | None:
        """Newest entry with the same candidates and the same box for every row; None without such an entry."""
        return None

    def surest(self, scratch: Scratch, classes: DividedSource) -> dict[str, dict[str, float]]:
        """A reader's belief in the likeliest sensitive value of a row, mean and worst, per column.

        Empty where classes promise it.
        """
        return {}


BY_TABLE = Proof()


@dataclass(frozen=True, slots=True)
class DividedSource:
    """Classes that cover the staged rows, not yet published.

    Attributes:
        classed: staged rows with their codes and class.
        recoded: published cells of every class.
        execution: how the method ran.
        notes: for the report.
        seed: of random numbers.
        joint: counts for the policy's metrics.
        proof: proof of the boxes.
        generalized: the method suppresses rows, or decides at which levels classes are published.
        search: figures that the method reports of the search.
    """

    classed: ClassedRows
    recoded: RecodedClasses
    execution: str
    notes: tuple[str, ...]
    seed: int
    joint: Joint
    proof: Proof = BY_TABLE
    generalized: bool = False
    search: Mapping[str, int] = field(default_factory=dict)

    @property
    def encoded(self) -> EncodedTable:
        """The columns, with their domains."""
        return self.classed.encoded
