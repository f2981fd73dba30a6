"""CSV and Parquet files into DuckDB, and reasons why a file cannot be read.

DuckDB's own messages quote lines of the file. Here only numbers are taken from them, and names that the header has.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.engines.base import ColumnReading, FileReading
from sqlanon.engines.duckdb import csv_types
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.csv_header import Head
from sqlanon.engines.duckdb.csv_notes import note
from sqlanon.engines.duckdb.csv_text import CsvText, delimiter_of, find_codec
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.private_folder import PrivateFolder, sweep
from sqlanon.shell import option, pair

_TYPE = re.compile(r"[A-Za-z][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?")
_DIGITS = 38


def read(
    connection: duckdb.DuckDBPyConnection, path: Path, table: str, how: FileReading, columns: ColumnReading
) -> list[str]:
    """Load a file into a new table.

    Args:
        connection: where to.
        path: a CSV (also .gz) or Parquet file.
        table: the quoted name of the table.
        how: known properties of a CSV file.
        columns: which columns are read, and which keep their texts.

    Returns:
        notes, a line each, on columns that stayed text though they look like numbers or dates.

    Raises:
        PolicyError: the options do not fit the file, or the header cannot be used.
        DatabaseError: the file cannot be read; the text gives place and reason, without a value of the file.

    Cost: one pass over the file, and one or more over each column with first values that look like another type;
    another encoding is written as UTF-8 first, into a private folder.
    """
    if not path.is_file():
        raise DatabaseError(f"no file at {path}")
    if path.suffix.lower() != ".parquet":
        return _Csv(connection, path, how, columns).load(table)
    if how != FileReading():
        raise PolicyError(
            f"{path}: null, delimiter, encoding, types, decimal, ignore and date_format are for CSV; a Parquet file "
            "has its own"
        )
    _read_parquet(connection, path, table, columns)
    return []


def _read_parquet(connection: duckdb.DuckDBPyConnection, path: Path, table: str, columns: ColumnReading) -> None:
    try:
        schema = connection.execute(
            "SELECT name, type, precision, num_children FROM parquet_schema(?)", [_literal(path)]
        ).fetchall()
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [_literal(path)]).fetchall()
    except duckdb.Error as error:
        raise DatabaseError(
            f"cannot read {path} as Parquet ({type(error).__name__}): it is none, is broken, or was not written to its "
            "end"
        ) from error
    names = [str(row[0]) for row in described if columns.wants(str(row[0]))]
    if not names:
        raise PolicyError(f"{path} has none of the columns that are named")
    # DuckDB reads wider decimals as floating point. Of nested columns the parts are in the list, by their own names.
    wide = {str(name) for name, _, digits, _ in schema if digits and digits > _DIGITS}
    refused = [name for name in names if name in wide]
    if refused:
        raise PolicyError(
            f"{path}: column {', '.join(refused)} has decimals of more than {_DIGITS} digits, which DuckDB would "
            "round; write them with fewer digits, or as text, or leave the column out (rest: drop)"
        )
    shown = ", ".join(map(quote, names))
    try:
        connection.execute(f"CREATE TABLE {table} AS SELECT {shown} FROM read_parquet(?)", [_literal(path)])  # noqa: S608
    except duckdb.Error as error:
        bad = [name for name in names if not _reads(connection, path, name)]
        which = f"column {', '.join(bad)} of {path}" if bad else f"{path} as Parquet"
        raise DatabaseError(
            f"cannot read {which} ({type(error).__name__}): it is broken, was not written to its end, or has a type "
            "that DuckDB lacks"
        ) from error


def _reads(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> bool:
    try:
        connection.execute(f"SELECT max(hash({quote(name)})) FROM read_parquet(?)", [_literal(path)])  # noqa: S608
    except duckdb.Error:
        return False
    return True


class _Csv:
    """A CSV file: header, texts of the columns, and types."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        how: FileReading,
        columns: ColumnReading,
    ) -> None:
        self._connection = connection
        self._path = path
        self._how = how
        self._columns = columns
        self._text = CsvText(path, find_codec(how.encoding))
        self._given = delimiter_of(how.delimiter)
        if how.decimal is not None and (len(how.decimal) != 1 or how.decimal.isalnum() or how.decimal in '+-"\r\n'):
            raise PolicyError("decimal: the one mark before the decimals of a number is wanted, such as ,")
        if any(not text.strip(" ") and text != " " for text in how.ignore) or any(
            re.search(r"[0-9\r\n\"]", text) or text == (how.decimal or ".") for text in how.ignore
        ):
            raise PolicyError(
                "ignore: what numbers are written with and is no part of them, such as $ or %, without digits and not "
                "the decimal mark"
            )
        if how.date_format is not None and not re.fullmatch(r"(?=.*%Y)(?=.*%-?[dj])[^\n]*", how.date_format):
            raise PolicyError(
                "date_format: day, month and a year of four digits are wanted, such as %d.%m.%Y or %m/%d/%Y %H:%M"
            )
        marked = how.decimal or how.ignore
        self._numbers = csv_types.Numbers(how.decimal or ".", how.ignore) if marked else None

    def load(self, table: str) -> list[str]:
        """Load all rows into a new table."""
        head = self._text.head(self._given)
        declared = self._find_declared_types(head)
        nulls = list(dict.fromkeys((*self._how.null, "")))  # an empty field stays NULL
        unreadable = {'"', "\r", "\n", head.delimiter}
        if any(char in unreadable for text in nulls for char in text):
            raise PolicyError(
                f"{self._path}: null: a text with a quote, a line break or the delimiter cannot be in a field"
            )
        names = [name for name in head.names if self._columns.wants(name)]
        if not names:
            raise PolicyError(f"{self._path}: the header has none of the columns that are named")
        self._load_texts(table, head, names, nulls)
        self._check_repeated(table, names)
        guesses: dict[str, csv_types.Guess] = {}
        notes: list[str] = []
        for name in names:
            kind = declared.get(name.casefold())
            if kind is not None:
                guesses[name] = self._read_declared_type(table, head, name, kind)
            elif (reading := self._guess(table, name)) is not None:
                guesses[name] = reading
            elif not self._columns.exact(name) and (line := note(self._connection, table, name)):
                notes.append(line)
        if guesses:
            shown = (f"{guesses[name].value} AS {quote(name)}" if name in guesses else quote(name) for name in names)
            self._connection.execute(
                f"CREATE OR REPLACE TABLE {table} AS SELECT {', '.join(shown)} FROM {table}"  # noqa: S608
            )
        return notes

    def _find_declared_types(self, head: Head) -> dict[str, str]:
        """The types that were given, by the folded names of their columns."""
        kinds = {name.casefold(): kind for name, kind in self._how.types.items()}
        folded = {name.casefold() for name in head.names}
        unknown = [name for name in self._how.types if name.casefold() not in folded]
        if unknown:
            raise PolicyError(f"{self._path}: types are given for {', '.join(unknown)}, which the header does not name")
        for kind in kinds.values():
            try:
                if not _TYPE.fullmatch(kind):
                    raise self._no_type()
                self._connection.execute(f"SELECT CAST(NULL AS {kind})")
            except duckdb.Error as error:
                raise self._no_type() from error
        return kinds

    def _load_texts(self, table: str, head: Head, names: Sequence[str], nulls: list[str]) -> None:
        """Every column as text; DuckDB guesses nothing."""
        # It drops lines that begin with # as comments, unless it is kept from it.
        options: dict[str, Any] = {
            "auto_detect": False,
            "header": True,
            "skip": 0,
            "comment": "",
            "quote": '"',
            "escape": '"',
            "delim": head.delimiter,
            "nullstr": nulls,
            "columns": dict.fromkeys(head.names, "VARCHAR"),
            "max_line_size": "2097152",
        }
        with ExitStack() as stack:
            path = self._path
            if self._text.encoding != "utf-8":
                stem = Path(tempfile.gettempdir()) / "duckdb-csv"
                sweep(stem)
                try:
                    path = stack.enter_context(PrivateFolder(stem)).path / "text.csv"
                    self._text.as_utf8(path)
                except OSError as error:
                    raise DatabaseError(
                        f"cannot write {self._path} as UTF-8 into {stem.parent} "
                        f"({error.strerror or type(error).__name__}); free space there, or set TMPDIR"
                    ) from error
            lines = CsvText(path, "utf-8").check_lines() if path != self._path else self._text.check_lines()
            shown = ", ".join(map(quote, names))
            arguments = "".join(f", {name} = ?" for name in options)
            try:
                self._connection.execute(
                    f"CREATE TABLE {table} AS SELECT {shown} FROM read_csv(?{arguments})",  # noqa: S608
                    [_literal(path), *options.values()],
                )
            except duckdb.Error as error:
                raise self._explain(error, head) from error
        rows = self._connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]  # noqa: S608
        if lines is not None and rows != lines - 1:
            raise DatabaseError(
                f"{self._path} has {lines - 1:,} lines below the header, and DuckDB read {rows:,} rows of them; write "
                "it anew with one way to end a line"
            )

    def _check_repeated(self, table: str, names: Sequence[str]) -> None:
        """No row is the header again, as in files that were put one after the other."""
        again = " AND ".join(f"{quote(name)} = {csv_types.literal(name)}" for name in names)
        rows = self._connection.execute(f"SELECT 1 FROM {table} WHERE {again} LIMIT 1").fetchall()  # noqa: S608
        if rows and len(names) > 1:
            raise PolicyError(
                f"{self._path}: the first line is repeated below, or is a row; the first line must name the columns, "
                "and no other one"
            )

    def _guess(self, table: str, name: str) -> csv_types.Guess | None:
        exact = self._columns.exact(name)
        if self._how.date_format and not exact:
            dates = csv_types.of_format(name, self._how.date_format)
            if csv_types.fits(self._connection, table, name, dates):
                return dates
        return csv_types.guess(self._connection, table, name, exact=exact, numbers=self._numbers)

    def _read_declared_type(self, table: str, head: Head, name: str, kind: str) -> csv_types.Guess:
        """The declared type, which every text of the column has; of dates in the one form that fits them.

        Raises:
            DatabaseError: a text is none; the error has the line.
        """
        declared = csv_types.declare_type(name, kind, self._how.date_format, self._numbers)
        dated = kind.strip().upper() in ("DATE", "TIMESTAMP", "DATETIME")
        if dated and not self._how.date_format:
            guessed = csv_types.guess(self._connection, table, name, exact=False)
            if guessed is not None and guessed.type in ("DATE", kind.strip().upper()):
                return replace(guessed, value=f"CAST({guessed.value} AS {kind})")
        column = quote(name)
        query = (
            f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL AND NOT coalesce({declared.same}, false) LIMIT 1"  # noqa: S608
        )
        try:
            wrong = self._connection.execute(query).fetchall()
        except duckdb.Error as error:
            raise self._no_type() from error
        if wrong:
            line = self._text.line_of(head.delimiter, head.names.index(name), str(wrong[0][0]))
            form = ", say how dates are written, --date-format %d.%m.%Y," if dated else ","
            raise DatabaseError(
                f"{self._path}, line {line or 'unknown'}: column {name} is declared {declared.type}, and this line "
                f"holds something else there; give it a type that fits, {option('types', pair(name, 'VARCHAR'))}{form} "
                "or say the text of a missing value, --null TEXT (in Python types={...}, null=[...])"
            )
        return declared

    def _explain(self, error: duckdb.Error, head: Head) -> DatabaseError | PolicyError:
        """The reason for an error, by a look at the file."""
        fault = self._text.wrong_byte() or self._text.fault(head.delimiter)
        if fault:
            return DatabaseError(f"{self._path}: {fault}")
        return DatabaseError(
            f"cannot read {self._path} as CSV ({type(error).__name__}): check that it is CSV in {self._text.encoding}, "
            "with a header, equally long rows and one way to end a line; --delimiter and --encoding say what cannot "
            "be guessed"
        )

    def _no_type(self) -> PolicyError:
        kinds = ", ".join(f"{name}={kind}" for name, kind in self._how.types.items())
        return PolicyError(
            f"{self._path}: types: one of {kinds} is no type of DuckDB; such are VARCHAR, BIGINT, DOUBLE, DATE, BOOLEAN"
        )


def _literal(path: Path) -> str:
    """A path that DuckDB does not read as a pattern, which could match other files."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
