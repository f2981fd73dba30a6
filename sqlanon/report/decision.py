"""Decisions about a release: context, threshold against measured risk, approvals, reviews."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlanon.decision_spec import Attacker, ContextSpec, Over
from sqlanon.release.catalog.entry import Entry
from sqlanon.report.document import Block, Facts, Section, Text, make_table
from sqlanon.results import RunReport
from sqlanon.results.approvals import Approval
from sqlanon.results.figures import share
from sqlanon.results.measured_risk import TITLES, exact_risk, read_measured_risk

CONTEXT: Mapping[str, str] = {
    "purpose": "purpose",
    "recipients": "recipients",
    "environment": "environment",
    "controls": "controls",
    "other_data": "other data that recipients may have",
    "legal_basis": "legal basis",
    "owner": "owner",
}
"""How the keys of `context` are called in reports."""
NOT_SAID = "not stated in the policy"


def report_decision(entry: Entry, run: RunReport, approvals: Sequence[Approval]) -> Section:
    """Context, risks and threshold, review, approvals of the version's policy."""
    blocks: list[Block] = [
        Facts(context_pairs(entry.policy)),
        make_table("Measured risk", "attacker and known columns | >risk", risk_rows(run)),
        *threshold_blocks(entry.policy, run),
    ]
    due = review_date(entry)
    if due:
        blocks.append(Facts((("due for review", due),)))
    relevant = [
        approval for approval in approvals if approval.policy_hash == entry.policy_hash or approval.action == "revoked"
    ]
    if relevant:
        rows = [
            (
                approval.action,
                approval.approver,
                approval.given_at[:10],
                approval.until or "-",
                "-" if approval.version is None else str(approval.version),
                approval.terms or "",
            )
            for approval in relevant
        ]
        head = "decision | by | on | until | >version seen | condition or reason"
        blocks.append(make_table("Approvals of this policy", head, rows))
    else:
        blocks.append(Text("Nobody has approved this policy with sqlanon approve."))
    return Section(
        "decision",
        "Context, risk and decision",
        "The context and the threshold are the words of the policy; the risks were measured on the published table.",
        tuple(blocks),
        (
            ("threshold", "The risk that the owner accepts. A run above it publishes nothing."),
            ("approval", "Who accepted the policy, on which day, until which day (UTC). It ends by itself."),
        ),
    )


def context_pairs(policy: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The context, each key, also those that the policy leaves out."""
    context = policy.get("context") or {}
    return tuple((CONTEXT[name], context.get(name) or NOT_SAID) for name, _ in ContextSpec().items())


def risk_rows(run: RunReport) -> list[tuple[str, str]]:
    """Every risk of the version, and which was not measured."""
    risks = read_measured_risk(run).to_dict()
    return [
        (title, "not measured" if risks[key] is None else share(risks[key], 1))
        for key, title in TITLES.items()
        if risks[key] is not None or (key != "persons" and (key != "published_persons" or risks["persons"] is not None))
    ]


def read_threshold(policy: Mapping[str, Any]) -> tuple[Fraction, Attacker, Over, str] | None:
    """The threshold of a policy as the catalog keeps it: risk, attacker, known columns, reason."""
    threshold = policy.get("threshold")
    return (
        (Fraction(threshold["risk"]), threshold["attacker"], threshold["over"], threshold["because"])
        if threshold
        else None
    )


def within(policy: Mapping[str, Any], run: RunReport) -> bool | None:
    """Whether the risk is within the threshold; None: there is none, or it was not measured."""
    threshold = read_threshold(policy)
    risk = exact_risk(run, threshold[1], threshold[2]) if threshold else None
    return None if threshold is None or risk is None else risk <= threshold[0]


def threshold_blocks(policy: Mapping[str, Any], run: RunReport) -> list[Block]:
    """The threshold and the figure that it bounds."""
    threshold = read_threshold(policy)
    if threshold is None:
        return [Text("The policy has no threshold: no risk was accepted or refused by number.")]
    most, attacker, over, because = threshold
    risk = exact_risk(run, attacker, over)
    met = within(policy, run)
    measured = "not measured" if risk is None else share(float(risk), 1)
    columns = "every published column but the sensitive ones" if over == "published" else "the quasi columns"
    verdict = "not measured" if met is None else "met" if met else "EXCEEDED"
    row = (f"{attacker}, {columns}", f"{share(float(most), 1)} ({most})", measured, verdict)
    failed = frozenset() if met else frozenset((0,))
    head = "risk of | >accepted, at most | >measured | result"
    return [make_table("Threshold", head, [row], failed), Facts((("why this number", because),))]


def review_date(entry: Entry) -> str:
    """The day on which the version is due for review; empty: the policy does not say."""
    seconds = entry.policy.get("review")
    if not seconds:
        return ""
    published_at = datetime.datetime.fromisoformat(entry.published_at)
    return (published_at + datetime.timedelta(seconds=int(seconds))).date().isoformat()
