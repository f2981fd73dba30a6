"""Scratch tables that a run with ``keep_scratch`` leaves in the private schema, for debugging.

They hold source values. The catalog lists each table before it is made. Only listed tables are dropped: by the next run
of the release, and by `clean`.
"""

from __future__ import annotations

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import count
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.results import KeptTable
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Step

NAME = "scratch"
"""Private table that lists the kept tables."""


class KeptScratch:
    """Tables that a run keeps; those of the previous run are dropped. The release's lock is held."""

    def __init__(self, state: ReleaseState, *, keep: bool) -> None:
        """Drop the kept tables and, with ``keep``, make the list for new tables."""
        self.tables: list[KeptTable] = []
        self._engine, self._release = state.engine, state.spec.name
        if NAME in state.found.tables:
            drop_kept(state.engine, state.spec.name)
        if keep:
            catalog = Catalog(state.engine)
            command = statement("catalog/create_scratch", state.engine.dialect, scratch=list_table(state.engine))
            with state.engine.lock("schemas", wait=True), state.engine.publishing():
                catalog.create(state.engine.look_up(catalog.tables))
                state.engine.execute(command)

    def keep(self, table: TableRef, step: Step) -> None:
        """Copy a scratch table into the private schema; the list names it first."""
        engine, place = self._engine, len(self.tables) + 1
        dialect, copy = engine.dialect, private_table(engine, f"scratch{table.name}_{place}")
        rows = count(engine, statement("table/count", dialect, source=table))
        binds: dict[str, str | int | float | None] = {
            "release": self._release,
            "place": place,
            "stage": step.stage,
            "statement": step.statement,
            "name": copy.name,
            "n": rows,
            "seconds": step.seconds,
        }
        engine.execute(statement("catalog/insert_scratch", dialect, binds, scratch=list_table(engine)))
        columns = [column.name for column in engine.look_up([table]).columns(table)]
        engine.execute(statement("publish/copy", dialect, copy=copy, origin=table, columns=columns))
        drop_statistics(engine, [copy])
        self.tables.append(KeptTable(step.stage, step.statement, str(copy), rows, step.seconds))


def list_kept(engine: Engine) -> list[tuple[str, str]]:
    """Release and name of every kept scratch table; the caller has checked that the private schema is ours."""
    if not engine.exists(list_table(engine)):
        return []
    rows = engine.fetch(statement("catalog/list_scratch", engine.dialect, scratch=list_table(engine)))
    return [(str(row[0]), str(row[4])) for row in rows]


def drop_kept(engine: Engine, release: str) -> list[str]:
    """Drop the kept tables of a release and give their names. The release's lock is held."""
    listed = [name for of, name in list_kept(engine) if of == release]
    # Where rows are not deleted the list has those of earlier runs as well.
    dropped = listed if engine.updates else [name for name in listed if engine.exists(private_table(engine, name))]
    for name in dropped:
        with engine.publishing():
            engine.execute(statement("table/drop", engine.dialect, target=private_table(engine, name)))
            if engine.updates:
                engine.execute(
                    statement("catalog/delete_scratch", engine.dialect, {"name": name}, scratch=list_table(engine))
                )
    return dropped


def list_table(engine: Engine) -> TableRef:
    """Private table that lists the kept tables."""
    return private_table(engine, NAME)
