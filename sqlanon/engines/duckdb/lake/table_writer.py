"""Tables in a lake that DuckDB's rows are published into: written next to their files, compared, then committed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.engines.base import Relation, TableRef
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.types import kind_of
from sqlanon.engines.lacks import LAKE_LACKS, PUBLISHED
from sqlanon.engines.values import Column
from sqlanon.errors import PolicyError, PrivacyViolation, UnsupportedError
from sqlanon.lake_names import lake_of


@dataclass(frozen=True, slots=True)
class Format:
    """How tables of a format are written.

    Attributes:
        commits: the module with ``canonical``, ``root``, ``list_facts``, ``write``, ``read``, ``commit``,
            ``list_files``, ``remove`` and ``expire``.
        packages: that it imports.
    """

    commits: str
    packages: tuple[str, ...]


_HERE = "sqlanon.engines.duckdb.lake"
FORMATS: Mapping[str, Format] = {
    "delta": Format(f"{_HERE}.delta_commits", ("deltalake", "pyarrow")),
    "iceberg": Format(f"{_HERE}.iceberg_commits", ("pyiceberg", "pyarrow")),
}
_TYPES = re.compile(
    r"(BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|VARCHAR|BLOB|DATE|TIMESTAMP|TIMESTAMP WITH TIME ZONE|"
    r"DECIMAL\(\d+,\d+\)|ENUM\(.*\))(\[\])*",
    re.DOTALL,
)
_NAMES = re.compile(r"[ ,;{}()\n\t=]")
_ROWS = 500_000
"""Rows of a row group, which are in memory while they are written."""
Facts = Mapping[str, str]
Check = Callable[[Sequence[Facts]], None]


class LakeWriter:
    """See `sqlanon.engines.lake_writing.LakeWriting`."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        file: str | None,
        qualify: Callable[[TableRef], str],
        translate: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        """Take an engine's connection, its file, quoting of names and translation of errors."""
        self._connection = connection
        self._file = file
        self._qualify = qualify
        self._translate = translate

    def place(self, name: str) -> str:
        lake = lake_of(name)
        form = FORMATS.get(lake.scheme) if lake else None
        if lake is None or form is None:
            raise UnsupportedError(f"{name}: {LAKE_LACKS['parquet'][PUBLISHED].why}")
        commits, where = _commits(str(lake))
        place = f"{lake.scheme}:{commits.canonical(where)}"
        root = commits.root(commits.canonical(where))
        if self._file is not None and root is not None and Path(os.path.realpath(root)) in Path(self._file).parents:
            raise PolicyError(
                f"{place}: the database file is in the folder that readers read, and it has private tables; keep it in "
                "a folder that they cannot read"
            )
        return place

    def check_apart(self, place: str, source: str) -> None:
        lake = lake_of(source)
        commits, where = _commits(place)
        target = commits.root(where)
        if lake is None or target is None:
            return
        if lake.scheme == "parquet":
            fixed = re.split(r"[*?\[]", lake.place, maxsplit=1)[0]
            origin = None if "://" in fixed else Path(fixed if Path(fixed).is_dir() else Path(fixed).parent)
        else:
            readers, table = _commits(str(lake))
            origin = readers.root(readers.canonical(table))
        if origin is None:
            return
        here, there = (Path(os.path.realpath(folder)) for folder in (origin, target))
        if here == there or here in there.parents or there in here.parents:
            raise PolicyError(
                f"{place}: its folder and that of the source {source} are one, or in each other: whoever reads one "
                "would read both; choose another folder"
            )

    def list_warnings(self, place: str) -> Sequence[str]:
        if self._file is None:
            return []
        status, warnings = Path(self._file).stat(), []
        if status.st_mode & (stat.S_IRGRP | stat.S_IROTH):
            warnings.append(
                f"other users may read {self._file}, which has private tables next to the published {place}: chmod 600"
            )
        if status.st_nlink > 1:
            warnings.append(
                f"{self._file}, which has private tables, has {status.st_nlink} names (hard links): keep every one out "
                f"of folders that readers of {place} read"
            )
        return warnings

    def facts(self, place: str) -> Sequence[Facts]:
        commits, where = _commits(place)
        return [dict(fact) for fact in commits.list_facts(where)]

    def write(self, table: TableRef, place: str, file: str, facts: Facts, check: Check) -> None:
        columns = self._describe(self._qualify(table))
        for name, kind in columns:
            if not _TYPES.fullmatch(kind) or _NAMES.search(name):
                raise PolicyError(
                    f"{place}: the column {name} has a type or a name that such a table lacks; cast or "
                    "rename it in a view of the source"
                )
        commits, where = _commits(place)
        # An open stream would keep the connection from the statements that clean up.
        with self._translate(f"to write into {place}"), closing(self._stream(table, columns)) as rows:
            commits.write(where, file, rows, facts, check)
        with self.reading([(table, place)], file) as views, self._translate(f"to read {place}"):
            names = [name for name, _ in columns]
            if self._hash(self._qualify(table), names) != self._hash(self._qualify(views[0].ref), names):
                raise PrivacyViolation(f"{place}: what was written differs from what was verified; run again")

    @contextmanager
    def reading(self, tables: Sequence[tuple[TableRef, str]], file: str) -> Iterator[list[Relation]]:
        views: list[Relation] = []
        stem = file.removesuffix(".parquet")
        try:
            for table, place in tables:
                columns = self._describe(self._qualify(table))
                view = TableRef(None, f"{stem} {table.name}")
                self._open(place, file, columns, view)
                kinds = self._describe(f"temp.main.{quote(view.name)}")
                columns_of = tuple(Column(name, kind, kind_of(kind)) for name, kind in kinds)
                views.append(Relation(view, columns_of, is_view=True))
            yield views
        finally:
            for relation in views:
                self._connection.unregister(relation.ref.name)
                self._connection.unregister(f"{relation.ref.name} file")

    def _open(self, place: str, file: str, columns: Sequence[tuple[str, str]], view: TableRef) -> None:
        """Make a temporary view of a written file, by the types of the table that it was written of."""
        commits, where = _commits(place)
        name = f"{view.name} file"
        scan = commits.read(where, file)
        self._connection.register(name, scan)
        file_columns = self._describe(f"temp.main.{quote(name)}")
        if {name for name, _ in columns} != {name for name, _ in file_columns}:
            raise PrivacyViolation(f"{place}: what was written has other columns than what was verified; run again")
        cells = ", ".join(f"{quote(column)}::{kind} AS {quote(column)}" for column, kind in columns)
        text = f"SELECT {cells} FROM temp.main.{quote(name)}"  # noqa: S608
        self._connection.register(view.name, self._connection.sql(text))

    def _describe(self, table: str) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in self._connection.execute(f"DESCRIBE FROM {table}").fetchall()]

    def _stream(self, table: TableRef, columns: Sequence[tuple[str, str]]) -> Any:  # noqa: ANN401 - Arrow's own
        """The rows of a table as an Arrow stream; texts of a listed type as texts."""
        cells = [quote(name) if "ENUM" not in kind else f"{quote(name)}::{_text_kind(kind)}" for name, kind in columns]
        names = [f"{cell} AS {quote(name)}" for cell, (name, _) in zip(cells, columns, strict=True)]
        text = f"SELECT {', '.join(names)} FROM {self._qualify(table)}"  # noqa: S608
        return self._connection.sql(text).to_arrow_reader(_ROWS)

    def _hash(self, table: str, columns: Sequence[str]) -> object:
        """Number of rows and the sum of their hashes, whatever their order."""
        text = f"SELECT count(*), sum(hash({', '.join(map(quote, columns))})) FROM {table}"  # noqa: S608
        return self._connection.execute(text).fetchall()

    def commit(self, place: str, file: str | None, facts: Facts, check: Check) -> None:
        commits, where = _commits(place)
        commits.commit(where, file, facts, check)

    def list_files(self, place: str) -> Sequence[str]:
        commits, where = _commits(place)
        return list(commits.list_files(where))

    def remove(self, place: str, file: str) -> bool:
        commits, where = _commits(place)
        return bool(commits.remove(where, file))

    def expire(self, place: str, files: Collection[str]) -> int:
        commits, where = _commits(place)
        return int(commits.expire(where, files))


def _text_kind(kind: str) -> str:
    """The type of texts in place of that of listed texts."""
    return "VARCHAR" + "[]" * ((len(kind) - len(kind.rstrip("[]"))) // 2)


def _commits(place: str) -> tuple[Any, str]:
    """The module of a place's format, and the place there.

    Raises:
        PolicyError: the format's packages are not installed.
    """
    scheme, _, where = place.partition(":")
    form = FORMATS[scheme]
    if not all(map(find_spec, form.packages)):
        raise PolicyError(f"{place}: {scheme} needs more packages: pip install 'sqlanon[{scheme}]'")
    return import_module(form.commits), where
