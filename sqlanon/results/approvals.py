"""Approvals of a release: who accepted which policy, on which figures, until when."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlanon.results.base import Report

Action = Literal["approved", "revoked"]
State = Literal["valid", "expired", "revoked", "replaced"]

WARNED = datetime.timedelta(days=30)
"""How long before the end runs warn of an approval."""


@dataclass(frozen=True, slots=True)
class Approval(Report):
    """A decision, as recorded in the catalog.

    Attributes:
        number: the place among all decisions of the database, from 1.
        release: name of the release.
        version: the version with the figures that were seen; None: the policy was approved before the first version.
        action: the decision.
        approver: who decided, as the command was given it.
        given_at: when, UTC.
        given_by: the account of the operating system that ran the command.
        until: the last day (UTC) of validity, ``2027-06-30``; None for a revocation.
        terms: a condition in the approver's words.
        policy: the policy as the catalog keeps policies.
        policy_hash: SHA-256 of the policy.
        figures: the risks that were seen, see `sqlanon.results.measured_risk`; empty: there was no version yet.
        signature: a detached signature of `statement` by ``ssh-keygen -Y sign``; None: unsigned.
    """

    number: int
    release: str
    version: int | None
    action: Action
    approver: str
    given_at: str
    given_by: str
    until: str | None
    terms: str | None
    policy: Mapping[str, Any]
    policy_hash: str
    figures: Mapping[str, Any]
    signature: str | None = None

    @property
    def statement(self) -> str:
        """The text to sign: every field but the account, the number and the policy's text, represented by the hash."""
        left_out = ("number", "given_by", "policy", "signature")
        statements = {key: value for key, value in self.to_dict().items() if key not in left_out}
        return json.dumps(statements, sort_keys=True) + "\n"

    @property
    def ends(self) -> datetime.datetime:
        """End of validity: the end of the last day."""
        day = datetime.date.fromisoformat(self.until or "0001-01-01")
        after = day + datetime.timedelta(days=1) if day < datetime.date.max else day
        return datetime.datetime.combine(after, datetime.time(), datetime.UTC)

    @property
    def given(self) -> datetime.datetime:
        """When it was given, as a time; the signature covers it."""
        return datetime.datetime.fromisoformat(self.given_at)

    @property
    def place(self) -> tuple[datetime.datetime, int]:
        """The place among approvals: by the time that was signed, as whoever writes the catalog chooses numbers."""
        return self.given, self.number

    def is_revoked(self, decisions: Sequence[Approval]) -> bool:
        """Whether a decision on the same release ends it: a revocation after it, by number or by time.

        Either is enough, so that neither another number nor a clock that went back keeps an approval.
        """
        return any(
            decision.action == "revoked" and (decision.number > self.number or decision.given > self.given)
            for decision in decisions
        )

    def state(self, decisions: Sequence[Approval], same: Sequence[Approval], now: datetime.datetime) -> State:
        """Whether it holds.

        Args:
            decisions: all on the approval's release.
            same: the approvals of the same policy.
            now: the time.
        """
        if self.action == "revoked" or self.is_revoked(decisions):
            return "revoked"
        if any(approval.place > self.place for approval in same):
            return "replaced"
        return "expired" if now >= self.ends else "valid"


@dataclass(frozen=True, slots=True)
class ListedApproval(Report):
    """An approval with the present state.

    Attributes:
        approval: the decision.
        state: whether it holds.
        days: full days until the end of validity; 0 without validity.
        signed: ``by NAME`` if the signature was checked and is right, ``not checked``, or ``no``.
        grown: risks of the published version that are higher than those that were seen, for people.
    """

    approval: Approval
    state: State
    days: int
    signed: str
    grown: tuple[str, ...] = ()
