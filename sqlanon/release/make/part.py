"""A part of a large staged table, on which `plan` and `run` try out what a method loses."""

from __future__ import annotations

from sqlanon.release.make.prepare import Prepared
from sqlanon.table.encode import Encoded, encode
from sqlanon.table.scratch import Scratch

MOST_MEASURED = 20_000
"""Rows that are measured, at most; of whole persons about."""


def encoded_part(scratch: Scratch, ready: Prepared, most: int, *, persons: bool = False) -> Encoded:
    """The staged rows, encoded; of a table of more than ``most`` every so many-th row, or with ``persons`` all rows of every so many-th person.

    Cost: that of encoding; of a larger table a scan before, and of persons a GROUP BY and a join.
    """
    step = -(-ready.rows // most)
    stage, rows = ready.stage, ready.rows
    if step > 1:
        stage = scratch.table("sampled")
        staged = scratch.engine.look_up([ready.stage]).columns(ready.stage)
        columns = [column.name for column in staged if column.name != "rid"]
        if persons:
            (person,) = (one.alias for one in ready.persons)
            scratch.execute(
                "persons/sampled", sampled=stage, stage=ready.stage, person=person, columns=columns, step=step
            )
        else:
            scratch.execute("table/sampled", sampled=stage, stage=ready.stage, columns=columns, step=step)
        rows = int(str(scratch.fetch("table/count", source=stage)[0][0]))
    return encode(scratch, ready.roles, stage, ready.quasi, ready.sensitive, rows, ready.person_codes)
