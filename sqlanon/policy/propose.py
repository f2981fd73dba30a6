"""The policy that ``sqlanon init`` proposes: a role for every column, with the reason beside it.

It sees names, types and counts, never values. Where it cannot know, it takes the safer role: left out before
generalized before published; no column is ever proposed as insensitive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.errors import PolicyError
from sqlanon.policy.fields import name_parts
from sqlanon.policy.load import default_view
from sqlanon.policy.problems import escape
from sqlanon.spec import Role

K = 10
L = 2
PASSWORD = "SQLANON_PASSWORD"  # noqa: S105 - the variable's name


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


_IDENTIFIERS = _vocabulary(
    "name names firstname lastname forename surname fullname maiden nickname username login user email mail ssn sin nino"
    " nhs mrn phone telephone tel mobile cell fax address addr street url uri website ip ipaddress mac imei iban account"
    " acct card creditcard passport licence license plate vin uuid guid token password passwd secret signature photo"
    " picture fingerprint biometric note notes comment comments remark remarks description freetext id identifier"
    " latitude longitude lat lon lng geom geometry coordinates"
)
_FREE_TEXT = _vocabulary(
    "name names firstname lastname forename surname fullname maiden nickname note notes comment"
    " comments remark remarks description freetext address addr street"
)
_SENSITIVE = _vocabulary(
    "diagnosis diagnoses disease illness condition disorder symptom icd icd10 hiv medication medications drug drugs"
    " treatment therapy procedure surgery salary income wage wages earnings pay debt balance religion faith political"
    " party orientation sexuality conviction offence offense crime criminal disability allergy outcome"
)
_QUASI = _vocabulary(
    "age birth birthday birthdate dob born zip zipcode postcode postal plz city town county state region province"
    " country nation nationality native place sex gender race ethnicity ethnic marital education degree occupation job"
    " profession employer workclass language relationship children household admitted admission discharge discharged"
    " visit death died height weight hospital ward"
)
_ORDERED = frozenset({"integer", "float", "decimal", "date", "timestamp"})
_FEW = 50


class ColumnProfileLike(Protocol):
    """What is known of a column: counts only.

    ``singles`` rows hold a value that occurs once, ``top`` rows the most frequent one; NULL is not counted as a value.
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


@dataclass(frozen=True, slots=True)
class _Proposal:
    role: Role
    reason: str
    named: bool = False
    accept_repeats: bool = False


def propose(connection_url: str | None, source: str, profile: Sequence[ColumnProfileLike]) -> str:
    """The text of a policy file for one table.

    Args:
        connection_url: goes into the file without its password.
        source: the table, ``table`` or ``schema.table``.
        profile: its columns.

    Raises:
        PolicyError: if the table has no columns or its name cannot be read.
    """
    parts = name_parts(source)
    if parts is None:
        raise PolicyError("source: not the name of a table; table or schema.table")
    if not profile:
        raise PolicyError("source: the table has no columns; a policy needs at least one")
    proposals = _with_quasi(profile, [_proposal(column) for column in profile])
    rows = max(column.rows for column in profile)
    lines = [
        "# Proposed by sqlanon init from names, types and counts. Check every role before the first run:"
    ]
    lines += [
        "# identifier (left out), quasi (generalized), sensitive or insensitive (published as they are)."
    ]
    lines += ["version: 1"]
    if connection_url:
        connection = _without_password(connection_url)
        hint = f"  # set {PASSWORD}, percent-encoded as in the URL" if PASSWORD in connection else ""
        lines += [f"connection: {_quoted(connection)}{hint}"]
    lines += [
        "releases:",
        f"  - name: {_text(parts[-1])}",
        f"    source: {_text(source)}",
        f"    publish: {_text(_view(parts))}",
        "    columns:",
    ]
    lines += [f"      {_line(column, proposal)}" for column, proposal in zip(profile, proposals, strict=True)]
    lines += ["    privacy:", *_privacy(profile, proposals, rows)]
    lines += ["    method: mondrian", "    format: ranges"]
    return "\n".join(lines) + "\n"


def _view(source: tuple[str, ...]) -> str:
    """The view to publish, which is not the source."""
    view = default_view(source[-1])
    same = tuple(map(str.casefold, name_parts(view) or ())) == tuple(map(str.casefold, source))
    return default_view(f"{source[-1]}_anonymized") if same else view


def _line(column: ColumnProfileLike, proposal: _Proposal) -> str:
    extra = ", accept_repeats: true" if proposal.accept_repeats else ""
    return f"{_key(column.name)}: {{role: {proposal.role}{extra}}}  # {proposal.reason}"


def _proposal(column: ColumnProfileLike) -> _Proposal:
    """The role of one column by its name, then by its counts."""
    words = _words(column.name)
    known = column.rows - column.nulls
    counts = f"{column.distinct} different values in {known} rows" if column.nulls == 0 else (
        f"{column.distinct} different values in {known} rows, {column.nulls} NULL"
    )  # fmt: skip
    kind_of_thing = column.distinct <= _FEW and _first(
        words, _QUASI | _SENSITIVE
    )  # country_name, drug_description
    found = None if column.kind == "boolean" else _first(words, _IDENTIFIERS)
    if found and not (found in _FREE_TEXT and kind_of_thing):
        return _identifier(found, column, known, counts)
    repeats = (
        column.distinct < known
    )  # it is left out for what it tells; that it repeats says nothing of persons
    nearly_unique = column.distinct * 10 >= known * 9 and known > 0
    if found := _first(words, _SENSITIVE):
        if column.distinct * 2 > known:
            reason = f"sensitive by its name ({found}), but {counts} would name persons: left out"
            return _Proposal("identifier", reason, accept_repeats=repeats)
        return _Proposal("sensitive", f"sensitive by its name ({found}); {counts}")
    if found := _first(words, _QUASI):
        if nearly_unique and column.kind not in _ORDERED and column.distinct > K:
            reason = f"others may know it ({found}), but nearly unique, {counts}: left out; or quasi with a hierarchy"
            return _Proposal("identifier", reason, accept_repeats=repeats)
        return _Proposal("quasi", f"others may know it, by its name ({found}); {counts}")
    if nearly_unique:
        reason = f"nearly unique: {counts}; or quasi, to publish it generalized"
        return _Proposal("identifier", reason, accept_repeats=repeats)
    if column.kind == "other":
        return _Proposal("identifier", "a type that cannot be generalized: left out", accept_repeats=repeats)
    if column.distinct <= _FEW:
        return _Proposal("quasi", f"few values, which others may know: {counts}")
    return _Proposal("quasi", f"unclear, so generalized to be safe: {counts}")


def _identifier(found: str, column: ColumnProfileLike, known: int, counts: str) -> _Proposal:
    """A column whose name says that it identifies; what its repeats mean depends on the name."""
    reason = f"identifies, by its name ({found}); {counts}"
    if column.distinct >= known:
        return _Proposal("identifier", reason, named=True)
    if found in _FREE_TEXT:
        return _Proposal(
            "identifier", f"{reason}, which need not be one person", named=True, accept_repeats=True
        )
    hint = "if a person has several rows, add rows_are: events; if not, accept_repeats: true here"
    return _Proposal("identifier", f"{reason}; {hint}", named=True)


def _with_quasi(profile: Sequence[ColumnProfileLike], proposals: list[_Proposal]) -> list[_Proposal]:
    """A release needs a quasi column: if none was found, take the one that identifies least."""
    if any(proposal.role == "quasi" for proposal in proposals):
        return proposals
    best = min(
        range(len(profile)),
        key=lambda i: (
            proposals[i].named,
            proposals[i].role == "sensitive",
            profile[i].kind == "other",
            profile[i].distinct,
        ),
    )
    reason = f"a release needs a quasi column and no other fits better; was: {proposals[best].reason}"
    return [_Proposal("quasi", reason) if i == best else proposal for i, proposal in enumerate(proposals)]


def _privacy(profile: Sequence[ColumnProfileLike], proposals: Sequence[_Proposal], rows: int) -> list[str]:
    lines = [
        f"      k: {K}  # rows in a class, at least" + (f"; the table has only {rows}" if rows < K else "")
    ]
    pairs = zip(profile, proposals, strict=True)
    sensitive = [column for column, proposal in pairs if proposal.role == "sensitive"]
    if not sensitive:
        return lines
    most = max(max(column.top, column.nulls) for column in sensitive)
    if rows >= K and most * L <= rows:
        return [*lines, f"      l: {L}  # no sensitive value in more than 1/{L} of a class"]
    return [
        *lines,
        f"      # l: {L} is not possible: the most frequent sensitive value has {most} of {rows} rows",
    ]


def _words(name: str) -> list[str]:
    """The words of a name in snake, kebab or camel case, lower case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    return [word.casefold() for word in re.split(r"[\W_]+", spaced) if word]


def _first(words: Sequence[str], known: frozenset[str]) -> str | None:
    """The first word that is known, with or without digits at its end, or the whole name written together."""
    for word in (*words, "".join(words)):
        for form in (word, word.rstrip("0123456789")):
            if form in known:
                return form
    return None


def _without_password(url: str) -> str:
    """The URL as a policy holds it: a password becomes a variable of the environment."""
    variable = "${" + PASSWORD + "}"
    scheme, mark, rest = url.replace("${", "$${").partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    end = authority.rfind("@")
    if end < 0 and re.search(r":(?![0-9]*$)", authority):
        end = rest.rfind("@")  # a password that holds a slash, which a URL should not
    user, colon, _ = rest[: max(end, 0)].partition(":")
    if colon:
        rest = f"{user}:{variable}{rest[end:]}"
    return scheme + mark + re.sub(r"(?i)(password=)[^&;\s]*", lambda found: found[1] + variable, rest)


def _key(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.casefold() not in words else _quoted(name)


def _text(value: str) -> str:
    """A value of the file: plain when nothing in it can be misread."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", value):
        return _key(value) if "." not in value else value
    return _quoted(value.replace("${", "$${"))


def _quoted(value: str) -> str:
    return f'"{escape(value)}"'
