"""The role that ``sqlanon init`` proposes for one column, by its counts and its name.

It sees names, types and counts, never values. Counts decide before names: a column of eight values is no identifier, whatever its name.
Where neither says enough, the safer role is taken: left out before generalized before published; nothing is proposed as insensitive.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

from sqlanon.policy import vocabulary as words_
from sqlanon.policy.proposal import Proposed
from sqlanon.policy.vocabulary import coded, first, joined, means_money, names_person, words_of

K = 10
_ORDERED = frozenset({"integer", "float", "decimal", "date", "timestamp"})
_MEASURES = frozenset({"float", "decimal", "date", "timestamp", "time", "interval", "boolean"})
"""Kinds whose values are measures, times or answers, and number nobody."""
_FEW = 50
_OFTEN = 10
"""A column of at most `_FEW` values, each in `_OFTEN` rows or more on average, is a category."""
_FLAG = 3
"""Values of a column of answers such as yes and no."""
_SINGLE = 0.01
"""Share of rows alone with their value from which a column that would be published as it is names persons; of insensitive ones a run asks no more."""
_SETS = 0.05
"""Share of rows alone with their value up to which a quasi column without an order is proposed: its classes publish sets of values."""
_MOSTLY = 0.9
"""Share of the texts that look like dates from which a column is one of dates."""


class ColumnProfileLike(Protocol):
    """What is known of a column: counts only.

    ``singles`` rows hold a value that occurs once, ``top`` rows the most frequent one; NULL is not counted as a value.
    ``comparable`` is false for types without equality, whose values cannot be counted. Of texts, ``iso`` look like dates or times that
    begin with the year (``2020-03-15``, ``2020-03``), ``dated`` like other dates (``15.3.2020``), ``coded`` have letters and digits and no space. ``bottom`` and ``top_value`` are the
    ends, as round numbers or days, of what is left without a few values far from all others; None: there are none.
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
    @property
    def iso(self) -> int: ...  # noqa: D102
    @property
    def dated(self) -> int: ...  # noqa: D102
    @property
    def coded(self) -> int: ...  # noqa: D102
    @property
    def bottom(self) -> str | None: ...  # noqa: D102
    @property
    def top_value(self) -> str | None: ...  # noqa: D102


def repeats(column: ColumnProfileLike) -> bool:
    """Whether a value is in several rows; NULL is one like any other."""
    return column.distinct < column.rows - column.nulls or column.nulls > 1


def counts_of(column: ColumnProfileLike) -> str:
    """A column in counts, for its reason."""
    known = column.rows - column.nulls
    nulls = f", {column.nulls} NULL" if column.nulls else ""
    values = "1 value" if column.distinct == 1 else f"{column.distinct} different values"
    return f"{values} in {known} rows{nulls}"


def left_out(column: ColumnProfileLike, reason: str) -> Proposed:
    """A column that is left out because of its values; that they repeat proves nothing about persons."""
    return Proposed(
        column.name, "identifier", reason, accept_repeats=not column.comparable or repeats(column)
    )


def can_be_key(column: ColumnProfileLike) -> bool:
    """Whether the values of a column may be the numbers of persons of whom several have several rows: by its type and its counts."""
    known, words = column.rows - column.nulls, words_of(column.name)
    named = names_person(words)
    others = words_.FREE_TEXT if named else words_.FREE_TEXT | words_.QUASI | words_.SENSITIVE
    return (
        column.comparable
        and column.kind not in _MEASURES
        and (column.kind != "other" or column.type.lower() == "uuid")
        and (2 if named else K) <= column.distinct < known
        and column.nulls * 2 <= column.rows
        and first(words, others) is None
    )


def named_person(column: ColumnProfileLike) -> bool:
    """Whether a column is the number of a person by its name, and has values enough for it."""
    category = column.distinct <= _FEW and column.distinct * _OFTEN <= column.rows - column.nulls
    words = words_of(column.name)
    numbered = len([word for word in words if not word.isdecimal()]) > 1 or joined("".join(words))
    return names_person(words) and (not category or numbered)


def numbers(column: ColumnProfileLike) -> bool:
    """Whether the texts of a column are mostly different and written as numbers of persons or things are, whatever its name."""
    filled = column.rows - column.nulls
    coded = column.type.lower() == "uuid" or (column.kind == "text" and column.coded >= _MOSTLY * filled)
    return coded and column.distinct * 2 > filled


def attribute(column: ColumnProfileLike) -> bool:
    """Whether a column says what stays the same of a person: sex, birth, race."""
    few = column.distinct >= 2 and column.nulls * 2 <= column.rows and column.comparable
    return few and first(words_of(column.name), words_.ATTRIBUTES) is not None


def role_of(column: ColumnProfileLike, persons: int) -> Proposed:
    """The role of one column.

    Args:
        column: in counts.
        persons: how many persons the rows are of; the rows, where each is another's.
    """
    words = words_of(column.name)
    known = column.rows - column.nulls
    if column.distinct > K and column.kind in ("integer", "text") and words_.ROWS.fullmatch("_".join(words)):
        return left_out(column, f"a number of the row, by its name; {counts_of(column)}")
    if found := _identifies(words, column):
        return _identifier(found, column, known)
    if column.kind == "other" or not column.comparable:
        return left_out(column, "a type that cannot be generalized: left out")
    if column.distinct + (column.nulls > 0) <= 1:
        return Proposed(column.name, "quasi", "the same in all rows")
    if column.nulls * 2 > column.rows:
        return left_out(
            column, f"NULL in most rows ({counts_of(column)}): left out, as its few values single rows out"
        )
    counted = (
        len(words) > 1 and column.kind in _ORDERED
        and (words[0] in words_.COUNTS or words[-1] in ("count", "cnt"))
    )  # fmt: skip
    found = None if counted else first(words, words_.SENSITIVE) or coded(words) or _money(words, column)
    if found and (column.distinct * 2 > known or column.singles > _SINGLE * column.rows):
        alone = f", of which {column.singles} occur once" if column.singles else ""
        return left_out(
            column,
            f"sensitive by its name ({found}), but {counts_of(column)}{alone}, would name persons: left out; a view can make groups of them",
        )
    if found:
        return Proposed(column.name, "sensitive", f"sensitive by its name ({found}); {counts_of(column)}")
    return _quasi(column, words, min(known, persons))


def _money(words: Sequence[str], column: ColumnProfileLike) -> str | None:
    """``balance``, where it is a number of many values."""
    numeric = column.kind in ("integer", "float", "decimal")
    return "balance" if means_money(words) and numeric and column.distinct > _FEW else None


def _quasi(column: ColumnProfileLike, words: Sequence[str], known: int) -> Proposed:
    """A quasi column, or one that is left out where so many values are different that it identifies persons.

    ``known``: the persons whose values they are, at most.
    """
    counts = counts_of(column)
    filled = column.rows - column.nulls
    nearly = column.distinct * 10 >= known * 9
    nominal = column.kind not in _ORDERED
    settings: tuple[tuple[str, str], ...] = ()
    if nominal and column.distinct > K and column.iso >= _MOSTLY * filled:
        nominal, settings = False, (("ordered", "alphabetical"),)
        counts += "; dates as text, whose order is that of their letters"
    elif nominal and column.distinct > K and column.dated + column.iso >= _MOSTLY * filled:
        return left_out(
            column,
            f"dates as text ({counts}): left out, as sets of exact dates say too much; of a file read them as dates "
            "(--types COLUMN=date --date-format FORMAT), of a table in a view, and propose again",
        )
    ends = tuple(
        (key, value)
        for key, value in (("bottom", column.bottom), ("top", column.top_value))
        if value is not None
    )
    if ends:
        settings += ends
        counts += "; a few values are far from all others (missing values are often written so), and count as the end"
    if nominal and _single(column, known):
        return _mostly_different(column)
    if named := first(words, words_.QUASI):
        why = f"others may know it, by its name ({named}); {counts}"
        rank = 0 if first(words, words_.GROUPED) else 1
        return Proposed(column.name, "quasi", why, named=True, settings=settings, rank=rank)
    if nearly:
        return _mostly_different(column)
    why = (
        "few values, which others may know"
        if column.distinct <= _FEW
        else "unclear, so generalized to be safe"
    )
    return Proposed(column.name, "quasi", f"{why}: {counts}", settings=settings)


def _single(column: ColumnProfileLike, known: int) -> bool:
    """Whether sets of a column's values would show many that one row has, or, of ``known`` persons, as many as half of them."""
    filled = column.rows - column.nulls
    if column.distinct <= _FEW:
        return column.distinct > K and column.distinct * 10 >= known * 9
    return column.distinct * 2 > known or column.singles > _SETS * filled


def _mostly_different(column: ColumnProfileLike) -> Proposed:
    known = column.rows - column.nulls
    nearly, mostly = column.distinct * 10 >= known * 9, column.distinct * 2 > known
    how = (
        "nearly unique" if nearly else "mostly different" if mostly else f"{column.singles} values occur once"
    )
    measured = column.kind in _ORDERED and not (column.kind == "integer" and column.distinct == known)
    other = "; or quasi, to publish it generalized" if measured else ""
    return left_out(column, f"{how}: {counts_of(column)}{other}")


def _identifies(words: list[str], column: ColumnProfileLike) -> str | None:
    """The word that makes a column an identifier."""
    if column.kind == "boolean":
        return None
    category = column.distinct <= _FEW and column.distinct * _OFTEN <= column.rows - column.nulls
    found = first(words, words_.IDENTIFIERS)
    kind_of_thing = column.distinct <= _FEW and (
        first(words, words_.QUASI | words_.SENSITIVE) or coded(words)
    )
    flag = 1 < column.distinct <= _FLAG and category and found not in words_.FREE_TEXT
    if (
        found and not flag and not (found in words_.FREE_TEXT and kind_of_thing)
    ):  # country_name, drug_description
        return found
    plain = [word for word in words if not word.isdecimal()] or words
    for before, word in itertools.pairwise(plain):
        if before.rstrip("0123456789") in words_.PERSONS and word in words_.NUMBERS:
            return f"{before}_{word}"
    if named_person(column) and column.kind not in _MEASURES and not category:
        return plain[-1]
    last = plain[-1].rstrip("0123456789") if plain else ""
    measured = column.kind in ("float", "decimal", "date", "timestamp")
    if not category and not measured and (last in words_.BY_COUNT or joined(last) or "id" in plain[:1]):
        return last if last in words_.BY_COUNT or joined(last) else "id"
    return None


def _identifier(found: str, column: ColumnProfileLike, known: int) -> Proposed:
    """A column that identifies by its name; what its repeats mean depends on the name."""
    reason = f"identifies, by its name ({found}); {counts_of(column)}"
    if not column.comparable:
        return Proposed(column.name, "identifier", reason, named=True, accept_repeats=True)
    if not repeats(column):
        return Proposed(column.name, "identifier", reason, named=True)
    few = column.distinct < K and not names_person(words_of(column.name))
    if found in words_.FREE_TEXT or few:
        why = f"{reason}, which need not be one person"
        return Proposed(column.name, "identifier", why, named=True, accept_repeats=True)
    if column.distinct >= known:
        hint = "its NULLs count as one person: if they are not, accept_repeats: true here"
        return Proposed(column.name, "identifier", f"{reason}; {hint}", named=True)
    return Proposed(column.name, "identifier", reason, named=True)
