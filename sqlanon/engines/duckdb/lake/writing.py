"""Tables in a lake that DuckDB's rows are published into: written next to their files, compared, then committed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from sqlanon.engines.base import TableRef
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.lacks import LAKE_LACKS, PUBLISHED
from sqlanon.errors import PolicyError, PrivacyViolation, UnsupportedError, file_errors
from sqlanon.lake_names import lake_of


@dataclass(frozen=True, slots=True)
class Format:
    """How tables of a format are written.

    Attributes:
        commits: the module with ``canonical``, ``root``, ``folder``, ``list_facts`` and ``commit``.
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
Facts = Mapping[str, str]


class LakeWriter:
    """See `sqlanon.engines.abilities.LakeWriting`."""

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
        if self._file is not None and Path(os.path.realpath(commits.root(where))) in Path(self._file).parents:
            raise PolicyError(
                f"{place}: the database file is in the folder that readers read, and it has private tables; keep it in "
                "a folder that they cannot read"
            )
        return place

    def facts(self, place: str) -> Sequence[Facts]:
        commits, where = _commits(place)
        return [dict(fact) for fact in commits.list_facts(where)]

    def write(self, table: TableRef, place: str, file: str) -> None:
        columns = self._connection.execute(f"DESCRIBE {self._qualify(table)}").fetchall()
        for name, kind, *_ in columns:
            if not _TYPES.fullmatch(str(kind)) or _NAMES.search(str(name)):
                raise PolicyError(
                    f"{place}: the column {name} has a type or a name that such a table lacks; cast or "
                    "rename it in a view of the source"
                )
        path = _path(place, file)
        with file_errors(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._translate(f"to write into {place}"):
                self._connection.execute(
                    f"COPY (FROM {self._qualify(table)}) TO {_text(path)} (FORMAT parquet, COMPRESSION zstd)"
                )
            with path.open("rb") as written_file:  # a file that is committed outlives the machine's power
                os.fsync(written_file.fileno())
        with self._translate(f"to read {place}"):
            shown = f"read_parquet({_text(path)})"
            kinds = self._connection.execute(f"DESCRIBE FROM {shown}").fetchall()
            same = [(name, "VARCHAR" if "ENUM" in kind else kind) for name, kind, *_ in columns]
            if same != [(name, kind) for name, kind, *_ in kinds] or self._hash(
                self._qualify(table), columns
            ) != self._hash(shown, columns):
                raise PrivacyViolation(f"{place}: what was written differs from what was verified; run again")

    def _hash(self, table: str, columns: Sequence[tuple[Any, ...]]) -> object:
        """Number of rows and the sum of their hashes, whatever their order."""
        names = [quote(name) if "ENUM" not in kind else f"{quote(name)}::VARCHAR" for name, kind, *_ in columns]
        text = f"SELECT count(*), sum(hash({', '.join(names)})) FROM {table}"  # noqa: S608
        return self._connection.execute(text).fetchall()

    def commit(self, place: str, file: str | None, facts: Facts, check: Callable[[Sequence[Facts]], None]) -> None:
        commits, where = _commits(place)
        commits.commit(where, file, facts, check)

    def remove(self, place: str, file: str) -> bool:
        path = _path(place, file)
        there = path.exists()
        path.unlink(missing_ok=True)
        return there


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


def _path(place: str, file: str) -> Path:
    commits, where = _commits(place)
    return Path(commits.folder(where), file)


def _text(path: Path) -> str:
    """A path as SQL, which DuckDB does not read as a pattern."""
    return "'" + re.sub(r"([*?\[])", r"[\1]", str(path)).replace("'", "''") + "'"
