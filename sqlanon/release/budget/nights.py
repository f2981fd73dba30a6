"""Nights of running counts in the ledger: all of them are charged with the first, and each is measured once.

The event that charges a version has the number of its night and the row that charged all nights. A night is measured
when its version was drawn; one that was charged and never drawn may have been drawn by a process that ended, so that
measuring it again is charged again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Column, Engine, TableRef
from sqlanon.noisy.accounting import Mechanism
from sqlanon.noisy.shape import Shape
from sqlanon.noisy.split import Noise, charge_again
from sqlanon.release.budget.charged_versions import policy_mark
from sqlanon.release.budget.events import Event, pack_mechanisms
from sqlanon.release.budget.home import home_of
from sqlanon.release.budget.ledger import Account
from sqlanon.release.catalog.private_tables import physical_name, private_table
from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True, slots=True)
class Night:
    """The next night of a release.

    Attributes:
        first: the row that charged all nights; None: they are charged with this one.
        number: of the night, from 1.
        tried: this night was charged before, and nothing is known to be drawn.
        ended: why no earlier nights are continued; "": they are, or there are none.
    """

    first: int | None
    number: int
    tried: bool
    ended: str = ""

    def mechanisms(self, shape: Shape, noise: Noise) -> list[Mechanism]:
        """Charges of the night."""
        if self.first is None:
            return list(noise.mechanisms)
        return [charge_again(shape, noise)] if self.tried else []

    def facts(self, key: str) -> dict[str, Any]:
        """The facts for the event that charges the night; see `sqlanon.release.budget.events.Event`.

        Args:
            key: result of `mark_key`.
        """
        return {"running": {"first": self.first, "night": self.number, "key": key}}


def next_night(account: Account | None, spec: ReleaseSpec, noise: Noise, key: str) -> Night:
    """The night that a new version would be.

    Args:
        account: of the budget; None: nothing was spent.
        spec: the release.
        noise: the noise that the release has now.
        key: result of `mark_key`.
    """
    noisy = spec.noisy
    assert noisy is not None
    assert noisy.nights is not None
    own_charges = [
        spending.reserved
        for spending in (account.spendings if account is not None else ())
        if spending.release == spec.name and spending.reserved.own and spending.reserved.night is not None
    ]
    if account is None or not own_charges:
        return Night(None, 1, tried=False)
    first = own_charges[-1].paid_by
    charges = [
        spending.reserved
        for spending in account.spendings
        if spending.release == spec.name and spending.reserved.paid_by == first
    ]
    drawn_charges = {int(event.body["of"]) for event in account.events if event.kind == "drawn"}
    number = 1 + sum(charge.seq in drawn_charges for charge in charges)
    ended = ""
    if own_charges[-1].body["policy"] != policy_mark(spec) or not is_drawn_as(account, own_charges[-1], noise):
        ended = "the policy, or sqlanon, is another than that of the earlier nights"
    elif own_charges[-1].body["running"]["key"] != key:
        ended = (
            "the key of the release, or the type or order of the columns that say whose row it is, is another, so that "
            "persons who were counted cannot be recognized"
        )
    elif not all(charge.own for charge in charges):
        ended = "a copy of this database has measured some of the nights"
    elif number > noisy.nights:
        ended = f"all {noisy.nights} declared nights have been measured"
    if ended:
        return Night(None, 1, tried=False, ended=ended)
    return Night(first, number, tried=any(charge.night == number for charge in charges))


def is_drawn_as(account: Account, charge: Event, noise: Noise) -> bool:
    """Whether the noise of a charged version is that which the release has now."""
    # The ledger counts equal mechanisms together, so that their order is lost.
    charged = account.events[charge.paid_by - 1].mechanisms
    return sorted(pack_mechanisms(charged)) == sorted(pack_mechanisms(noise.mechanisms))


def name_kept_tables(engine: Engine, budget: str, first: int) -> tuple[TableRef, TableRef]:
    """The private tables of the nights that a row paid: the persons seen, and the noisy measurements; at home."""
    name = physical_name(f"budget {budget}", first)
    home = home_of(engine)
    return private_table(home, f"{name}_seen"), private_table(home, f"{name}_measured")


def mark_key(spec: ReleaseSpec, columns: Sequence[Column], secret: str | None) -> str:
    """Says whether persons have the same keyed hashes as before, and reveals neither key nor hash.

    A hash is that of a key's text, which another type of the column may write in another way: 1 as 1.0.

    Args:
        spec: the release.
        columns: those of the source.
        secret: key of the release's hashes; None: there is none yet.
    """
    by_name = {column.name.lower(): column for column in columns}
    types = [
        (name.lower(), column.kind if column.kind in ("integer", "text") else column.type)
        for name in spec.person
        if (column := by_name.get(name.lower())) is not None
    ]
    return hashlib.sha256(f"{secret or ''}/running/{json.dumps(types)}".encode()).hexdigest()
