"""Cells of a CSV file that a spreadsheet takes for formulas.

A spreadsheet computes them when it opens the file, whoever wrote the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb

from sqlanon.engines.duckdb.file_columns import DATES, NUMBERS

_BEGINS = r"[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"-[0-9]*[.,]?[0-9]+([.,][0-9]+)*([eE][+\-]?[0-9]+)?"
"""Negative numbers, which are no formulas."""
_SAFE = (
    NUMBERS
    | DATES
    | {"boolean", "hugeint", "uhugeint", "bignum", "time", "time_ns", "time with time zone"}
    | {"uuid", "bit", "list", "array", "struct", "map"}
)
"""Types with texts that never begin so, but for negative numbers."""


def warn_of_formulas(
    connection: duckdb.DuckDBPyConnection, table: str, cells: Sequence[tuple[str, str, str]]
) -> list[str]:
    """A line for each column with cells that begin as formulas do, with their number, and for names that do.

    Args:
        connection: where the table is.
        table: the quoted name of the table; expressions call it ``t``.
        cells: of every column the name, DuckDB's name of the type, and SQL for the text of a cell.

    Cost: one scan of the columns of text.
    """
    looked = [(name, cell) for name, kind, cell in cells if kind not in _SAFE]
    counts: tuple[int, ...] = ()
    if looked:
        conditions = ", ".join(f"count(*) FILTER ({_is_one(cell)})" for _, cell in looked)
        counts = connection.execute(f"SELECT {conditions} FROM {table} AS t").fetchall()[0]  # noqa: S608
    lines = [
        f"column {name}: {n:,} cells begin as a formula of a spreadsheet does (=, +, -, @, a tab or a line break), and "
        "would be computed where the file is opened in one; --escape-formulas (in Python escape_formulas=True) writes "
        "' before each"
        for (name, _), n in zip(looked, counts, strict=True)
        if n
    ]
    names = [name for name, *_ in cells if name_escaped(name) != name]
    if names:
        lines.append(
            f"the names of columns {', '.join(names)} begin as a formula of a spreadsheet does; --escape-formulas (in "
            "Python escape_formulas=True) writes ' before each"
        )
    return lines


def escape_formula(kind: str, cell: str) -> str:
    """SQL for the text of a cell with a ' before the beginning of a formula.

    Texts that a reader could take for such an escaped text get a ' as well.
    """
    if kind in _SAFE:
        return cell
    return f"CASE WHEN {_is_one(cell, quoted=True)} THEN '''' || {cell} ELSE {cell} END"


def name_escaped(name: str) -> str:
    """The same of a column's name."""
    return f"'{name}" if re.match(rf"'*{_BEGINS}", name) and not re.fullmatch(_NUMBER, name) else name


def _is_one(cell: str, *, quoted: bool = False) -> str:
    before = "''*" if quoted else ""
    return f"(regexp_matches({cell}, '^{before}{_BEGINS}') AND NOT regexp_full_match({cell}, '{_NUMBER}'))"
