"""Parquet files of published tables, in a folder or in a bucket: written as a stream, read back, removed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """Where a file is.

    Attributes:
        system: the file system of Arrow.
        path: the path there.
    """

    system: Any
    path: str

    def write(self, rows: Any, schema: pyarrow.Schema | None = None) -> None:  # noqa: ANN401 - Arrow's own
        """Write rows, and have a local file on the disk when this returns.

        Args:
            rows: a stream of batches.
            schema: the columns in the file's order; None: those of the stream.

        Cost: a batch is in memory.
        """
        schema = schema or rows.schema
        local = isinstance(self.system, pyarrow.fs.LocalFileSystem)
        if local:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        with pyarrow.parquet.ParquetWriter(self.path, schema, filesystem=self.system, compression="zstd") as writer:
            for batch in rows:
                table = pyarrow.Table.from_batches([batch]).select(schema.names)
                writer.write_table(table.cast(schema), row_group_size=len(table) or 1)
        if local:
            with Path(self.path).open("rb") as written_file:  # a file that is committed outlives the machine's power
                os.fsync(written_file.fileno())

    def read(self, schema: pyarrow.Schema | None = None) -> pyarrow.dataset.Dataset:
        """The file for scans, any number of them."""
        return pyarrow.dataset.dataset(self.path, schema=schema, filesystem=self.system, format="parquet")

    def read_metadata(self) -> tuple[pyarrow.Schema, int, int]:
        """The columns, the number of rows, and the bytes of the file."""
        with self.system.open_input_file(self.path) as file:
            footer = pyarrow.parquet.read_metadata(file)
            return footer.schema.to_arrow_schema(), footer.num_rows, file.size()

    def remove(self) -> bool:
        """Remove the file; whether it was there."""
        there: bool = self.system.get_file_info(self.path).type == pyarrow.fs.FileType.File
        if there:
            self.system.delete_file(self.path)
        return there
