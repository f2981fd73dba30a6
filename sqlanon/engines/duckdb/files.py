"""CSV and Parquet files into DuckDB: how they are read, and what is wrong with one that cannot be.

DuckDB's own messages quote lines of the file. Here only numbers are taken from them, and names that the header has.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import duckdb

from sqlanon.engines.base import FileReading
from sqlanon.errors import DatabaseError, PolicyError

DELIMITERS = ",;\t|"
_ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8", "utf-8-sig"), "utf-8"),
    **dict.fromkeys(("latin-1", "latin1", "iso-8859-1", "iso8859-1"), "latin-1"),
    **dict.fromkeys(("utf-16", "utf16"), "utf-16"),
}

_TYPE = re.compile(r"[A-Za-z][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?")


def read(connection: duckdb.DuckDBPyConnection, path: Path, table: str, how: FileReading) -> None:
    """Load a file into a new table.

    Args:
        connection: where to.
        path: a CSV (also .gz) or Parquet file.
        table: the quoted name of the table.
        how: what is known of a CSV file.

    Raises:
        PolicyError: the options do not fit the file, or its header cannot be used.
        DatabaseError: the file cannot be read; the text says where and why, without a value of it.

    Cost: one pass over the file; a second one where a type that was guessed from the first rows does not fit all.
    """
    if not path.is_file():
        raise DatabaseError(f"no file at {path}")
    if path.suffix.lower() == ".parquet":
        if how != FileReading():
            raise PolicyError(
                f"{path}: null, delimiter, encoding and types are for CSV; a Parquet file has its own"
            )
        try:
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet(?)", [_literal(path)])  # noqa: S608
        except duckdb.Error as error:
            raise DatabaseError(
                f"cannot read {path} as Parquet ({type(error).__name__}): it is none, is broken, or was not written to its end"
            ) from error
        return
    _Csv(connection, path, how).load(table)


class _Csv:
    """One CSV file: its header, its guessed form, its rows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, how: FileReading) -> None:
        self._connection = connection
        self._path = path
        self._encoding = _encoding(how.encoding)
        self._delimiter = _delimiter(how.delimiter)
        self._declared = dict(how.types)
        # DuckDB drops lines that begin with # as comments, and leading ones as notes, unless it is kept from it; and it
        # reads quotes as text where that makes a broken file fit.
        self._options: dict[str, Any] = {"skip": 0, "comment": "", "quote": '"', "encoding": self._encoding}
        if how.null:
            self._options["nullstr"] = list(dict.fromkeys((*how.null, "")))  # what is empty stays NULL
        if self._delimiter is not None:
            self._options["delim"] = self._delimiter

    def load(self, table: str) -> None:
        """Load all rows into a new table."""
        header = self._header()
        guessed = self._sniff(header)
        self._check_names(header)
        if not all(_TYPE.fullmatch(kind) for kind in self._declared.values()):
            raise self._no_type()
        unreadable = {'"', "\r", "\n", self._delimiter}
        if any(char in unreadable for text in self._options.get("nullstr", ()) for char in text):
            raise PolicyError(
                f"{self._path}: null: a text with a quote, a line break or the delimiter cannot be in a field"
            )
        if self._declared:
            self._options["types"] = self._declared
        create = f"CREATE TABLE {table} AS SELECT * FROM "  # noqa: S608
        try:
            try:
                self._run(create, "read_csv", header=True)
            except duckdb.ConversionException:
                self._run(create, "read_csv", header=True, sample_size=-1)
        except duckdb.Error as error:
            raise self._explained(error, header, guessed) from error

    def _run(self, before: str, function: str, **more: object) -> duckdb.DuckDBPyConnection:
        options = {**self._options, **more}
        named = "".join(f", {name} = ?" for name in options)
        return self._connection.execute(
            f"{before}{function}(?{named})", [_literal(self._path), *options.values()]
        )

    def _header(self) -> list[str]:
        """The fields of the first line."""
        with self._opened() as file:
            first = next(iter(file), "")
        if not first.strip():
            what = "is empty" if not first else "begins with an empty line"
            raise DatabaseError(f"{self._path} {what}; its first line must name the columns")
        if self._delimiter is None:
            self._delimiter = max(DELIMITERS, key=first.count)
        with self._opened() as file:
            try:
                return next(csv.reader(file, delimiter=self._delimiter), [])
            except csv.Error:
                return []

    def _check_names(self, header: list[str]) -> None:
        """DuckDB renames doubled columns without a word, where a policy names one of them."""
        folded = [name.casefold() for name in header]
        twice = sorted({name for name in header if folded.count(name.casefold()) > 1})
        if twice:
            raise PolicyError(
                f"{self._path}: the header names {len(twice)} column(s) twice: {', '.join(twice)}; rename them"
            )
        unknown = [name for name in self._declared if name.casefold() not in folded]
        if unknown:
            raise PolicyError(
                f"{self._path}: types are given for {', '.join(unknown)}, which the header does not name"
            )

    def _sniff(self, header: list[str]) -> dict[str, str]:
        """The types DuckDB guesses from the first rows, by column.

        Raises:
            PolicyError: there is no header, or a type is none.
            DatabaseError: the lines are no table.
        """
        try:
            found = self._run("SELECT HasHeader, Columns FROM ", "sniff_csv").fetchone()
        except duckdb.Error as error:
            raise self._explained(error, header, {}) from error
        assert found is not None
        columns = {str(column["name"]): str(column["type"]) for column in found[1]}
        if len(columns) == 1 < len(header):
            raise DatabaseError(f"{self._path}: {self._fault() or self._shape()}")
        if not found[0]:
            # Its first record would become column names, which messages show.
            raise PolicyError(
                f"{self._path}: the first line looks like data; put a line with the columns' names before it"
            )
        return columns

    def _explained(
        self, error: duckdb.Error, header: list[str], guessed: dict[str, str]
    ) -> DatabaseError | PolicyError:
        """What is wrong, from the numbers and names in DuckDB's message and a look at the file."""
        text = str(error)
        if isinstance(error, duckdb.CatalogException) or "can not be converted to a DuckDB Type" in text:
            return self._no_type()
        if isinstance(error, duckdb.ConversionException):
            at = re.match(r"[^\n]*CSV Error on Line: (\d+)", text)
            named = [name for name in header if f"Column {name} is being converted as type" in text]
            if at and named:
                column = max(named, key=len)
                kinds = {name.casefold(): kind for name, kind in (guessed | self._declared).items()}
                known = kinds.get(column.casefold(), "another type")
                declared = column.casefold() in {name.casefold() for name in self._declared}
                return DatabaseError(
                    f"{self._path}, line {at[1]}: column {column} is {'declared' if declared else 'guessed to be'} {known}, and "
                    f"this line holds something else there; give it a type that fits, --types {column}=VARCHAR, or say "
                    "the text of a missing value, --null TEXT (in Python types={...}, null=[...])"
                )
        fault = self._fault()
        if fault:
            return DatabaseError(f"{self._path}: {fault}")
        return DatabaseError(f"cannot read {self._path} as CSV ({type(error).__name__}): {self._shape()}")

    def _no_type(self) -> PolicyError:
        given = ", ".join(f"{name}={kind}" for name, kind in self._declared.items())
        return PolicyError(
            f"{self._path}: types: one of {given} is no type of DuckDB; such are VARCHAR, BIGINT, DOUBLE, DATE, BOOLEAN"
        )

    def _shape(self) -> str:
        return (
            f"check that it is CSV in {self._encoding}, with a header, equally long rows and one way to end a line; "
            "--delimiter and --encoding say what cannot be guessed"
        )

    def _fault(self) -> str | None:
        """The first fault of the file as Python reads it: the line, and what is wrong there."""
        if self._encoding != "utf-16":
            with self._bytes() as raw:
                for number, line in enumerate(raw, 1):
                    try:
                        line.decode(self._encoding)
                    except UnicodeDecodeError:
                        return (
                            f"line {number} is not {self._encoding}; say the encoding, --encoding latin-1 or utf-16, or convert the "
                            "file first"
                        )
        with self._opened() as file:
            rows = csv.reader(file, delimiter=self._delimiter or ",", strict=True)
            began, width = 1, 0
            try:
                for row in rows:
                    width = width or len(row)
                    if row and len(row) != width:
                        return (
                            f"line {began} has {len(row)} fields and the header {width}: a field that holds the delimiter "
                            "must be quoted, and every line needs all fields"
                        )
                    began = rows.line_num + 1
            except csv.Error as error:
                if "limit" in str(error):
                    return f"line {began} holds a field of more than {csv.field_size_limit():,} characters"
                return f"line {began}: a quoted field that does not end, or goes on after its closing quote"
        return None

    @contextmanager
    def _opened(self) -> Iterator[IO[str]]:
        """The file as text; what is not text there is kept as escapes."""
        encoding = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        with (
            self._bytes() as raw,
            io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", newline="") as file,
        ):
            yield file

    @contextmanager
    def _bytes(self) -> Iterator[IO[bytes]]:
        with self._readable(), self._path.open("rb") as file:
            if self._path.suffix.lower() == ".gz":
                with gzip.open(file, "rb") as unpacked:
                    yield cast("IO[bytes]", unpacked)
            else:
                yield file

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (gzip.BadGzipFile, EOFError) as error:
            raise DatabaseError(f"{self._path} is not a whole gzip file") from error
        except UnicodeError as error:
            raise DatabaseError(
                f"{self._path} is not {self._encoding}; say the encoding with --encoding"
            ) from error
        except OSError as error:
            raise DatabaseError(
                f"cannot read {self._path} ({error.strerror or type(error).__name__})"
            ) from error


def _encoding(given: str | None) -> str:
    known = _ENCODINGS.get((given or "utf-8").strip().lower().replace("_", "-"))
    if known is None:
        raise PolicyError(
            "encoding: not one that can be read here; utf-8, latin-1 and utf-16 are, others must be converted first"
        )
    return known


def _delimiter(given: str | None) -> str | None:
    found = "\t" if given in ("\\t", "tab") else given
    if found is not None and (len(found) != 1 or found in '"\r\n'):
        raise PolicyError("delimiter: one character is wanted, such as ; or | or \\t")
    return found


def _literal(path: Path) -> str:
    """A path that DuckDB does not read as a pattern, which could match other files."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
