"""Statistical disclosure control: the terms of statistical offices."""

from __future__ import annotations

from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, Frame, VersionFacts
from sqlanon.report.frames.measurements import (
    say_loss,
    say_marketer,
    say_risk,
    say_suppressed,
    say_threshold,
    say_values,
)
from sqlanon.results.figures import measure


def _expect(facts: VersionFacts) -> Statement:
    mean = facts.risk.marketer
    about = "global risk: expected re-identifications"
    if mean is None:
        return Statement(about, "not counted for this kind of release", "not measured", facts.call("audit"), "uniques")
    rows = facts.run.rows - facts.run.left_out
    sentence = f"{measure(float(f'{mean * rows:.10g}'))} of {rows:,} rows"
    return Statement(about, sentence, "measured", facts.measured_by_run, "uniques")


def _special(facts: VersionFacts) -> Statement:
    about = "special uniques (SUDA2)"
    if facts.risk.rows is not None and facts.risk.rows < 1:
        return Statement(about, "no row is unique in the quasi columns", "measured", facts.measured_by_run, "suda")
    return Statement(about, "rows are unique in the quasi columns", "look at it", facts.call("audit"), "suda")


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    identity = (*say_risk(facts), say_marketer(facts), _expect(facts), _special(facts), say_threshold(facts))
    return (
        Section(
            "identity",
            "Identity disclosure",
            "Frequency counts in the key variables, individual and global risk.",
            (Statements("Identity disclosure", identity), Text(CHECK)),
        ),
        Section(
            "attribute",
            "Attribute disclosure",
            "What a class reveals of sensitive variables.",
            (Statements("Attribute disclosure", tuple(say_values(facts))),),
        ),
        Section(
            "utility",
            "Information loss",
            "The price of the protection.",
            (Statements("Information loss", (say_loss(facts), say_suppressed(facts))),),
        ),
    )


SDC = Frame(
    "sdc",
    "Statistical disclosure control",
    "Hundepool et al. 2012, Statistical Disclosure Control, chapters 3 and 5",
    _sections,
)
