"""Risk with every published column: columns that are published unchanged distinguish rows of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers, read_integer
from sqlanon.formats import Recoded
from sqlanon.results import Exposure
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch


def count_exposure(
    engine: Engine, target: TableRef, classes: Sequence[str], exact: Sequence[tuple[str, str]]
) -> Exposure | None:
    """Count the rows that are unique in the class columns and the columns published unchanged.

    Args:
        engine: where the table is.
        target: the table, of every published row.
        classes: columns of the table that make the classes.
        exact: the columns published unchanged, except sensitive columns: the name in the table, and the name in the
            source.

    Returns:
        None if no column is published unchanged.

    Cost: a GROUP BY of the table.
    """
    if not exact:
        return None
    every = [*classes, *(name for name, _ in exact)]
    query = statement("verify/k_anonymity", engine.dialect, {"asked": 1}, target=target, classes=every, count=None)
    groups, smallest, _, alone, rows, _ = numbers(engine, query)
    return Exposure(smallest, alone, rows, tuple(name for _, name in exact), groups)


def count_persons(
    scratch: Scratch,
    classed: TableRef,
    recoded: Recoded,
    persons: Sequence[str],
    exact: Sequence[str],
    exposed: Exposure | None,
) -> Exposure | None:
    """Add the fewest persons of any group that is equal in every published column but the sensitive ones.

    A release does not identify persons, so the rows of the run are counted; verification found them equal to the rows
    of the release.

    Args:
        scratch: the run.
        classed: staged rows with their class.
        recoded: published cells of every class.
        persons: aliases of the identifiers to count; the identifier with the fewest values decides.
        exact: aliases of the columns published unchanged.
        exposed: the counts of rows.

    Cost: a GROUP BY of the rows; none without persons, or if no column is published unchanged.
    """
    if exposed is None or not persons:
        return exposed
    rows = scratch.fetch(
        "verify/identifiers", classed=classed, groups=recoded.groups, identifiers=list(persons), also=list(exact)
    )
    return replace(exposed, persons=min(map(read_integer, rows[0])))
