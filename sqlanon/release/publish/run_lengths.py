"""Finds how a table of many rows is stored in less time: columns that come from the class as runs of equal values.

The rows are in the order of their classes. With such a declaration an engine does not try every compression on each
column; see sql/duckdb/publish/declared.sql.
"""

from __future__ import annotations

import re

from sqlanon.engines.base import TableRef
from sqlanon.formats import RecodedClasses
from sqlanon.table.scratch import Scratch

MANY_ROWS = 100_000
"""Rows below which a table is written in little time however it is stored."""
LONG = 8
"""Rows of a class, in the mean, from which on runs take no more bytes than packed numbers."""

_OF_RUNS = re.compile(r"U?(?:TINY|SMALL|BIG)INT|U?INTEGER|BOOLEAN|FLOAT|DOUBLE|DATE|TIMESTAMP")
"""Types that are stored as runs."""
_PLAIN = re.compile(rf"(?:{_OF_RUNS.pattern}|VARCHAR|DECIMAL\(\d+,\s?\d+\))(?:\[\])?")
"""Types that a declaration gives as the query would."""


def declare_columns(scratch: Scratch, recoded: RecodedClasses, classed: TableRef, rows: int) -> list[dict[str, object]]:
    """Columns of the published table as sql/duckdb/publish/declared.sql takes them.

    Args:
        scratch: the run.
        recoded: the classes.
        classed: the rows with their classes.
        rows: number of rows of the release.

    Returns:
        Nothing where the query gives the table the columns: on other engines, for few rows or small classes, and where
        a type says more than its name, such as that of a text with a collation.
    """
    engine = scratch.engine
    if not engine.capabilities.declared_runs or rows < max(MANY_ROWS, LONG * recoded.classes):
        return []
    relations = engine.look_up([recoded.released, classed])
    types = {
        source: {column.name: column.type for column in relations.columns(table)}
        for source, table in (("r", recoded.released), ("s", classed))
    }
    of_class = set(recoded.layout.of_class)
    declared: list[dict[str, object]] = []
    for column in recoded.columns:
        type_name = types[column.source].get(column.column, "")
        if not _PLAIN.fullmatch(type_name):
            return []
        runs = column.name in of_class and _OF_RUNS.fullmatch(type_name) is not None
        declared.append({"name": column.name, "type": type_name, "runs": runs})
    for source, table in (("r", recoded.released), ("s", classed)):
        texts = [c.column for c in recoded.columns if c.source == source and types[source][c.column] == "VARCHAR"]
        if texts and any(scratch.fetch("table/collated", source=table, columns=texts)[0]):
            return []
    return declared
