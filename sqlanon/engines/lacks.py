"""Features that an engine lacks and another has, and those that users ask for: one table.

`require` refuses by it, docs/what-works.md and ``sqlanon methods`` show it, and tests/contract/test_lacks.py calls
every feature on every engine. Gaps that no user notices, since there is another way (`Engine.few_rows`,
`Engine.frames`), are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlanon.engines.names import ELSEWHERE, LAKES, TO_LAKES
from sqlanon.errors import UnsupportedError
from sqlanon.lack import Lack, never, notimpl, notyet

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

NOISY = "statistics: {budget}"

FEATURES: Mapping[str, str] = {
    "publish_file": "publishes a release into a database file of its own",
    "refresh: {mode: frozen}": "what was published stays as it is from version to version",
    "tables": "publishes several tables of the same persons in one transaction",
    "statistics": "publishes counts of which no small cell can be found",
    NOISY: "publishes differentially private statistics",
    "--compact": "writes files anew, without what dropped tables left in them",
    LAKES: "reads tables of Delta, Iceberg and Parquet files where they lie",
    TO_LAKES: "publishes a release into a table of Delta or Iceberg",
    ELSEWHERE: "publishes a release into another database, `duckdb:///path` or `postgresql://...`",
    "install-functions": "SQL functions that any client can call",
    "query --as": "asks with the rights of a role",
    "--from-labels": "`init` reads the security labels of PostgreSQL Anonymizer",
}
"""Features of a database that are optional, or that users look for, as policies and commands write them."""

_NO_FILE = never("it publishes into a schema of the same database")
_NO_LABELS = never("this database has no security labels; they are PostgreSQL's")

_DUCKDB: Mapping[str, Lack] = {
    "query --as": never(
        "this database has no roles: whoever opens a DuckDB file reads all of it; publish into a file of its own "
        "(publish_file) and ask that one"
    ),
    "--from-labels": _NO_LABELS,
}

_ENGINES: Mapping[str, Mapping[str, Lack]] = {
    "DuckDB": _DUCKDB,
    "DuckDB in memory": {**_DUCKDB, "--compact": never("it has no file of its own")},
    "PostgreSQL": {"publish_file": _NO_FILE},
    "Spark": {
        "publish_file": _NO_FILE,
        "refresh: {mode: frozen}": notyet(
            "a lineage of rows records what is published in the transaction that publishes it, and this database has "
            "none; run it in DuckDB or PostgreSQL, which read the same Delta, Iceberg and Parquet tables, or use mode: "
            "full"
        ),
        "tables": notyet(
            "they are published together in one transaction, and this database has none; make a release of each"
        ),
        NOISY: notyet(
            "a version is charged and stored in transactions, and this database has none; name one that has, for "
            "ledgers and noisy tables: state: duckdb:///path, or postgresql://..."
        ),
        "--compact": notyet(
            "values of dropped tables and of earlier snapshots can stay in files until the table format's own command "
            "removes them (Delta Lake: VACUUM of the table; Iceberg: CALL system.expire_snapshots and "
            "system.remove_orphan_files)"
        ),
        "install-functions": notimpl(
            "the stored functions are for DuckDB and PostgreSQL; docs/functions.md describes what each computes"
        ),
        "query --as": notyet("a session cannot take the rights of another user; connect as that user"),
        "--from-labels": _NO_LABELS,
    },
}
LACKS: Mapping[str, Mapping[str, Lack]] = {
    **_ENGINES,
    "Spark with state": {name: lack for name, lack in _ENGINES["Spark"].items() if name != NOISY},
}
"""The features that each engine lacks, with reasons, by `FEATURES`."""

PUBLISHED, IN_BUCKETS = "publish", "object storage"
LAKE_FEATURES: Mapping[str, str] = {
    PUBLISHED: "a release is published into a table of the format",
    IN_BUCKETS: "such a table may be in a bucket, such as s3://",
}
"""Features of formats of lake tables as targets."""
_NO_PARQUET = notimpl(
    "tables of Delta and Iceberg are written; export the view as a file, COPY (FROM view) TO 'file.parquet'"
)
LAKE_LACKS: Mapping[str, Mapping[str, Lack]] = {
    "delta": {},
    "iceberg": {},
    "parquet": {PUBLISHED: _NO_PARQUET, IN_BUCKETS: _NO_PARQUET},
}
"""The features that each format lacks, with reasons, by `LAKE_FEATURES`."""

DBT_PROFILE, DBT_DATABASE = "profiles.yml", "--db"
DBT_FEATURES: Mapping[str, str] = {
    DBT_PROFILE: "`sqlanon dbt` takes the database from the target in profiles.yml, of dbt-spark the server",
    DBT_DATABASE: "`sqlanon dbt` works in the database that `--db` names",
}
"""Features of `sqlanon dbt`, for a project of each adapter."""
DBT_LACKS: Mapping[str, Mapping[str, Lack]] = {
    "duckdb": {},
    "postgres": {},
    "spark": {},
}
"""The features that each adapter lacks, with reasons, by `DBT_FEATURES`."""


def require(engine: Engine, feature: str, where: str = "") -> None:
    """Refuse a feature that an engine lacks.

    Args:
        engine: the database.
        feature: one of `FEATURES`.
        where: the beginning of the message, such as the release.

    Raises:
        UnsupportedError: the engine lacks it; the text has the reason.
    """
    lack = engine.lacks.get(feature)
    if lack is not None:
        raise UnsupportedError(f"{where}{': ' if where else ''}{feature}: {lack.why}")
