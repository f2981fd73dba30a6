"""Counts the demands of sums by contributor in the database, and reads them as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import PolicyError
from sqlanon.statistics.amounts import Amounts, Contributor, Range
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.system import System
from sqlanon.statistics_spec import SUM_PARTS as PARTS
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


LIMITS = ("atom", "low", "high")
NEEDS = ("cell", "up", "down", "sensitive")
CONTRIBUTORS = ("person", "atom", "more_low", "more_high", "less_low", "less_high")
COLUMNS = {"limits": LIMITS, "needs": NEEDS, "contributors": CONTRIBUTORS}


@dataclass(frozen=True, slots=True)
class SumTables:
    """Tables of a column of sums: the templates ``sum_limits``, ``sum_needs`` and ``sum_contributors`` make them."""

    limits: TableRef
    needs: TableRef
    contributors: TableRef


def check_values(scratch: Scratch, shape: Shape, stage: TableRef, release: str) -> None:
    """The values of each summed column are numbers in the declared range.

    Raises:
        PolicyError: some are not; it says how many.
    """
    for summed in shape.sums:
        nulls, outside, large = scratch.numbers("statistics/sum_range", stage=stage, sum=summed.context())
        problem = f"{release}: the column of measure {summed.name}"
        if nulls:
            raise PolicyError(
                f"{problem} is NULL in {nulls} rows, so that sums and averages are unlike; write COALESCE in a "
                "view, or leave these rows out"
            )
        if outside:
            raise PolicyError(f"{problem} is out of the declared range in {outside} rows; declare a wider one")
        if large:
            raise PolicyError(f"{problem} adds up to more than is exact; publish it in a coarser unit, by a view")


def list_demands(
    scratch: Scratch, shape: Shape, rows: TableRef, cells: TableRef, prefix: str = ""
) -> tuple[SumTables, ...]:
    """Count what each column's sums demand; names of the tables begin with ``prefix``.

    Cost: for each column a grouping of the rows by person and every margin.
    """
    demands, context = [], shape.context()
    for summed in shape.sums:
        tables = [scratch.table(f"{prefix}{part}{summed.place}") for part in ("contributions", *PARTS)]
        contributions, limits, needs, contributors = tables
        sum_context = summed.context()
        scratch.execute("statistics/contributions", contributions=contributions, rows=rows, sum=sum_context)
        scratch.execute("statistics/sum_limits", limits=limits, contributions=contributions, insiders=shape.insiders)
        scratch.execute(
            "statistics/sum_contributors", contributors=contributors, contributions=contributions, sum=sum_context
        )
        scratch.execute("statistics/sum_needs", needs=needs, rows=rows, cells=cells, sum=sum_context, **context)
        scratch.drop(contributions)
        demands.append(SumTables(limits, needs, contributors))
    return tuple(demands)


def read_amounts(
    scratch: Scratch, shape: Shape, atoms: TableRef, sums: tuple[SumTables, ...], system: System
) -> list[tuple[Amounts, Range]]:
    """The demands as arrays.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        atoms: table of the finest combinations.
        sums: of each column of sums the tables.
        system: the cells.
    """
    pairs, system = [], system if system.wholes is None else system.wholes.system
    for summed, tables in zip(shape.sums, sums, strict=True):
        statement = scratch.sql("statistics/sum_atoms", atoms=atoms, limits=tables.limits, sum=summed.context())
        value, count, low, high = _fetch(scratch, statement, 4)
        cell, up, down, sensitive = _read(scratch, tables.needs, NEEDS, ("cell",))
        flags = np.zeros((3, len(system)), np.int64)
        for row, of in zip(flags, (up, down, sensitive), strict=True):
            np.maximum.at(row, system.listed[cell - 1], of)
        person, *box = _read(scratch, tables.contributors, CONTRIBUTORS, ("person", "atom"))
        starts = np.flatnonzero(np.diff(person, prepend=-1))
        parts = np.split(np.stack(box), starts[1:], axis=1) if len(person) else []
        contributors = tuple(Contributor(part[0] - 1, part[1:3], part[3:5]) for part in parts)
        least, most = summed.low * count - value, summed.high * count - value
        amounts = Amounts(value, low, high, least, most, flags[0], flags[1], flags[2] > 0, contributors)
        pairs.append((amounts, Range(summed.low, summed.high)))
    return pairs


def _read(scratch: Scratch, table: TableRef, columns: tuple[str, ...], order: tuple[str, ...]) -> list[Longs]:
    statement = scratch.sql("statistics/sum_read", table=table, columns=list(columns), order=list(order))
    return _fetch(scratch, statement, len(columns))


def _fetch(scratch: Scratch, statement: Statement, columns: int) -> list[Longs]:
    arrays = scratch.fetch_arrays(statement, ["int64"] * columns)
    return [cast("Longs", array) for array in arrays]
