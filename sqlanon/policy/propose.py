"""What ``sqlanon init`` proposes for a table: a role for every column, each with its reason, and k and l.

It sees names, types and counts, never values. Where it cannot know, it takes the safer role: left out before
generalized before published; no column is ever proposed as insensitive. What decides first are the counts: a column of
eight values is no identifier, whatever its name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlanon.errors import PolicyError
from sqlanon.policy.labels import labelled
from sqlanon.policy.proposal import Proposal, Proposed

K = 10
L = 2


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


_IDENTIFIERS = _vocabulary(
    "name names firstname lastname forename surname fullname fname lname mname maiden nickname username user email mail ssn"
    " sin nin nino nhs mrn bsn cpf dni nif nie curp aadhaar pesel personnummer medicare medicaid phone telephone tel mobile"
    " fax address addr street url uri website ip ipaddress imei iban creditcard passport vin password passwd secret signature"
    " photo picture fingerprint biometric note notes comment comments remark remarks description freetext latitude longitude"
    " lat lon lng geom geometry coordinates"
)
"""Words that identify a person, or may, however many values there are."""
_NUMBERS = _vocabulary("id identifier no nr nbr num number nummer numero key uid uuid guid pid")
_BY_COUNT = _NUMBERS | _vocabulary("account acct card cell login mac token license licence plate")
"""Words that identify at the end of a name, where there are many values: ``account_no`` does, ``admission_type_id`` may not."""
_PERSONS = _vocabulary(
    "patient pat person pers customer cust client member mbr user employee emp student subject participant resident insured"
    " citizen voter beneficiary donor pupil worker taxpayer"
)
_JOINED = re.compile(
    f"({'|'.join(sorted(_PERSONS))}|encounter|enc|visit|episode|stay|case|account|acct|policy|claim|card|record|rec|row)"
    "(id|no|nr|nbr|num|number|key)"
)
_FREE_TEXT = _vocabulary(
    "name names firstname lastname forename surname fullname fname lname mname maiden nickname note notes comment"
    " comments remark remarks description freetext address addr street"
)
_SENSITIVE = _vocabulary(
    "disease illness condition disorder symptom hiv medication medications drug drugs treatment therapy procedure surgery"
    " salary income wage wages earnings debt balance religion faith political party orientation sexuality conviction offence"
    " offense crime criminal disability allergy outcome"
)
_CODED = re.compile(r"diags?|diagnos[ei]s|icd\w*|[ps]?dx")
"""Diagnoses and their codes: ``diag_1``, ``icd10``, ``dx3``."""
_QUASI = _vocabulary(
    "age birth birthday birthdate dob born zip zipcode postcode postal plz city town county state region province"
    " country nation nationality native place sex gender race ethnicity ethnic marital marriage education degree occupation job"
    " profession employer workclass language relationship children household admitted admission discharge discharged"
    " visit death died height weight hospital ward"
)
_COUNTS = _vocabulary("num number n nr no count cnt total")
_ORDERED = frozenset({"integer", "float", "decimal", "date", "timestamp"})
_FEW = 50
_OFTEN = 10
"""A column of at most `_FEW` values, each in `_OFTEN` rows or more on average, is a category."""
MOST_QUASI = 100
"""Quasi columns of a proposal, at most: with more, classes say next to nothing, and take long."""
_RARE = 0.01
"""Share of rows without the most frequent sensitive value from which distinct_l is proposed."""


class ColumnProfileLike(Protocol):
    """What is known of a column: counts only.

    ``singles`` rows hold a value that occurs once, ``top`` rows the most frequent one; NULL is not counted as a value.
    ``comparable`` is false for types without equality, whose values cannot be counted.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def type(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def rows(self) -> int: ...  # noqa: D102
    @property
    def nulls(self) -> int: ...  # noqa: D102
    @property
    def distinct(self) -> int: ...  # noqa: D102
    @property
    def singles(self) -> int: ...  # noqa: D102
    @property
    def top(self) -> int: ...  # noqa: D102
    @property
    def comparable(self) -> bool: ...  # noqa: D102


def propose(
    profile: Sequence[ColumnProfileLike], labels: Mapping[str, Sequence[str]] | None = None
) -> Proposal:
    """Roles, k and l for one table.

    Args:
        profile: its columns.
        labels: of the columns that have any, those of PostgreSQL Anonymizer, which decide first.

    Raises:
        PolicyError: the table has no columns.
    """
    if not profile:
        raise PolicyError("source: the table has no columns; a policy needs at least one")
    own = [_of_labels(column, (labels or {}).get(column.name, ())) for column in profile]
    columns = _with_quasi(profile, _without_too_many(profile, own))
    rows = max(column.rows for column in profile)
    l, distinct_l, why = _diversity(profile, columns, rows)  # noqa: E741 - the papers' symbol
    repeats = any(
        column.role == "identifier" and not column.accept_repeats and _repeats(counts)
        for column, counts in zip(columns, profile, strict=True)
    )
    return Proposal(tuple(columns), rows, K, l, distinct_l, why, "events" if repeats else "persons")


def _of_labels(column: ColumnProfileLike, labels: Sequence[str]) -> Proposed:
    """The role of one column by its labels, if it has any, else by its counts and its name."""
    if not labels:
        return _column(column)
    able = column.kind != "other" and column.comparable
    return labelled(_column(column), labels, able=able, repeats=not column.comparable or _repeats(column))


def _repeats(column: ColumnProfileLike) -> bool:
    """Whether a value is in several rows; NULL is one like any other."""
    return column.distinct < column.rows - column.nulls or column.nulls > 1


def _column(column: ColumnProfileLike) -> Proposed:
    """The role of one column, by its counts and its name."""
    words = _words(column.name)
    known = column.rows - column.nulls
    counts = f"{column.distinct} different values in {known} rows" + (
        f", {column.nulls} NULL" if column.nulls else ""
    )
    repeats = not column.comparable or _repeats(column)
    category = column.distinct <= _FEW and column.distinct * _OFTEN <= known

    def left_out(reason: str) -> Proposed:
        """Left out because of its values; that they repeat proves nothing about persons."""
        return Proposed(column.name, "identifier", reason, accept_repeats=repeats)

    if found := _identifies(words, column, category=category):
        return _identifier(found, column, known, counts)
    if column.kind == "other" or not column.comparable:
        return left_out("a type that cannot be generalized: left out")
    if column.distinct + (column.nulls > 0) <= 1:
        return Proposed(column.name, "quasi", "the same in all rows")
    counted = (
        len(words) > 1 and column.kind in _ORDERED and (words[0] in _COUNTS or words[-1] in ("count", "cnt"))
    )
    sensitive = None if counted else _first(words, _SENSITIVE) or _coded(words)
    if sensitive and column.distinct * 2 > known:
        return left_out(f"sensitive by its name ({sensitive}), but {counts} would name persons: left out")
    if sensitive:
        return Proposed(column.name, "sensitive", f"sensitive by its name ({sensitive}); {counts}")
    return _quasi(column, words, known, counts) or left_out(
        f"{'nearly unique' if column.distinct * 10 >= known * 9 else 'mostly different'}: {counts}; "
        "or quasi, to publish it generalized"
    )


def _quasi(column: ColumnProfileLike, words: Sequence[str], known: int, counts: str) -> Proposed | None:
    """A quasi column, or None where so many values are different that it identifies persons."""
    ordered = column.kind in _ORDERED
    if found := _first(words, _QUASI):
        if not ordered and column.distinct * 10 >= known * 9 and column.distinct > K:
            return None
        return Proposed(
            column.name, "quasi", f"others may know it, by its name ({found}); {counts}", named=True
        )
    if column.distinct * 10 >= known * 9 or (not ordered and column.distinct * 2 > known):
        return None
    why = (
        "few values, which others may know"
        if column.distinct <= _FEW
        else "unclear, so generalized to be safe"
    )
    return Proposed(column.name, "quasi", f"{why}: {counts}")


def _identifies(words: list[str], column: ColumnProfileLike, *, category: bool) -> str | None:
    """The word that makes a column an identifier."""
    if column.kind == "boolean":
        return None
    found = _first(words, _IDENTIFIERS)
    kind_of_thing = column.distinct <= _FEW and (_first(words, _QUASI | _SENSITIVE) or _coded(words))
    if found and not (found in _FREE_TEXT and kind_of_thing):  # country_name, drug_description
        return found
    plain = [word for word in words if not word.isdecimal()] or words
    for before, word in itertools.pairwise(plain):
        if before.rstrip("0123456789") in _PERSONS and word in _NUMBERS:
            return f"{before}_{word}"
    last = plain[-1].rstrip("0123456789") if plain else ""
    if not category and (last in _BY_COUNT or _JOINED.fullmatch(last) or "id" in plain[:1]):
        return last if last in _BY_COUNT or _JOINED.fullmatch(last) else "id"
    return None


def _identifier(found: str, column: ColumnProfileLike, known: int, counts: str) -> Proposed:
    """A column that identifies by its name; what its repeats mean depends on the name."""
    reason = f"identifies, by its name ({found}); {counts}"
    if not column.comparable:
        return Proposed(column.name, "identifier", reason, named=True, accept_repeats=True)
    if not _repeats(column):
        return Proposed(column.name, "identifier", reason, named=True)
    if found in _FREE_TEXT or column.distinct < K:
        return Proposed(
            column.name,
            "identifier",
            f"{reason}, which need not be one person",
            named=True,
            accept_repeats=True,
        )
    if column.distinct >= known:
        hint = "its NULLs count as one person: if they are not, accept_repeats: true here"
        return Proposed(column.name, "identifier", f"{reason}; {hint}", named=True)
    hint = "says whose row it is; if equal values are not one person, accept_repeats: true here"
    return Proposed(column.name, "identifier", f"{reason}; {hint}", named=True)


def _without_too_many(profile: Sequence[ColumnProfileLike], columns: list[Proposed]) -> list[Proposed]:
    """Leave out the quasi columns above `MOST_QUASI`: first those that no name explains, then those of most values."""
    quasi = [at for at, column in enumerate(columns) if column.role == "quasi"]
    kept = set(sorted(quasi, key=lambda at: (not columns[at].named, profile[at].distinct, at))[:MOST_QUASI])
    reason = f"left out, as there are more than {MOST_QUASI} quasi columns; was: "
    return [
        Proposed(column.name, "identifier", reason + column.reason, accept_repeats=True)
        if column.role == "quasi" and at not in kept
        else column
        for at, column in enumerate(columns)
    ]


def _with_quasi(profile: Sequence[ColumnProfileLike], columns: list[Proposed]) -> list[Proposed]:
    """A release needs a quasi column: if none was found, take the one that identifies least."""
    if any(column.role == "quasi" for column in columns):
        return columns
    best = min(
        range(len(profile)),
        key=lambda at: (
            profile[at].kind == "other" or not profile[at].comparable,
            columns[at].named,
            columns[at].role == "sensitive",
            profile[at].distinct,
        ),
    )
    reason = f"a release needs a quasi column and no other fits better; was: {columns[best].reason}"
    chosen = Proposed(columns[best].name, "quasi", reason)
    return [chosen if at == best else column for at, column in enumerate(columns)]


def _diversity(
    profile: Sequence[ColumnProfileLike], columns: Sequence[Proposed], rows: int
) -> tuple[int | None, int | None, str]:
    """l, else distinct_l, that the table can reach; and the comment on it."""
    sensitive = [
        counts for counts, column in zip(profile, columns, strict=True) if column.role == "sensitive"
    ]
    if not sensitive:
        return None, None, "no column looks sensitive by its name; give those that are the role, and add l"
    if rows < K:
        return None, None, ""
    worst = max(sensitive, key=lambda column: max(column.top, column.nulls))
    most = max(worst.top, worst.nulls)
    if most * L <= rows:
        return L, None, f"no sensitive value in more than 1/{L} of a class"
    skewed = f"l: {L} is not possible: one value of {worst.name!r} has {most} of {rows} rows"
    if rows - most >= max(1, _RARE * rows):
        return None, 2, f"{skewed}; different sensitive values in a class, at least"
    return None, None, f"{skewed}; nothing bounds how sure a guess of it is"


def _words(name: str) -> list[str]:
    """The words of a name in snake, kebab or camel case, lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    return [word.casefold() for word in re.split(r"[\W_]+", spaced) if word]


def _coded(words: Sequence[str]) -> str | None:
    return next((word for word in words if _CODED.fullmatch(word.rstrip("0123456789"))), None)


def _first(words: Sequence[str], known: frozenset[str]) -> str | None:
    """The first word that is known, with or without digits at its end, or the whole name written together."""
    for word in (*words, "".join(words)):
        for form in (word, word.rstrip("0123456789")):
            if form in known:
                return form
    return None
