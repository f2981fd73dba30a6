"""Numbers out of the few rows that `Engine.fetch` returns, with cells of a driver's types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlanon.engines.values import Statement

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine


def read_integer(cell: object) -> int:
    """A whole number of any type of a driver; a fraction is an error, not rounded."""
    return int(str(cell))


def number(cell: object) -> float:
    """A number of any type of a driver, as a double."""
    return float(str(cell))


def read_integers(row: Iterable[object]) -> tuple[int, ...]:
    """A row of whole numbers."""
    return tuple(read_integer(cell) for cell in row)


def count(engine: Engine, query: Statement) -> int:
    """The whole number that a query of one row and one column returns."""
    return read_integer(engine.fetch(query)[0][0])


def numbers(engine: Engine, query: Statement) -> tuple[int, ...]:
    """The whole numbers of the one row that a query returns; none where it returns no row."""
    rows = engine.fetch(query)
    return read_integers(rows[0]) if rows else ()
