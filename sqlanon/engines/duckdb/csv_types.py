"""The types of a CSV file's columns, guessed from their texts.

A guess is accepted only if every value reads back to the same text.

A column is read as text first. A type fits where, over all rows, the value that the text becomes is written as that
text again: in the type's own form, or in one other form that people write it in (``31.12.1999``, ``31-Dec-1999``, ``5``
for a floating point number), the same for all rows, but for zeros before a day, a month or an hour, and the case of a
month's name. So different texts stay different values, or are one date, and codes such as ``007``, ``1E5`` or ``1.10``
stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import duckdb

from sqlanon.engines.duckdb.connection import quote

SAMPLE = 1_000
"""Values of a column that are looked at first."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"(\d{1,4})([-/.])\d{1,2}\2\d{1,4}(?=$|[ T])")
_NAMED = re.compile(r"(\d{1,2}([-/. ]?)[a-z]{3,9}\2|[a-z]{3,9} \d{1,2},? )\d{4}(?=$|[ T:])", re.IGNORECASE)
_DAYS = {
    "-": ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y"),
    "/": ("%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y"),
    ".": ("%Y.%m.%d", "%d.%m.%Y"),
}
_DAYS_NAMED = (
    *(f"%d{mark}{month}{mark}%Y" for month in ("%b", "%B") for mark in ("-", " ", "", "/", ".")),
    *(f"{month} %d{mark} %Y" for month in ("%b", "%B") for mark in (",", "")),
)
_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%g", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
_THOUSANDS = (",", ".", " ", "'", "’", "_", "\u00a0", "\u202f")
_NO_CAST = (duckdb.DataError, duckdb.ProgrammingError, duckdb.NotSupportedError)


@dataclass(frozen=True, slots=True)
class Guess:
    """A type of a column of texts.

    Attributes:
        type: DuckDB's.
        value: SQL that casts a text to it; NULL where the cast fails.
        same: SQL that is true where the text is the value's in the only form that this guess allows.
        exact: that form is DuckDB's own: the published text is that of the file.
        order: day or month, whichever dates have first.
        merges: texts that differ may have one value, which is to be ruled out.
    """

    type: str
    value: str
    same: str
    exact: bool = False
    order: str = ""
    merges: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are written: the mark before the decimals, and texts that are no part of them."""

    decimal: str = "."
    ignored: tuple[str, ...] = ()

    def of(self, text: str) -> str:
        """SQL for a number as SQL has it, of SQL for a text; NULL where the marks in it do not divide thousands."""
        groups = [mark for mark in self.ignored if mark in _THOUSANDS]
        plain = f"trim({text})"
        for ignored_mark in self.ignored:
            if ignored_mark not in groups:
                plain = f"trim(replace({plain}, {literal(ignored_mark)}, ''))"
        between = "".join(f"({re.escape(mark)}[0-9]{{3}})+|" for mark in groups)
        form = (
            f"[+-]?([0-9]+|[0-9]{{1,3}}({between[:-1]}))?({re.escape(self.decimal)}[0-9]*)?"
            if groups
            else (f"[+-]?[0-9]*({re.escape(self.decimal)}[0-9]*)?")
        )
        number = plain
        for mark in groups:
            number = f"replace({number}, {literal(mark)}, '')"
        if self.decimal != ".":
            number = f"replace({number}, {literal(self.decimal)}, '.')"
        return f"(CASE WHEN regexp_full_match({plain}, {literal(form)}) THEN {number} END)"


def guess(
    connection: duckdb.DuckDBPyConnection, table: str, name: str, *, exact: bool, numbers: Numbers | None = None
) -> Guess | None:
    """The type of a column of texts; None: it stays text.

    Args:
        connection: where the table is.
        table: the quoted name of the table.
        name: the column.
        exact: only a type that is written as the file has it.
        numbers: how numbers are written, where otherwise than in SQL.

    Cost: a look at `SAMPLE` values, and a scan of the column for each guess that fits them; for most columns that is
    one.
    """
    column = quote(name)
    few = f"(SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {SAMPLE})"  # noqa: S608
    first = connection.execute(f"SELECT {column} FROM {few} LIMIT 1").fetchall()  # noqa: S608
    if not first:
        return None
    candidates = [candidate for candidate in _candidates(column, str(first[0][0])) if candidate.exact or not exact]
    if numbers and not exact and _any(connection, table, column, f"{numbers.of(column)} <> {column}"):
        candidates += _notation_types(numbers.of(column))
    fitting = [candidate for candidate in candidates if fits(connection, few, name, candidate)]
    fitted = next((candidate for candidate in fitting if fits(connection, table, name, candidate)), None)
    if fitted is None or not fitted.order:
        return fitted
    orders = {candidate.order for candidate in fitting if candidate.order and fits(connection, table, name, candidate)}
    return fitted if len(orders) == 1 else None  # else nobody can know which number is the day


def is_ambiguous(connection: duckdb.DuckDBPyConnection, table: str, name: str, text: str) -> bool:
    """Whether a column's texts are all dates with the day first, and all with the month first.

    One of the texts is given.
    """
    dated = [candidate for candidate in _candidates(quote(name), text) if candidate.order]
    return len({candidate.order for candidate in dated if fits(connection, table, name, candidate)}) > 1


def of_format(name: str, date_format: str) -> Guess:
    """Dates or times of a column, in a format that was given."""
    parsed = _parse_date(name, date_format)
    kind = "TIMESTAMP" if re.search(r"%-?[HIMSpfg]", date_format) else "DATE"
    return Guess(kind, f"CAST({parsed} AS {kind})", f"year({parsed}) BETWEEN 1000 AND 9999")


def declare_type(name: str, kind: str, date_format: str | None, numbers: Numbers | None) -> Guess:
    """A type that was given for a column: every text must be a value of it, and none may be rounded."""
    short = kind.strip().upper()
    if date_format and short in ("DATE", "TIMESTAMP", "DATETIME"):
        return of_format(name, date_format)
    column = quote(name)
    integer = re.fullmatch(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|U?INT\d+|LONG|SHORT|SIGNED", short)
    decimal = re.fullmatch(r"(?:DECIMAL|NUMERIC|DEC) *(?:\( *\d+ *(?:, *(\d+) *)?\))?", short)
    floating = re.fullmatch(r"DOUBLE( PRECISION)?|FLOAT[48]?|REAL", short)
    text = numbers.of(column) if numbers and (integer or decimal or floating) else f"trim({column})"
    value = f"TRY_CAST({text if integer or decimal or floating else column} AS {kind})"
    same = f"{value} IS NOT NULL"
    if integer or decimal:
        # A cast rounds; it keeps a number with zeros as further digits.
        places = (decimal[1] or ("0" if "(" in short else "3")) if decimal else "0"
        same += f" AND regexp_full_match({text}, '[+-]?[0-9]*([.][0-9]{{0,{places}}}0*)?')"
    if short == "DATE":
        same += f" AND TRY_CAST({column} AS TIMESTAMP) = {value}"  # a time of the day would be lost
    return Guess(kind, value, same)


def fits(connection: duckdb.DuckDBPyConnection, table: str, name: str, guess: Guess) -> bool:
    """Whether all texts of a column read back."""
    column = quote(name)
    if _any(connection, table, column, f"NOT coalesce({guess.same}, false)"):
        return False
    if not guess.merges:
        return True
    query = f"SELECT count(DISTINCT {column}) = count(DISTINCT {guess.value}) FROM {table} AS t"  # noqa: S608
    return bool(connection.execute(query).fetchall()[0][0])


def literal(text: str) -> str:
    """SQL for a text."""
    return "'" + text.replace("'", "''") + "'"


def _candidates(column: str, text: str) -> Iterator[Guess]:
    """The guesses that may fit a column, by one of its texts."""
    if _NUMBER.fullmatch(text):
        yield from _numbers(column, text, blank=False)
    elif _NUMBER.fullmatch(text.strip()):
        yield from _numbers(f"trim({column})", text.strip(), blank=True)
    elif text in ("true", "false"):
        yield _native_type(column, "BOOLEAN")
    elif match := _DATE.match(text) or _NAMED.match(text):
        numbered = match.re is _DATE
        if numbered and match.end() == len(text):
            yield _native_type(column, "DATE")
        elif numbered:
            yield _native_type(column, "TIMESTAMP")
            yield _native_type(column, "TIMESTAMP WITH TIME ZONE")
        yield from _instants(column, text, _DAYS[match[2]] if numbered else _DAYS_NAMED, match.end())


def _native_type(column: str, kind: str) -> Guess:
    """A type in the form in which DuckDB writes it."""
    value = f"TRY_CAST({column} AS {kind})"
    return Guess(kind, value, f"CAST({value} AS VARCHAR) = {column}", exact=True)


def _numbers(source: str, text: str, *, blank: bool) -> Iterator[Guess]:
    """Types of numbers, the narrowest first.

    Args:
        source: SQL for the text of the number.
        text: such a text.
        blank: there may be blanks around it in the file.
    """

    def make_guess(kind: str, form: str, *, unique: bool) -> Guess:
        value = f"TRY_CAST({source} AS {kind})"
        same = f"{form.format(f'CAST({value} AS VARCHAR)')} = {source}"
        if kind == "DOUBLE":  # -0.0 equals 0.0; nan and inf are texts of no number
            same += f" AND isfinite({value}) AND NOT ({value} = 0 AND starts_with({source}, '-'))"
        return Guess(kind, value, same, exact=unique and not blank, merges=blank)

    for kind in ("BIGINT", "HUGEINT", "DOUBLE"):
        yield make_guess(kind, "{}", unique=True)
    places = len(text.partition(".")[2])
    if places and "e" not in text.lower():
        for digits in (18, 38):
            if places < digits:
                yield make_guess(f"DECIMAL({digits},{places})", "{}", unique=True)
    yield make_guess("DOUBLE", r"regexp_replace({}, '\.0$', '')", unique=False)


def _notation_types(number: str) -> Iterator[Guess]:
    """Types of numbers in a notation that the caller knows, other than that of SQL.

    Numbers with leading zeros are codes nevertheless.
    """
    for kind, places in (("BIGINT", "0*"), ("DOUBLE", "[0-9]*")):
        value = f"TRY_CAST({number} AS {kind})"
        form = f"[+-]?(0|[1-9][0-9]*)?([.]{places})?"
        yield Guess(kind, value, f"{value} IS NOT NULL AND regexp_full_match({number}, {literal(form)})")


def _instants(column: str, text: str, days: tuple[str, ...], end: int) -> Iterator[Guess]:
    """Dates and times in forms other than DuckDB's, of which the day ends at a place of one text."""
    zone = "Z" if text.endswith("Z") else ""
    times = [""] if end == len(text) else [text[end] + time + zone for time in _TIMES]
    for day, time in product(days, times):
        parsed = f"TRY_STRPTIME({column}, {literal(day + time)})"
        same = f"{_trim_date_text(f'strftime({parsed}, {literal(day + time)})')} = {_trim_date_text(column)}"
        order = day[:2] if day.startswith(("%d", "%m")) and "%m" in day else ""
        if not time:
            yield Guess("DATE", f"CAST({parsed} AS DATE)", same, order=order)
        elif zone:
            yield Guess("TIMESTAMP WITH TIME ZONE", f"timezone('UTC', {parsed})", same, order=order)
        else:
            yield Guess("TIMESTAMP", parsed, same, order=order)


def _trim_date_text(text: str) -> str:
    """SQL for the text of a date without zeros before one digit, all in capitals."""
    return rf"regexp_replace(upper({text}), '\b0([0-9])([^0-9]|$)', '\1\2', 'g')"


def _parse_date(name: str, date_format: str) -> str:
    return f"TRY_STRPTIME(trim({quote(name)}), {literal(date_format)})"


def _any(connection: duckdb.DuckDBPyConnection, table: str, column: str, condition: str) -> bool:
    """Whether a text of a column meets a condition, which DuckDB may be unable to decide of such a type."""
    query = f"SELECT 1 FROM {table} AS t WHERE {column} IS NOT NULL AND {condition} LIMIT 1"  # noqa: S608
    try:
        return bool(connection.execute(query).fetchall())
    except _NO_CAST:
        return True
