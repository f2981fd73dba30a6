"""Spent and remaining budget, for people; nothing is written."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy_spec import BudgetSpec
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.ledger import Account, Ledger, account_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.results.budget import BudgetReport, ChargedVersion


def report_budgets(engine: Engine, specs: tuple[BudgetSpec, ...], name: str | None = None) -> tuple[BudgetReport, ...]:
    """The budgets of a policy, with their ledgers and anchors checked.

    Args:
        engine: the database.
        specs: the budgets.
        name: of this budget alone.

    Raises:
        PolicyError: there is no such budget.
        DatabaseError: a ledger or an anchor is not as it should be.
    """
    chosen_budgets = [budget for budget in specs if name in (None, budget.name)]
    if name is not None and not chosen_budgets:
        known_names = ", ".join(budget.name for budget in specs) or "none"
        raise PolicyError(f"{name} is no budget of the policy; budgets: {known_names}")
    return tuple(_report(engine, budget) for budget in chosen_budgets)


def describe_budget(engine: Engine, name: str) -> BudgetReport:
    """A budget as the ledger in this database has it, without policy and anchor.

    Raises:
        DatabaseError: the ledger is not as it should be, or has no such budget.
    """
    events = Ledger(engine).read().get(name)
    if not events:
        raise DatabaseError(f"budget {name} has no ledger in this database")
    account = account_of(name, events)
    spent = account.spent
    return BudgetReport(
        name,
        float(account.epsilon),
        float(account.delta),
        float(spent),
        float(max(account.epsilon - spent, Fraction(0))),
        tuple(sorted(account.persons)),
        None,
        tuple(_versions(account)),
        tuple(_raises(account)),
        _beside(engine, account),
    )


def _report(engine: Engine, spec: BudgetSpec) -> BudgetReport:
    budget = Budget(engine, spec)
    budget.look()
    account = budget.account
    epsilon, delta = budget.limits
    spent = account.spent if account is not None else Fraction(0)
    return BudgetReport(
        spec.name,
        float(epsilon),
        float(delta),
        float(spent),
        float(max(epsilon - spent, Fraction(0))),
        tuple(sorted(account.persons)) if account is not None else tuple(table for table, _ in spec.persons),
        spec.anchor,
        tuple(_versions(account)) if account is not None else (),
        tuple(_raises(account)) if account is not None else (),
        _beside(engine, account),
    )


def _versions(account: Account) -> list[ChargedVersion]:
    versions = [
        ChargedVersion(
            spending.reserved.seq,
            spending.release,
            spending.version,
            spending.state,
            float(total_epsilon(spending.reserved.mechanisms, account.delta)),
            str(spending.reserved.body["at"]),
            str(spending.reserved.body["by"]),
            str(spending.reserved.body["database"]),
        )
        for spending in account.spendings
    ]
    for event in account.events:
        if event.kind == "recovered" and event.mechanisms:  # of a row that the anchor never had
            row = event.body["set_aside"]["body"]
            stamps = (str(event.body["at"]), str(event.body["by"]), str(event.body["database"]))
            cost = float(total_epsilon(event.mechanisms, account.delta))
            versions.append(
                ChargedVersion(
                    event.seq, str(row.get("release", "")), int(row.get("version", 0)), "recovered", cost, *stamps
                )
            )
    return sorted(versions, key=lambda version: version.seq)


def _raises(account: Account) -> list[tuple[str, str, float, str]]:
    return [
        (
            str(event.body["at"]),
            str(event.body["by"]),
            float(Fraction(event.body["epsilon"])),
            str(event.body["because"]),
        )
        for event in account.events
        if event.kind == "raised"
    ]


def _beside(engine: Engine, account: Account | None) -> tuple[str, ...]:
    tables = account.persons if account is not None else {}
    entries = Catalog(engine).entries(statuses=("published",))
    return tuple(sorted({entry.release for entry in entries if entry.source in tables and not entry.kind.charged}))
