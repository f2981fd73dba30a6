"""A part of a large staged table, on which `plan` and `run` try out the losses of a method."""

from __future__ import annotations

from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.table.encode import EncodedTable, encode
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import flat_share

MOST_MEASURED = 20_000
"""Rows that are measured, at most; of whole persons about."""
MOST_SECONDS, MOST_LOOKED = 5, 2_000_000_000
"""Limits of a measured sample; beyond them fewer rows are measured.

The first is the seconds that the policy's method may take for `MOST_MEASURED` rows by the declared cost. The second is
the rows times nodes of the lattice that method fulldomain looks at.
"""


def encode_part(scratch: Scratch, ready: PreparedSource, most: int, *, persons: bool = False) -> EncodedTable:
    """The encoded staged rows, or a sample of them.

    A table of more than ``most`` rows gives every so many-th row, or with ``persons`` all rows of every so many-th
    person.

    Cost: that of encoding; of a larger table a scan before, and of persons a GROUP BY and a join.
    """
    step = -(-ready.rows // most)
    stage, rows = ready.stage, ready.rows
    if step > 1:
        stage = scratch.table("sampled")
        staged = scratch.engine.look_up([ready.stage]).columns(ready.stage)
        columns = [column.name for column in staged if column.name != "rid"]
        if persons:
            (person,) = (person.alias for person in ready.persons)
            scratch.execute(
                "persons/sampled", sampled=stage, stage=ready.stage, person=person, columns=columns, step=step
            )
        else:
            scratch.execute("table/sampled", sampled=stage, stage=ready.stage, columns=columns, step=step)
        rows = scratch.count("table/count", source=stage)
    return encode(scratch, ready.roles, stage, ready.domains, rows)


def limit_measured(ready: PreparedSource, k: int) -> int:
    """Rows that are measured, at most: fewer where the method is slow, or the lattice large."""
    from sqlanon.methods.fulldomain.levels import nodes_of

    def slow(rows: int) -> bool:
        seconds = sum(method.cost.time(rows, len(ready.quasi), k, method.options, flat) for method in methods)
        return seconds > MOST_SECONDS or nodes * rows > MOST_LOOKED

    most, nodes, flat = MOST_MEASURED, nodes_of(ready.quasi), flat_share(ready.quasi)
    methods = ready.method, *ready.method.parts
    while most > 1000 and slow(min(most, ready.rows)):
        most //= 2
    return most
