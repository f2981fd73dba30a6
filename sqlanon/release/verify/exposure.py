"""The risk with every published column: columns that are published as they are distinguish rows of one class."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers
from sqlanon.results import Exposure
from sqlanon.sqltext import statement


def count_exposure(
    engine: Engine, target: TableRef, classes: Sequence[str], exact: Sequence[tuple[str, str]]
) -> Exposure | None:
    """Count the rows that are alone in the columns of the classes and those that are published as they are.

    Args:
        engine: where the table is.
        target: the table, of every published row.
        classes: its columns that make the classes.
        exact: the columns that are published as they are, sensitive ones left out: the name in the table, and the
            source's.

    Returns:
        None: nothing is published as it is.

    Cost: a GROUP BY of the table.
    """
    if not exact:
        return None
    every = [*classes, *(name for name, _ in exact)]
    made = statement("verify/k_anonymity", engine.dialect, {"asked": 1}, target=target, classes=every, count=None)
    _, smallest, _, alone, rows, _ = numbers(engine, made)
    return Exposure(smallest, alone, rows, tuple(name for _, name in exact))
