"""Opinion 05/2014 of the Article 29 Working Party: singling out, linkability, inference."""

from __future__ import annotations

from sqlanon.report.document import Section, Statements, Text
from sqlanon.report.frames.base import CHECK, Frame, VersionFacts
from sqlanon.report.frames.measurements import say_attacks, say_linkability, say_marketer, say_risk, say_values


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    single = (*say_risk(facts), say_marketer(facts), *say_attacks(facts, "linkage"))
    learn = (*say_values(facts), *say_attacks(facts, "homogeneity", "bayes"))
    return (
        Section(
            "singling-out",
            "Singling out",
            "Is it possible to isolate the records of one individual? Larger groups protect more.",
            (Statements("Singling out", single), Text(CHECK)),
        ),
        Section(
            "linkability",
            "Linkability",
            "Is it possible to link records of one individual, here or in other data?",
            (Statements("Linkability", tuple(say_linkability(facts))),),
        ),
        Section(
            "inference",
            "Inference",
            "Is it possible to deduce the value of an attribute with significant probability? k alone bounds nothing "
            "here.",
            (Statements("Inference", learn),),
        ),
    )


WP216 = Frame(
    "wp216",
    "Anonymisation by the three criteria",
    "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), sections 2 and 3",
    _sections,
)
