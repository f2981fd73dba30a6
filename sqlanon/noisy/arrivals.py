"""Arrivals of persons by night: exact measurements of running counts, in which a person changes one column.

A table of the private schema has, by a keyed hash of the person, the night and the groups of its first rows. What a
person does later, and whether its rows stay, changes nothing: a person who was erased from the source and comes back is
known. Arrays of exact numbers stay in this process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.noisy.answers import CodedSource
from sqlanon.noisy.nights import measure
from sqlanon.noisy.shape import Shape
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

MOST_SEEN = 100_000_000
"""Persons of a night, at most, where they are kept in another database."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """All persons who have arrived.

    Attributes:
        tables: for each table of the release a scratch table, as noisy/arrived makes it.
        seen: the persons of earlier nights; None: there was no night.
        night: tonight's number, from 1.
    """

    tables: tuple[TableRef, ...]
    seen: TableRef | None
    night: int


def find_arrived(
    scratch: Scratch, shape: Shape, coded: CodedSource, seen: TableRef | None, night: int, secret: str
) -> Arrivals:
    """All persons who have arrived.

    Args:
        scratch: the run.
        shape: the measurements.
        coded: the bounded rows of tonight.
        seen: the persons of earlier nights; None: there was no night.
        night: tonight's number, from 1.
        secret: key of the hashes.

    Raises:
        PrivacyViolation: a person would be counted in several nights, or in more groups than are declared.

    Cost: for each table a join of tonight's persons with those seen, and a grouping for each level.
    """
    tables = []
    for number, bounded in enumerate(coded.bounded):
        arrived = scratch.table(f"arrived{number}")
        scratch.execute(
            "noisy/arrived", {"secret": secret}, arrived=arrived, bounded=bounded, number=number, night=night, seen=seen
        )
        tables.append(arrived)
    for series in shape.series:
        beyond = scratch.count(
            "noisy/arrived_norms",
            arrived=tables[series.table],
            nodes=coded.nodes[series.table],
            level=series.level,
            most=series.l1,
            night=night,
        )
        if beyond:
            raise PrivacyViolation(f"{shape.release}: a person arrives more often than the noise is drawn for")
    return Arrivals(tuple(tables), seen, night)


def measure_arrivals(scratch: Scratch, shape: Shape, coded: CodedSource, arrived: Arrivals) -> list[Longs]:
    """Tonight's exact measurement of every series, int64[groups] each."""
    factor = shape.factor
    assert factor is not None
    answers = []
    for series in shape.series:
        nights, nodes, persons = _count(scratch, coded, arrived, series.table, series.level)
        by_night = np.zeros((arrived.night, shape.tables[series.table].levels[series.level].size), np.int64)
        by_night[nights - 1, nodes] = persons
        answers.append(measure(factor, by_night))
    return answers


def _count(scratch: Scratch, coded: CodedSource, arrived: Arrivals, table: int, level: int) -> list[Longs]:
    query = scratch.sql("noisy/arrivals", arrived=arrived.tables[table], nodes=coded.nodes[table], level=level)
    return [column.astype(np.int64) for column in scratch.fetch_arrays(query, ["int64", "int64", "int64"])]


def verify_arrived(scratch: Scratch, shape: Shape, coded: CodedSource, arrived: Arrivals, secret: str) -> None:
    """Tonight's arrivals once more: the persons of each finest group less those that were seen before.

    Raises:
        PrivacyViolation: their numbers are others.
    """
    for number, table in enumerate(shape.tables):
        level = table.levels[-1]
        nights, nodes, persons = _count(scratch, coded, arrived, number, len(table.levels) - 1)
        query = scratch.sql(
            "noisy/arrived_again", {"secret": secret}, bounded=coded.bounded[number], number=number, seen=arrived.seen
        )
        cell, person_counts = scratch.fetch_arrays(query, ["int64", "int64"])
        tonight = nights == arrived.night
        first = np.bincount(nodes[tonight], persons[tonight], minlength=level.size)
        again = np.bincount(level.node[cell.astype(np.int64)], person_counts, minlength=level.size)
        if not np.array_equal(first, again):
            raise PrivacyViolation(f"{shape.release}: a second query does not give the same arrivals")


def keep_seen(scratch: Scratch, home: Engine, seen: TableRef, arrived: Arrivals) -> None:
    """Add tonight's arrivals to the table of persons seen, in the caller's transaction.

    Args:
        scratch: the run.
        home: the database with the table, the run's own or another one.
        seen: the table.
        arrived: all persons who have arrived.
    """
    text = home.capabilities.text_type
    columns = [("number", "INTEGER"), ("person", text), ("cell", "BIGINT"), ("night", "INTEGER")]
    home.load_rows(seen, columns, ())
    for number, table in enumerate(arrived.tables):
        if home is scratch.engine:
            scratch.execute("noisy/keep_seen", seen=seen, arrived=table, number=number, night=arrived.night)
            continue
        query = scratch.sql("noisy/new_seen", arrived=table, number=number, night=arrived.night)
        home.load_rows(seen, columns, scratch.engine.fetch(query, max_rows=MOST_SEEN))
