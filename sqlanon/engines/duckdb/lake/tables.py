"""The lake tables of a connection: each is opened at one version, and is a temporary view by the whole name.

A format is one entry of `FORMATS`: the packages that it needs, and a file next to this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import duckdb

from sqlanon.engines.base import Relation, TableRef
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.lake.table_version import OpenedTable
from sqlanon.engines.duckdb.types import kind_of
from sqlanon.engines.values import Column
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.lake_names import LakeName, Scheme

_HERE = "sqlanon.engines.duckdb.lake"


@dataclass(frozen=True, slots=True)
class Format:
    """How tables of a format are opened.

    Attributes:
        reader: the module with ``open_table``.
        packages: that it imports.
    """

    reader: str
    packages: tuple[str, ...] = ()


FORMATS: Mapping[Scheme, Format] = {
    "delta": Format(f"{_HERE}.delta", ("deltalake", "pyarrow")),
    "iceberg": Format(f"{_HERE}.iceberg", ("pyiceberg", "pyarrow")),
    "parquet": Format(f"{_HERE}.parquet"),
}


class LakeTables:
    """The lake tables that a connection has opened."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Open none yet; ``connection``: for the views, with a current database without macros."""
        self.connection = connection
        self._open: dict[str, tuple[OpenedTable, Relation]] = {}
        self._asked: dict[str, str] = {}
        self._held = False

    def relation(self, name: LakeName) -> Relation:
        """Open a table at the latest version; in a snapshot it stays as it was opened.

        Raises:
            PolicyError: the packages are not installed, or the name cannot be read.
            DatabaseError, UnsupportedError: as the format's ``open_table`` raises them.
        """
        if self._held and str(name) in self._asked:
            return self._open[self._asked[str(name)]][1]
        form = FORMATS[name.scheme]
        if not all(map(find_spec, form.packages)):
            raise PolicyError(f"{name}: {name.scheme} needs more packages: pip install 'sqlanon[{name.scheme}]'")
        open_table: Callable[[duckdb.DuckDBPyConnection, str], OpenedTable] = import_module(form.reader).open_table
        opened = open_table(self.connection, name.place)
        view = f"{name.scheme}:{opened.place}"
        again = self._open.get(view.lower())
        if again is not None and str(again[1].ref) != view:
            raise PolicyError(f"{view} and {again[1].ref} differ in case only; one connection reads one of them")
        if again is None or again[0].snapshot != opened.snapshot:
            self._open[view.lower()] = (opened, self._register(view, opened))
        self._asked[str(name)] = view.lower()
        return self._open[view.lower()][1]

    def _register(self, view: str, opened: OpenedTable) -> Relation:
        try:
            self.connection.register(view, opened.scan)
            rows = self.connection.execute(f"DESCRIBE FROM temp.main.{quote(view)}").fetchall()
        except duckdb.Error as error:
            raise DatabaseError(
                f"{view}: a column has a type that DuckDB does not read ({type(error).__name__}); write a copy of the "
                "table without it"
            ) from error
        renamed = [name for name, (read, *_) in zip(opened.columns, rows, strict=False) if name != read]
        if renamed:
            raise PolicyError(
                f"{view}: of columns whose names differ in case alone, and of columns without a name, DuckDB reads "
                f"others than those that are asked for ({', '.join(map(quote, renamed))}): rename them"
            )
        columns = tuple(Column(str(row[0]), str(row[1]), kind_of(str(row[1]))) for row in rows)
        return Relation(TableRef(None, view), columns, is_view=True, snapshot=opened.snapshot)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """All that is read inside is of one version of each table that was asked for since the last snapshot.

        Raises:
            DatabaseError: files that have no versions were changed meanwhile.
        """
        if self._held:
            yield
            return
        tables = [self._open[view] for view in set(self._asked.values())]
        before = [opened.state() if opened.state else "" for opened, _ in tables]
        self._held = True
        try:
            yield
            for (opened, relation), state in zip(tables, before, strict=True):
                if opened.state and opened.state() != state:
                    raise DatabaseError(
                        f"{relation.ref}: files were written or removed while they were read; run again afterwards"
                    )
        finally:
            self._held = False
            self._asked.clear()
