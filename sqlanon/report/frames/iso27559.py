"""ISO/IEC 27559:2022, a framework of de-identification: context, data, identifiability, governance."""

from __future__ import annotations

from sqlanon.report.decision import CONTEXT, NOT_SAID
from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, Frame, VersionFacts
from sqlanon.report.frames.measurements import (
    say_approval,
    say_attacks,
    say_linkability,
    say_loss,
    say_marketer,
    say_review,
    say_risk,
    say_threshold,
    say_values,
)
from sqlanon.results.figures import join_names


def _context(facts: VersionFacts) -> tuple[Statement, ...]:
    context = facts.context
    return tuple(
        Statement(
            title,
            context.get(name) or NOT_SAID,
            "stated" if context.get(name) else "look at it",
            f"context.{name} in the policy",
            "context",
        )
        for name, title in CONTEXT.items()
    )


def _data(facts: VersionFacts) -> tuple[Statement, ...]:
    roles = ("identifier", "pseudonym", "quasi", "sensitive", "insensitive")
    by = facts.call("releases show")
    columns_by_role = [(role, facts.columns(role)) for role in roles]
    return tuple(Statement(role, join_names(names), "stated", by, "role") for role, names in columns_by_role if names)


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    risk = (
        *say_risk(facts),
        say_marketer(facts),
        say_threshold(facts),
        *say_values(facts),
        *say_linkability(facts),
        *say_attacks(facts, "linkage", "homogeneity"),
        say_loss(facts),
    )
    governance = (say_approval(facts), say_review(facts))
    return (
        Section(
            "context",
            "Context assessment",
            "Who gets the data, for what, under which controls: the words of the policy.",
            (Statements("Context", _context(facts)), Text(CHECK)),
        ),
        Section("data", "Data assessment", "The role of each column.", (Statements("Data", _data(facts)),)),
        Section(
            "identifiability",
            "Identifiability assessment and mitigation",
            "What was measured on the published table, against what is accepted.",
            (Statements("Identifiability", risk),),
        ),
        Section(
            "governance",
            "De-identification governance",
            "Who accepted it, until when, and when it is looked at again.",
            (Statements("Governance", governance),),
        ),
    )


ISO27559 = Frame(
    "iso27559",
    "De-identification framework",
    "ISO/IEC 27559:2022, Privacy enhancing data de-identification framework",
    _sections,
)
