"""The database of the ledgers, and of the noisy tables that they paid: the source's own, or another one.

A source whose database has no transactions names another one for them (``state``). Exact answers are computed where the
source is, noise is drawn in this process, and the noisy table is stored beside the row of the ledger that says so, in
one transaction; then it is copied to where it is published, as often as it takes.
"""

from __future__ import annotations

from sqlanon.engines.base import Engine, Row, TableRef
from sqlanon.engines.lacks import NOISY, require
from sqlanon.errors import DatabaseError
from sqlanon.release.budget.events import Event
from sqlanon.release.catalog.private_tables import physical_name, private_table
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

MOST_ROWS = 100_000_000
"""Rows of a table that is copied, at most."""


def home_of(engine: Engine) -> Engine:
    """The database of the ledgers of a source's database.

    Raises:
        UnsupportedError: there is none.
    """
    home = engine.ledger_engine
    if home is None:
        require(engine, NOISY)
    assert home is not None
    return home


def name_drawn_table(engine: Engine, budget: str, reserved: Event) -> TableRef:
    """The private table of the noisy numbers of a charge, with those of earlier nights that it paid; at home."""
    name = f"{physical_name(f'budget {budget}', reserved.paid_by)}_noisy"
    return private_table(home_of(engine), name)


def copy_here(scratch: Scratch, table: TableRef, step: str) -> TableRef:
    """A table at home, where a run can read it: itself, or a scratch table with the same rows.

    Args:
        scratch: the run, in the source's database.
        table: the table at home.
        step: the name of the scratch table.

    Raises:
        DatabaseError: the scratch table has other rows; the next run copies it again.
    """
    home = home_of(scratch.engine)
    if home is scratch.engine:
        return table
    columns = [(column.name, column.type) for column in home.look_up([table]).columns(table)]
    names = [name for name, _ in columns]
    rows, copied_table = _read_rows(home, table, names), scratch.table(step)
    scratch.engine.load_rows(copied_table, columns, rows)
    if sorted(map(repr, _read_rows(scratch.engine, copied_table, names))) != sorted(map(repr, rows)):
        raise DatabaseError("a table of the ledgers' database was not copied as it is; another run copies it again")
    return copied_table


def _read_rows(engine: Engine, table: TableRef, names: list[str]) -> list[Row]:
    return engine.fetch(statement("budget/rows", engine.dialect, source=table, columns=names), max_rows=MOST_ROWS)
