"""Risk by every published column: unchanged columns distinguish rows of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers, read_integers
from sqlanon.formats import RecodedClasses
from sqlanon.results import Exposure
from sqlanon.sqltext import statement
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.reading import Reading
from sqlanon.table.scratch import Scratch

PART = 1 << 17
"""Rows whose groups are counted together."""
MOST_PARTS = 64
"""Parts of a statement, at most."""


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


def count_staged(
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    exact: Sequence[Reading],
    persons: Sequence[str] = (),
) -> Exposure | None:
    """Count as `count_exposure` does, and the fewest persons of a group, over the rows of the run.

    Verification found them equal to those of the written table, and they are narrower: a number in place of the
    columns of a class. A release does not identify persons, so that these are known of the rows of the run alone.

    Args:
        scratch: the run.
        classed: staged rows with their class.
        recoded: published cells of every class.
        exact: the columns published unchanged, except sensitive columns.
        persons: aliases of the identifiers to count; the identifier with the fewest values decides.

    Returns:
        None if no column is published unchanged.

    Cost: a GROUP BY of the rows, and one for persons.
    """
    if not exact:
        return None
    also = [reading.alias for reading in exact]
    row = scratch.fetch(
        "verify/exposed",
        classed=classed.table,
        groups=recoded.groups,
        also=also,
        bounds=_part(classed, recoded),
    )[0]
    fewest, alone, rows, groups = read_integers(row)
    exposed = Exposure(fewest, alone, rows, tuple(reading.name for reading in exact), groups)
    if not persons:
        return exposed
    row = scratch.fetch(
        "verify/identifiers", classed=classed.table, groups=recoded.groups, identifiers=list(persons), also=also
    )[0]
    return replace(exposed, persons=min(read_integers(row)))


def _part(classed: ClassedRows, recoded: RecodedClasses) -> list[int]:
    """Classes between which there are about `PART` rows: the hash table of a part stays in a processor's cache."""
    parts = min(classed.encoded.rows // PART, MOST_PARTS) if classed.in_order and recoded.groups.alone else 0
    return [recoded.classes * part // parts for part in range(1, parts)]
