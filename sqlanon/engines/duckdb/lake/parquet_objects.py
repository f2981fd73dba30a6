"""Parquet files on object storage as one table, read by Arrow with the credentials of the environment."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Sequence
from typing import Any

import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from sqlanon.engines.duckdb.lake.table_version import OpenedTable, cannot_open
from sqlanon.errors import DatabaseError, PolicyError


def open_objects(place: str) -> OpenedTable:
    """Open objects as one table; folders such as ``year=2026`` are columns.

    Args:
        place: the URL of a folder, of one file, or a pattern (``*`` is any text, also with slashes).

    Raises:
        PolicyError: the files have different columns, or Arrow knows no such storage.
        DatabaseError: no file is there, or the files cannot be read.

    Cost: lists the folder, and reads the footers of the files.
    """
    place = place.rstrip("/")
    name = f"parquet:{place}"
    try:
        system, path = pyarrow.fs.FileSystem.from_uri(place)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise PolicyError(f"{name}: Arrow knows no such storage; s3://, gs:// and hdfs:// are read") from error
    except OSError as error:
        raise cannot_open(name, "the storage", error) from error
    try:
        files = _list_files(system, path)
        if not files:
            raise DatabaseError(f"{name}: no file is there; name a folder, or a pattern such as s3://bucket/visits/*")
        schemas = [pyarrow.parquet.read_schema(file.path, filesystem=system).remove_metadata() for file in files]
        scan: Any = pyarrow.dataset.dataset(
            [file.path for file in files],
            filesystem=system,
            format="parquet",
            partitioning=pyarrow.dataset.HivePartitioning.discover(),
            partition_base_dir=re.split(r"/[^/=]+=[^/]*(?=/|$)", _find_base(path), maxsplit=1)[0],
        )
    except (OSError, pyarrow.ArrowException) as error:
        raise cannot_open(name, "a folder or a file", error) from error
    if (kinds := len(set(map(str, schemas)))) > 1:
        raise PolicyError(f"{name}: the files have {kinds} different sets of columns or types; write all of them alike")
    return OpenedTable(
        place,
        f"{len(files)} file{'s' * (len(files) > 1)} in state {_find_state(files)}",
        scan,
        schemas[0].names,
        lambda: _find_state(_list_files(system, path)),
    )


def _find_base(path: str) -> str:
    """The folder before the first sign of a pattern."""
    return re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0] if re.search(r"[*?\[]", path) else path


def _list_files(system: Any, path: str) -> list[Any]:  # noqa: ANN401 - Arrow's own
    base = _find_base(path)
    objects = system.get_file_info(pyarrow.fs.FileSelector(base, recursive=True, allow_not_found=True))
    if not objects:
        objects = [system.get_file_info(path)]
    pattern = path if base != path else f"{path}*"
    return sorted(
        (
            info
            for info in objects
            if info.type == pyarrow.fs.FileType.File
            and info.path.endswith(".parquet")
            and fnmatch.fnmatchcase(info.path, pattern)
            and not re.search(r"/[._]", info.path[len(base) :])
        ),
        key=lambda info: info.path,
    )


def _find_state(files: Sequence[Any]) -> str:
    """Name, size and time of each object."""
    digest = hashlib.sha256()
    for info in files:
        digest.update(f"{info.path}\0{info.size}\0{info.mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
