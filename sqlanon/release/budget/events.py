"""Events of a budget, in a chain: the hash of each covers all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from sqlanon.errors import DatabaseError
from sqlanon.noisy.accounting import Mechanism

Kind = Literal[
    "opened", "joined", "persons", "raised", "recovered", "reserved", "drawn", "published", "withheld", "lost"
]
"""Kinds of events.

``reserved``: a version may read the source, and is charged. ``drawn``: the noisy table is stored. ``published``,
``withheld`` (it failed verification) and ``lost`` (the run ended before it drew) end it; all are charged.
"""

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "reserved": ("drawn", "withheld", "lost"),
    "drawn": ("published", "withheld"),
}
"""States that may follow a state of a version."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the ledger.

    Attributes:
        seq: number of the row, from 1.
        kind: kind of event.
        body: the facts, as JSON has them; never a number of the data.
        chain: SHA-256 of the chain before it and of the body.
        own: True if the database that has the row wrote it; False if the row comes from the anchor.
    """

    seq: int
    kind: str
    body: Mapping[str, Any]
    chain: str
    own: bool = field(default=False, compare=False)

    @property
    def text(self) -> str:
        """The body as it is hashed and stored."""
        return write_body(self.body)

    @property
    def night(self) -> int | None:
        """Of a charge: the number of the night of running counts; None: it is of another version."""
        facts = self.body.get("running")
        return None if facts is None else int(facts["night"])

    @property
    def paid_by(self) -> int:
        """Of a charge: the row that paid, which of running counts is that of the first night."""
        facts = self.body.get("running")
        return self.seq if facts is None or facts["first"] is None else int(facts["first"])

    @property
    def mechanisms(self) -> list[Mechanism]:
        """Mechanisms that the event charges."""
        return [
            Mechanism(law, Fraction(cost), *((Fraction(more[0]), int(more[1])) if more else ()))
            for law, cost, times, *more in self.body.get("mechanisms", ())
            for _ in range(int(times))
        ]


@dataclass(frozen=True, slots=True)
class Spending:
    """A version in the ledger.

    Attributes:
        reserved: the event that charged it.
        state: the last event about it.
        last: that event.
    """

    reserved: Event
    state: str
    last: Event

    @property
    def release(self) -> str:
        """Of which release."""
        return str(self.reserved.body["release"])

    @property
    def version(self) -> int:
        """Number of the version, which a lost version may share with the next."""
        return int(self.last.body.get("version", self.reserved.body["version"]))


def write_body(body: Mapping[str, Any]) -> str:
    """JSON in canonical form."""
    return json.dumps(body, sort_keys=True)


def read_body(text: str) -> Mapping[str, Any]:
    """A stored body; text that is no mapping gives an empty body, so that the chain is wrong."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def next_event(events: Sequence[Event], budget: str, kind: Kind, facts: Mapping[str, Any]) -> Event:
    """The event that follows."""
    seq = len(events) + 1
    body = {"budget": budget, "seq": seq, "event": kind, **facts}
    return Event(seq, kind, body, _link(events[-1].chain if events else "", write_body(body)), own=True)


def _link(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def check_chain(budget: str, events: Sequence[Event]) -> None:
    """Every event follows from those before it.

    Raises:
        DatabaseError: rows were changed, deleted or added by hand.
    """
    chain = ""
    states: dict[int, str] = {}
    for place, event in enumerate(events, 1):
        chain = _link(chain, event.text)
        identity = (event.body.get("budget"), event.body.get("seq"), event.body.get("event"))
        sound = event.seq == place and event.chain == chain and identity == (budget, place, event.kind)
        reserved_seq = event.body.get("of")
        if reserved_seq is not None:
            sound = sound and event.kind in FOLLOWS.get(states.get(int(reserved_seq), ""), ())
            states[int(reserved_seq)] = event.kind
        elif event.kind == "reserved":
            states[event.seq] = "reserved"
        if not sound:
            raise DatabaseError(
                f"budget {budget}: row {place} of its ledger does not follow from those before it: rows were changed, "
                "deleted or added by hand. Nothing can be spent any more; restore the ledger as it was"
            )


def pack_mechanisms(mechanisms: Iterable[Mechanism]) -> list[tuple[str | int, ...]]:
    """Mechanisms as the ledger has them: equal mechanisms are counted."""
    times_of: dict[Mechanism, int] = {}
    for mechanism in mechanisms:
        times_of[mechanism] = times_of.get(mechanism, 0) + 1
    return [
        (
            mechanism.law,
            str(mechanism.cost),
            times,
            *(() if mechanism.smooth is None else (str(mechanism.smooth), mechanism.numbers)),
        )
        for mechanism, times in times_of.items()
    ]


def list_spendings(events: Iterable[Event]) -> list[Spending]:
    """The versions, in the order in which they were charged."""
    spendings: dict[int, Spending] = {}
    for event in events:
        if event.kind == "reserved":
            spendings[event.seq] = Spending(event, "reserved", event)
        elif event.body.get("of") is not None:
            first = spendings[int(event.body["of"])].reserved
            spendings[first.seq] = Spending(first, event.kind, event)
    return list(spendings.values())
