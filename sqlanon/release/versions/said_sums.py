"""Columns that determine a summed column: with them sums are further equations of hidden numbers of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlanon.errors import UnsupportedError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import metadata_table
from sqlanon.statistics_spec import StatisticsSpec, SumMeasure

if TYPE_CHECKING:
    from sqlanon.engines.base import Column
    from sqlanon.release.stages.work import Work

NUMBERS = ("integer", "decimal", "float")
COMPARED = (*NUMBERS, "date", "timestamp", "text", "enum", "boolean")
"""Kinds of columns whose values are compared with those of sums."""
PUBLISHED = ("quasi", "sensitive", "insensitive")
"""Roles of columns that readers see, in one form or another."""


def check_counted(work: Work, statistics: StatisticsSpec) -> None:
    """No counted column determines a summed column: sums of cells would be numbers of rows times known amounts.

    Raises:
        UnsupportedError: one does.

    Cost: for each counted column and sum a grouping of the source by both.
    """
    for column, measure in _list_said(work, statistics, {name for table in statistics.tables for name in table.by}):
        raise UnsupportedError(
            f"{work.spec.name}: the counted column {column} says what {measure.column} is, so that the sums of "
            f"{measure.name} would give numbers of rows away; count by other columns, or leave {measure.name} out"
        )


def check_rows(work: Work, statistics: StatisticsSpec, entry: Entry) -> None:
    """No column of the rows determines a summed column: it would be a second source of its sums.

    Raises:
        UnsupportedError: one does.

    Cost: for each published column and sum a grouping of the source by both.
    """
    if not statistics.sums:
        return
    published_columns = work.scratch.fetch("statistics/neighbour_columns", metadata=metadata_table(entry.table))
    shown = {str(row[0]) for row in published_columns if row[1] in PUBLISHED}
    for column, measure in _list_said(work, statistics, shown):
        raise UnsupportedError(
            f"{work.spec.name}: together: {entry.release} publishes column {column}, which says what "
            f"{measure.column} is, for each class and not for cells alone; leave it out of the rows, or measure "
            f"{measure.name} out of the counts"
        )


def _list_said(work: Work, statistics: StatisticsSpec, names: Iterable[str]) -> Iterable[tuple[str, SumMeasure]]:
    """Which of some columns determine a summed column."""
    columns = {column.name.lower(): column for column in work.state.source.columns}
    folded = sorted({name.lower() for name in names} & columns.keys())
    for measure in statistics.sums:
        summed = columns[measure.column.lower()]
        for column in (columns[name] for name in folded):
            if column.name == summed.name or _says(work, column, summed):
                yield column.name, measure


def _says(work: Work, column: Column, summed: Column) -> bool:
    """Whether a column gives away another one."""
    if column.kind not in COMPARED or column.own_operators:
        return False
    differing = work.scratch.count(
        "statistics/said_by",
        source=work.state.source.ref,
        numbers=column.kind in NUMBERS and summed.kind in NUMBERS,
        column=column.name,
        sum=summed.name,
    )
    return bool(differing)
