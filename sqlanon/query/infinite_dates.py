"""Infinite dates and times in an answer.

Drivers without such values return the first or the last day that Python has, which is wrong.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from sqlanon.engines.base import Row, Statement

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

_ENDS = (
    datetime.date.min,
    datetime.date.max,
    datetime.datetime.min,
    datetime.datetime.max,
)


def with_infinite(engine: Engine, text: str, answered: list[Row], most: int) -> list[Row]:
    """Rows of an answer with the texts ``infinity`` and ``-infinity`` where a value is infinite.

    Args:
        engine: the engine that answered.
        text: the query.
        answered: the rows of the answer.
        most: rows of an answer.

    Cost: nothing where no value is the first or the last date of Python; else the query a second time.
    """
    places = [
        index for index in range(len(answered[0]) if answered else 0) if any(_may_be(row[index]) for row in answered)
    ]
    if not places:
        return answered
    names = [f"c{index}" for index in range(len(answered[0]))]
    texts = [f"CAST(c{place} AS VARCHAR)" for place in places]
    shown = ", ".join([*names, *(f"CASE WHEN {text} IN ('infinity', '-infinity') THEN {text} END" for text in texts)])
    again = f"SELECT {shown} FROM ({text}) AS answer({', '.join(names)})"  # noqa: S608 - a query of ours
    rows = engine.fetch(Statement("query", again), max_rows=most)
    replaced_rows: list[Row] = []
    for row in rows:
        cells = list(row[: len(names)])
        for place, infinite in zip(places, row[len(names) :], strict=True):
            cells[place] = cells[place] if infinite is None else infinite
        replaced_rows.append(tuple(cells))
    return replaced_rows


def _may_be(value: object) -> bool:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None) in _ENDS[2:]
    return isinstance(value, datetime.date) and value in _ENDS[:2]
