"""The published rows of a release outside the database: as a data frame, or as a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from sqlanon.engines import connect
from sqlanon.engines.base import Column, Engine, FrameKind, TableRef
from sqlanon.errors import PolicyError, file_errors
from sqlanon.private_folder import PrivateFolder, put_in_place, sweep
from sqlanon.release.catalog.views import spell_table
from sqlanon.sqltext import statement

WRITTEN = (".csv", ".parquet")
"""Files that releases are written as."""
MOST = 50_000_000
"""Rows that are taken out of another engine at once, at most."""


def frame_of(engine: Engine, view: TableRef, kind: FrameKind, file: str | None = None) -> object:
    """The rows of a view as a frame.

    Args:
        engine: the database.
        view: a release's view, in the database or in ``file``.
        kind: of the frame.
        file: a database file that the release was published into.

    Raises:
        UnsupportedError: the library of that kind is not installed.
        PolicyError: such a frame cannot hold every value of a column.
        PrivacyViolation: the frame differs from the view.

    Cost: two passes; of an engine that writes no frames, all rows are in memory as Python's values first.
    """
    with _readable(engine, view, file) as (memory, table):
        assert memory.frames is not None
        return memory.frames.export_frame(table, kind)


def write(
    engine: Engine,
    views: dict[TableRef, Path],
    file: str | None = None,
    *,
    sensitive: Sequence[str] = (),
    escape_formulas: bool = False,
) -> list[str]:
    """Write views to CSV or Parquet files.

    No file gets its name before all are written, read back, and found equal to the views.

    Args:
        engine: the database.
        views: of a release, each with the file to write.
        file: a database file that the release was published into.
        sensitive: columns in which no two values may become equal.
        escape_formulas: of CSV files: write a ' before each cell that a spreadsheet takes for a formula.

    Returns:
        facts that readers of the files must know.

    Raises:
        PolicyError: such a file cannot hold every value of a column.
        PrivacyViolation: the rows read back differ from the view.
        DatabaseError: a file cannot be written.
    """
    some = next(iter(views.values()))
    warned: list[str] = []
    with file_errors(some):
        sweep(some)
        with PrivateFolder(some) as folder:
            for view, path in views.items():
                with _readable(engine, view, file) as (memory, table):
                    assert memory.files is not None
                    export_warnings = memory.files.export_file(
                        table, folder.path / path.name, sensitive=sensitive, escape_formulas=escape_formulas
                    )
                    warned += (f"{path.name}: {line}" for line in export_warnings)
            for path in views.values():
                put_in_place(folder.path / path.name, path)
    return warned


def check_file(path: Path, *, escape_formulas: bool = False) -> None:
    """A release can be written to this file.

    Raises:
        PolicyError: the file has another ending, or the folder is missing; or formulas are to be escaped in a file
            that no spreadsheet computes.
    """
    if path.suffix.lower() not in WRITTEN:
        raise PolicyError(f"{path}: releases are written as .csv or .parquet")
    if escape_formulas and path.suffix.lower() != ".csv":
        raise PolicyError(f"{path}: escape_formulas is for .csv: other files say themselves what is text")
    if not path.resolve().parent.is_dir():
        raise PolicyError(f"{path}: there is no such directory")


@contextmanager
def _readable(engine: Engine, view: TableRef, file: str | None) -> Iterator[tuple[Engine, TableRef]]:
    """The view where frames and files can be made of it: there, or copied into a database in memory."""
    opened = engine.second_file.attach(file, read_only=True) if file and engine.second_file else nullcontext()
    with opened as database:
        table = replace(view, database=database) if database else view
        if engine.frames is not None and engine.files is not None:
            yield engine, table
            return
        columns = engine.relation(spell_table(table)).columns
        query = statement(
            "audit/all_rows",
            engine.dialect,
            target=table,
            columns=[{"name": column.name, "as_text": _goes_as_text(column)} for column in columns],
        )
        with closing(connect("duckdb:///:memory:")) as memory:
            assert memory.frames is not None
            copy = memory.target("released")
            memory.frames.import_rows(copy, columns, engine.fetch(query, max_rows=MOST))
            yield memory, copy


def _goes_as_text(column: Column) -> bool:
    """Whether a driver may return another value than the database's, or none.

    That holds for infinite dates, months, NaN and bytes.
    """
    return column.kind not in ("integer", "boolean") and column.type not in ("text[]", "character varying[]")
