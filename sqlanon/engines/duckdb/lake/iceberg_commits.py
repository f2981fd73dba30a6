"""Commits to tables of Apache Iceberg, with facts in the snapshots' summaries, and the facts of earlier snapshots.

A file is added as it is; the rows before go in the same commit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow
import pyarrow.parquet
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationException,
)
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.snapshots import Operation, ancestors_of

from sqlanon.engines.duckdb.lake.iceberg import open_catalog
from sqlanon.engines.duckdb.lake.opened import cannot_open, make_interrupted_error
from sqlanon.engines.lacks import IN_BUCKETS, LAKE_LACKS
from sqlanon.errors import DatabaseError, SqlanonError, UnsupportedError

_KEY = "sqlanon."
_ANY = pyarrow.schema([("a", pyarrow.int64())])


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


def folder(place: str) -> Path:
    """Where files of the table are written; raises as `root`."""
    return root(place) / "data"


def root(place: str) -> Path:
    """The folder of all that readers of the table read.

    Raises:
        UnsupportedError: it is not a folder of this machine.
    """
    with _errors(place):
        table = _load(place)
        catalog, path = open_catalog(f"iceberg:{place}", place)
        where = table.location() if table else _create(catalog, path, _ANY).table_metadata.location
    parts = urlsplit(where)
    if parts.scheme not in ("", "file"):
        raise UnsupportedError(f"iceberg:{place}: {LAKE_LACKS['iceberg'][IN_BUCKETS].why}")
    return Path(unquote(parts.path) if parts.scheme else where)


def commit(
    place: str,
    file: str | None,
    facts: Mapping[str, str],
    check: Callable[[Sequence[Mapping[str, str]]], None],
) -> None:
    """Let a table consist of one file, or of no row; see `sqlanon.engines.abilities.LakeWriting.commit`.

    Raises:
        LockedError: another program committed after the snapshots that ``check`` has seen.
        DatabaseError: the metadata cannot be read or written.
    """
    properties = {f"{_KEY}{key}": value for key, value in facts.items()}
    added = None if file is None else folder(place) / file
    with _errors(place), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyiceberg's, where there are no rows to delete
        table = _load(place)
        check([] if table is None else _list(table))
        if table is None and added is None:
            return
        schema = None if added is None else pyarrow.parquet.read_schema(added)
        if table is None:
            change: Transaction = _create(*open_catalog(f"iceberg:{place}", place), schema)
        else:
            # Another try after a commit of somebody else would replace rows that were not checked.
            table.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
            change = table.transaction()
            if table.current_snapshot():
                change.delete(AlwaysTrue(), snapshot_properties=properties)
            if schema is not None:
                _evolve(change, schema)
        if added is not None:
            change.add_files([added.as_uri()], snapshot_properties=properties, check_duplicate_files=False)
        change.commit_transaction()


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


def _same(one: pyarrow.DataType, other: pyarrow.DataType) -> bool:
    """Whether two types are the same for Iceberg, which has one kind of text and of lists."""
    return str(one).replace("large_", "") == str(other).replace("large_", "")


def _create(catalog: Catalog, path: str, schema: pyarrow.Schema) -> Transaction:
    return catalog.create_table_transaction(path, schema)


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
        raise cannot_open(name, "the table's metadata", error) from error
