"""The ledger of a budget: the costs of all releases of the same persons, for ever.

A version is charged by a row that is committed before the source is read; no row is changed or deleted, and
nothing gives a charge back.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.engines.base import Bind, Engine
from sqlanon.engines.rows import read_integer
from sqlanon.noisy.accounting import Mechanism, total_epsilon
from sqlanon.release.budget.events import Event, Spending, check_chain, list_spendings, read_body
from sqlanon.release.budget.home import home_of
from sqlanon.release.catalog.catalog import Catalog, account_name, now
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.sqltext import statement

Persons = Mapping[str, Sequence[str]]
"""Tables, each with the columns that identify the person of a row."""

MOST_EVENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Account:
    """State of a budget after all events.

    Attributes:
        name: the budget.
        events: all of them.
        epsilon, delta: limits for all versions together.
        persons: the tables that have the budget's persons, each with the columns that identify the person of a row.
    """

    name: str
    events: tuple[Event, ...]
    epsilon: Fraction
    delta: Fraction
    persons: Persons

    @property
    def charged(self) -> list[Mechanism]:
        """Of all versions, whatever became of them."""
        return [mechanism for event in self.events for mechanism in event.mechanisms]

    @property
    def spent(self) -> Fraction:
        """Joint cost of the charged mechanisms."""
        return total_epsilon(self.charged, self.delta)

    @property
    def spendings(self) -> list[Spending]:
        """The versions."""
        return list_spendings(self.events)

    def last_of(self, release: str) -> Spending | None:
        """The last version of a release of this database, not of another database that shares the budget."""
        spendings = [spending for spending in self.spendings if spending.release == release and spending.reserved.own]
        return spendings[-1] if spendings else None


def account_of(name: str, events: list[Event]) -> Account:
    """The account of a budget that was opened."""
    opened = events[0].body
    epsilon, delta = Fraction(opened["epsilon"]), Fraction(opened["delta"])
    persons: dict[str, Sequence[str]] = {}
    for event in events:
        if event.kind == "raised":
            epsilon, delta = Fraction(event.body["epsilon"]), Fraction(event.body["delta"])
        persons |= event.body.get("persons", {})
    return Account(name, tuple(events), epsilon, delta, persons)


class Ledger:
    """The ledgers of a database, which has them or names another database that does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = home_of(engine)
        self.table = private_table(self._engine, "budgets")

    def read(self) -> dict[str, list[Event]]:
        """The events by budget, with their chains checked.

        Raises:
            DatabaseError: rows do not follow from each other.
        """
        engine = self._engine
        if not engine.exists(self.table):
            return {}
        with guard_reading(engine, self.table):
            rows = engine.fetch(statement("budget/list", engine.dialect, ledger=self.table), max_rows=MOST_EVENTS)
        events_of: dict[str, list[Event]] = {}
        for name, seq, kind, body, chain, is_own in rows:
            event = Event(read_integer(seq), str(kind), read_body(str(body)), str(chain), own=bool(is_own))
            events_of.setdefault(str(name), []).append(event)
        for name, events in events_of.items():
            check_chain(name, events)
        return events_of

    def create(self) -> None:
        """Make the table, and the private schema, where they are missing."""
        if not self._engine.has_schema(self.table):
            catalog = Catalog(self._engine)
            catalog.create(self._engine.look_up(catalog.tables))
        self._engine.execute(statement("budget/create", self._engine.dialect, ledger=self.table))

    def insert(self, budget: str, event: Event) -> None:
        """Add a row, in the caller's transaction."""
        binds: dict[str, Bind] = {
            "budget": budget,
            "seq": event.seq,
            "event": event.kind,
            "body": event.text,
            "chain": event.chain,
            "own": int(event.own),
        }
        self._engine.execute(statement("budget/insert", self._engine.dialect, binds, ledger=self.table))

    def set_aside(self, budget: str, event: Event) -> None:
        """Leave out a row, in the caller's transaction: a recovery that has the row and its cost follows."""
        binds: dict[str, Bind] = {"budget": budget, "seq": event.seq}
        self._engine.execute(statement("budget/set_aside", self._engine.dialect, binds, ledger=self.table))


def new_database() -> str:
    """A name for a database, which a copy of it shares."""
    return secrets.token_hex(8)


def stamp() -> dict[str, str]:
    """When, and by whom."""
    return {"at": now(), "by": account_name()}
