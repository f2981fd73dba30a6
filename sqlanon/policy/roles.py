"""The role that ``sqlanon init`` proposes for a column, by counts and name.

It sees names, types and counts, never values. Counts decide before names: an ``admission_type_id`` of eight values is
no identifier. Where neither says enough, the safer role is taken: left out before generalized before published; nothing
is proposed as insensitive.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sqlanon.policy import vocabulary as words_
from sqlanon.policy.column_counts import (
    FEW,
    MOSTLY,
    ColumnProfileLike,
    K,
    can_be_key,
    counts_of,
    is_coded,
    is_only_id,
    is_worded,
    leave_out,
    names_a_person,
    repeats,
)
from sqlanon.policy.proposal import ProposedColumn
from sqlanon.policy.vocabulary import (
    find_code,
    find_compound,
    find_first,
    is_numbered_thing,
    means_money,
    words_of,
)

_ORDERED = frozenset({"integer", "float", "decimal", "date", "timestamp"})
_OFTEN = 10
"""A column of at most `FEW` values, each in `_OFTEN` rows or more on average, is a category."""
_FLAG = 3
"""Values of a column of answers such as yes and no."""
SENSITIVE_BY_NAME = "sensitive by its name"
"""First words of the reason for a column with a name that looks sensitive."""
_SINGLE = 0.01
"""Share of rows alone with their value above which a column published as it is names persons.

A run asks no more of insensitive columns.
"""
_SETS = 0.05
"""Share of rows alone with their value below which a quasi column without an order is proposed.

The classes publish sets of values.
"""


def is_shown(column: ColumnProfileLike) -> bool:
    """Whether a column of many values would be published in clear.

    As a quasi column it would be published as sets, as a sensitive column as it is.
    """
    texts = column.kind in ("text", "enum")
    return column.comparable and column.distinct > FEW and (texts or bool(_sensitive(words_of(column.name), column)))


def _category(column: ColumnProfileLike) -> bool:
    return column.distinct <= FEW and column.distinct * _OFTEN <= column.rows - column.nulls


def role_of(column: ColumnProfileLike, persons: int, alone: int) -> ProposedColumn:
    """The role of a column.

    Args:
        column: in counts.
        persons: how many may have own values of it: the persons, where a value is a single person's; else the rows.
        alone: rows with a value that a single person has.
    """
    words = words_of(column.name)
    filled = column.rows - column.nulls
    if column.distinct > K and column.kind in ("integer", "text") and words_.ROWS.fullmatch("_".join(words)):
        return leave_out(column, f"a number of the row, by its name; {counts_of(column)}")
    if identifying := _identifies(words, column):
        return _identifier(identifying, column)
    if column.kind == "other" or not column.comparable:
        return leave_out(column, "a type that cannot be generalized: left out")
    if column.distinct + (column.nulls > 0) <= 1:
        return ProposedColumn(column.name, "quasi", "the same in all rows")
    if column.nulls * 2 > column.rows:
        return leave_out(
            column, f"NULL in most rows ({counts_of(column)}): left out, as its few values single rows out"
        )
    if word := _sensitive(words, column):
        return _of_sensitive(word, words, column, min(filled, persons), alone)
    return _quasi(column, words, min(filled, persons), alone)


def _sensitive(words: Sequence[str], column: ColumnProfileLike) -> str | None:
    """The word that makes a column sensitive; counts of things are not, such as ``num_medications``."""
    ordered = column.kind in _ORDERED
    if len(words) > 1 and ordered and (words[0] in words_.COUNTS or words[-1] in ("count", "cnt")):
        return None
    balance = means_money(words) and ordered and column.distinct > FEW
    return (
        find_first(words, words_.SENSITIVE)
        or find_code(words)
        or find_compound(words)
        or ("balance" if balance else None)
    )


def _of_sensitive(
    word: str, words: Sequence[str], column: ColumnProfileLike, persons: int, alone: int
) -> ProposedColumn:
    """A sensitive column, unless the values are too rare to be published as they are.

    At most ``persons`` persons have a value, and ``alone`` rows have a value that a single person has.
    """
    nominal = column.kind not in _ORDERED
    rare = column.distinct * 2 > persons or alone > _SINGLE * column.rows
    # Texts that are neither codes nor a few words may be names: of parties, of who was charged.
    texts = nominal and not find_code(words) and column.distinct > FEW and column.distinct * _OFTEN > persons
    if rare or texts:
        once = f", of which {column.singles} occur once" if column.singles else ""
        once += f", one person's alone in {alone} rows" if alone > column.singles else ""
        return leave_out(
            column,
            f"{SENSITIVE_BY_NAME} ({word}), but {counts_of(column)}{once}, would name persons: left out; a view can "
            "make groups of them",
        )
    return ProposedColumn(column.name, "sensitive", f"{SENSITIVE_BY_NAME} ({word}); {counts_of(column)}")


def _quasi(column: ColumnProfileLike, words: Sequence[str], persons: int, alone: int) -> ProposedColumn:
    """A quasi column, or a dropped one where the values identify persons.

    There are at most ``persons`` persons, and ``alone`` rows have a value that a single person has.
    """
    counts = counts_of(column)
    filled = column.rows - column.nulls
    nominal = column.kind not in _ORDERED
    name_word = find_first(words, words_.QUASI)
    settings: tuple[tuple[str, str], ...] = ()
    if nominal and column.distinct > K and column.iso >= MOSTLY * filled:
        if column.distinct * 2 > persons:
            return _mostly_different(column, persons)
        nominal, settings = False, (("ordered", "alphabetical"),)
        counts += "; dates as text, whose order is that of their letters"
    elif nominal and column.distinct > K and column.dated + column.iso >= MOSTLY * filled:
        return leave_out(
            column,
            f"dates as text ({counts}): left out, as sets of exact dates say too much; of a CSV file read them as "
            "dates (--types COLUMN=date --date-format FORMAT), of others in a view, and propose again",
        )
    elif nominal and column.distinct > FEW and find_first(words, words_.POSTCODES):
        nominal, settings = False, (("hierarchy", "prefix:3,2,1"),)
        counts += "; in groups by their first characters"
    elif nominal and not name_word and is_coded(column):
        return leave_out(column, f"numbers persons or things, as it is written: {counts}")
    elif nominal and not name_word and is_worded(column):
        return leave_out(column, f"names persons, places or things, as it is written: {counts}")
    ends = [(key, value) for key, value in (("bottom", column.bottom), ("top", column.top_value)) if value]
    if ends:
        settings += tuple(ends)
        counts += (
            "; a few values are far from all others, or one is below 0 (missing values are often written so), and "
            "count as the end"
        )
    if nominal and _lists(column, persons, alone, explained=bool(name_word)):
        return _mostly_different(column, persons)
    rank = 0 if find_first(words, words_.GROUPED) else 1 if name_word else 2
    if column.distinct * 10 >= persons * 9 and not settings and (not name_word or (column.kind == "integer" and rank)):
        return _mostly_different(column, persons)
    if name_word:
        why = f"others may know it, by its name ({name_word})"
    elif column.distinct <= FEW:
        why = "few values, which others may know"
    else:
        why = "unclear, so generalized to be safe"
    separator = ";" if name_word else ":"
    return ProposedColumn(
        column.name, "quasi", f"{why}{separator} {counts}", named=bool(name_word), settings=settings, rank=rank
    )


def _lists(column: ColumnProfileLike, persons: int, alone: int, *, explained: bool) -> bool:
    """Whether sets of a column's values would list many that few rows have.

    Half of ``persons`` persons, or 1 of 20 rows, have a value of their own; or no name explains it, and values are more
    than those of a category.
    """
    filled = column.rows - column.nulls
    if column.distinct <= K:
        return False
    unclear = not explained and (column.distinct > FEW or column.distinct * 5 > filled)
    return column.distinct * 2 > persons or alone > _SETS * filled or unclear


def _mostly_different(column: ColumnProfileLike, persons: int) -> ProposedColumn:
    """A column that is left out as the values are those of single persons, of whom there are ``persons`` at most."""
    if column.distinct * 10 >= persons * 9:
        how = "nearly unique"
    elif column.distinct * 2 > persons:
        how = "mostly different"
    elif column.distinct * _OFTEN > column.rows - column.nulls:
        how = "in few rows each"
    else:
        how = "texts of which no name says what they are"
    filled = column.rows - column.nulls
    measured = column.kind in _ORDERED and not (column.kind == "integer" and column.distinct == filled)
    alternative = "; or quasi, to publish it generalized" if measured else ""
    return leave_out(column, f"{how}: {counts_of(column)}{alternative}")


def _identifies(words: list[str], column: ColumnProfileLike) -> str | None:
    """The word that makes a column an identifier."""
    if column.kind == "boolean":
        return None
    category = _category(column)
    identifying = find_first(words, words_.IDENTIFIERS) or find_first(words, words_.STAFF)
    things = find_first(words, words_.QUASI | words_.SENSITIVE) or find_code(words)
    few = column.distinct <= FEW or column.distinct * _OFTEN <= column.rows - column.nulls
    if identifying in words_.STAFF:  # officer_race may be known to others, charge_nurse is a person
        things = find_first(words, words_.QUASI)
    thing = bool(things) and few and (identifying in words_.FREE_TEXT or identifying in words_.STAFF)  # country_name
    flag = 1 < column.distinct <= _FLAG and category and identifying not in words_.FREE_TEXT
    if identifying and not flag and not thing:
        return identifying
    plain = [word for word in words if not word.isdecimal()] or words
    for before, word in itertools.pairwise(plain):
        if before.rstrip("0123456789") in words_.PERSONS_NUMBERED and word in words_.NUMBERS:
            return f"{before}_{word}"
    if column.kind in ("float", "decimal", "date", "timestamp"):
        return None
    if names_a_person(column) or is_only_id(column):
        return plain[-1]
    last = plain[-1].rstrip("0123456789") if plain else ""
    if (not category or is_coded(column)) and (last in words_.BY_COUNT or is_numbered_thing(last) or "id" in plain[:1]):
        return last if last in words_.BY_COUNT or is_numbered_thing(last) else "id"
    return None


def _identifier(word: str, column: ColumnProfileLike) -> ProposedColumn:
    """A column that identifies by name; the meaning of the repeats depends on the name."""
    reason = f"identifies, by its name ({word}); {counts_of(column)}"
    if not column.comparable:
        return ProposedColumn(column.name, "identifier", reason, named=True, accept_repeats=True)
    if not repeats(column):
        return ProposedColumn(column.name, "identifier", reason, named=True)
    few = column.distinct < K and not can_be_key(column)
    if word in words_.FREE_TEXT or word in words_.STAFF or few or column.nulls * 2 > column.rows:
        why = f"{reason}, which need not be one person"
        return ProposedColumn(column.name, "identifier", why, named=True, accept_repeats=True)
    if column.distinct >= column.rows - column.nulls:
        hint = "its NULLs count as one person: if they are not, accept_repeats: true here"
        return ProposedColumn(column.name, "identifier", f"{reason}; {hint}", named=True)
    return ProposedColumn(column.name, "identifier", reason, named=True)
