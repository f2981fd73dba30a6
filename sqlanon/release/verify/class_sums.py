"""Sums of classed rows by class, in one scan, where these rows are not the staged rows themselves.

They show that the rows are the staged ones; published ranges and the written table are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlanon.errors import DatabaseError

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.formats.base import RecodedClasses
    from sqlanon.formats.cover import Claim
    from sqlanon.table.class_rows import ClassedRows, StagedLinks
    from sqlanon.table.scratch import Scratch


class ClassSums:
    """The sums of the rows of a run."""

    def __init__(self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses) -> None:
        """Nothing is summed yet."""
        self._scratch, self._classed = scratch, classed
        self._kept = [column.column for column in recoded.columns if column.source == "s"]
        self._made = False

    @property
    def measure(self) -> Callable[[Sequence[Claim]], TableRef] | None:
        """Makes the table of sums, with the least and greatest values of columns; None: others scan for them.

        It is called once at most.
        """
        links = self._classed.links
        return None if links is None or self._made else lambda columns: self._sum(links, columns)

    def _sum(self, links: StagedLinks, columns: Sequence[Claim]) -> TableRef:
        self._made = True
        self._scratch.execute(
            "verify/class_sums",
            sums=links.sums,
            classed=self._classed.table,
            columns=columns,
            linked=links.linked,
            kept=self._kept,
        )
        return links.sums

    def check(self) -> None:
        """Compare the classed rows with the staged rows, unless they are these.

        Raises:
            DatabaseError: some are lost, there twice, or others.
        """
        links = self._classed.links
        if links is None:
            return
        if not self._made:
            self._sum(links, ())
        if tuple(map(str, self._scratch.fetch("verify/linked", sums=links.sums)[0])) != links.mark:
            raise DatabaseError(
                "the rows of the classes are not the staged ones; nothing was published. This is a defect of sqlanon"
            )
