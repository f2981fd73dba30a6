"""Export of DuckDB's tables to CSV and Parquet files.

Each file is read back and compared with the table before anybody else sees it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.engines.duckdb import formulas
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.file_columns import (
    NUMBERS,
    PARQUET,
    TEXT,
    can_hold,
    carry_columns,
    check,
    compare,
    format_type,
    holds,
)
from sqlanon.errors import PolicyError, PrivacyViolation

_SPACE = r"\s\x0B\x1C-\x1F\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
_MISREAD = rf"[,\[\]{{}}\"\n\r]|^[{_SPACE}]|[{_SPACE}]$"
"""Texts that `sqlanon.formats.label_text.quote` quotes."""
_SET = "VARCHAR[]"
_AS_TEXT = NUMBERS | {
    "boolean",
    "hugeint",
    "uhugeint",
    "bignum",
    "varchar",
    "enum",
    "blob",
    "uuid",
    "null",
    "date",
    "timestamp",
}
"""Types with a different text for each value, which can be read back."""
_LINE = 2_097_152
"""Bytes of a line that DuckDB reads without being asked for more."""


def write_parquet(connection: duckdb.DuckDBPyConnection, table: str, path: Path) -> None:
    """Write a table as Parquet, with arrays as arrays, read it back and compare.

    Raises:
        PolicyError: Parquet cannot hold a column.
        PrivacyViolation: the file differs from the table.
    """
    columns = carry_columns(connection, table, PARQUET)
    expressions = ", ".join(column.expression for column in columns)
    connection.execute(f"COPY (SELECT {expressions} FROM {table}) TO {_text(path)} (FORMAT PARQUET)")  # noqa: S608
    file = f"read_parquet([{_text(_no_pattern(path))}])"
    described = connection.execute(f"DESCRIBE FROM {file}").fetchall()
    _same_names([column.name for column in columns], [str(row[0]) for row in described])
    changed = [
        f"{column.name} ({format_type(column.type)})"
        for column, row in zip(columns, described, strict=True)
        if str(row[1]) != str(duckdb.sqltype(column.carried))
    ]
    if changed:
        raise PrivacyViolation(
            f"Parquet changed the type of {', '.join(changed)}; nothing was put in place: cast in the source"
        )
    compare(connection, table, columns, file)


def write_csv(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    path: Path,
    *,
    sensitive: Sequence[str] = (),
    escape_formulas: bool = False,
) -> list[str]:
    """Write a table as CSV, read it back and compare.

    A set of texts is written as the format ``labels`` writes it, ``{a, b}``.

    ``[a, b]``, as DuckDB writes an array, would be a range there. An element that could be misread is quoted as JSON.

    Args:
        connection: where the table is.
        table: the quoted name of the table.
        path: the new file.
        sensitive: columns in which no two values may become equal.
        escape_formulas: write a ' before texts that a spreadsheet takes for formulas.

    Returns:
        notes for readers of the file, by column.

    Raises:
        PolicyError: different values of a column would be equal in a CSV file.
        PrivacyViolation: the file differs from the table.

    Cost: one scan of the table and one of the file, and another of the columns with texts that are not known to be
    all different.
    """
    relation = connection.query(f"SELECT * FROM {table}")  # noqa: S608
    columns = list(zip(relation.columns, relation.types, strict=True))
    _check_texts(connection, table, columns)
    warned = _empty(connection, table, columns, sensitive)
    names, cells = [name for name, _ in columns], [_cell(name, kind) for name, kind in columns]
    if escape_formulas:
        cells = [formulas.escape_formula(kind.id, cell) for cell, (_, kind) in zip(cells, columns, strict=True)]
        names = [formulas.name_escaped(name) for name in names]
    else:
        shown_cells = [(name, kind.id, cell) for cell, (name, kind) in zip(cells, columns, strict=True)]
        warned += formulas.warn_of_formulas(connection, table, shown_cells)
    if len(cells) == 1:  # an empty line, which most readers skip, would be the row of a NULL
        cells = [f"COALESCE({cells[0]}, '')"]
    cells_text = ", ".join(f"{cell} AS {quote(name)}" for cell, name in zip(cells, names, strict=True))
    connection.execute(
        f"COPY (SELECT {cells_text} FROM {table} AS t) TO {_text(path)} "  # noqa: S608
        "(FORMAT CSV, HEADER, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '')"
    )
    _same_names(names, _header(path))
    pairs = [(cell, f"t.c{index}") for index, cell in enumerate(cells)]
    shown_as = [f"{name} ({format_type(kind)})" for name, kind in columns]
    try:
        check(connection, table, _read_back(path, len(columns)), pairs, shown_as)
    except (duckdb.Error, PrivacyViolation):
        # A line of more bytes than DuckDB reads by itself, or a line that parallel readers take apart.
        check(connection, table, _read_back(path, len(columns), whole=True), pairs, shown_as)
    return warned


def _check_texts(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[tuple[str, Any]]) -> None:
    """The texts of every column read back as its values.

    Raises:
        PolicyError: those of a column do not.
    """
    refused = [
        (name, kind)
        for name, kind in columns
        if kind.id not in _AS_TEXT and str(kind) != _SET and not holds(connection, table, name, str(kind), TEXT)
    ]
    if refused:
        better = all(can_hold(connection, table, name, kind, PARQUET) for name, kind in refused)
        raise PolicyError(
            f"CSV cannot hold every value of {', '.join(f'{name} ({format_type(kind)})' for name, kind in refused)}: "
            f"{'write .parquet, ' if better else ''}cast the column in the source, or leave it out of the release"
        )


def _empty(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[tuple[str, Any]], sensitive: Sequence[str]
) -> list[str]:
    """Warnings about columns with empty texts and NULL.

    Only quotes distinguish these in a CSV file, and most readers ignore quotes.
    """
    texts = [name for name, kind in columns if kind.id in ("varchar", "enum")]
    if not texts:
        return []
    counts = ", ".join(
        f"count(*) FILTER ({quote(name)} IS NULL) > 0 AND count(*) FILTER (CAST({quote(name)} AS VARCHAR) = '') > 0"
        for name in texts
    )
    row = connection.execute(f"SELECT {counts} FROM {table}").fetchall()[0]  # noqa: S608
    both = [name for name, has_empty in zip(texts, row, strict=True) if has_empty]
    if both and len(columns) == 1:
        raise PolicyError(
            f"column {both[0]} holds empty texts and NULL, which a CSV file of one column cannot keep apart: write "
            ".parquet"
        )
    merged = [name for name in both if name.casefold() in {column.casefold() for column in sensitive}]
    if merged:
        raise PolicyError(
            f"the sensitive column {', '.join(merged)} holds empty texts and NULL, which most readers of CSV take for "
            "one value, so that a class has fewer than were verified: write .parquet, or make them one value in the "
            "source"
        )
    return [
        f"column {name} holds empty texts and NULL: in the file an empty text is quoted and NULL is not, and most "
        "readers take both for the same; .parquet keeps them apart"
        for name in both
    ]


def _cell(name: str, kind: Any) -> str:  # noqa: ANN401 - the driver's type
    """SQL for the text of a cell of the table ``t``."""
    column = f"t.{quote(name)}"
    if str(kind) != _SET:
        return f"CAST({column} AS VARCHAR)"
    element = (
        "CASE WHEN x IS NULL THEN 'NULL' WHEN x IN ('', 'NULL', '*') "
        f"OR regexp_matches(x, '{_MISREAD}') THEN CAST(to_json(x) AS VARCHAR) ELSE x END"
    )
    return f"'{{' || array_to_string([{element} FOR x IN {column}], ', ') || '}}'"


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def _same_names(names: Sequence[str], columns: Sequence[str]) -> None:
    if list(names) != list(columns):
        raise PrivacyViolation(
            f"the file would name its columns otherwise than the release ({', '.join(names)}); nothing was put in "
            "place: rename them in the source"
        )


def _read_back(path: Path, columns: int, *, whole: bool = False) -> str:
    """SQL that reads a CSV file as texts, called c0, c1 ....

    ``whole``: with a single reader, and room for the longest line.
    """
    types = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(columns))
    more = f", parallel = false, max_line_size = {max(_LINE, path.stat().st_size + 1)}" if whole else ""
    return (
        f"read_csv([{_text(_no_pattern(path))}], header = true, auto_detect = false, delim = ',', quote = '\"', escape "
        f"= '\"', nullstr = '', allow_quoted_nulls = false, comment = '', columns = {{{types}}}{more})"
    )


def _no_pattern(path: Path) -> str:
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _text(value: Path | str) -> str:
    """A text as SQL has it."""
    return "'" + str(value).replace("'", "''") + "'"
