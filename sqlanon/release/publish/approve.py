"""Approves a release, lists approvals and revokes them: catalog rows bound to a policy and to figures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.release.catalog import signatures
from sqlanon.release.catalog.approvals import Approvals, check_signature, plain_policy
from sqlanon.release.catalog.catalog import Catalog, account_name
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.policy_diff import list_differences
from sqlanon.release.catalog.redacted_policy import hash_policy
from sqlanon.release.catalog.state import read_state
from sqlanon.release.publish.rollback import find_version
from sqlanon.results import RunReport
from sqlanon.results.approvals import Approval, ListedApproval
from sqlanon.results.figures import share
from sqlanon.results.measured_risk import TITLES, read_measured_risk
from sqlanon.spec import ReleaseSpec

LONGEST = 1000
"""Characters of a name or a condition."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on a release.

    Attributes:
        by: the person's name.
        until: the last day on which it holds, ``2027-06-30``.
        condition: in their words.
        key: the file of a private SSH key that signs it.
    """

    by: str
    until: str
    condition: str | None = None
    key: Path | None = None


def approve(engine: Engine, release: str, decided: Decision, planned: ReleaseSpec | None = None) -> Approval:
    """Record an approval.

    Args:
        engine: the source's database.
        release: ``NAME`` for the published version, or ``NAME@VERSION``.
        decided: the decision.
        planned: approve this policy in place of a version's policy; no version is needed.

    Raises:
        PolicyError: no such version, an invalid or past date, or a signature that cannot be made.
    """
    until = _read_date(decided.until)
    for what, text in (("--by", decided.by), ("--condition", decided.condition)):
        _check_text(what, text)
    if planned is None:
        entry = find_version(engine, release)
        name, version, policy, figures = entry.release, entry.version, dict(entry.policy), _figures(entry)
    else:
        spec = read_state(engine, planned).spec
        name, version, policy, figures = spec.name, None, plain_policy(spec), {}
    return _add(engine, name, version, policy, figures, decided, until)


def revoke(engine: Engine, release: str, by: str, reason: str | None = None, key: Path | None = None) -> Approval:
    """Revoke every approval of a release; runs that need approval stop from now on.

    Raises:
        PolicyError: there is no approval, or it was revoked already.
    """
    for what, text in (("--by", by), ("--reason", reason)):
        _check_text(what, text)
    every = Approvals(engine).list(release)
    if not every:
        raise PolicyError(f"{release} has no approval; sqlanon approvals lists those of this database")
    last = every[-1]
    if last.action == "revoked":
        raise PolicyError(f"{release}: the newest approval was revoked by {last.approver} on {last.given_at[:10]}")
    how = Decision(by, "", reason, key)
    return _add(engine, release, last.version, last.policy, last.figures, how, None)


def _add(
    engine: Engine,
    release: str,
    version: int | None,
    policy: Mapping[str, object],
    figures: Mapping[str, object],
    decided: Decision,
    until: str | None,
) -> Approval:
    approval = Approval(
        number=0,
        release=release,
        version=version,
        action="revoked" if until is None else "approved",
        approver=decided.by,
        given_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        given_by=account_name(),
        until=until,
        terms=decided.condition,
        policy=policy,
        policy_hash=hash_policy(policy)[1],
        figures=figures,
    )
    if decided.key is not None:
        approval = replace(approval, signature=signatures.sign(approval.statement, decided.key))
    approvals, catalog = Approvals(engine), Catalog(engine)
    with engine.lock("approvals", wait=True), engine.publishing():
        catalog.create(engine.look_up(catalog.tables))
        approval = replace(approval, number=approvals.next_number())
        if until is not None:
            _check_clock(approval, approvals.list(release))
        approvals.add(approval)
    return approval


def _check_clock(approval: Approval, before: Sequence[Approval]) -> None:
    """Refuse an approval that would be older than the last decision; a revocation always ends approvals."""
    last = max((decision.given for decision in before), default=approval.given)
    if last > approval.given:
        raise PolicyError(
            f"{approval.release}: the last decision on it was given at {last.isoformat(timespec='seconds')}, and this "
            f"machine's clock is at {approval.given_at}: set the clock"
        )


def list_approvals(engine: Engine, release: str | None = None, signers: Path | None = None) -> list[ListedApproval]:
    """Every decision with the current state, oldest first.

    Args:
        engine: the source's database.
        release: only decisions on this release.
        signers: a file of allowed signers (ssh-keygen(1)) to check signatures with.

    Raises:
        PrivacyViolation: a signature does not match the approver and the text.
        PolicyError: there is no such release.
    """
    every = Approvals(engine).list(release)
    if release is not None and not every and not Catalog(engine).versions(release):
        raise Catalog(engine).unknown_name(release)
    now = datetime.datetime.now(datetime.UTC)
    published = {entry.release: entry for entry in Catalog(engine).entries(statuses=("published",))} if every else {}
    approvals = []
    for decision in every:
        decisions = [approval for approval in every if approval.release == decision.release]
        same = [
            approval
            for approval in decisions
            if approval.action == "approved" and not list_differences(approval.policy, decision.policy)
        ]
        state = decision.state(decisions, same, now)
        days = (decision.ends - now).days if state == "valid" else 0
        grown = _list_grown_risks(decision, published.get(decision.release)) if state == "valid" else ()
        approvals.append(ListedApproval(decision, state, days, _describe_signature(decision, signers), grown))
    return approvals


def _describe_signature(approval: Approval, signers: Path | None) -> str:
    if approval.signature is None:
        return "no"
    if signers is None:
        return "not checked"
    check_signature(approval, signers)
    return f"by {approval.approver}"


def _list_grown_risks(approval: Approval, entry: Entry | None) -> tuple[str, ...]:
    """Risks of the published version above the approved risks."""
    if entry is None or not approval.figures:
        return ()
    now = _figures(entry)
    return tuple(
        f"{TITLES[key]}: {share(approved, 1)} was approved, {share(now[key], 1)} is published"
        for key, approved in approval.figures.items()
        if key in TITLES and approved is not None and now.get(key) is not None and now[key] > approved
    )


def _figures(entry: Entry) -> dict[str, float]:
    risks = read_measured_risk(RunReport.from_dict(entry.report)).to_dict()
    return {key: risk for key, risk in risks.items() if key in TITLES and risk is not None}


def _read_date(text: str) -> str:
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise PolicyError(f"--until {text}: not a date; write it as 2027-06-30") from None
    today = datetime.datetime.now(datetime.UTC).date()
    if day < today:
        raise PolicyError(f"--until {day}: it is {today} (UTC), so that the approval would have ended already")
    return day.isoformat()


def _check_text(what: str, text: str | None) -> None:
    if text is not None and (not text.strip() or not text.isprintable() or len(text) > LONGEST):
        raise PolicyError(f"{what} wants one line of printable text of at most {LONGEST} characters")
