"""The budget that a policy names: opened, compared with the anchor, spent, raised.

The order of a version: a row is committed here and in the anchor before anything of the source is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError, InfeasibleError, LockedError, PolicyError
from sqlanon.noisy.accounting import Mechanism, total_epsilon
from sqlanon.noisy_spec import BudgetSpec
from sqlanon.release.budget.anchor import Anchor
from sqlanon.release.budget.compare import count_shared, find_missing
from sqlanon.release.budget.events import FOLLOWS, Event, Kind, next_event, pack_mechanisms
from sqlanon.release.budget.home import home_of
from sqlanon.release.budget.ledger import Account, Ledger, Persons, account_of, new_database, stamp
from sqlanon.shell import command

LOCK = "budgets"
"""One lock for all budgets: two budgets that are opened at once must not both take a table."""
NAMING = ("opened", "joined", "recovered")
"""Events with which a database takes a name."""


class Budget:
    """The budget of a policy in one database, or in the one that has its ledgers. Changes are made inside `hold`."""

    def __init__(self, engine: Engine, spec: BudgetSpec) -> None:
        self._source_engine, self._engine, self.spec = engine, home_of(engine), spec
        self._ledger = Ledger(engine)
        self._anchor = Anchor(spec.name, spec.anchor) if spec.anchor else None
        self._events: list[Event] = []

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Read the ledger, compare it with the anchor, and keep others from spending until the end.

        Raises:
            DatabaseError: the database was restored or copied, or the ledger or the anchor was changed by hand.
        """
        anchored = self._anchor.hold() if self._anchor else nullcontext()
        with self._engine.lock(LOCK, wait=True), anchored:
            self._ledger.create()
            self._take(self._compare())
            if self._anchor and self._events:  # a run may have ended between the database and the anchor
                self._anchor.write(self._events)
            yield

    def look(self) -> None:
        """Read the ledger and the anchor as they are; nothing is written.

        Raises:
            DatabaseError: see `hold`.
        """
        missing = self._compare()  # which reads the events first
        self._events += missing

    def _compare(self) -> Sequence[Event]:
        """Read the ledger and the anchor; return the events that other databases have added meanwhile.

        Raises:
            DatabaseError: see `hold`.
        """
        self._events = self._ledger.read().get(self.spec.name, [])
        mine = self._events
        anchored = any(event.body.get("anchored") for event in mine)
        anchor_events = self._anchor.read() if self._anchor else None
        if anchor_events is None:
            if anchored:
                problem = (
                    f"the anchor {self.spec.anchor} is gone" if self._anchor else "the policy names no anchor any more"
                )
                raise self._refuse(f"{problem}: without it a copy of this database cannot be recognized")
            return []
        missing, wrong = find_missing(mine, anchor_events, self._name)
        if wrong:
            raise self._refuse(wrong)
        return missing

    def recover(self, because: str) -> int:
        """Take over the events of the anchor and their costs; the database goes on under a new name.

        The last row of this database may be missing from the anchor, because a run ended between the two writes and
        another database spent meanwhile. The recovery's row then contains it and charges the cost, so that the union of
        both ledgers is charged.

        Returns:
            number of rows taken.

        Raises:
            PolicyError: there is no anchor, or nothing to take.
            DatabaseError: the ledger has more rows that the anchor lacks or has otherwise.
        """
        if self._anchor is None:
            raise PolicyError(f"budget {self.spec.name}: the policy names no anchor to recover from")
        with self._engine.lock(LOCK, wait=True), self._anchor.hold():
            self._ledger.create()
            self._events = self._ledger.read().get(self.spec.name, [])
            anchor_events = self._anchor.read() or []
            shared = count_shared(self._events, anchor_events)
            alone, missing = self._events[shared:], anchor_events[shared:]
            if not missing:
                raise PolicyError(f"budget {self.spec.name}: the anchor has nothing that this database lacks")
            if len(alone) > 1 or not all(event.own for event in alone):
                raise self._refuse("its ledger and the anchor have different rows, so that neither follows the other")
            facts: dict[str, Any] = {"because": because}
            if alone:
                charged = pack_mechanisms(alone[0].mechanisms)
                facts |= {"set_aside": {"body": alone[0].body, "chain": alone[0].chain}, "mechanisms": charged}
            self._events = [*self._events[:shared], *missing]
            recovered = self._make("recovered", facts, new_database())
            with self._engine.publishing():
                for event in alone:
                    self._ledger.set_aside(self.spec.name, event)
                for event in [*missing, recovered]:
                    self.put(event)
            self.follow(recovered)
            return len(missing)

    @property
    def account(self) -> Account | None:
        """Spending so far; None for a budget that was never opened."""
        return account_of(self.spec.name, self._events) if self._events else None

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        """Limits of spending: the smaller of the ledger's and the policy's epsilon and delta."""
        account = self.account
        if account is None:
            return self.spec.epsilon, self.spec.delta
        return min(account.epsilon, self.spec.epsilon), min(account.delta, self.spec.delta)

    def check_policy(self, persons: Persons) -> None:
        """Compare the policy with the ledger; nothing is written.

        Args:
            persons: the tables of the budget's persons, as the database calls them, each with the columns that identify
                the person of a row.

        Raises:
            PolicyError: the policy allows more, has other persons, or another budget has one of the tables.
        """
        name, account = self.spec.name, self.account
        if account is not None and (self.spec.epsilon > account.epsilon or self.spec.delta > account.delta):
            raise PolicyError(
                f"budget {name}: the policy has epsilon {_show(self.spec.epsilon)} and delta {_show(self.spec.delta)}, "
                f"and its ledger {_show(account.epsilon)} and {_show(account.delta)}: `"
                f"{command('budget raise', name, options=['--because', 'REASON'])}` records a larger epsilon"
            )
        for table, columns in persons.items():
            person_columns = account.persons.get(table, columns) if account is not None else columns
            if sorted(person_columns) != sorted(columns):
                raise PolicyError(
                    f"budget {name}: the rows of {table} are those of {', '.join(person_columns)} in its ledger, "
                    f"and of {', '.join(columns)} in the policy: epsilon bounds nothing where persons change"
                )
        for other_budget, events in self._ledger.read().items():
            shared_tables = (
                sorted(self._find_called(account_of(other_budget, events).persons) & set(persons))
                if other_budget != name
                else []
            )
            if shared_tables:
                raise PolicyError(
                    f"budget {name}: {', '.join(shared_tables)} is a table of the budget {other_budget}: two "
                    "budgets of the same persons are no bound. Spend that one"
                )

    def _find_called(self, tables: Iterable[str]) -> set[str]:
        """Tables of a ledger; those that were not there when they were noted have no schema, and may be there now."""
        bare = [table for table in tables if "." not in table]
        named_tables = self._source_engine.look_up([], bare).named if bare else {}
        return {str(named_tables[table].ref) if table in named_tables else table for table in tables}

    def check_price(self, mechanisms: Sequence[Mechanism], release: str) -> Fraction:
        """Cost of all versions together with a further version.

        Raises:
            InfeasibleError: the cost exceeds the budget.
        """
        epsilon, delta = self.limits
        charged = self.account.charged if self.account else []
        if delta == 0 and any(mechanism.law == "gaussian" for mechanism in charged):
            raise PolicyError(f"budget {self.spec.name}: versions had Gaussian noise, so that it needs a delta")
        price = total_epsilon([*charged, *mechanisms], delta)
        if price > epsilon:
            spent = total_epsilon(charged, delta)
            raise InfeasibleError(
                f"{release}: the budget {self.spec.name} does not suffice: {_show(spent)} of epsilon {_show(epsilon)} "
                f"is spent, and with this version it would be {_show(price)}. Nothing was read or spent"
            )
        return price

    def reserve(self, persons: Persons, mechanisms: Sequence[Mechanism], facts: Mapping[str, Any]) -> Event:
        """Charge a version, inside `hold`: committed in the database, and written to the anchor, before this returns.

        Raises:
            PolicyError, InfeasibleError: see `check_policy` and `check_price`.
        """
        self.check_policy(persons)
        self.check_price(mechanisms, str(facts["release"]))
        if self._name is None:
            self._open(persons)
        account = self.account
        assert account is not None
        if not set(persons) <= set(account.persons):
            self._add("persons", {"persons": dict(persons)})
        return self._add("reserved", {**facts, "mechanisms": pack_mechanisms(mechanisms)})

    def _open(self, persons: Persons) -> None:
        if self._events:  # another database opened it
            self._add("joined", {"persons": dict(persons)}, database=new_database())
            return
        facts = {"epsilon": str(self.spec.epsilon), "delta": str(self.spec.delta), "persons": dict(persons)}
        self._add("opened", facts, database=new_database())

    def note(self, kind: Kind, of: Event, facts: Mapping[str, Any]) -> None:
        """Add the outcome of a version, inside `hold`; an outcome that cannot follow the state is left out."""
        if kind in FOLLOWS.get(self._state_of(of), ()):
            self._add(kind, {"of": of.seq, "release": of.body["release"], **facts})

    def _state_of(self, reserved: Event) -> str:
        """The state of a version; "": there is none of this charge."""
        spendings = self.account.spendings if self.account else ()
        return next((spending.state for spending in spendings if spending.reserved.seq == reserved.seq), "")

    def event_of(self, kind: Kind, of: Event, facts: Mapping[str, Any]) -> Event:
        """The same event, for `put` in a transaction of the caller's, and then `follow`.

        Raises:
            LockedError: it cannot follow the state: another run took this one for ended.
        """
        if kind not in FOLLOWS.get(self._state_of(of), ()):
            raise LockedError(
                f"budget {self.spec.name}: another run has found this version unfinished, and noted that it is "
                f"{self._state_of(of)}. What was charged stays charged"
            )
        return self._make(kind, {"of": of.seq, "release": of.body["release"], **facts}, self._name)

    def put(self, event: Event) -> None:
        """Add the row of an event in the caller's transaction, inside `hold`."""
        self._ledger.insert(self.spec.name, event)

    def follow(self, event: Event) -> None:
        """Write the anchor after the caller's transaction."""
        self._events.append(event)
        if self._anchor:
            self._anchor.write(self._events)

    def check_raise(self, epsilon: Fraction) -> Account:
        """The account that would get a larger epsilon.

        Raises:
            PolicyError: nothing was spent, or it is not larger.
        """
        account = self.account
        if account is None:
            raise PolicyError(f"budget {self.spec.name}: nothing was spent yet: change the policy")
        if epsilon <= account.epsilon:
            current_epsilon = _show(account.epsilon)
            raise PolicyError(f"budget {self.spec.name}: it has epsilon {current_epsilon} already; name a larger one")
        return account

    def raise_to(self, epsilon: Fraction, because: str) -> None:
        """Record a larger budget, inside `hold`.

        Raises:
            PolicyError: see `check_raise`.
        """
        account = self.check_raise(epsilon)
        self._add("raised", {"epsilon": str(epsilon), "delta": str(account.delta), "because": because})

    @property
    def _name(self) -> str | None:
        """Name of this database in the ledger; None before the first spending."""
        return next(
            (str(event.body["database"]) for event in reversed(self._events) if event.own and event.kind in NAMING),
            None,
        )

    def _make(self, kind: Kind, facts: Mapping[str, Any], database: str | None) -> Event:
        body = {**facts, **stamp(), "database": database, "anchored": self._anchor is not None}
        return next_event(self._events, self.spec.name, kind, body)

    def _add(self, kind: Kind, facts: Mapping[str, Any], database: str | None = None) -> Event:
        """Commit a row, and then write the anchor."""
        event = self._make(kind, facts, database or self._name)
        with self._engine.publishing():
            self.put(event)
        self.follow(event)
        return event

    def _take(self, missing: Sequence[Event]) -> None:
        """Add rows that other databases wrote."""
        if not missing:
            return
        with self._engine.publishing():
            for event in missing:
                self.put(event)
        self._events += missing

    def _refuse(self, why: str) -> DatabaseError:
        return DatabaseError(f"budget {self.spec.name}: {why}. Nothing was read or spent")


def _show(number: Fraction) -> str:
    """A number for messages; costs are rounded up, so that none is understated."""
    return f"{float(number):.6g}"
