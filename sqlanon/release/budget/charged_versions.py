"""Versions of a release in the ledger: which were charged, and which wait to be published."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError
from sqlanon.noisy.accounting import Mechanism, total_epsilon
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.events import Kind, Spending
from sqlanon.release.budget.home import home_of
from sqlanon.release.budget.ledger import Account
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.redacted_policy import hash_policy, redact
from sqlanon.release.catalog.refresh import is_due
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.spec import ReleaseSpec

MOST_VERSIONS = 1000
"""The number of versions that a budget suffices for is counted so far."""


def account_in(state: ReleaseState) -> Account | None:
    """The account of a release's budget, compared with the anchor; None: nothing was spent.

    Raises:
        DatabaseError: see `Budget.look`.
    """
    noisy = state.spec.noisy
    assert noisy is not None
    budget = Budget(state.engine, noisy.budget)
    budget.look()
    return budget.account


def find_last_spending(state: ReleaseState) -> Spending | None:
    """The last version of a release that this database charged."""
    account = account_in(state)
    return account.last_of(state.spec.name) if account is not None else None


def is_waiting(state: ReleaseState, spending: Spending) -> bool:
    """Whether the noisy table of a charge is stored and was not published."""
    return spending.state == "drawn" and not _is_shown(state, spending)


def policy_mark(spec: ReleaseSpec) -> str:
    """A hash of the measurements of a version and of their parameters."""
    policy = redact(spec)
    measured = {key: value for key, value in policy["noisy"].items() if key != "budget"}
    measured["delta"] = policy["noisy"]["budget"]["delta"]  # the scales depend on it
    return hash_policy({"noisy": measured, "columns": policy["columns"], "source": policy["source"]})[1]


def _is_shown(state: ReleaseState, spending: Spending) -> bool:
    """Whether the catalog has a version of this charge: a run ended before the ledger had it."""
    reservation = (spending.reserved.body["budget"], spending.reserved.seq)
    noisy_reports = (entry.report.get("noisy") or {} for entry in state.versions if entry.status in SHOWN)
    return any(
        (noisy_report.get("budget"), noisy_report.get("reservation")) == reservation for noisy_report in noisy_reports
    )


def check_paid(budget: Budget, state: ReleaseState) -> None:
    """Every version of a release is in the ledger; where that is in another database, every version of the persons.

    An exchanged or restored ledger would have them neither under this name of the budget nor under another one.

    Raises:
        DatabaseError: one is not.
    """
    account, engine = budget.account, state.engine
    events = account.events if account is not None else ()
    releases = {event.seq: event.body["release"] for event in events if event.kind == "reserved"}
    apart = home_of(engine) is not engine
    entries = Catalog(engine).entries() if apart else state.versions
    persons = person_tables(engine, state.spec) if apart else {}
    for entry in entries:
        paid = entry.report.get("noisy")
        if not paid:
            continue
        of_budget = paid["budget"] == budget.spec.name
        charged = of_budget and releases.get(int(paid["reservation"])) == entry.release
        if not charged and (of_budget or entry.source in persons):
            raise DatabaseError(
                f"budget {budget.spec.name}: its ledger has no charge of version {entry.version} of {entry.release}, "
                "so that it is another ledger, or one from a backup. Nothing was read or spent"
            )


def settle(budget: Budget, state: ReleaseState) -> None:
    """Note the outcome of versions of this release that ended without a note, inside `Budget.hold`.

    Raises:
        DatabaseError: see `check_paid`.
    """
    check_paid(budget, state)
    account = budget.account
    for spending in account.spendings if account is not None else ():
        if spending.release == state.spec.name and spending.reserved.own and spending.state in ("reserved", "drawn"):
            became: Kind = (
                "published" if _is_shown(state, spending) else "withheld" if spending.state == "drawn" else "lost"
            )
            budget.note(became, spending.reserved, {"version": spending.version})


def is_noisy_due(state: ReleaseState) -> bool:
    """Whether the clock asks for a new version, or an earlier run left a paid version."""
    last = find_last_spending(state)
    if last is not None and is_waiting(state, last):
        return True
    published = state.published
    return published is None or is_due(state.spec, published, datetime.datetime.now(datetime.UTC))


def person_tables(engine: Engine, spec: ReleaseSpec) -> dict[str, list[str]]:
    """The tables of the budget's persons as this database calls them; absent tables as the policy calls them.

    Each has the columns that identify the person of a row, in small letters.
    """
    noisy = spec.noisy
    assert noisy is not None
    tables = engine.look_up([], [table for table, _ in noisy.budget.persons])
    return {
        str(tables.named[table].ref) if table in tables.named else table: sorted(name.lower() for name in columns)
        for table, columns in noisy.budget.persons
    }


def warn_of(state: ReleaseState) -> tuple[str, ...]:
    """Warnings about other releases of the same source, and about a budget without an anchor."""
    noisy, source = state.spec.noisy, str(state.source.ref)
    assert noisy is not None
    names = [entry.release for entry in state.beside if entry.source == source and not entry.kind.charged]
    warned = [
        f"release {name} publishes rows or counts of the same persons: these statistics, with all that the budget may "
        f"still pay for, change the odds about one person by at most e^{float(noisy.budget.epsilon):g} (but for "
        f"delta), whatever a reader already knows; what {name} reveals is not bounded"
        for name in names
    ]
    if noisy.budget.anchor is None:
        warned.append(
            f"budget {noisy.budget.name} has no anchor: a database that is restored from a backup or copied spends "
            "again"
        )
    return tuple(warned)


def describe_end(last: Spending) -> str:
    """Why a version that was charged was not published, for messages."""
    return {
        "reserved": "its run ended before it drew",
        "lost": "its run failed before it drew",
        "withheld": "it failed its verification",
    }[last.state]


def count_versions(budget: Budget, mechanisms: Sequence[Mechanism]) -> int:
    """How many more versions of this kind the budget pays for, up to `MOST_VERSIONS`."""
    epsilon, delta = budget.limits
    charged = budget.account.charged if budget.account else []
    low, high = 0, MOST_VERSIONS
    while low < high:
        middle = (low + high + 1) // 2
        fits = total_epsilon([*charged, *[*mechanisms] * middle], delta) <= epsilon
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def spell_versions(many: int) -> str:
    """A number of versions for people.

    >>> spell_versions(3), spell_versions(MOST_VERSIONS)
    ('3', '1000 or more')
    """
    return f"{many} or more" if many == MOST_VERSIONS else str(many)
