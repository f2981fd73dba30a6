"""Commits to tables of Delta Lake, each with our facts, and the facts in a table's history."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions

from sqlanon.engines.duckdb.lake.opened import cannot_open, make_interrupted_error
from sqlanon.engines.lacks import IN_BUCKETS, LAKE_LACKS
from sqlanon.errors import DatabaseError, UnsupportedError, file_errors

FACTS = "sqlanon"
"""The name of our facts in commits."""
_SAME_ROWS = ("OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "UPGRADE PROTOCOL")
"""Operations that leave a table's rows as they are."""


def canonical(place: str) -> str:
    """The folder from the root.

    Raises:
        UnsupportedError: it is on object storage.
    """
    if "://" in place:
        raise UnsupportedError(f"delta:{place}: {LAKE_LACKS['delta'][IN_BUCKETS].why}")
    return str(Path(place).absolute())


def root(place: str) -> Path:
    """The folder of all that readers of the table read."""
    return Path(place)


def folder(place: str) -> Path:
    """Where files of the table are written."""
    return root(place)


def list_facts(place: str) -> list[Mapping[str, str]]:
    """The facts of the commits that changed rows, the newest first; empty for those of other programs.

    Raises:
        DatabaseError: something else is there, or the table's log cannot be read.
    """
    path = Path(place)
    with file_errors(place):
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return []
        if not (path / "_delta_log").exists():
            raise DatabaseError(f"delta:{place} is there, and is no table of Delta Lake; choose another folder")
    try:
        return _list(DeltaTable(place))
    except (DeltaError, OSError) as error:
        raise cannot_open(f"delta:{place}", "the table's log", error) from error


def _list(table: DeltaTable) -> list[Mapping[str, str]]:
    return [
        {str(key): str(value) for key, value in (commit.get(FACTS) or {}).items()}
        for commit in table.history()
        if commit.get("operation") not in _SAME_ROWS
    ]


def commit(
    place: str,
    file: str | None,
    facts: Mapping[str, str],
    check: Callable[[Sequence[Mapping[str, str]]], None],
) -> None:
    """Let a table consist of one file, or of no row; see `sqlanon.engines.abilities.LakeWriting.commit`.

    Raises:
        LockedError: another program committed after the commits that ``check`` has seen.
        DatabaseError: the log cannot be read or written.
    """
    added: list[AddAction] = []
    schema = None
    name = f"delta:{place}"
    try:
        if file is not None:
            path = Path(place, file)
            status, schema = path.stat(), Schema.from_arrow(pyarrow.parquet.read_schema(path))
            rows = json.dumps({"numRecords": pyarrow.parquet.read_metadata(path).num_rows})
            added = [AddAction(file, status.st_size, {}, int(status.st_mtime * 1000), data_change=True, stats=rows)]
        how = CommitProperties(custom_metadata={FACTS: dict(facts)}, max_commit_retries=0)
        if not Path(place, "_delta_log").exists():
            check(())
            if schema is not None:
                create_table_with_add_actions(place, schema, added, mode="error", commit_properties=how)
            return
        table = DeltaTable(place)
        check(_list(table))
        table.create_write_transaction([*added], "overwrite", schema or table.schema(), commit_properties=how)
    except CommitFailedError as error:
        raise make_interrupted_error(name) from error
    except DeltaError as error:
        if "already exists" in str(error):
            raise make_interrupted_error(name) from error
        raise cannot_open(name, "the table's log", error) from error
    except OSError as error:
        raise cannot_open(name, "the table's log", error) from error
