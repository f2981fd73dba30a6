"""Statistical disclosure control: the terms of statistical offices."""

from __future__ import annotations

from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, Found, Frame
from sqlanon.report.frames.measured import (
    say_journalist,
    say_k,
    say_loss,
    say_marketer,
    say_prosecutor,
    say_published,
    say_suppressed,
    say_threshold,
    say_values,
)
from sqlanon.results.figures import measure


def _expect(found: Found) -> Statement:
    mean = found.risk.marketer
    about = "global risk: expected re-identifications"
    if mean is None:
        return Statement(about, "not counted for this kind of release", "not measured", found.call("audit"), "uniques")
    rows = found.run.rows - found.run.left_out
    sentence = f"{measure(float(f'{mean * rows:.10g}'))} of {rows:,} rows"
    return Statement(about, sentence, "measured", found.measured_by_run, "uniques")


def _special(found: Found) -> Statement:
    about = "special uniques (SUDA2)"
    if found.risk.rows is not None and found.risk.rows < 1:
        return Statement(about, "no row is unique in the quasi columns", "measured", found.measured_by_run, "suda")
    return Statement(about, "rows are unique in the quasi columns", "look at it", found.call("audit"), "suda")


def _sections(found: Found) -> tuple[Section, ...]:
    identity = (
        say_k(found),
        *say_prosecutor(found),
        say_published(found),
        say_journalist(found),
        say_marketer(found),
        _expect(found),
        _special(found),
        say_threshold(found),
    )
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
            (Statements("Attribute disclosure", tuple(say_values(found))),),
        ),
        Section(
            "utility",
            "Information loss",
            "The price of the protection.",
            (Statements("Information loss", (say_loss(found), say_suppressed(found))),),
        ),
    )


SDC = Frame(
    "sdc",
    "Statistical disclosure control",
    "Hundepool et al. 2012, Statistical Disclosure Control, chapters 3 and 5",
    _sections,
)
