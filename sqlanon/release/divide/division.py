"""A division: who runs the method of a policy on what, so that every staged row gets a class.

Each division is a file; see `choose_division`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from sqlanon.engines.base import TableRef
from sqlanon.formats import Candidates
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Drawn:
    """The k matchings of a graph, remixed, of which one is drawn.

    Attributes:
        k: how many.
        table: scratch table (rid, class integer): the box in which every row is published.
        edges: scratch table (rid, slot, box integer; matching smallint): the boxes of every row.
        slots: scratch table (rid, slot integer).
        content: what random numbers are keyed with, besides secret and release, as a keyed hash.
    """

    k: int
    table: TableRef
    edges: TableRef
    slots: TableRef
    content: str


@dataclass(frozen=True, slots=True)
class Divided:
    """Rows with classes.

    Attributes:
        assignment: the class of every row.
        blocks: of each class the block, beyond which it is not united with others; None: with any.
        drawn: every row has a box of its own; None: rows of a class share one.
    """

    assignment: Assignment
    blocks: Mapping[int, int] | None = None
    drawn: Drawn | None = None

    def divides_equal_rows(self, *, trusted: bool) -> bool:
        """Whether rows of equal codes may be in several classes.

        The method's own statement counts if it is ``trusted``.
        """
        return self.drawn is None and (self.assignment.divided or not trusted)


class Division(Protocol):
    """How staged rows are divided.

    Attributes:
        title: what is divided, in a few words.
    """

    title: ClassVar[str]

    def judged(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        """Requirements on groups of classes that the method does not ensure.

        Groups that fail are united with others.
        """

    def notes(self, groups: int, requirements: Sequence[Requirement]) -> tuple[str, ...]:
        """What a report says of so many groups that were united, as they failed one of ``requirements``."""

    def key(self, secret: str) -> str:
        """What the method's random choices are keyed with; ``secret`` is the release's."""

    def divide(self, context: Context, method: Method) -> Divided:
        """Run the method.

        Raises:
            PrivacyViolation: it gives what the policy does not accept.
            InfeasibleError: it cannot meet what is asked.
        """

    def recoded_rows(self, scratch: Scratch, encoded: Encoded, classed: TableRef, divided: Divided) -> TableRef:
        """The classed rows, once for each box that they are published or compared with."""

    def candidates(self, scratch: Scratch, divided: Divided, rows: TableRef) -> Candidates | None:
        """What is known of the boxes of single rows; ``rows`` are the `recoded_rows`. None: there are none."""
