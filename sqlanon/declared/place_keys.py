"""Keys of a release that say which other file or database gets it."""

from __future__ import annotations

from typing import Final

from sqlanon.declared.key import Key
from sqlanon.declared.kinds import ANOTHER_PLACE, TEXT

PLACE_KEYS: Final[tuple[Key, ...]] = (
    Key(
        "publish_file",
        TEXT,
        None,
        "DuckDB: another database file that will hold just this release. A relative path starts where the "
        "command runs.",
        "FileName",
        "--publish-file",
        "DuckDB: publish into this other file.",
        value="FILE",
    ),
    Key(
        "publish_to",
        ANOTHER_PLACE,
        None,
        "Another place that readers use: a database, `duckdb:///path` or `postgresql://user@host/database`, or a lake "
        "table, `delta:PATH` or `iceberg:CATALOG/namespace.table`. It gets the view and its rows, which are verified "
        "there again ([publish-to.md](publish-to.md)). Variables of the environment are read when a run connects; a "
        "password is written as one (`${NAME}`), or is in `PGPASSWORD` or `~/.pgpass`.",
        "str",
        "--publish-to",
        "Another database, or a lake table, that gets the release.",
        value="PLACE",
    ),
)
"""See `sqlanon.declared.keys`."""
