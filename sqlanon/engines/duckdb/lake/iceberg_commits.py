"""Commits to tables of Apache Iceberg: written on a branch, read back there, then the main branch is moved forward.

The facts are in the snapshots' summaries. The schema of a version becomes the table's with the version: until then the
table keeps the one that readers have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationException,
)
from pyiceberg.io.pyarrow import PyArrowFileIO, parquet_file_to_data_file, schema_to_pyarrow
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Operation, Snapshot, ancestors_of
from pyiceberg.table.update import SetCurrentSchemaUpdate
from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots

from sqlanon.engines.duckdb.lake.iceberg import open_catalog
from sqlanon.engines.duckdb.lake.parquet_files import ParquetFile
from sqlanon.engines.duckdb.lake.table_version import cannot_open, make_interrupted_error
from sqlanon.errors import DatabaseError, PrivacyViolation, SqlanonError, UnsupportedError

_KEY = "sqlanon."
_FILES = "total-data-files"
_METRICS = "write.metadata.metrics."
_NO_VALUES = {TableProperties.DEFAULT_WRITE_METRICS_MODE: "none"}
"""Manifests get no smallest and largest values: those of a deleted file would stay in manifests of later versions."""
_ANY = pyarrow.schema([("a", pyarrow.int64())])
Check = Callable[[Sequence[Mapping[str, str]]], None]


def canonical(place: str) -> str:
    """The place as it is."""
    return place


def list_facts(place: str) -> list[Mapping[str, str]]:
    """The facts of the snapshots that changed rows, the newest first; empty for those of other programs.

    Raises:
        DatabaseError: the table's metadata cannot be read.
    """
    with _errors(place):
        table = _load(place)
        return [] if table is None else _list(table)


def root(place: str) -> Path | None:
    """The folder of all that readers of the table read; None: it is not on this machine."""
    with _errors(place):
        table = _load(place)
        catalog, path = open_catalog(f"iceberg:{place}", place)
        where = table.location() if table else catalog.create_table_transaction(path, _ANY).table_metadata.location
    parts = urlsplit(where)
    if parts.scheme not in ("", "file"):
        return None
    return Path(unquote(parts.path) if parts.scheme else where)


def write(place: str, file: str, rows: Any, facts: Mapping[str, str], check: Check) -> None:  # noqa: ANN401 - Arrow's own
    """Write a file, and commit it to a branch of its own, in place of all rows of the main branch.

    Raises:
        LockedError: another program committed meanwhile.
        UnsupportedError: the table has partitions.
        DatabaseError: it cannot be written.
    """
    with _errors(place):
        table = _load(place)
        check([] if table is None else _list(table))
        if table is None:
            catalog, path = open_catalog(f"iceberg:{place}", place)
            table = catalog.create_table(path, rows.schema, properties=_NO_VALUES)
        if not table.spec().is_unpartitioned():
            raise UnsupportedError(
                f"iceberg:{place}: the table has partitions, and a version is one file, which readers who ask for a "
                "partition would not find; nothing was published: remove the partition fields"
            )
        if table.current_snapshot() is None:  # the specification has a first snapshot on the main branch alone
            with _begin(table) as first, first.update_snapshot().fast_append():
                pass
            table.refresh()
        before, change = table.metadata.current_schema_id, _begin(table)
        _evolve(change, rows.schema)
        schema = change.table_metadata.schema()
        _find(table, file).write(rows, schema_to_pyarrow(schema))
        branch, head = _branch_of(file), table.current_snapshot()
        assert head is not None
        ManageSnapshots(change).create_branch(head.snapshot_id, branch).commit()
        _replace_rows(table, change, facts, branch, file)
        if schema.schema_id != before:
            _set_schema(change, before)
        change.commit_transaction()


def read(place: str, file: str) -> Any:  # noqa: ANN401 - Arrow's own
    """The rows of a branch, for DuckDB.

    Raises:
        PrivacyViolation: the branch does not consist of the file.
    """
    with _errors(place):
        table = _load(place)
        snapshot = None if table is None else _find_staged(table, file)
        if table is None or snapshot is None:
            raise make_interrupted_error(f"iceberg:{place}")
        scan = table.scan(snapshot_id=snapshot.snapshot_id)
        tasks = list(scan.plan_files())
        if [(task.file.file_path, len(task.delete_files)) for task in tasks] != [(_uri(table, file), 0)]:
            raise PrivacyViolation(f"iceberg:{place}: what was written differs from what was verified; run again")
        return _find(table, file).read(schema_to_pyarrow(scan.projection(), include_field_ids=False))


def commit(place: str, file: str | None, facts: Mapping[str, str], check: Check) -> None:
    """Let the main branch be that of a file, or have no row; see `sqlanon.engines.lake_writing.LakeWriting.commit`.

    Raises:
        LockedError: another program committed after the snapshots that ``check`` has seen, or since the file was
            written.
        DatabaseError: the metadata cannot be read or written.
    """
    with _errors(place):
        table = _load(place)
        check([] if table is None else _list(table))
        if table is None:
            return
        change = _begin(table)
        if file is None:
            _replace_rows(table, change, facts, MAIN_BRANCH, None)
        else:
            snapshot, head = _find_staged(table, file), table.current_snapshot()
            ancestors = (
                [] if snapshot is None else [item.snapshot_id for item in ancestors_of(snapshot, table.metadata)]
            )
            if snapshot is None or (head is not None and head.snapshot_id not in ancestors):
                raise make_interrupted_error(f"iceberg:{place}")
            references = ManageSnapshots(change).set_current_snapshot(snapshot.snapshot_id)
            if snapshot.schema_id is not None and snapshot.schema_id != table.metadata.current_schema_id:
                _set_schema(change, snapshot.schema_id)
            references.remove_branch(_branch_of(file)).commit()
        change.commit_transaction()


def remove(place: str, file: str) -> bool:
    """Remove a file that is in no snapshot of the main branch, with its branch; whether it was there."""
    with _errors(place):
        table = _load(place)
        if table is None:
            return False
        snapshot = _find_staged(table, file)
        if snapshot is not None:
            shown = {item.snapshot_id for item in ancestors_of(table.current_snapshot(), table.metadata)}
            staged = [item for item in ancestors_of(snapshot, table.metadata) if item.snapshot_id not in shown]
            others = [item for item in table.snapshots() if item not in staged]
            unshown = _list_manifests(table, staged) - _list_manifests(table, others)
            change = _begin(table)
            ManageSnapshots(change).remove_branch(_branch_of(file)).commit()
            ExpireSnapshots(change).by_ids([item.snapshot_id for item in staged]).commit()
            change.commit_transaction()
            for path in [*unshown, *(item.manifest_list for item in staged)]:
                with suppress(OSError):  # nobody is shown it
                    table.io.delete(path)
        return _find(table, file).remove() or snapshot is not None


def expire(place: str, files: Collection[str]) -> int:
    """Remove all snapshots but the heads of branches and tags and those of these files, and what they alone have.

    Returns:
        how many data files were removed.

    Raises:
        LockedError, DatabaseError: another program committed meanwhile, or files cannot be removed.
    """
    with _errors(place):
        table = _load(place)
        if table is None:
            return 0
        heads = {reference.snapshot_id for reference in table.metadata.refs.values()}
        expired = [item for item in table.snapshots() if item.snapshot_id not in heads and _file_of(item) not in files]
        others = [item for item in table.snapshots() if item not in expired]
        if not expired:
            return 0
        unshown = _list_manifests(table, expired) - _list_manifests(table, others)
        data = _list_data(table, expired) - _list_data(table, others)
        change = _begin(table)
        ExpireSnapshots(change).by_ids([item.snapshot_id for item in expired]).commit()
        change.commit_transaction()
        for path in [*data, *unshown, *(item.manifest_list for item in expired)]:
            with suppress(FileNotFoundError):
                table.io.delete(path)
        return len(data)


def list_files(place: str) -> list[str]:
    """The files that readers of the main branch read: names of those in the table's folder, with their deletes."""
    with _errors(place):
        table = _load(place)
        if table is None or table.current_snapshot() is None:
            return []
        tasks = list(table.scan().plan_files())
        paths = [task.file.file_path for task in tasks]
        paths += [file.file_path for task in tasks for file in task.delete_files]
        return sorted(path.removeprefix(_uri(table, "")) for path in paths)


def _file_of(snapshot: Snapshot) -> str | None:
    summary = snapshot.summary
    return summary.additional_properties.get(f"{_KEY}file") if summary else None


def _list_data(table: Table, snapshots: Sequence[Snapshot]) -> set[str]:
    """The files of snapshots, without those that they delete."""
    manifests = [manifest for snapshot in snapshots for manifest in snapshot.manifests(table.io)]
    return {entry.data_file.file_path for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io)}


def _list_manifests(table: Table, snapshots: Sequence[Snapshot]) -> set[str]:
    return {manifest.manifest_path for snapshot in snapshots for manifest in snapshot.manifests(table.io)}


def _begin(table: Table) -> Transaction:
    # Another try after a commit of somebody else would replace rows that were not checked.
    table.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
    return table.transaction()


def _set_schema(change: Transaction, schema_id: int) -> None:
    update = SetCurrentSchemaUpdate.model_validate({"schema-id": schema_id})
    change._apply((update,))  # noqa: SLF001 - there is no other way


def _replace_rows(table: Table, change: Transaction, facts: Mapping[str, str], branch: str, file: str | None) -> None:
    """Let a branch consist of a file, or of no row, in one snapshot after the main branch's."""
    properties = {f"{_KEY}{key}": value for key, value in facts.items()}
    with change.update_snapshot(snapshot_properties=properties, branch=branch).overwrite() as snapshot:
        for task in table.scan().plan_files() if table.current_snapshot() else ():
            snapshot.delete_data_file(task.file)
        if file is not None:
            metadata = _without_metrics(change.table_metadata)
            snapshot.append_data_file(parquet_file_to_data_file(table.io, metadata, _uri(table, file)))


def _without_metrics(metadata: TableMetadata) -> TableMetadata:
    """The same, of a table whose manifests have no values, whatever its properties say."""
    others = {name: value for name, value in metadata.properties.items() if not name.startswith(_METRICS)}
    return metadata.model_copy(update={"properties": {**others, **_NO_VALUES}})


def _branch_of(file: str) -> str:
    """The branch of a file: its name without the extension."""
    return file.removesuffix(".parquet")


def _find_staged(table: Table, file: str) -> Snapshot | None:
    reference = table.metadata.refs.get(_branch_of(file))
    return None if reference is None else table.snapshot_by_id(reference.snapshot_id)


def _uri(table: Table, file: str) -> str:
    return f"{table.location().rstrip('/')}/data/{file}"


def _find(table: Table, file: str) -> ParquetFile:
    assert isinstance(table.io, PyArrowFileIO)
    scheme, netloc, path = PyArrowFileIO.parse_location(_uri(table, file))
    return ParquetFile(table.io.fs_by_scheme(scheme, netloc), path)


def _evolve(change: Transaction, schema: pyarrow.Schema) -> None:
    """Give a table these columns; those of other types are new columns of the same names."""
    arrow = change.table_metadata.schema().as_arrow()
    kinds = {field.name: field.type for field in arrow}
    dropped = [
        name for name, kind in kinds.items() if name not in schema.names or not _same(kind, schema.field(name).type)
    ]
    if dropped:
        with change.update_schema(allow_incompatible_changes=True) as columns:
            for name in dropped:
                columns.delete_column(name)
    if set(schema.names) - (set(kinds) - set(dropped)):
        with change.update_schema() as columns:
            columns.union_by_name(schema)


def _same(left: pyarrow.DataType, other: pyarrow.DataType) -> bool:
    """Whether two types are the same for Iceberg, which has one kind of text, of lists and of small integers."""
    return _spell(left) == _spell(other)


def _spell(kind: pyarrow.DataType) -> str:
    text = str(kind).replace("large_", "").replace("element", "item").replace("child", "item")
    return text.replace("int8", "int32").replace("int16", "int32")


def _load(place: str) -> Table | None:
    catalog, path = open_catalog(f"iceberg:{place}", place)
    try:
        return catalog.load_table(path)
    except NoSuchTableError:
        return None


def _list(table: Table) -> list[Mapping[str, str]]:
    facts: list[Mapping[str, str]] = []
    for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
        summary = snapshot.summary
        if snapshot.parent_snapshot_id is None and summary and summary.additional_properties.get(_FILES) == "0":
            continue  # before the first version
        if summary is None or summary.operation != Operation.REPLACE:
            properties = summary.additional_properties if summary else {}
            facts.append({key.removeprefix(_KEY): value for key, value in properties.items() if key.startswith(_KEY)})
    return facts


@contextmanager
def _errors(place: str) -> Iterator[None]:
    name = f"iceberg:{place}"
    try:
        yield
    except SqlanonError:
        raise
    except (CommitFailedException, TableAlreadyExistsError, ValidationException) as error:
        raise make_interrupted_error(name) from error
    except NoSuchNamespaceError as error:
        raise DatabaseError(f"{name}: the catalog has no such namespace; create it") from error
    except Exception as error:
        raise cannot_open(name, "the table's metadata or files", error, writes=True) from error
