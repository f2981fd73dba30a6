"""Values in a policy that an audited table does not have.

A requirement of values with another spelling would hold of none.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Requirement, Values
from sqlanon.privacy.counts import read_texts


def unknown_values(engine: Engine, table: TableRef, requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """Requirements on values that the values of a table cannot measure, each with the reason.

    A run refuses them likewise.

    Args:
        engine: the session.
        table: the audited table.
        requirements: those of the policy, with the table's own names of columns.
    """
    refusals = []
    for requirement in requirements:
        if requirement.reads_values and requirement.column is not None:
            texts = read_texts(engine, table, requirement.column)
            refusals.append(requirement.refusal(Values(texts, range(len(texts)), ordered=True)))
    return tuple(dict.fromkeys(reason for reason in refusals if reason is not None))
