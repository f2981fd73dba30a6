"""A division: the input on which a policy's method runs, so that every staged row gets a class.

The plain division is here, each other division is a file; see `choose_division`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.release.divide import merge_failing_groups
from sqlanon.release.verify.proof import BY_TABLE, Proof
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class DividedRows:
    """Rows with classes, which share a box; boxes of their own are in `sqlanon.release.divide.own_boxes`.

    Attributes:
        assignment: the class of every row.
        blocks: of each class the block, beyond which it is not united with others; None: with any.
    """

    assignment: Assignment
    blocks: Mapping[int, int] | None = None

    def divides_equal_rows(self, *, trusted: bool) -> bool:
        """Whether rows of equal codes may be in several classes.

        The method's own statement counts if it is ``trusted``.
        """
        return self.assignment.divided or not trusted

    def rows(self, scratch: Scratch, classed: ClassedRows) -> ClassedRows:
        """The classed rows, once for each box that they are published or compared with."""
        return classed

    def proof(self, scratch: Scratch, rows: TableRef) -> Proof:
        """Proof of the boxes; ``rows`` are those of `rows`."""
        return BY_TABLE


@dataclass(frozen=True, slots=True)
class DivisionKeys:
    """Secret and tokens with which a division draws and compares.

    Attributes:
        secret: key of the release's hashes.
        elsewhere: kinds of tokens in the other tables of the scope: see `sqlanon.release.verify.tokens`.
    """

    secret: str = field(repr=False)
    elsewhere: TableRef | None = None


class Division:
    """How staged rows are divided; the plain division: the method sees rows, and meets the requirements on them.

    Attributes:
        title: name of the divided units, in a few words.
        remarks: notes of plans.
        compares_all: a version is compared with all that readers had, as they may have kept them.
        joins_persons: all rows of a person are in one class.
        by_choice: the policy could as well have the method divide rows (`persons: rows`), which a run then compares.
        sampled: a sample of the rows shows the losses of all.
        brings: few rows may as well be divided in memory of this process.
    """

    title: ClassVar[str] = "rows"
    remarks: ClassVar[tuple[str, ...]] = ()
    compares_all: ClassVar[bool] = False
    joins_persons: ClassVar[bool] = False
    by_choice: ClassVar[bool] = False
    sampled: ClassVar[bool] = True
    brings: ClassVar[bool] = True

    def check_once(self, what: str) -> None:
        """Check that a release can be made of ``what``, a file or a frame, where nothing stays for the next release.

        Raises:
            PolicyError: it cannot.
        """

    def list_recognized(self, spec: ReleaseSpec) -> tuple[str, ...]:
        """Columns, besides the key, by which rows of a lineage are recognized."""
        return ()

    def requirements_of(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        return requirements

    def codes(self, persons: tuple[Domain, ...]) -> tuple[Domain, ...]:
        return persons

    def requirements_of_rows(self, requirements: Sequence[Requirement]) -> Sequence[Requirement]:
        """Requirements that all rows together must meet before a method is tried."""
        return requirements

    def try_method(self, context: Context, method: Method) -> Assignment:
        """Run the method on a sample, to measure the loss."""
        return method.assign(context)

    def list_judged(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        """Requirements that the method does not ensure: classes that publish the same are united, and may fail them.

        Groups that fail are united with others.
        """
        return merge_failing_groups.not_monotone(requirements)

    def notes(self, groups: int, requirements: Sequence[Requirement]) -> tuple[str, ...]:
        """Notes of a report about so many groups that were united, as they failed some of ``requirements``."""
        return merge_failing_groups.write_notes(groups, requirements)

    def key(self, secret: str) -> str:
        """Key of the method's random choices; ``secret`` is the release's."""
        return secret

    def divide(self, context: Context, method: Method, keyed: DivisionKeys) -> DividedRows:
        """Run the method.

        Raises:
            PrivacyViolation: the policy does not accept the result.
            InfeasibleError: the method cannot meet the requirements.
        """
        return DividedRows(of_classes(method, method.assign(context)))


def of_classes(method: Method, assignment: Assignment) -> Assignment:
    """The assignment, which has classes and no boxes of single rows.

    Raises:
        PrivacyViolation: it has boxes.
    """
    if assignment.matches is not None:
        raise PrivacyViolation(
            f"method {method.declaration.name} gave every row a box of its own, which the policy does not accept; "
            "nothing was published"
        )
    return assignment
