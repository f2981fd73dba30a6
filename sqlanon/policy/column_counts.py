"""A column in counts: whether its values may number or name persons, as ``sqlanon init`` asks.

Counts and names decide; no value is known here.
"""

from __future__ import annotations

from typing import Protocol

from sqlanon.policy import vocabulary as words_
from sqlanon.policy.proposal import ProposedColumn
from sqlanon.policy.vocabulary import (
    find_first,
    is_numbered_thing,
    names_person,
    words_of,
)

K = 10
_MEASURES = frozenset({"float", "decimal", "date", "timestamp", "time", "interval", "boolean"})
"""Kinds of measures, times or answers, which number nobody."""
FEW = 50
"""Values of a category, at most."""
MOSTLY = 0.9
"""Share of the texts that look like dates, or like numbers of things, from which a column is of that kind."""


class ColumnProfileLike(Protocol):
    """Counts of a column, without values.

    ``singles`` rows hold a value that occurs once, ``top`` rows the most frequent value; NULL is not such a value.
    ``comparable`` is false for types without equality, of which values cannot be counted. Of texts, ``iso`` look like
    dates or times that begin with the year (``2020-03-15``, ``2020-03``), ``dated`` like other dates (``15.3.2020``,
    ``15-Mar-2020``), ``coded`` have digits and no space, and are no numbers with decimals and no times, ``worded`` are
    words with capitals, as names are. ``bottom`` and ``top_value`` are the ends, as round numbers or days, without a
    few values far from all others; None: no ends.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def nulls(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def singles(self) -> int: ...
    @property
    def top(self) -> int: ...
    @property
    def comparable(self) -> bool: ...
    @property
    def iso(self) -> int: ...
    @property
    def dated(self) -> int: ...
    @property
    def coded(self) -> int: ...
    @property
    def worded(self) -> int: ...
    @property
    def bottom(self) -> str | None: ...
    @property
    def top_value(self) -> str | None: ...


def repeats(column: ColumnProfileLike) -> bool:
    """Whether a value is in several rows; NULL is a value like any other."""
    return column.distinct < column.rows - column.nulls or column.nulls > 1


def counts_of(column: ColumnProfileLike) -> str:
    """A column in counts, for the reason."""
    filled = column.rows - column.nulls
    nulls = f", {column.nulls} NULL" if column.nulls else ""
    values = "1 value" if column.distinct == 1 else f"{column.distinct} different values"
    return f"{values} in {filled} row{'s' * (filled != 1)}{nulls}"


def leave_out(column: ColumnProfileLike, reason: str) -> ProposedColumn:
    """A column that is left out because of the values; that they repeat proves nothing about persons."""
    return ProposedColumn(column.name, "identifier", reason, accept_repeats=not column.comparable or repeats(column))


def can_be_key(column: ColumnProfileLike) -> bool:
    """Whether the values of a column may be the numbers of persons, several of whom have several rows.

    Type and counts decide.
    """
    filled, words = column.rows - column.nulls, words_of(column.name)
    names_one = names_person(words)
    excluded = words_.FREE_TEXT if names_one else words_.FREE_TEXT | words_.QUASI | words_.SENSITIVE | words_.TIMES
    # Fewer than K are no persons where they are counted on: 1, 2, 3 are the members of a household.
    least = 2 if names_one and column.kind != "integer" else K
    return (
        column.comparable
        and column.kind not in _MEASURES
        and (column.kind != "other" or is_uuid(column))
        and least <= column.distinct < filled
        and column.nulls * 2 <= column.rows
        and column.iso + column.dated < MOSTLY * filled
        and find_first(words, excluded) is None
    )


def names_a_person(column: ColumnProfileLike) -> bool:
    """Whether a column is the number of a person by its name.

    The values must not be categories, such as yes and no, or subjects of a school.
    """
    words = words_of(column.name)
    plain = [word for word in words if not word.isdecimal()]
    numbered = len(plain) > 1 or is_numbered_thing("".join(plain)) or column.distinct > FEW
    return names_person(words) and (
        numbered or (column.distinct >= K and (column.kind == "integer" or is_coded(column)))
    )


def may_number(column: ColumnProfileLike) -> bool:
    """Whether a column's values may be numbers or names of persons, where no name of a column says so.

    They are many, and written as numbers or names are, or as often as each other, or integers almost all of which are
    different; or the column is just called ``id``.
    """
    filled = column.rows - column.nulls
    nearly = column.kind == "integer" and column.distinct * 10 >= filled * 9
    many = column.distinct > FEW and (is_coded(column) or is_worded(column) or nearly or _is_even(column))
    return many or is_only_id(column)


def _is_even(column: ColumnProfileLike) -> bool:
    """Whether every value has about as many rows, more evenly than those of a measure by chance.

    That is so for persons who are seen equally often.
    """
    mean = (column.rows - column.nulls) / max(column.distinct, 1)
    return mean >= 2 and column.top <= mean + mean**0.5


def is_only_id(column: ColumnProfileLike) -> bool:
    """Whether a column is just called ``id``, or another number of the row, and has enough values."""
    words = words_of(column.name)
    return (
        column.distinct >= K
        and column.kind in ("integer", "text")
        and words_.ROW_NUMBERS.issuperset(words)
        and bool(words)
    )


def is_worded(column: ColumnProfileLike) -> bool:
    """Whether values are written as names are, of persons or places or things."""
    return column.distinct > K and column.worded >= MOSTLY * (column.rows - column.nulls) > 0


def is_attribute(column: ColumnProfileLike) -> bool:
    """Whether a column holds a constant attribute of a person: sex, birth, race."""
    few = column.distinct >= 2 and column.nulls * 2 <= column.rows and column.comparable
    return few and find_first(words_of(column.name), words_.ATTRIBUTES) is not None


def is_uuid(column: ColumnProfileLike) -> bool:
    """Whether a column has the type UUID."""
    return column.type.lower() == "uuid"


def is_coded(column: ColumnProfileLike) -> bool:
    """Whether values are numbers of persons or things by how they are written."""
    return is_uuid(column) or (column.distinct > K and column.coded >= MOSTLY * (column.rows - column.nulls) > 0)
