"""Notes on a CSV file's columns that stayed text though most of their values are numbers or dates.

A note has the reason, and the option that helps.

As quasi columns they are published as sets of texts, where ranges were expected.
"""

from __future__ import annotations

import re

import duckdb

from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.csv_header import MISSING
from sqlanon.engines.duckdb.csv_types import SAMPLE, is_ambiguous, literal
from sqlanon.shell import option, pair

_MOST = 0.8
"""Share of the values that are numbers or dates, or mean a missing value, from which a column is taken for such."""
_PLAIN = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_LEADING = r"[+-]?0[0-9]+([.][0-9]*)?"
_GROUPED = r"[+-]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?"
_POINTED = r"[+-]?[0-9]{1,3}([. ’'_][0-9]{3})+(,[0-9]+)?"
_COMMA = r"[+-]?[0-9]*,[0-9]+"
_MARKS = (".", " ", "'", "’", "_")
_SYMBOLS = "$€£¥%"
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[A-Za-z]*"
_SHORT = rf"[0-9]{{1,2}}([-/.][0-9]{{1,2}}[-/.]|[-/. ]?{_MONTH}[-/. ]?)[0-9]{{2}}([T ].*)?"
_LONG = (
    rf"[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}|[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{4}}"
    rf"|[0-9]{{1,2}}[-/. ]?{_MONTH}[-/. ]?[0-9]{{4}}|{_MONTH} [0-9]{{1,2}},? [0-9]{{4}}"
)
_DATE = rf"({_LONG})([T: ].*)?|{_SHORT}"


def note(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> str | None:
    """A note on a column that stayed text; None: nothing to say.

    Args:
        connection: where the table is.
        table: the quoted name of the table.
        name: the column.

    Cost: a look at some values; two scans of a column that looks like numbers or dates.
    """
    column = quote(name)
    few = f"(SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {SAMPLE})"  # noqa: S608
    for form in (_numbers, _dates):
        if (_share(connection, few, column, form()) or 0) >= _MOST:
            share = _share(connection, table, column, form())
            if share and share >= _MOST:
                why = _why_no_number if form is _numbers else _why_no_date
                reasons, helps = why(connection, table, name)
                what = "numbers" if form is _numbers else "dates"
                return (
                    f"column {name} stays text (as a quasi column it is published as sets of texts), though most of "
                    f"its values are {what}: {', '.join(reasons)}; {' '.join(helps)}"
                )
    return None


def _spell_missing() -> str:
    return "lower(trim(c)) IN (" + ", ".join(f"'{word}'" for word in MISSING) + ")"


def _bare() -> str:
    """SQL for a number without blanks and signs of money or percent around it."""
    return f"trim(c, ' \t{_SYMBOLS}')"


def _numbers() -> str:
    forms = "|".join(f"({form})" for form in (_PLAIN, _GROUPED, _POINTED, _COMMA))
    return f"regexp_full_match({_bare()}, {literal(forms)})"


def _dates() -> str:
    return f"regexp_full_match(trim(c), {literal(_DATE)})"


def _share(connection: duckdb.DuckDBPyConnection, table: str, column: str, form: str) -> float | None:
    """The share of the values that have a form or mean a missing value; None where no value has the form."""
    query = (
        f"SELECT count(*), count(*) FILTER ({form}), count(*) FILTER ({form} OR {_spell_missing()}) FROM (SELECT "  # noqa: S608
        f"{column} AS c FROM {table} AS t) WHERE c IS NOT NULL"
    )
    rows, having, either = connection.execute(query).fetchall()[0]
    return either / rows if having else None


def _why_no_number(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> tuple[list[str], list[str]]:
    counts = _counts(
        connection,
        table,
        name,
        {
            "rest": f"NOT {_numbers()} AND NOT {_spell_missing()}",
            "leading": f"regexp_full_match(trim(c), {literal(_LEADING)})",
            "grouped": f"regexp_full_match({_bare()}, {literal(_GROUPED)})",
            "pointed": f"regexp_full_match({_bare()}, {literal(_POINTED)})",
            "comma": f"regexp_full_match({_bare()}, {literal(_COMMA)})",
            "both": f"regexp_full_match({_bare()}, {literal(_COMMA)}) AND regexp_full_match({_bare()}, "
            f"{literal(_GROUPED)})",
            "point": f"regexp_full_match({_bare()}, '[+-]?[0-9]{{1,3}}[.][0-9]+')",
            **{sign: f"contains(c, '{sign}') AND {_numbers()}" for sign in _SYMBOLS},
        },
    )
    reasons, helps = _find_missing_texts(connection, table, name)
    if counts["comma"] and counts["comma"] > counts["both"]:
        grouped = [mark for mark in _MARKS if counts["pointed"] and _holds(connection, table, name, mark)]
        reasons.append(f"{counts['comma']} have a decimal comma")
        helps.append(option("decimal", ",") + "".join(f" {option('ignore', mark)}" for mark in grouped))
    elif counts["comma"]:
        reasons.append(f"{counts['comma']} have a comma before three digits, a decimal comma or one between thousands")
        helps.append(f"{option('decimal', ',')} or {option('ignore', ',')}")
    elif counts["grouped"]:
        reasons.append(f"{counts['grouped']} have commas between thousands")
        helps.append(option("ignore", ","))
    elif counts["pointed"] and not counts["point"]:
        grouped = [mark for mark in _MARKS if _holds(connection, table, name, mark)]
        reasons.append(f"{counts['pointed']} have marks between thousands")
        helps.append(
            " ".join(
                [
                    *(option("ignore", mark) for mark in grouped),
                    *([option("decimal", ",")] if "." in grouped else []),
                ]
            )
        )
    for sign in _SYMBOLS:
        if counts[sign]:
            reasons.append(f"{counts[sign]} have {sign}")
            helps.append(option("ignore", sign))
    if counts["leading"]:
        reasons.append(f"{counts['leading']} begin with 0, as codes do")
        helps += [option("types", pair(name, "BIGINT")), "if they are no codes"] if helps else []
    if counts["rest"]:
        reasons.append(f"{counts['rest']} are neither numbers nor known texts for a missing value")
        helps.append("--null TEXT for each text that means a missing value")
    if not reasons:
        reasons.append(
            "some are written otherwise than the number would be (a plus sign, an exponent, zeros or points at an end, "
            "blanks, too many digits)"
        )
    if not helps:
        kind = "BIGINT" if not _holds(connection, table, name, ".") else "DOUBLE"
        helps.append(f"if they are numbers and no codes, {option('types', pair(name, kind))}")
        return reasons, helps
    return reasons, ["to read them as numbers:", *dict.fromkeys(helps)]


def _why_no_date(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> tuple[list[str], list[str]]:
    counts = _counts(
        connection,
        table,
        name,
        {
            "rest": f"NOT {_dates()} AND NOT {_spell_missing()}",
            "short": f"regexp_full_match(trim(c), {literal(_SHORT)})",
            "zone": "regexp_full_match(trim(c), '[0-9].*[T ][0-9:.]+ ?([+-][0-9:]+|Z)')",
        },
    )
    reasons, helps = _find_missing_texts(connection, table, name)
    first = connection.execute(
        f"SELECT {quote(name)} FROM {table} WHERE regexp_full_match(trim({quote(name)}), {literal(_DATE)}) LIMIT 1"  # noqa: S608
    ).fetchall()
    mark = re.sub(r"\d", "", str(first[0][0]).strip())[:1] if first else "-"
    if counts["short"]:
        reasons.append(f"{counts['short']} have a year of two digits, which does not say the century")
        return reasons, [*helps, "write years of four digits"]
    if first and is_ambiguous(connection, table, name, str(first[0][0])):
        reasons.append("day and month may be in either order")
        orders = [option("date-format", form.replace("-", mark)) for form in ("%d-%m-%Y", "%m-%d-%Y")]
        return reasons, [*helps, " or ".join(orders)]
    if counts["rest"]:
        reasons.append(f"{counts['rest']} are neither dates nor known texts for a missing value")
        helps.append("--null TEXT for each text that means a missing value")
    if counts["zone"]:
        reasons.append(f"{counts['zone']} have a zone")
        helps.append(option("types", pair(name, "TIMESTAMPTZ")))
    if not helps:
        reasons.append("they have several forms")
        helps.append("write all in one form, such as 2024-12-31 or 2024-12-31 23:59:00")
        return reasons, helps
    return reasons, ["to read them as dates:", *helps]


def _find_missing_texts(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> tuple[list[str], list[str]]:
    """Texts of `MISSING`, which are no values of persons and may be shown."""
    texts = connection.execute(
        f"SELECT c, count(*) FROM (SELECT {quote(name)} AS c FROM {table} AS t) WHERE {_spell_missing()} GROUP BY c "  # noqa: S608
        "ORDER BY 2 DESC, 1 LIMIT 5"
    ).fetchall()
    return [f"{rows} are {text}" for text, rows in texts], [option("null", str(text)) for text, _ in texts]


def _counts(connection: duckdb.DuckDBPyConnection, table: str, name: str, conditions: dict[str, str]) -> dict[str, int]:
    counts = ", ".join(f"count(*) FILTER ({condition})" for condition in conditions.values())
    query = f"SELECT {counts} FROM (SELECT {quote(name)} AS c FROM {table} AS t) WHERE c IS NOT NULL"  # noqa: S608
    return dict(zip(conditions, connection.execute(query).fetchall()[0], strict=True))


def _holds(connection: duckdb.DuckDBPyConnection, table: str, name: str, text: str) -> bool:
    return bool(_counts(connection, table, name, {"n": f"contains(c, {literal(text)})"})["n"])
