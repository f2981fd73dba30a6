"""Search of ``sqlanon init`` for the column that identifies the person of a row.

It goes by the attributes that are constant for a person, by names, and by the notation of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.policy.column_counts import (
    ColumnProfileLike,
    can_be_key,
    is_attribute,
    may_number,
    names_a_person,
)
from sqlanon.policy.vocabulary import names_first, words_of

_VARIES = 0.02
"""Share of the keys in which an attribute may vary and still belong to the persons: data have errors."""
_SURE = 10
"""Keys in which an attribute would vary by chance, at least, for that it does not to prove anything."""
_OWN = 2
"""Persons who have a value, on average, from which values are not those of single persons; a run asks the same."""
MOST_KEYS = 12
"""Columns that are tried as keys of persons."""


@dataclass(frozen=True, slots=True)
class VaryingAttributes:
    """How the attributes of persons vary among the rows of a key: among keys that have several rows.

    Attributes:
        keys: that have several rows.
        varied: by attribute, the number of those keys with different values of it.
    """

    keys: int
    varied: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RelatedCounts:
    """Counts over several columns of a table together.

    Attributes:
        varying: by the column that may be the key of a person.
        same: groups of columns that determine each other, such as a code and its label.
        pairs: by column of many values, how many different pairs of such a value and a person there are.
        alone: by the same column, rows with a value that a single person has.
    """

    varying: Mapping[str, VaryingAttributes]
    same: Sequence[Sequence[str]] = ()
    pairs: Mapping[str, int] = field(default_factory=dict)
    alone: Mapping[str, int] = field(default_factory=dict)


NOTHING = RelatedCounts({})


def keys_to_try(profile: Sequence[ColumnProfileLike]) -> tuple[list[str], list[str]]:
    """Columns that may be numbers of persons; and those of which it shows whether they stay the same within a person.

    The latter are attributes of persons, by which numbers of persons are known.
    """
    keys = [column for column in profile if can_be_key(column)]
    keys.sort(key=lambda column: (not names_a_person(column), -column.distinct))
    looked = [column.name for column in profile if is_attribute(column)]
    return [column.name for column in keys[:MOST_KEYS]], looked


def person_of(profile: Sequence[ColumnProfileLike], related: RelatedCounts) -> str | None:
    """The column that identifies the person of a row, where a person has several rows.

    Within each of its values, the constant attributes of a person are constant. Of several such columns the choice is
    the column called a person's number, then the column with the fewest values, as a visit determines the person as
    well. Where attributes prove nothing, the name decides, and then the form of the values and how often each is there.
    """
    able = [column for column in profile if can_be_key(column)]
    determining = [column for column in able if _determines(column, related, profile)]
    by_name = [column for column in able if names_a_person(column)]
    about = [column for column in by_name if names_first(words_of(column.name))]
    both = [column for column in about or by_name if column in determining]
    if determining and not both:
        # A person's number by its name that varies within visits, where they do not, is coarser than they are.
        least = min(column.distinct for column in determining)
        about, by_name = ([column for column in some if column.distinct <= least] for some in (about, by_name))
    # Where a person's number is another one in every row, nothing else numbers persons of several rows.
    one_each = any(names_a_person(column) and column.distinct == column.rows for column in profile)
    unknown = [
        column for column in able if may_number(column) and not one_each and not _varies(column, related, profile)
    ]
    best = both or about or by_name or determining or unknown
    return min(best, key=lambda column: column.distinct).name if best else None


def _attributes(
    related: RelatedCounts, key: str, profile: Sequence[ColumnProfileLike]
) -> Iterator[tuple[ColumnProfileLike, int]]:
    """The attributes of persons that vary by chance within a key, each with the number of values.

    An attribute varies by chance within a key as long as the key has at most that number of values.
    """
    varying = related.varying.get(key)
    if varying is None:
        return
    for column in profile:
        filled = max(column.rows - column.nulls, 1)
        if column.name == key or column.name not in varying.varied or not is_attribute(column):
            continue
        if varying.keys * (1 - column.top / filled) >= _SURE:
            yield column, varying.varied[column.name]


def _determines(column: ColumnProfileLike, related: RelatedCounts, profile: Sequence[ColumnProfileLike]) -> bool:
    """Whether the rows of each value have a single value of most attributes, where by chance they would not."""
    confirmed = failed = 0
    for attribute, varied in _attributes(related, column.name, profile):
        keys = related.varying[column.name].keys
        by_chance = keys * (1 - attribute.top / max(attribute.rows - attribute.nulls, 1))
        if varied <= _VARIES * keys and varied * 5 <= by_chance:
            confirmed += 1
        else:
            failed += 1
    return confirmed > failed


def _varies(column: ColumnProfileLike, related: RelatedCounts, profile: Sequence[ColumnProfileLike]) -> bool:
    """Whether attributes of persons vary within the values of a column."""
    keys = related.varying[column.name].keys if column.name in related.varying else 0
    return any(varied > _VARIES * keys for _, varied in _attributes(related, column.name, profile))


def count_owners(
    column: ColumnProfileLike, person: str | None, by_name: Mapping[str, ColumnProfileLike], related: RelatedCounts
) -> int:
    """Largest number of owners of values in a column.

    They are the persons if an average value belongs to fewer than two, else the rows.
    """
    pairs = related.pairs.get(column.name)
    if person is None or pairs is None or pairs >= _OWN * (column.distinct + (column.nulls > 0)):
        return column.rows
    return by_name[person].distinct
