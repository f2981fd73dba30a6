"""The stored functions of sqlanon: installed in a schema of the user's database on request, or for one session only.

Their texts are the templates ``functions/<name>``, per function and engine; docs/functions.md is for those who call
them. DuckDB gets macros. A Python function in their place would be slower: without pyarrow it is called once a row,
which costs 3 to 5 times as much as the macro (7 attributes, 9 bits: 34 against 7 microseconds a row).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlanon.engines.base import PRIVATE_SCHEMA, TableRef
from sqlanon.engines.lacks import require
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.sqltext import identifier, own_functions, statement

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

SCHEMA = "sqlanon"
"""Where `install` puts functions unless another schema is given."""


def install(engine: Engine, schema: str = SCHEMA) -> tuple[str, ...]:
    """Create the functions in ``schema``, and the schema where it is missing; functions of these names are replaced.

    Args:
        engine: the database.
        schema: the exact name of the schema, not quoted.

    Returns:
        The functions' names, each with the schema.

    Raises:
        UnsupportedError: there are none for this engine.
        PolicyError: the schema cannot hold functions for readers.
        DatabaseError: the database refused; nothing was installed.
    """
    require(engine, "install-functions")
    if not schema or "\x00" in schema or len(schema.encode()) > engine.capabilities.max_identifier:
        raise PolicyError(
            f"the schema of the functions needs a name of 1 to {engine.capabilities.max_identifier} bytes"
        )
    if schema == PRIVATE_SCHEMA:
        raise PolicyError(f"no reader has rights in {PRIVATE_SCHEMA}; name another schema for the functions")
    quoted = identifier(schema)
    target = engine.target(f"{quoted}.{identifier(own_functions()[0])}")  # says which database
    place = ".".join(identifier(part) for part in (target.database, schema) if part)
    with engine.publishing():
        # Asked first: to create a schema that is there already takes a right that its owner may lack.
        if not engine.has_schema(TableRef(schema, "")):
            engine.execute(statement("publish/schema", engine.dialect, schema=place))
        for name in own_functions():
            engine.execute(statement(f"functions/{name}", engine.dialect, schema=place, temporary=False))
    return tuple(f"{quoted}.{name}" for name in own_functions())


@contextmanager
def install_temporary(engine: Engine, names: Sequence[str] = ("hilbert_key", "hilbert_key_bytes")) -> Iterator[str]:
    """Some of the functions for this session only, dropped at the end; yields their schema as SQL.

    Raises:
        DatabaseError: the database refused.
    """
    schema = engine.capabilities.temporary_functions
    for name in names:
        engine.execute(statement(f"functions/{name}", engine.dialect, schema=schema, temporary=True))
    failed = True
    try:
        yield schema
        failed = False
    finally:
        for name in names:
            try:
                engine.execute(statement("uninstall/function", engine.dialect, schema=schema, function=name))
            except DatabaseError:
                if not failed:
                    raise
