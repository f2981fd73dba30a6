"""A CSV file as text: encoding, lines of bounded length, and header.

For a file that is no table it also finds the reason.

Messages have numbers of lines and bytes and the names of columns, never a value. No line is longer in memory than
`LINE`, so that a small compressed file of one line is refused before it is unpacked.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from sqlanon.engines.duckdb.csv_header import Head, check_header, tail
from sqlanon.engines.duckdb.csv_records import likely_delimiter, records_of
from sqlanon.errors import DatabaseError, PolicyError

LINE = 2_000_000
"""Characters of a line, at most: DuckDB's default."""
_HEAD = 200
"""Records from which the form of a file is found."""
_CHUNK = 1 << 20


def find_codec(encoding: str | None) -> str:
    """Python's name of an encoding.

    Raises:
        PolicyError: Python has none of this name that decodes text.
    """
    name = (encoding or "utf-8").strip().lower()
    try:
        codec = codecs.lookup(name).name
        "a".encode(codec)  # not all codecs are of text
    except (LookupError, ValueError, TypeError):
        codec = ""
    if not codec or codec in ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"):
        raise PolicyError(
            "encoding: not one that can be read here; utf-8, windows-1252, latin-1 and utf-16 are, and the others that "
            "Python has"
        )
    return "utf-8" if codec == "utf-8-sig" else codec


def delimiter_of(text: str | None) -> str | None:
    """The delimiter that was given.

    Raises:
        PolicyError: it is not one character.
    """
    delimiter = "\t" if text in ("\\t", "tab") else text
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise PolicyError("delimiter: one character is wanted, such as ; or | or \\t")
    return delimiter


class CsvText:
    """The text of one file.

    Args:
        path: the file, plain or .gz.
        encoding: as `find_codec` names it.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        self.path = path
        self.encoding = encoding

    def head(self, delimiter: str | None) -> Head:
        """The first records, after a check that the first line names the columns.

        Args:
            delimiter: the given delimiter; None: it is found.

        Raises:
            PolicyError: the first line does not name the columns.
            DatabaseError: the lines are no table.
        """
        try:
            next(self._decode(self.encoding))
        except _WrongByte as error:
            raise DatabaseError(f"{self.path}: {self.wrong_byte()}") from error
        lines = self._first_lines()
        first = lines[0] if lines else ""
        if "\0" in "".join(lines):
            raise DatabaseError(
                f"{self.path} has NUL characters in its first lines: it is no text, or in another encoding; if it is "
                "UTF-16, add --encoding utf-16-le"
            )
        if not first.strip("\r\n\t ,;|"):
            what = "is empty" if not first else "begins with an empty line"
            raise DatabaseError(
                f"{self.path} {what}; its first line must name the columns{tail(self.path, 2) if first else ''}"
            )
        if first.startswith("# ") or (len(lines) > 1 and first[0] == lines[1][:1] == "#"):
            raise PolicyError(
                f"{self.path}: the first line is a comment (#); it must name the columns{tail(self.path, 2)}"
            )
        if re.match(r"\s*(\{\s*\"|\[\s*[\[{]|<[?!a-zA-Z])", first):
            raise DatabaseError(f"{self.path} begins as JSON or XML does, and not as CSV; convert it")
        separator = delimiter or likely_delimiter(lines)
        records = records_of(lines, separator)
        head = Head(records[0] if records else [], separator, records[1:])
        check_header(self.path, head, lines, explicit=delimiter is not None)
        return head

    def _first_lines(self) -> list[str]:
        lines: list[str] = []
        size = 0
        with self.open_text() as file:
            for line in read_bounded_lines(file, self._too_long):
                lines.append(line if lines else line.removeprefix("\ufeff"))
                size += len(line)
                if len(lines) >= _HEAD or size > LINE:
                    break
        return lines

    def check_lines(self) -> int | None:
        """No line is too long: DuckDB leaves out the last of those without a word.

        Returns:
            how many lines there are, where each of them is a record: none is empty, and there are no quotes; None: it
            is not so.

        Raises:
            DatabaseError: a line is too long.

        Cost: one pass over the bytes.
        """
        length = line = 0
        plain, last = True, b"\n"
        with self.bytes() as raw:
            while chunk := raw.read(_CHUNK):  # shorter than `LINE`, so that no line between two ends in it is too long
                end = b"\n" if b"\n" in chunk else b"\r"
                first = chunk.find(end)
                length += first if first >= 0 else len(chunk)
                if length > LINE:
                    raise self._too_long(line + 1)
                if first >= 0:
                    length = len(chunk) - chunk.rfind(end) - 1
                    line += chunk.count(end)
                if plain:
                    around = last + chunk
                    plain = not any(mark in around for mark in (b'"', b"\n\n", b"\n\r")) and (end == b"\n" or first < 0)
                last = (last + chunk)[-2:]
        return line + (length > 0) if plain else None

    def fault(self, delimiter: str) -> str | None:
        """The first fault of the file as Python reads it: line and reason."""
        with self.open_text() as file:
            rows = csv.reader(read_bounded_lines(file, self._too_long), delimiter=delimiter, strict=True)
            began, width = 1, 0
            try:
                for row in rows:
                    width = width or len(row)
                    if row and len(row) != width:
                        return (
                            f"line {began} has {len(row)} fields and the header {width}: a field that holds the "
                            "delimiter must be quoted, and every line needs all fields"
                        )
                    began = rows.line_num + 1
            except csv.Error as error:
                if "limit" in str(error):
                    return f"line {began} holds a field of more than {csv.field_size_limit():,} characters"
                return f"line {began}: a quoted field that does not end, or goes on after its closing quote"
        return None

    def line_of(self, delimiter: str, field: int, text: str) -> int:
        """The line on which the first record begins that has a text in a field; 0: there is none."""
        with self.open_text() as file:
            rows = csv.reader(read_bounded_lines(file, self._too_long), delimiter=delimiter)
            began = 1
            try:
                for row in rows:
                    if began > 1 and len(row) > field and row[field] == text:
                        return began
                    began = rows.line_num + 1
            except csv.Error:
                return 0
        return 0

    def wrong_byte(self) -> str | None:
        """Where the file departs from the encoding, and which option would read it; None: nowhere."""
        undecodable = self._find_undecodable(self.encoding)
        if undecodable is None:
            return None
        line, byte = undecodable
        where = f"line {line}, byte {byte} of the file, is not {_SHOWN.get(self.encoding, self.encoding)}"
        with self.bytes() as raw:
            begin = raw.read(4096)
        if begin[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and self.encoding != "utf-16":
            return f"{where}; it is UTF-16: --encoding utf-16"
        if self.encoding in ("utf-8", "utf-16") and begin[1::2].count(0) * 4 > len(begin):
            return f"{where}; it is UTF-16 without a mark: --encoding utf-16-le"
        if re.search(rb"[\x00-\x08\x0e-\x1b]", begin) and not self.encoding.startswith("utf-16"):
            return f"{where}; it is no text file (has it another ending?): convert it to CSV"
        encodings = ("utf-8",) if self.encoding.startswith("utf-16") else ("utf-8", "cp1252")
        fitting = next(
            (encoding for encoding in encodings if encoding != self.encoding and not self._find_undecodable(encoding)),
            None,
        )
        if fitting:
            return (
                f"{where}; it can be read with --encoding {_SHOWN.get(fitting, fitting)}: check the letters outside of "
                "ASCII in the result"
            )
        return (
            f"{where}; name the encoding of the program that wrote it, such as --encoding cp850 or shift_jis, or "
            "repair that byte"
        )

    def _find_undecodable(self, encoding: str) -> tuple[int, int] | None:
        line = 1
        try:
            for text in self._decode(encoding):
                line += text.count("\n")
        except _WrongByte as error:
            return line + error.lines, error.byte
        return None

    def as_utf8(self, target: Path) -> None:
        """Write the text in UTF-8.

        Raises:
            DatabaseError: it is not of the encoding, or a line is too long.
        """
        length = line = 0
        with target.open("xb") as file:
            try:
                for index, text in enumerate(self._decode(self.encoding)):
                    ends = re.split(r"[\r\n]", text)
                    length = length + len(text) if len(ends) == 1 else len(ends[-1])
                    line += text.count("\n")
                    if length > LINE:
                        raise self._too_long(line + 1)
                    file.write((text.removeprefix("\ufeff") if index == 0 else text).encode())
            except _WrongByte as error:
                raise DatabaseError(f"{self.path}: {self.wrong_byte()}") from error

    def _decode(self, encoding: str) -> Iterator[str]:
        """The text in parts.

        Raises:
            _WrongByte: it is not of the encoding.
        """
        decoder = codecs.getincrementaldecoder(encoding)()
        position = 0
        with self.bytes() as raw:
            while True:
                chunk = raw.read(_CHUNK)
                waiting = decoder.getstate()[0]
                try:
                    text = decoder.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:
                    before = error.object[: error.start].decode(encoding, "ignore").count("\n")
                    raise _WrongByte(position - len(waiting) + error.start + 1, before) from None
                except UnicodeError:  # UTF-16 without a byte order mark
                    raise _WrongByte(1, 0) from None
                # These bytes are letters in windows-1252, which is often called so, and control characters in latin-1.
                wrong = re.search(r"[\x80-\x84\x86-\x9f]", text) if encoding == "iso8859-1" else None
                if wrong:
                    raise _WrongByte(position + wrong.start() + 1, text.count("\n", 0, wrong.start()))
                position += len(chunk)
                yield text
                if not chunk:
                    return

    def _too_long(self, number: int) -> DatabaseError:
        return DatabaseError(
            f"{self.path}: line {number} has more than {LINE:,} characters; is it CSV, and is every quoted field "
            "closed?"
        )

    @contextmanager
    def open_text(self) -> Iterator[IO[str]]:
        """The file as text; bytes that are not text are kept as escapes."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with (
            self.bytes() as raw,
            io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", newline="") as file,
        ):
            yield file

    @contextmanager
    def bytes(self) -> Iterator[IO[bytes]]:
        """The file's bytes, unpacked."""
        try:
            with self.path.open("rb") as file:
                if self.path.suffix.lower() == ".gz":
                    with gzip.open(file, "rb") as unpacked:
                        yield cast("IO[bytes]", unpacked)
                else:
                    yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DatabaseError(f"{self.path} is not a whole gzip file") from error
        except UnicodeError as error:
            shown = _SHOWN.get(self.encoding, self.encoding)
            raise DatabaseError(f"{self.path} is not {shown}: add --encoding with another one") from error
        except OSError as error:
            raise DatabaseError(f"cannot read {self.path} ({error.strerror or type(error).__name__})") from error


_SHOWN = {"cp1252": "windows-1252", "iso8859-1": "latin-1"}


class _WrongByte(Exception):
    """A byte that is not of the encoding, counted from 1, and the line ends before it in the same part of the file."""

    def __init__(self, byte: int, lines: int) -> None:
        super().__init__(byte)
        self.byte = byte
        self.lines = lines


def read_bounded_lines(file: IO[str], too_long: Callable[[int], Exception]) -> Iterator[str]:
    """The lines of a file, none longer than `LINE`."""
    number = 0
    while line := file.readline(LINE + 1):
        number += 1
        if len(line) > LINE:
            raise too_long(number)
        yield line
