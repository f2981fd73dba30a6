"""Settings of a session for statements that read few rows, and for those that append a row to the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # A file counts as 4 MB otherwise, so that the small files of the catalog fill many tasks.
    "spark.sql.files.openCostInBytes": "65536",
    "spark.sql.files.minPartitionNum": "1",
}
APPEND = {
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.cleanup.skipped": "true",
    "spark.sql.files.maxRecordsPerFile": "0",
}
"""Settings of a statement that appends a row to a table of all runs.

By default a statement writes into the folder ``_temporary`` of the table, and the first to finish removes that folder:
of two simultaneous statements the other then fails, or the row is lost without an error. With these settings a task's
file is in place when the task is done, and the folder stays. All rows of a statement are in one file.
"""


def choose_settings(statement: str, *, already: bool) -> dict[str, str]:
    """Settings for a statement of this name; ``already``: the session has the settings for few rows."""
    catalog = statement.startswith("catalog/")
    appends = statement.startswith(("catalog/insert", "catalog/append"))
    return (FEW if catalog and not already else {}) | (APPEND if appends else {})


def use(session: SparkSession, settings: Mapping[str, str]) -> dict[str, str | None]:
    """Change settings; returns the previous values."""
    conf = session.conf
    before = {key: conf.get(key, None) for key in settings}
    for key, value in settings.items():
        conf.set(key, value)
    return before


def restore(session: SparkSession, before: dict[str, str | None]) -> None:
    """Restore the previous values."""
    conf = session.conf
    for key, value in before.items():
        if value is None:
            conf.unset(key)
        else:
            conf.set(key, value)
