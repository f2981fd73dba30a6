"""45 CFR 164.514(b): Safe Harbor as a check by names and by published values, and expert determination."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlanon.declared.zip3 import RESTRICTED
from sqlanon.engines.base import Bind, Column
from sqlanon.engines.rows import numbers
from sqlanon.query.release import Field
from sqlanon.report.document import Section, State, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, NO_COMMAND, Frame, VersionFacts
from sqlanon.report.frames.measurements import (
    say_approval,
    say_attacks,
    say_review,
    say_risk,
    say_threshold,
    say_values,
)
from sqlanon.results.figures import count, join_names, things
from sqlanon.sqltext import statement

OLDEST = 89
"""Ages above it are one category, of 90 and over."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One of the 18 kinds of identifiers.

    Attributes:
        letter: of the regulation's list.
        what: description in a few words.
        names: names of columns that may hold it.
        part: a generalized form is allowed by the regulation.
    """

    letter: str
    what: str
    names: str
    part: bool = False


IDENTIFIERS = (
    Identifier("A", "names", r"name|surname|forename|initials|maiden"),
    Identifier(
        "B",
        "places smaller than a state, but for the first three digits of a ZIP code",
        r"zip|postal|postcode|plz|address|street|city|town|county|district|precinct|village|latitude|longitude|\blat\b"
        r"|\blon\b|\blng\b|geo",
        part=True,
    ),
    Identifier(
        "C",
        "days and months of dates about a person, and ages above 89",
        r"date|birth|dob|admi|discharg|death|died|\bday|\bmonth|_at$|timestamp|visit|\bage",
        part=True,
    ),
    Identifier("D", "telephone numbers", r"phone|mobile|\btel|cell_?no"),
    Identifier("E", "fax numbers", r"fax"),
    Identifier("F", "e-mail addresses", r"e_?mail"),
    Identifier("G", "social security numbers", r"ssn|social_?sec"),
    Identifier("H", "medical record numbers", r"mrn|medical_?rec|record_?(no|num|id)|patient_?(no|num|id)|chart"),
    Identifier(
        "I", "health plan beneficiary numbers", r"beneficiar|insur|policy_?(no|num)|member_?(no|num|id)|hicn|mbi"
    ),
    Identifier("J", "account numbers", r"account|iban|\bacct"),
    Identifier("K", "certificate and license numbers", r"licen[cs]e|certificate|passport"),
    Identifier("L", "vehicle identifiers and plates", r"vehicle|\bvin\b|plate"),
    Identifier("M", "device identifiers and serial numbers", r"device|serial|imei|udi"),
    Identifier("N", "web addresses (URL)", r"url|website|homepage"),
    Identifier("O", "IP addresses", r"\bip\b|ip_?addr"),
    Identifier("P", "biometric identifiers", r"finger|voice|iris|retina|biometric|genom"),
    Identifier("Q", "photographs of the face", r"photo|picture|image|portrait"),
    Identifier("R", "any other unique number, characteristic or code", r"(^|_)id$|uuid|guid|unique|code$|number$"),
)
_EDGE = r"(?:(?<![^\W_])|(?![^\W_]))"
"""The edge of a word in a name: an underscore ends one, as it does not for ``\\b``."""
_ZIP = re.compile(r"zip|postal|postcode|plz", re.IGNORECASE)
_AGE = re.compile(r"(^|_)age(_|$)", re.IGNORECASE)


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    harbor = (
        *(_by_names(facts, identifier) for identifier in IDENTIFIERS),
        *_by_values(facts),
        Statement(
            "actual knowledge that what is left could identify somebody",
            "no command knows what you know",
            "look at it",
            NO_COMMAND,
            "safe_harbor",
        ),
    )
    expert = (
        say_threshold(facts),
        *say_risk(facts),
        *say_values(facts),
        *say_attacks(facts, "linkage", "homogeneity"),
        say_approval(facts),
        say_review(facts),
    )
    return (
        Section(
            "safe-harbor",
            "Safe Harbor: the 18 identifiers",
            "164.514(b)(2). Columns are found by their names, and what is published of ZIP codes, dates and ages by "
            "the "
            "published values: a column with another name is not found, nor is an identifier inside a text.",
            (Statements("Identifiers", harbor), Text(f"{CHECK} Names of columns were compared, and no text was read.")),
        ),
        Section(
            "expert",
            "Expert determination",
            "164.514(b)(1): the risk is very small that the data, alone or with other reasonably available data, "
            "identify a person. The regulation has no number; the expert chooses one and says why.",
            (Statements("Risk", expert),),
        ),
    )


def _by_names(facts: VersionFacts, identifier: Identifier) -> Statement:
    pattern = re.compile(identifier.names.replace(r"\b", _EDGE), re.IGNORECASE)
    matching = [column for column in facts.policy["columns"] if pattern.search(str(column["name"]))]
    about = f"({identifier.letter}) {identifier.what}"
    by = facts.call("releases show")
    if not matching:
        return Statement(about, "no column has such a name", "stated", by, "safe_harbor")
    hidden = [str(column["name"]) for column in matching if column["role"] == "identifier"]
    tokens = [str(column["name"]) for column in matching if column["role"] == "pseudonym"]
    shown = [str(column["name"]) for column in matching if column["role"] in ("sensitive", "insensitive")]
    coarse = [str(column["name"]) for column in matching if column["role"] == "quasi"]
    parts = [
        *([f"not published: {join_names(hidden)}"] if hidden else []),
        *([f"a token, a code derived from it: {join_names(tokens)}"] if tokens else []),
        *([f"published as it is: {join_names(shown)}"] if shown else []),
        *([f"generalized: {join_names(coarse)}"] if coarse else []),
    ]
    look = bool(shown or tokens or (coarse and not identifier.part))
    state: State = "look at it" if look or coarse else "stated"
    return Statement(about, "; ".join(parts), state, by, "safe_harbor")


def _by_values(facts: VersionFacts) -> Iterator[Statement]:
    """Published ZIP codes, ages and dates."""
    if facts.released is None:
        about = "published ZIP codes, ages and dates"
        yield Statement(about, "the release is in another file", "not measured", facts.call("report"), "safe_harbor")
        return
    columns = {column.name: column for column in facts.released.view.columns}
    for field in facts.released.fields:
        shown = [columns[name] for name in field.published if name in columns]
        if _ZIP.search(field.name):
            yield _zip(facts, field, shown)
        elif _AGE.search(field.name):
            yield _age(facts, field, shown)
        elif field.kind in ("date", "timestamp"):
            yield _dates(facts, field, shown)


def _zip(facts: VersionFacts, field: Field, shown: list[Column]) -> Statement:
    about = f"{field.name}: three digits, and 000 where 20,000 people or fewer live"
    texts = [column.name for column in shown if column.kind == "text"]
    if not texts:
        return Statement(about, "published in no text column: look at it", "look at it", facts.call("report"), "zip3")
    three = [_like(facts, name, ("*", "___", "___*", "___**")) for name in texts]
    detailed = sum(cells - like for like, cells in three)
    small = sum(_like(facts, name, [f"{prefix}%" for prefix in RESTRICTED])[0] for name in texts)
    sentence = (
        f"{things(detailed, 'cell')} with more than three digits, {count(small)} with one of the 17 small prefixes"
    )
    state: State = "look at it" if detailed or small else "measured"
    return Statement(about, sentence, state, facts.call("report", "--frame", "hipaa"), "zip3")


def _age(facts: VersionFacts, field: Field, shown: list[Column]) -> Statement:
    about = f"{field.name}: no age above {OLDEST} but as one category of 90 and over"
    values = [column.name for column in shown if column.kind in ("integer", "float", "decimal")]
    capped = field.recode is not None and field.recode.top == str(OLDEST + 1)
    if not values:
        return Statement(
            about, "published in no column of numbers: look at it", "look at it", facts.call("report"), "safe_harbor"
        )
    above = max(_count(facts, name, {"most": OLDEST + capped})[0] for name in values)
    sentence = f"{things(above, 'row')} above it" + ("; top: 90 makes 90 mean 90 and over" if capped else "")
    if above and not capped:
        sentence += "; top: 90 in the policy makes one category"
    state: State = "look at it" if above else "measured"
    return Statement(about, sentence, state, facts.call("report", "--frame", "hipaa"), "safe_harbor")


def _dates(facts: VersionFacts, field: Field, shown: list[Column]) -> Statement:
    about = f"{field.name}: nothing finer than a year"
    finer = 0
    for column in shown:
        if column.kind in ("date", "timestamp"):
            day = "12-31" if column.name.endswith("_hi") else "01-01"
            like, cells = _like(facts, column.name, (f"____-{day}", f"____-{day} %"))
        elif column.kind == "text" and not column.name.endswith("_null"):
            like, cells = _like(facts, column.name, ("*", "____", "____s"))
        else:
            continue
        finer += cells - like
    sentence = f"{things(finer, 'cell')} with more than a year"
    if finer:
        sentence += "; hierarchy: {calendar: [year]} and format labels publish years, or make years of them in a view"
    state: State = "look at it" if finer else "measured"
    return Statement(about, sentence, state, facts.call("report", "--frame", "hipaa"), "safe_harbor")


def _like(facts: VersionFacts, column: str, patterns: Sequence[str]) -> tuple[int, int]:
    """Rows of the view whose text is like one of the patterns, and all rows with a value."""
    binds: dict[str, Bind] = {f"like{index}": pattern for index, pattern in enumerate(patterns)}
    return _count(facts, column, binds, list(binds))


def _count(facts: VersionFacts, column: str, binds: dict[str, Bind], patterns: Sequence[str] = ()) -> tuple[int, int]:
    assert facts.released is not None
    target, dialect = facts.released.view.ref, facts.engine.dialect
    query = statement("report/detail", dialect, binds, target=target, column=column, patterns=list(patterns))
    like, cells = numbers(facts.engine, query)
    return like, cells


HIPAA = Frame(
    "hipaa",
    "De-identification under HIPAA",
    "45 CFR 164.514(b), and Department of Health and Human Services, Guidance Regarding Methods for De-identification "
    "(2012)",
    _sections,
)
