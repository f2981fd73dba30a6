"""Commits to tables of Delta Lake, each with our facts, and the facts in a table's history."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.fs
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import AddAction, create_table_with_add_actions

from sqlanon.engines.duckdb.lake.delta import explain_unopened
from sqlanon.engines.duckdb.lake.parquet_files import ParquetFile
from sqlanon.engines.duckdb.lake.table_version import make_interrupted_error
from sqlanon.errors import DatabaseError, SqlanonError, UnsupportedError, file_errors

FACTS = "sqlanon"
"""The name of our facts in commits."""
_SAME_ROWS = (
    "OPTIMIZE",
    "VACUUM START",
    "VACUUM END",
    "SET TBLPROPERTIES",
    "UNSET TBLPROPERTIES",
    "UPDATE TABLE METADATA",
    "UPGRADE PROTOCOL",
)
"""Operations that leave a table's rows as they are."""
_OWN = re.compile(r"sqlanon-[0-9a-f]+\.parquet")
"""Files that were written and not committed yet."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
Check = Callable[[Sequence[Mapping[str, str]]], None]


def canonical(place: str) -> str:
    """The folder from the root, or the URL without a slash at its end."""
    return place.rstrip("/") if _URL.match(place) else str(Path(place).absolute())


def root(place: str) -> Path | None:
    """The folder of all that readers of the table read; None: it is not on this machine."""
    return None if _URL.match(place) else Path(place)


def list_facts(place: str) -> list[Mapping[str, str]]:
    """The facts of the commits that changed rows, the newest first; empty for those of other programs.

    Raises:
        DatabaseError: something else is there, or the table's log cannot be read.
    """
    path = root(place)
    if path is not None:
        with file_errors(place):
            if not path.exists() or (path.is_dir() and all(_OWN.fullmatch(child.name) for child in path.iterdir())):
                return []
            if not (path / "_delta_log").exists():
                raise DatabaseError(f"delta:{place} is there, and is no table of Delta Lake; choose another folder")
    with _errors(place):
        table = _load(place)
        return [] if table is None else _list(table)


def _load(place: str) -> DeltaTable | None:
    try:
        return DeltaTable(place)
    except TableNotFoundError:
        return None


def _list(table: DeltaTable) -> list[Mapping[str, str]]:
    facts: dict[int, Mapping[str, str]] = {}
    for commit in reversed(table.history()):
        operation, version = commit.get("operation"), int(commit["version"])
        if operation == "RESTORE":  # rows of an earlier version are those of its commit
            facts[version] = _find_restored(commit, facts)
        elif operation not in _SAME_ROWS:
            facts[version] = {str(key): str(value) for key, value in (commit.get(FACTS) or {}).items()}
    return [facts[version] for version in sorted(facts, reverse=True)]


def _find_restored(commit: Mapping[str, Any], facts: Mapping[int, Mapping[str, str]]) -> Mapping[str, str]:
    """The facts of the rows that a commit restored; empty: the history does not have them, or they are no version's."""
    parameters = commit.get("operationParameters") or {}
    restored = str(parameters.get("version", ""))
    earlier = [version for version in facts if restored.isdigit() and version <= int(restored)]
    return facts[max(earlier)] if earlier else {}


def write(place: str, file: str, rows: Any, _: Mapping[str, str], check: Check) -> None:  # noqa: ANN401 - Arrow's own
    """Write a file that no commit names.

    Raises:
        DatabaseError: it cannot be written.
    """
    check(list_facts(place))
    with file_errors(place), _errors(place):
        _find(place, file).write(rows)


def read(place: str, file: str) -> Any:  # noqa: ANN401 - Arrow's own
    """The rows of a file that was written, for DuckDB."""
    with _errors(place):
        return _find(place, file).read()


def remove(place: str, file: str) -> bool:
    """Remove a file that no commit names; whether it was there."""
    with _errors(place):
        return _find(place, file).remove()


def expire(place: str, files: Collection[str]) -> int:
    """Remove the files of all versions but the latest and those that were committed with one of these files.

    Returns:
        how many files were removed.

    Raises:
        LockedError, DatabaseError: another program committed meanwhile, or files cannot be removed.
    """
    with _errors(place):
        table = _load(place)
        if table is None:
            return 0
        kept_versions = [
            int(commit["version"]) for commit in table.history() if (commit.get(FACTS) or {}).get("file") in files
        ]
        vacuum = partial(
            table.vacuum,
            0,
            enforce_retention_duration=False,
            full=True,
            keep_versions=sorted({*kept_versions, table.version()}),
        )
        # Without files to remove nothing is committed.
        removed_files = vacuum(dry_run=False) if vacuum(dry_run=True) else []
        return len(removed_files)


def list_files(place: str) -> list[str]:
    """The files that readers of the latest version read, as the table's log names them."""
    with _errors(place):
        table = _load(place)
        return [] if table is None else sorted(map(str, table.get_add_actions(flatten=True).column("path").to_pylist()))


def _find(place: str, file: str) -> ParquetFile:
    if root(place) is not None:
        return ParquetFile(pyarrow.fs.LocalFileSystem(), str(Path(place, file)))
    return ParquetFile(pyarrow.fs.PyFileSystem(DeltaStorageHandler(place)), file)


def commit(place: str, file: str | None, facts: Mapping[str, str], check: Check) -> None:
    """Let a table consist of one file, or of no row; see `sqlanon.engines.lake_writing.LakeWriting.commit`.

    Raises:
        LockedError: another program committed after the commits that ``check`` has seen.
        UnsupportedError: no row may be removed from the table.
        DatabaseError: the log cannot be read or written.
    """
    added: list[AddAction] = []
    schema = None
    with _errors(place):
        if file is not None:
            columns, count, size = _find(place, file).read_metadata()
            schema = Schema.from_arrow(columns)
            rows = json.dumps({"numRecords": count})
            added = [AddAction(file, size, {}, int(time.time() * 1000), data_change=True, stats=rows)]
        how = CommitProperties(custom_metadata={FACTS: dict(facts)}, max_commit_retries=0)
        table = _load(place)
        if table is None:
            check(())
            if schema is not None:
                create_table_with_add_actions(place, schema, added, mode="error", commit_properties=how)
            return
        check(_list(table))
        if table.metadata().configuration.get("delta.appendOnly") == "true":
            raise UnsupportedError(
                f"delta:{place}: the table has the property delta.appendOnly, and a version replaces the rows before; "
                "nothing was published: unset the property"
            )
        table.create_write_transaction([*added], "overwrite", schema or table.schema(), commit_properties=how)


@contextmanager
def _errors(place: str) -> Iterator[None]:
    name = f"delta:{place}"
    try:
        yield
    except SqlanonError:
        raise
    except CommitFailedError as error:
        raise make_interrupted_error(name) from error
    except (DeltaError, OSError) as error:
        if isinstance(error, DeltaError) and "already exists" in str(error):
            raise make_interrupted_error(name) from error
        raise explain_unopened(name, "the table's log or files", error, writes=True) from error
