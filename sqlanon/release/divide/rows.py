"""The plain division: the method divides all rows, here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Candidates
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.release.divide import merge_failing_groups
from sqlanon.release.divide.division import Divided
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


class Rows:
    """The method sees rows and meets what is asked of them. See `sqlanon.release.divide.division.Division`."""

    title: ClassVar[str] = "rows"

    def judged(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        """What a union of classes that publish the same may fail."""
        return merge_failing_groups.not_monotone(requirements)

    def notes(self, groups: int, requirements: Sequence[Requirement]) -> tuple[str, ...]:
        """See `merge_failing_groups.notes`."""
        return merge_failing_groups.notes(groups, requirements)

    def key(self, secret: str) -> str:
        """The release's."""
        return secret

    def divide(self, context: Context, method: Method) -> Divided:
        """Run the method on all rows."""
        return Divided(of_classes(method, method.assign(context)))

    def recoded_rows(self, scratch: Scratch, encoded: Encoded, classed: TableRef, divided: Divided) -> TableRef:
        """Every row once."""
        return classed

    def candidates(self, scratch: Scratch, divided: Divided, rows: TableRef) -> Candidates | None:
        """None."""
        return None


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
