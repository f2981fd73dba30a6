"""The dual problem at the edges of a run.

It checks the requirements of a policy, whether enough privacy was reached, and whether the bound holds.

The bound is a promise of the policy. It is measured by SQL on the boxes that are released, apart from every method.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.formats import RecodedClasses
from sqlanon.loss import measure_extents
from sqlanon.privacy.base import Grouped, Requirement, as_number, round_reachable
from sqlanon.results import LossReport
from sqlanon.spec import Accuracy, ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.encode import EncodedTable
from sqlanon.table.scratch import Scratch

_ROUNDED = Fraction(1, 10**12)
"""Rounding error of sums of doubles in an NCP."""


def describe_bound(accuracy: Accuracy | None) -> str | None:
    """The bound in one line, for plan and notes; None without a bound."""
    if accuracy is None:
        return None
    parts = [f"{name} within {_format(extent)}" for name, extent in accuracy.extents]
    if accuracy.per_class_ncp is not None:
        parts.insert(0, f"per_class_ncp at most {_format(accuracy.per_class_ncp)}")
    return f"maximize {accuracy.maximize}: {', '.join(parts)} in every class"


def note_reached(
    scratch: Scratch, spec: ReleaseSpec, requirements: Sequence[Requirement], classed: ClassedRows
) -> tuple[str, ...]:
    """The values that an assignment reaches, as a note.

    Raises:
        InfeasibleError: less than is accepted; the message states the values that the method reaches within the bound.
    """
    accuracy = spec.privacy.accuracy
    if accuracy is None:
        return ()
    names = [domain.reading.alias for domain in classed.encoded.sensitive]
    persons = [domain.reading.alias for domain in classed.encoded.persons]
    rows = Grouped(classed.table, ("class",), names, persons=persons)
    parts, short = [], []
    for requirement in requirements:
        value = requirement.measure(scratch.engine, rows).reached
        of_column = f" of {requirement.column}" if requirement.column else ""
        parts.append(f"{requirement.name} = {round_reachable(requirement, value):g}{of_column}")
        if not requirement.reaches(value):
            short.append(f"{requirement.name} = {as_number(requirement.asked):g}{of_column}")
    reached_text = f"{describe_bound(accuracy)}: reached {', '.join(parts)}"
    if short:
        raise InfeasibleError(
            f"{spec.name}: {reached_text}; at_least asks {', '.join(short)}. Nothing was published. Allow more "
            "loss, ask for less, use fewer quasi columns, or another method"
        )
    return (reached_text,)


def check_bound(
    spec: ReleaseSpec, scratch: Scratch, encoded: EncodedTable, recoded: RecodedClasses, loss: LossReport
) -> None:
    """The bound holds for every class that would be published.

    Raises:
        PrivacyViolation: it does not.
    """
    accuracy = spec.privacy.accuracy
    if accuracy is None:
        return
    from sqlanon.methods.shared.loss_bound import SLACK, list_extents

    limit = accuracy.per_class_ncp
    if limit is not None:
        slack = SLACK if len(encoded.quasi) > 1 and limit > 0 else 0
        if Fraction(loss.il_inf) > limit + slack + (_ROUNDED if limit else 0):
            raise PrivacyViolation(
                f"the NCP of a class is {loss.il_inf:.6f}, at most {_format(limit)} was promised; nothing was published"
            )
    if not accuracy.extents:
        return
    limits, extents = list_extents(accuracy, encoded.quasi), measure_extents(scratch, recoded.boxes, encoded.quasi)
    for domain in encoded.quasi:
        if domain.code not in limits:
            continue
        extent, wide = limits[domain.code], extents[domain.reading.name]
        if domain.reading.treatment == "hierarchy":
            extent = max(extent, Fraction(1))  # a single leaf
        # Doubles are subtracted as such; whatever else is compared is exact, or has 50 bits.
        slack = extent / 10**9 if domain.reading.as_float else extent / 2**50
        if wide.unbounded or wide.largest > extent + slack:
            raise PrivacyViolation(
                f"column {domain.reading.name}: a class reaches further than {_format(extent)}, which was promised; "
                "nothing was published"
            )


def _format(number: Fraction) -> str:
    return f"{float(number):g}"
