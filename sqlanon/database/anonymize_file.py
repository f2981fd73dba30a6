"""``sqlanon.anonymize``: a file into a file, or a data frame into a data frame."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

from sqlanon.database.files import anonymize_file
from sqlanon.database.frames import FrameRelease, anonymize_frame
from sqlanon.declared.options import FileOptions
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress
from sqlanon.results import RunReport


@overload
def anonymize(
    source: str | os.PathLike[str],
    *,
    to: str | os.PathLike[str],
    progress: Progress | None = None,
    null: str | Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    types: Mapping[str, str] | None = None,
    decimal: str | None = None,
    ignore: str | Sequence[str] = (),
    date_format: str | None = None,
    escape_formulas: bool = False,
    **options: Unpack[FileOptions],
) -> RunReport: ...


@overload
def anonymize(
    source: Any,  # noqa: ANN401 - a frame of a library that is not imported here
    *,
    progress: Progress | None = None,
    **options: Unpack[FileOptions],
) -> FrameRelease: ...


def anonymize(  # noqa: PLR0913 - keywords of the public interface
    source: Any,
    *,
    to: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    null: str | Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    types: Mapping[str, str] | None = None,
    decimal: str | None = None,
    ignore: str | Sequence[str] = (),
    date_format: str | None = None,
    escape_formulas: bool = False,
    **options: Unpack[FileOptions],
) -> RunReport | FrameRelease:
    """Anonymize a CSV or Parquet file, or a data frame, through an in-memory DuckDB.

    CSV may be compressed (.gz). The release is a CSV or Parquet file, or a data frame.

    Args:
        source: the file to read; or a frame of pandas, of polars, or anything that has an Arrow stream
            (``__arrow_c_stream__``).
        to: of a file, the file to write; it appears only when the release has been verified. Format anatomy writes the
            sensitive values of ``out.csv`` into ``out_sensitive.csv``. Of a frame none.
        progress: gets stages, counts and notes of long work.
        null: CSV: texts that mean a missing value, in addition to the empty text.
        delimiter: CSV: the character between two fields; None: guessed.
        encoding: CSV: utf-8 (as by default), windows-1252, latin-1, utf-16, or another encoding of Python.
        types: CSV: column -> DuckDB's type, such as VARCHAR; the others are guessed from all rows, and only where each
            value is written again as it is in the file.
        decimal: CSV: the mark before the decimals of a number; None: a point.
        ignore: CSV: texts that numbers are written with, such as ``$``, ``%`` or a mark between thousands.
        date_format: CSV: how dates are written, such as ``%d/%m/%Y``; None: guessed where day and month are certain.
        escape_formulas: of a CSV file that is written: a ' before each cell that a spreadsheet takes for a formula.
        options: requirements on the release, as for `Database.anonymize`, without publish, publish_file and boxes; of
            a frame also without options of versions.

    Returns:
        Of a file the report; of a frame a `FrameRelease` with a ``frame`` of the given kind.

    Raises:
        PolicyError: a file's kind is not known, a header or a frame names a column twice, or an option does not fit.
        DatabaseError: a file or a frame cannot be read, or a file not be written; of a CSV with line and column.
        TypeError: an unknown argument, or ``to`` is missing for a file.

    Example:
        >>> import duckdb
        >>> people = duckdb.sql("SELECT i // 5 AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
        >>> release = anonymize(people, quasi="age", sensitive="diagnosis", k=5)
        >>> answer = release.query("SELECT count(*) AS n FROM x WHERE age = 2")
        >>> release.report.classes, release.audit().k, answer.rows[0]["n"].low
        (4, 5, 5)
    """
    reading = {
        "null": null,
        "delimiter": delimiter,
        "encoding": encoding,
        "types": types,
        "decimal": decimal,
        "ignore": ignore,
        "date_format": date_format,
    }
    if isinstance(source, (str, os.PathLike)):
        if to is None:
            raise TypeError("the argument to is missing: the file that the release is written to")
        return anonymize_file(
            source, to=to, progress=progress, reading=reading, escape_formulas=escape_formulas, **options
        )
    for name, value in {"to": to, **reading, "escape_formulas": escape_formulas}.items():
        if value:
            raise PolicyError(f"{name} is for files; a frame has types of its own, and its release is a frame")
    return anonymize_frame(source, progress=progress, **options)
