"""Finds arrays that many classes publish, so that the engine stores each once and rows have a number.

See sql/duckdb/publish/table.sql.
"""

from __future__ import annotations

from sqlanon.engines.rows import read_integer
from sqlanon.formats import RecodedClasses
from sqlanon.table.scratch import Scratch

MANY_ROWS = 100_000
"""Rows below which a sort is cheap whatever it carries."""
FEW_ARRAYS = 8192
"""Largest number of different arrays of a column in a list that every block of rows carries.

8192 cost about a tenth of the saving.

Their numbers are small integers.
"""


def find_repeated(scratch: Scratch, recoded: RecodedClasses, rows: int) -> list[str]:
    """Published array columns that come from the class and have few different values.

    Args:
        scratch: the run.
        recoded: the classes.
        rows: number of rows of the release.
    """
    engine = scratch.engine
    if rows < MANY_ROWS or not engine.capabilities.ordered_product:
        return []
    of_class = recoded.layout.of_class
    columns = engine.look_up([recoded.released]).columns(recoded.released)
    arrays = [column.name for column in columns if column.name in of_class and column.type.endswith("[]")]
    if not arrays:
        return []
    counts = scratch.fetch("publish/different", released=recoded.released, names=arrays)[0]
    return [name for name, count in zip(arrays, counts, strict=True) if read_integer(count) <= FEW_ARRAYS]
