"""ISO/IEC 27559:2022, a framework of de-identification: context, data, identifiability, governance."""

from __future__ import annotations

from sqlanon.report.decision import CONTEXT, NOT_SAID
from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, Found, Frame
from sqlanon.report.frames.measured import (
    say_approval,
    say_attacks,
    say_journalist,
    say_k,
    say_linkability,
    say_loss,
    say_marketer,
    say_prosecutor,
    say_published,
    say_review,
    say_threshold,
    say_values,
)
from sqlanon.results.figures import join_names


def _context(found: Found) -> tuple[Statement, ...]:
    context = found.context
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


def _data(found: Found) -> tuple[Statement, ...]:
    roles = ("identifier", "pseudonym", "quasi", "sensitive", "insensitive")
    by = found.call("releases show")
    columns_by_role = [(role, found.columns(role)) for role in roles]
    return tuple(Statement(role, join_names(names), "stated", by, "role") for role, names in columns_by_role if names)


def _sections(found: Found) -> tuple[Section, ...]:
    risk = (
        say_k(found),
        *say_prosecutor(found),
        say_published(found),
        say_journalist(found),
        say_marketer(found),
        say_threshold(found),
        *say_values(found),
        *say_linkability(found),
        *say_attacks(found, "linkage", "homogeneity"),
        say_loss(found),
    )
    governance = (say_approval(found), say_review(found))
    return (
        Section(
            "context",
            "Context assessment",
            "Who gets the data, for what, under which controls: the words of the policy.",
            (Statements("Context", _context(found)), Text(CHECK)),
        ),
        Section("data", "Data assessment", "The role of each column.", (Statements("Data", _data(found)),)),
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
