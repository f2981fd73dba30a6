"""Members of boxes: the rows of a class, or the candidates of a row that has a box of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlanon.formats.grouping import Grouping

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.table.scratch import Scratch


class Members:
    """The members of a class: the rows that share the box of the class and are published in it.

    Attributes:
        attain: ends of a published box may be values of the rows that are published in it.
        unite: boxes that publish the same are one group.
        facts: facts for metadata.
    """

    attain: ClassVar[bool] = True
    unite: ClassVar[bool] = True
    facts: ClassVar[Mapping[str, object]] = {}

    def each(self, classed: TableRef, rows: int) -> tuple[TableRef, int]:
        """The classed rows, once for each box that they are members of, and how many these are of so many rows."""
        return classed, rows

    def count_published(self, scratch: Scratch, boxes: TableRef, codes: Sequence[str]) -> TableRef:
        """The boxes with the numbers of rows that are published in them; ``codes``: the quasi columns."""
        return boxes

    def least(self, k: int) -> int | None:
        """The size of the classes that a release with this k asks for; None: it asks for no classes."""
        return k if k > 1 else None

    @property
    def certified(self) -> Grouping | None:
        """Groups of a private table, where the published table does not show them; None: the format shows them."""
        return None


OF_CLASSES = Members()


@dataclass(frozen=True, slots=True)
class Candidates(Members):
    """Rows and boxes of a release in which every row has a box of its own (`sqlanon.methods.base.Matches`).

    A group is the rows that fit a box.

    Attributes:
        k: boxes that a row fits, and rows that fit a box.
        matched: scratch table of the classed rows, every row once for each box that it fits: ``class`` is the box.
        edges, slots: scratch tables of rows' boxes and numbers, see `sqlanon.release.divide.own_boxes.DrawnMatching`.
        kept: the certificate's table of edges, where it is written.
        content: key of remix and draw, besides secret and release: a keyed hash of the options and the quasi
            values.
    """

    k: int
    matched: TableRef
    edges: TableRef
    slots: TableRef
    kept: TableRef
    content: str
    attain: ClassVar[bool] = False
    unite: ClassVar[bool] = False
    facts: ClassVar[Mapping[str, object]] = {"boxes": "own"}

    def each(self, classed: TableRef, rows: int) -> tuple[TableRef, int]:
        """See `Members.each`: k times every row."""
        return self.matched, rows * self.k

    def count_published(self, scratch: Scratch, boxes: TableRef, codes: Sequence[str]) -> TableRef:
        """See `Members.count_published`: every row is published in a single box of those that it fits."""
        table = scratch.table("single")
        scratch.execute("freeform/single", single=table, boxes=boxes, columns=list(codes))
        return table

    def least(self, k: int) -> int | None:
        """None."""
        return None

    @property
    def certified(self) -> Grouping:
        return Grouping(self.kept, ("box",))
