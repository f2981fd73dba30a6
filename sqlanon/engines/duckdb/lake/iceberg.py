"""Tables of Apache Iceberg, read by ``pyiceberg``, which is configured with the catalogs and their credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.dataset
import pyarrow.fs
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.io.pyarrow import PyArrowFileIO, schema_to_pyarrow

from sqlanon.engines.duckdb.lake.table_version import OpenedTable, cannot_open
from sqlanon.errors import DatabaseError, PolicyError

if TYPE_CHECKING:
    import duckdb
    from pyiceberg.table import DataScan, Table


def open_table(_: duckdb.DuckDBPyConnection, place: str) -> OpenedTable:
    """Open an Iceberg table at the current snapshot.

    Args:
        _: the connection, which is not used: the files are read by Arrow.
        place: a catalog of pyiceberg's configuration, a slash, and namespace and table.

    Raises:
        PolicyError: the place has another form, or there is no such catalog.
        DatabaseError: there is no such table, or it cannot be read.

    Cost: reads the snapshot's manifests, and no row.
    """
    name = f"iceberg:{place}"
    catalog, path = open_catalog(name, place)
    try:
        table = catalog.load_table(path)
    except (NoSuchTableError, NoSuchNamespaceError) as error:
        raise DatabaseError(f"{name}: the catalog {catalog.name} has no table {path}") from error
    except Exception as error:
        raise cannot_open(name, "the table's metadata", error) from error
    current = table.current_snapshot()
    # The table as it was loaded stays at the snapshot; the schema changes without a new snapshot.
    version = (
        f"{f'snapshot {current.snapshot_id}' if current else 'no snapshot'}, schema {table.metadata.current_schema_id}"
    )
    scan = table.scan()
    try:
        source = _dataset(table, scan) or _Stream(scan)
    except Exception as error:
        raise cannot_open(name, "the table's list of files", error) from error
    names = [field.name for field in table.schema().fields]
    return OpenedTable(place, f"{version} of table {table.metadata.table_uuid}", source, names)


def open_catalog(name: str, place: str) -> tuple[Catalog, str]:
    """The catalog of a place, and the table's name there.

    Raises:
        PolicyError: the place has another form.
        DatabaseError: there is no such catalog.
    """
    catalog_name, slash, path = place.partition("/")
    if not slash or "." not in path or not catalog_name:
        raise PolicyError(f"{name}: write iceberg:CATALOG/namespace.table")
    try:
        return load_catalog(catalog_name), path
    except Exception as error:
        raise DatabaseError(
            f"{name}: the catalog {catalog_name} cannot be opened ({type(error).__name__}); it is configured in "
            f".pyiceberg.yaml or by PYICEBERG_CATALOG__{catalog_name.upper()}__URI, as pyiceberg's documentation says"
        ) from error


class _Stream:
    """A source of Arrow streams for DuckDB, a new stream each scan: pyiceberg reads and applies deletes and renames."""

    def __init__(self, scan: DataScan) -> None:
        self._scan = scan

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._scan.to_arrow_batch_reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return schema_to_pyarrow(self._scan.projection(), include_field_ids=False).__arrow_c_schema__()


def _dataset(table: Table, scan: DataScan) -> Any:  # noqa: ANN401 - Arrow's own
    """The files as Arrow reads them by itself: only the columns that are asked for, and several files at once.

    None where a file is not read as it is: it has deleted rows, or is of an earlier schema, or lacks a column, as the
    manifests say.
    """
    tasks, fields = list(scan.plan_files()), scan.projection().fields
    plain = len(table.metadata.schemas) == 1 and all(field.field_type.is_primitive for field in fields)
    ids = {field.field_id for field in fields}
    whole = all(
        task.file.file_format.name == "PARQUET" and not task.delete_files and ids <= set(task.file.value_counts or ())
        for task in tasks
    )
    if not (plain and whole and isinstance(table.io, PyArrowFileIO)):
        return None
    form = pyarrow.dataset.ParquetFileFormat()
    fragments: list[Any] = []
    for task in tasks:
        scheme, netloc, path = PyArrowFileIO.parse_location(task.file.file_path)
        fragments.append(form.make_fragment(path, table.io.fs_by_scheme(scheme, netloc)))
    return pyarrow.dataset.FileSystemDataset(
        fragments, schema_to_pyarrow(scan.projection(), include_field_ids=False), form
    )
