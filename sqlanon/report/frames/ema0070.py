"""Policy 0070 of the European Medicines Agency, and Health Canada's guidance: a threshold of 0.09."""

from __future__ import annotations

from sqlanon.declared.thresholds import PRESETS
from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, Frame, VersionFacts
from sqlanon.report.frames.measurements import (
    say_attacks,
    say_loss,
    say_marketer,
    say_risk,
    say_suppressed,
    say_threshold,
)
from sqlanon.results.figures import join_names

ELEVEN = 11


def _cell(facts: VersionFacts) -> Statement:
    """The minimum cell of 11."""
    about = "risk of at most 0.09: groups of at least 11 persons"
    risks = [risk for risk in (facts.risk.rows, facts.risk.persons) if risk is not None]
    if not risks:
        return Statement(about, "rows make no classes here", "not measured", facts.call("audit"), "threshold")
    worst = max(risks)
    fewest = round(1 / worst)
    sentence = f"the smallest has {fewest}: {'within' if fewest >= ELEVEN else 'ABOVE'} the threshold"
    return Statement(
        about, sentence, "measured" if fewest >= ELEVEN else "look at it", facts.measured_by_run, "threshold"
    )


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    identifiers = facts.columns("identifier")
    method = (
        Statement(
            "direct identifiers",
            f"{join_names(identifiers) or 'none named'}; not published",
            "stated",
            facts.call("releases show"),
            "role",
        ),
        Statement(
            "quasi-identifiers",
            f"{join_names(facts.columns('quasi'))}; format {facts.run.format}, method {facts.run.method}",
            "stated",
            facts.call("releases show"),
            "role",
        ),
        say_loss(facts),
        say_suppressed(facts),
    )
    risk = (_cell(facts), *say_risk(facts), say_marketer(facts), say_threshold(facts), *say_attacks(facts, "linkage"))
    return (
        Section(
            "risk",
            "Risk of re-identification",
            f"The threshold of the guidance is 0.09, which is 1/{ELEVEN}. Data that are published count by the highest "
            "risk of any person, not by the mean.",
            (Statements("Measured against the threshold", risk), Text(CHECK)),
        ),
        Section(
            "method", "Method", "What was done to which columns, and what it cost.", (Statements("Method", method),)
        ),
    )


EMA0070 = Frame("ema0070", "Clinical data: threshold 0.09", PRESETS["ema0070"].source.partition(":")[0], _sections)
