"""The finest groups of tables of statistics, counted in the source and in releases of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.evaluate.workload import WorkloadQuery
from sqlanon.release.catalog.views import spell_table
from sqlanon.sqltext import identifier, in_dialect, literal

if TYPE_CHECKING:
    from sqlanon.noisy.levels import Dimension

MOST_GROUPS = 2000
"""Groups of each table that are asked, at most: every second, third, ... of more."""


def list_groups(
    engine: Engine,
    source: TableRef,
    tables: Sequence[tuple[str, Sequence[str]]],
    dimensions: Sequence[Dimension],
    kinds: Mapping[str, str],
) -> list[WorkloadQuery]:
    """A count of each finest group of each table.

    Args:
        engine: the database of the source.
        source: the table whose rows are counted.
        tables: name and columns of each.
        dimensions: the columns of groups.
        kinds: of the columns.
    """
    by_name = {dimension.name.lower(): dimension for dimension in dimensions}
    table = in_dialect(spell_table(source), engine.dialect)
    queries = []
    for name, by in tables:
        conditions = list(_conditions(kinds, [by_name[column.lower()] for column in by]))
        step = -(-len(conditions) // MOST_GROUPS)
        for number, condition in enumerate(conditions[::step]):
            text = in_dialect(condition, engine.dialect)
            sql = f"SELECT COUNT(*) AS n FROM {table} WHERE {text}"  # noqa: S608 - quoted
            queries.append(WorkloadQuery(f"{name} {number * step}", name, sql, condition=text))
    return queries


def _conditions(kinds: Mapping[str, str], dimensions: Sequence[Dimension]) -> Iterator[str]:
    """Of each finest group the condition that holds for its rows."""
    parts = [
        [_condition(dimension, place, kinds[dimension.name]) for place in range(len(dimension.leaves))]
        for dimension in dimensions
    ]
    return (" AND ".join(some) for some in itertools.product(*parts))


def _condition(dimension: Dimension, place: int, kind: str) -> str:
    name = identifier(dimension.name)
    if dimension.values is None:
        low, high = (_number(end) for end in dimension.ends[place : place + 2])
        return f"{name} >= {low} AND {name} < {high}"
    value = dimension.values[place]
    return f"{name} = {value if kind in ('integer', 'boolean') else literal(value)}"


def _number(end: Fraction) -> str:
    from sqlanon.noisy.levels import decimal_text  # which needs arrays

    return decimal_text(end)
