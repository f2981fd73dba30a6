"""Reports of budgets of differentially private statistics."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class ChargedVersion(Report):
    """A version in the ledger.

    Attributes:
        seq: the row that charged it.
        release: name of the release.
        version: number of the version; a version that was never published may have that of the next.
        state: ``reserved``, ``drawn``, ``published``, ``withheld`` or ``lost``, or ``recovered`` for a charge that the
            anchor did not have: charged in any case.
        cost: epsilon of the version by itself.
        at, by: when, and by whom.
        database: which database charged it.
    """

    seq: int
    release: str
    version: int
    state: str
    cost: float
    at: str
    by: str
    database: str


@dataclass(frozen=True, slots=True)
class BudgetReport(Report):
    """A budget.

    Attributes:
        name: name of the budget.
        epsilon, delta: the allowed spending.
        spent: the cost of all versions together, at most.
        left: the rest.
        tables: the tables of the persons.
        anchor: the file outside of the database; None: no file.
        versions: the charges.
        raised: when it was raised, by whom, to which epsilon, and why.
        beside: releases of rows or counts of the same persons, which no epsilon bounds.
    """

    name: str
    epsilon: float
    delta: float
    spent: float
    left: float
    tables: tuple[str, ...]
    anchor: str | None
    versions: tuple[ChargedVersion, ...]
    raised: tuple[tuple[str, str, float, str], ...] = ()
    beside: tuple[str, ...] = ()
