"""Sums of classed rows by class, in one scan, where these rows are not the staged rows themselves.

They show that the rows are the staged ones; published ranges and the written table are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.errors import DatabaseError
from sqlanon.table.wide_tables import FEW

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.formats.base import RecodedClasses
    from sqlanon.formats.cover import Claim
    from sqlanon.formats.layout import Layout
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch


def begin_sums(scratch: Scratch, classed: ClassedRows, layout: Layout) -> ClassedRows:
    """Sum the rows before they are recoded, where they are not the staged rows: an engine may do both at a time.

    Args:
        scratch: the run.
        classed: the rows, in the classes that are published.
        layout: the published columns.

    Returns:
        the rows, with the columns of which the table of sums has the least and greatest values.
    """
    links = classed.links
    if links is None:
        return classed
    summed = [domain for domain in classed.encoded.quasi if _has_ends(domain)][:FEW]
    scratch.execute(
        "verify/class_sums",
        sums=links.sums,
        classed=classed.table,
        columns=[
            {
                "alias": domain.reading.alias,
                "as_text": domain.reading.as_text,
                "boolean": domain.reading.column.kind == "boolean",
            }
            for domain in summed
        ],
        linked=links.linked,
        kept=[column.column for column in layout.columns if column.source == "s"],
    )
    return replace(classed, links=replace(links, summed=tuple(domain.reading.alias for domain in summed)))


def _has_ends(domain: Domain) -> bool:
    """Whether a range of a column has the least and the greatest value of a class as ends."""
    reading = domain.reading
    ordered = reading.treatment in (None, "ordered") and not isinstance(reading.spec.ordered, tuple)
    return ordered and reading.spec.recode is None


class ClassSums:
    """The sums of the rows of a run."""

    def __init__(self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses) -> None:
        """Sums of rows that have other classes since `begin_sums` are made now."""
        if classed.links is not None and classed.links.summed is None:
            classed = begin_sums(scratch, classed, recoded.layout)
        self._scratch, self._links = scratch, classed.links

    @property
    def of_columns(self) -> Callable[[Sequence[Claim]], TableRef | None] | None:
        """The table of sums if it has the least and greatest values of these columns; None: others scan for them."""
        links = self._links
        if links is None:
            return None
        return lambda columns: links.sums if links.summed == tuple(column.alias for column in columns) else None

    def check(self) -> None:
        """Compare the classed rows with the staged rows, unless they are these.

        Raises:
            DatabaseError: some are lost, there twice, or others.
        """
        links = self._links
        if links is None:
            return
        if tuple(map(str, self._scratch.fetch("verify/linked", sums=links.sums)[0])) != links.mark:
            raise DatabaseError(
                "the rows of the classes are not the staged ones; nothing was published. This is a defect of sqlanon"
            )
