"""Rows that a method leaves out of a release by declaration: how many there are, and whether the policy allows that."""

from __future__ import annotations

from sqlanon.declared import METHODS
from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.methods.base import Assignment
from sqlanon.spec import ReleaseSpec
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


def allowed(spec: ReleaseSpec, rows: int) -> int:
    """Rows that may be suppressed of so many, by the policy, or by the method where the policy is silent."""
    if spec.suppression is None:
        return rows if METHODS[spec.method.name].suppresses == "cap" else 0
    return spec.suppression.most(rows)


def left_out(
    scratch: Scratch, spec: ReleaseSpec, encoded: Encoded, classed: TableRef, assignment: Assignment
) -> int:
    """Count the rows without a class; none where the assignment does not declare them, so that verify finds each missing.

    Raises:
        InfeasibleError: the policy allows fewer, or no row would be published; the message states how many there are.
    """
    if not assignment.unassigned:
        return 0
    kept = int(str(scratch.fetch("table/count", source=classed)[0][0]))
    missing, most = encoded.rows - kept, allowed(spec, encoded.rows)
    if missing <= most and kept:
        return missing
    said = f"{spec.name}: the method leaves {missing} of {encoded.rows} rows out"
    if not kept:
        raise InfeasibleError(
            f"{said}, so that none would be published; ask for less, or choose another method"
        )
    allows = f"suppression allows {most}" if spec.suppression else "the policy allows none"
    raise InfeasibleError(
        f"{said}, and {allows}. Nothing was published. Set suppression: {{limit: {missing}/{encoded.rows}, rows: left_out}} to accept that, ask for less, "
        "or choose another method"
    )


def notes(missing: int, rows: int) -> tuple[str, ...]:
    """The warnings of a run for rows that are left out."""
    if not missing:
        return ()
    return (f"{missing} of {rows} rows of the source are left out of the release, as suppression allows",)
