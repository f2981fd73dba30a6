"""Releases of files, through an in-memory DuckDB."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack, cast

from sqlanon import policy
from sqlanon.database.database import Database
from sqlanon.database.export import check_file, write
from sqlanon.database.open_url import connect
from sqlanon.declared import FORMATS
from sqlanon.declared.options import FileOptions
from sqlanon.engines.base import ColumnReading, Engine, FileReading, TableRef
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress
from sqlanon.release.catalog.views import sensitive_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier

FILES = (".csv", ".csv.gz", ".parquet")
"""Files that `anonymize` reads; it writes all but ``.csv.gz``."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file as a table.

    Attributes:
        database: in memory.
        table: the table's name.
        notes: facts to know about columns that stayed text, one line each.
        population: the name of the table of the second file.
    """

    database: Database
    table: str
    notes: tuple[str, ...] = ()
    population: str | None = None


def anonymize_file(
    path: str | os.PathLike[str],
    *,
    to: str | os.PathLike[str],
    progress: Progress | None = None,
    reading: Mapping[str, Any],
    escape_formulas: bool = False,
    **options: Unpack[FileOptions],
) -> RunReport:
    """Anonymize a file into a file; see `sqlanon.anonymize`.

    ``reading``: options of the CSV reader, by their names there.
    """
    source, target = Path(path), Path(to)
    _check_kind(source)
    how = _collect_reading(**reading)
    check_file(target, escape_formulas=escape_formulas)
    view = TableRef("release", "data")
    files = {view: target}
    arguments = cast("dict[str, Any]", options)
    for key in ("publish", "publish_file", "publish_to"):
        if arguments.pop(key, None):
            raise PolicyError(f"{key} is for tables in a database; a file is written with to")
    options["name"] = options.get("name") or source.name.split(".")[0] or "release"
    table = source.name.split(".")[0] or "source"
    spec = policy.release(source=identifier(table), publish="release.data", **options)
    division_of_run(spec, None).check_once("a file")
    if FORMATS[spec.format.kind].paired:
        beside = target.with_name(sensitive_of(TableRef(None, target.stem)).name + target.suffix)
        files[sensitive_of(view)] = beside
        if beside.exists() and not target.exists():
            raise PolicyError(
                f"{beside} exists, and without {target} it is not of an earlier release; move it away or choose "
                "another name"
            )
    for file in files.values():
        if source.exists() and file.exists() and source.resolve() == file.resolve():
            raise PolicyError(f"{file} is the source itself; choose another file")
    with connect("duckdb:///:memory:", progress=progress, memory=spec.memory) as database:
        import_warnings = _import(database.engine, source, database.engine.target(spec.source), how, columns_read(spec))
        report = database.run(spec)
        warned = write(
            database.engine,
            files,
            sensitive=[column.name for column in spec.with_role("sensitive")],
            escape_formulas=escape_formulas,
        )
    second = files.get(sensitive_of(view))
    return replace(
        report,
        source=str(source),
        warnings=(*report.warnings, *import_warnings, *warned),
        published=str(target),
        published_sensitive=str(second) if second else None,
    )


@contextmanager
def open_file(
    path: str | os.PathLike[str],
    *,
    population: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Iterator[OpenedFile]:
    """One file, or two, as tables of an in-memory DuckDB.

    See `anonymize` for the way they are read, and for errors.
    """
    source = Path(path)
    _check_kind(source)
    how = _collect_reading(**reading)
    name = identifier(source.name.split(".")[0] or "source")
    with connect("duckdb:///:memory:", progress=progress) as database:
        notes = _import(database.engine, source, database.engine.target(name), how, ColumnReading())
        if population is None:
            yield OpenedFile(database, name, tuple(notes))
            return
        second = Path(population)
        _check_kind(second)
        people = identifier(f"population of {source.name}")
        _import(database.engine, second, database.engine.target(people), how, ColumnReading())
        yield OpenedFile(database, name, tuple(notes), people)


@contextmanager
def open_files(
    paths: Sequence[str | os.PathLike[str]], *, progress: Progress | None = None, **reading: Any
) -> Iterator[tuple[Database, Mapping[str, str], tuple[str, ...]]]:
    """Several files as tables of an in-memory DuckDB: the database, the table of each path, and `OpenedFile.notes`."""
    notes: list[str] = []
    names: dict[str, str] = {}
    with connect("duckdb:///:memory:", progress=progress) as database:
        for path in map(Path, paths):
            name = identifier(path.name)
            if name in names.values():
                raise PolicyError(f"{path}: two files have this name")
            names[str(path)] = name
            _check_kind(path)
            how = _collect_reading(**reading)
            notes += _import(database.engine, path, database.engine.target(name), how, ColumnReading())
        yield database, names, tuple(notes)


def columns_read(spec: ReleaseSpec) -> ColumnReading:
    """The columns that a release reads of a file or a frame, and those that it does not publish value by value.

    With ``rest: drop`` a release reads only the columns that it names.
    """
    names = [*(column.name for column in spec.columns), *spec.person, *spec.key]
    paired = FORMATS[spec.format.kind].paired  # publishes quasi columns as they are
    quasi = [] if paired else [column.name for column in spec.with_role("quasi")]
    return ColumnReading(
        frozenset(map(str.casefold, names)) if spec.rest == "drop" else None, frozenset(map(str.casefold, quasi))
    )


def _check_kind(source: Path) -> None:
    if not str(source).lower().endswith(FILES):
        raise PolicyError(f"{source}: files are {', '.join(FILES)}; for a table, connect to its database")


def _collect_reading(
    null: str | Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    types: Mapping[str, str] | None = None,
    decimal: str | None = None,
    ignore: str | Sequence[str] = (),
    date_format: str | None = None,
) -> FileReading:
    """Options of reading a file, by their names in the public interface."""
    texts = (null,) if isinstance(null, str) else tuple(null)
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    return FileReading(texts, delimiter, encoding, types or {}, decimal, ignored, date_format)


def _import(engine: Engine, path: Path, table: TableRef, how: FileReading, columns: ColumnReading) -> list[str]:
    assert engine.files is not None  # it is DuckDB
    return engine.files.import_file(path, table, how, columns)
