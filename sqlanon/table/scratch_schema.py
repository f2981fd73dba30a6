"""Scratch tables in the private schema, for engines that have no temporary tables, and those of ended runs in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, TableRef
from sqlanon.errors import LockedError
from sqlanon.sqltext import identifier, statement

_OF_RUN = re.compile(r"_sqlanon_([0-9a-f]{8})_")


def make_private_schema(engine: Engine) -> None:
    """The private schema, where scratch tables are made in it."""
    place = private_table(engine, "x")
    if not engine.has_schema(place):
        quoted = ".".join(identifier(part) for part in (place.database, place.schema) if part)
        engine.execute(statement("publish/schema", engine.dialect, schema=quoted))


def sweep(engine: Engine, running: str = "") -> list[str]:
    """Drop scratch tables of ended runs in the private schema; returns their names. ``running``: a run to keep."""
    if engine.temporary:
        return []
    tables_of_runs: dict[str, list[str]] = {}
    for name in sorted(engine.look_up([], schema=private_table(engine, "x")).tables):
        run = _OF_RUN.match(name)
        if run and run[1] != running:
            tables_of_runs.setdefault(run[1], []).append(name)
    dropped = []
    for run_name, names in tables_of_runs.items():
        with suppress(LockedError), engine.lock(lock_of(run_name)):
            for name in names:
                engine.execute(statement("table/drop", engine.dialect, target=private_table(engine, name)))
                dropped.append(name)
    return dropped


def has_remains(names: Iterable[str]) -> bool:
    """Whether the private schema has scratch tables of runs, ended or not; ``names`` are those of its tables."""
    return any(map(_OF_RUN.match, names))


def lock_of(run: str) -> str:
    """The name of the lock that a run holds while its scratch tables exist."""
    return f"scratch {run}"


def private_table(engine: Engine, name: str) -> TableRef:
    """A table of the private schema."""
    return engine.target(f"{identifier(PRIVATE_SCHEMA)}.{identifier(name)}")
