"""Rows that a method suppresses, left out of a release or starred.

It counts them and checks that the policy allows as many.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.declared import FORMATS, METHODS, limit_suppressed
from sqlanon.engines.rows import read_integer
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.base import Assignment
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class SuppressedRows:
    """Rows that lose all their quasi values.

    Attributes:
        left_out: those that are not published.
        starred: those that are published without a quasi value.
    """

    left_out: int = 0
    starred: int = 0

    def notes(self, rows: int) -> tuple[str, ...]:
        """The notes of a run about them; ``rows`` are the source's."""
        kinds = (
            (self.left_out, "are left out of the release"),
            (self.starred, "are published with * in every quasi column"),
        )
        return tuple(f"{count} of {rows} rows of the source {description}" for count, description in kinds if count)


def plan_notes(spec: ReleaseSpec, rows: int) -> tuple[str, ...]:
    """The notes of plan about the suppression that the policy allows."""
    if spec.suppression is None:
        return ()
    descriptions = {"left_out": "left out of the release", "starred": "published with * in every quasi column"}
    most = spec.suppression.most(rows)
    return (f"suppression: at most {most} of {rows} rows of the source are {descriptions[spec.suppression.rows]}",)


def count_suppressed(
    scratch: Scratch, spec: ReleaseSpec, classed: ClassedRows, assignment: Assignment
) -> SuppressedRows:
    """Count the suppressed rows.

    A row without a class that the assignment does not declare is missing; verify finds it.

    Raises:
        InfeasibleError: the policy allows fewer, or no row would be published; the message states how many there are.
        PolicyError: the format hides no values, or the method suppresses otherwise than the policy says.

    Cost: a scan of the classes for each kind that the assignment declares.
    """
    if assignment.starred is not None and not FORMATS[spec.format.kind].hides:
        raise PolicyError(
            f"{spec.name}: format {spec.format.kind} hides no values, and this method stars rows; use "
            f"{_name_hiding_formats()}, or another method"
        )
    rows = rows_kept = classed.encoded.rows
    starred = 0
    if assignment.unassigned:
        rows_kept = _count(scratch.fetch("table/count", source=classed.table))
    if assignment.starred is not None:
        starred_rows = scratch.fetch("table/class_rows", {"class": assignment.starred}, classed=classed.table)
        starred = _count(starred_rows)
    suppressed = SuppressedRows(rows - rows_kept, starred)
    total, most = suppressed.left_out + suppressed.starred, limit_suppressed(spec, rows)
    treatment = spec.suppression.rows if spec.suppression else "starred"
    wrong = suppressed.left_out if treatment == "starred" else suppressed.starred
    if wrong and spec.suppression is not None:
        raise PolicyError(
            f"{spec.name}: the policy says rows: {treatment}, and the method does otherwise with {wrong} rows"
        )
    if total <= most and rows_kept:
        return suppressed
    how = "leaves" if suppressed.left_out else "stars"
    problem = f"{spec.name}: the method {how} {total} of {rows} rows{' out' if suppressed.left_out else ''}"
    if not rows_kept:
        raise InfeasibleError(f"{problem}, so that none would be published; ask for less, or choose another method")
    allows = f"suppression allows {most}" if spec.suppression else "the policy allows none"
    kind = "left_out" if suppressed.left_out else "starred"
    without = (
        ", leave suppression out, as it is only a cap here" if METHODS[spec.method.name].suppresses == "cap" else ""
    )
    raise InfeasibleError(
        f"{problem}, and {allows}. Nothing was published. Set suppression: {{limit: {total}/{rows}, rows: "
        f"{kind}}} to accept that{without}, ask for less, or choose another method"
    )


def _name_hiding_formats() -> str:
    *most, last = (facts.name for facts in FORMATS.values() if facts.hides)
    return f"{', '.join(most)} or {last}"


def _count(rows: list[tuple[object, ...]]) -> int:
    return read_integer(rows[0][0])
