"""Folders of Parquet files, with columns in the names of folders (``year=2026/``); those in buckets by Arrow."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import duckdb

from sqlanon.engines.duckdb.lake.table_version import OpenedTable, cannot_open
from sqlanon.errors import DatabaseError, PolicyError

_DIGITS = 38
_WIDE = "SELECT DISTINCT name FROM parquet_schema($files) WHERE precision > $digits"
_KINDS = (
    "SELECT count(DISTINCT columns) FROM (SELECT list([name, type, logical_type::VARCHAR, num_children::VARCHAR] "
    "ORDER BY name, type) AS columns FROM parquet_schema($files) GROUP BY file_name)"
)
"""How many different sets of columns the files have."""
_NAMES = "SELECT name, num_children FROM parquet_schema($files)"
"""Of one file, each column before those that it consists of."""


def open_table(connection: duckdb.DuckDBPyConnection, place: str) -> OpenedTable:
    """Open Parquet files as one table.

    Args:
        connection: reads the files.
        place: a pattern of paths, or a folder: all files in it that end with ``.parquet``.

    Raises:
        PolicyError: a column has more digits than DuckDB keeps, or the files have different columns.
        DatabaseError: no file is there, or the files cannot be read as one table.

    Cost: reads the footers of the files.
    """
    name = f"parquet:{place}"
    if "://" in place:
        if not find_spec("pyarrow"):
            raise PolicyError(f"{name}: object storage is read by Arrow: pip install 'sqlanon[delta]'")
        from sqlanon.engines.duckdb.lake.parquet_objects import open_objects

        return open_objects(place)
    place = str(Path(place).absolute())
    name = f"parquet:{place}"
    try:
        files = _list_files(place)
    except OSError as error:
        raise cannot_open(name, "a folder", error) from error
    if not files:
        raise DatabaseError(f"{name}: no file is there; name a folder, or a pattern such as visits/*/*.parquet")
    try:
        state = _find_state(files)
        literal = [re.sub(r"([*?\[])", r"[\1]", file) for file in files]
        wide = connection.execute(_WIDE, {"files": literal, "digits": _DIGITS}).fetchall()
        ((kinds,),) = connection.execute(_KINDS, {"files": literal}).fetchall()
        names = _list_columns(connection.execute(_NAMES, {"files": literal[:1]}).fetchall())
        scan = connection.read_parquet(literal, hive_partitioning=True)
    except duckdb.Error as error:
        raise DatabaseError(
            f"{name}: the files cannot be read as one table ({type(error).__name__}); they must be Parquet, "
            "whole, have the same columns, and be readable for this user"
        ) from error
    except OSError as error:
        raise cannot_open(name, "a folder or a file", error) from error
    if kinds > 1:
        raise PolicyError(f"{name}: the files have {kinds} different sets of columns or types; write all of them alike")
    if wide:
        columns = ", ".join(sorted(str(row[0]) for row in wide))
        raise PolicyError(
            f"{name}: column {columns} has decimals of more than {_DIGITS} digits, which DuckDB would round; write "
            "them with fewer digits, or as text"
        )
    return OpenedTable(
        place,
        f"{len(files)} file{'s' * (len(files) > 1)} in state {state}",
        scan,
        names,
        lambda: _find_state(_list_files(place)),
    )


def _list_columns(fields: Sequence[tuple[str, int | None]]) -> list[str]:
    """The columns among the fields of a file, without the fields of columns; the first field is the row."""
    names, inner = list[str](), 0
    for name, children in fields[1:]:
        if not inner:
            names.append(name)
        inner = max(inner - 1, 0) + (children or 0)
    return names


def _list_files(place: str) -> list[str]:
    """The files of a pattern or a folder, by name, without hidden files and those that writers keep for themselves."""
    pattern = str(Path(place) / "**" / "*.parquet") if Path(place).is_dir() else place
    base = len(re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0])
    paths = (path for path in glob.iglob(pattern, recursive=True) if Path(path).is_file())  # noqa: PTH207 - of any root
    return sorted(path for path in paths if not re.search(r"/[._]", path[base:]))


def _find_state(files: Sequence[str]) -> str:
    """Name, number, size and time of each file: changed by every write. A file may be gone by now."""
    digest = hashlib.sha256()
    for path in files:
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            continue
        digest.update(f"{path}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
