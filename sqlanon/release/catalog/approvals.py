"""The table of approvals: decisions are added, never changed, so that the whole history stays."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Bind, Engine, Row
from sqlanon.engines.rows import read_integer
from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.catalog import signatures
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.policy_diff import list_differences
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.redacted_policy import hash_policy, redact
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.results.approvals import WARNED, Approval
from sqlanon.shell import command
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement

_MOST = 1_000_000
"""Maximum number of listed decisions."""
_SHOWN = 6
"""Maximum number of differences of policies in an error."""


class Approvals:
    """The approvals of a database; the first approval makes the table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.table = private_table(engine, "approvals")

    def list(self, release: str | None = None) -> tuple[Approval, ...]:
        """Decisions on a release, or on all, oldest first.

        Raises:
            PrivacyViolation: one of them is none that sqlanon wrote.
        """
        return tuple(map(_read, self._rows(release)))

    def _rows(self, release: str | None = None) -> Sequence[Row]:
        if self.table not in self._engine.look_up([self.table]).relations:
            return ()
        binds: dict[str, Bind] = {} if release is None else {"release": release}
        bound = {"approvals": self.table, "release": release is not None}
        query = statement("approvals/list", self._engine.dialect, binds, run=None, **bound)
        with guard_reading(self._engine, self.table):
            return self._engine.fetch(query, max_rows=_MOST)

    def next_number(self) -> int:
        """The number of the next decision; the caller holds the lock of approvals."""
        # A row that nobody can read must not keep anybody from revoking.
        return max((read_integer(row[0]) for row in self._rows()), default=0) + 1

    def add(self, decided: Approval) -> None:
        """Write a decision; the caller holds the lock of approvals, and the private schema is there."""
        catalog = Catalog(self._engine)
        catalog.guard()
        binds: dict[str, Bind] = {
            **{key: value for key, value in decided.to_dict().items() if key not in ("policy", "figures")},
            "policy": json.dumps(dict(decided.policy), sort_keys=True),
            "figures": json.dumps(dict(decided.figures), sort_keys=True),
        }
        dialect = self._engine.dialect
        self._engine.execute(statement("approvals/create", dialect, approvals=self.table))
        self._engine.execute(statement("approvals/insert", dialect, binds, approvals=self.table))


def _read(row: Row) -> Approval:
    number, release, version, action, approver, given_at, given_by, until, terms, policy, digest, figures, signed = row
    try:
        approval = Approval(
            read_integer(number),
            str(release),
            None if version is None else read_integer(version),
            "approved" if action == "approved" else "revoked",
            str(approver),
            str(given_at),
            str(given_by),
            None if until is None else str(until),
            None if terms is None else str(terms),
            json.loads(str(policy)),
            str(digest),
            json.loads(str(figures)),
            None if signed is None else str(signed),
        )
        whole = approval.given.tzinfo is not None and approval.ends.tzinfo is not None
        whole &= isinstance(approval.policy, dict) and isinstance(approval.figures, dict)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise PrivacyViolation(
            f"{release}: decision {number} in the table of approvals is none that sqlanon wrote; somebody changed it"
        )
    return approval


def plain_policy(spec: ReleaseSpec) -> dict[str, Any]:
    """The policy of a release as the catalog gives it back."""
    policy: dict[str, Any] = json.loads(hash_policy(redact(spec))[0])
    return policy


def hold_approval(
    engine: Engine, spec: ReleaseSpec, now: datetime.datetime | None = None, before: Entry | None = None
) -> tuple[str, ...]:
    """Stop a release without a valid approval if the policy needs approval.

    A policy that no longer needs approval still needs it if the policy of the version before did. Where that policy
    names signers, one of them must have signed the approval of a policy that names others, or none.

    Args:
        engine: the source's database.
        spec: the release.
        now: the time; None for the clock's time.
        before: the current or last version of readers.

    Returns:
        a warning if the approval ends within 30 days.

    Raises:
        GuardError: nobody approved the policy, or the approval was revoked, has expired, is of the future, or is not
            signed as the policy wants it.
        PrivacyViolation: the signature does not match the approver and the text.
    """
    earlier = before.policy.get("refresh", {}) if before is not None else {}
    if not spec.refresh.needs_approval and not earlier.get("needs_approval"):
        return ()
    signers = tuple(earlier.get("signers") or ()) or spec.refresh.signers
    return require_approval(engine, spec.name, plain_policy(spec), signers, now)


def require_approval(
    engine: Engine,
    release: str,
    policy: Mapping[str, Any],
    signers: Sequence[str] = (),
    now: datetime.datetime | None = None,
) -> tuple[str, ...]:
    """The same for a policy of the catalog; ``signers``: lines in SSH's form; a listed signer must have signed."""
    now = now or datetime.datetime.now(datetime.UTC)
    every = Approvals(engine).list(release)
    approve = command("approve", release, options=["--by", "NAME", "--until", "DATE"])
    approved = [approval for approval in every if approval.action == "approved" and not approval.is_revoked(every)]
    if every and not approved:
        last = max(
            (approval for approval in every if approval.action == "revoked"), key=lambda approval: approval.place
        )
        raise GuardError(
            f"{release}: {last.approver} revoked its approval on {last.given_at[:10]}; nothing was published. A new "
            f"one: {approve}"
        )
    same = [approval for approval in approved if not list_differences(approval.policy, policy)]
    if not same:
        raise GuardError(_explain_missing(release, approved, policy, approve))
    last = max(same, key=lambda approval: approval.place)
    what = f"{release}: the approval by {last.approver} of {last.given_at[:10]}"
    if last.given > now:
        raise GuardError(
            f"{what} was given at {last.given_at}, and this machine's clock is at {now.isoformat(timespec='seconds')}: "
            "set the clock; nothing was published"
        )
    if now >= last.ends:
        raise GuardError(
            f"{what} ended with {last.until}, and it is {now.date()} (UTC); nothing was published. A new one: {approve}"
        )
    if signers:
        if last.signature is None:
            raise GuardError(
                f"{what} is not signed, and refresh.signers wants it; nothing was published: {approve} --sign"
            )
        with signatures.signers_file(signers) as file:
            check_signature(last, file)
    remaining = last.ends - now
    if remaining > WARNED:
        return ()
    return (f"the approval by {last.approver} ends with {last.until}, in {remaining.days} days; runs then stop",)


def check_signature(approval: Approval, signers: Path) -> None:
    """Check that the approver signed exactly this approval, of the policy that it has.

    Args:
        approval: an approval with a signature.
        signers: a file of allowed signers.

    Raises:
        PrivacyViolation: the signature is of another text or name, or the policy is not the signed policy.
    """
    what = f"approval {approval.number} of {approval.release}"
    if hash_policy(approval.policy)[1] != approval.policy_hash:
        raise PrivacyViolation(f"{what}: its policy is not the one whose hash was signed")
    signatures.verify(approval.statement, approval.signature or "", approval.approver, signers, what)


def _explain_missing(release: str, every: Sequence[Approval], policy: Mapping[str, Any], approve: str) -> str:
    if not every:
        return (
            f"{release}: refresh.needs_approval, and nobody approved this release; nothing was published. Approve a "
            f"published version with: {approve}, or after a look at the plan the policy with: {approve} --planned"
        )
    last = max(every, key=lambda approval: approval.place)
    differences = [str(difference) for difference in list_differences(last.policy, policy)]
    more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    return (
        f"{release}: the policy is not the one that {last.approver} approved on {last.given_at[:10]}: "
        f"{'; '.join(differences[:_SHOWN])}{more}; nothing was published. Approve it with: {approve} --planned"
    )
