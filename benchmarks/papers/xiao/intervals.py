"""Hierarchies of the numeric columns, for TDS: a column without one would be published as its values or as ``*`` alone.

The paper's TDS divides numbers wherever it gains most. Here age has intervals of 5, 10, 20 and 40 years, and education
of 2, 4 and 8 levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.database import Database

WIDTHS: Mapping[str, tuple[int, ...]] = {"age": (5, 10, 20, 40), "education": (2, 4, 8)}


def intervals(db: Database, table: str, folder: Path) -> dict[str, Path]:
    """A file in ARX's format for each numeric column, from the least to the greatest value of the table."""
    made = {}
    for column, widths in WIDTHS.items():
        ends = db.engine.fetch(f"SELECT min({column}), max({column}) FROM {table}")[0]
        low, high = (int(str(end)) for end in ends)
        made[column] = folder / f"{column}.csv"
        made[column].write_text("".join(_line(value, low, widths) for value in range(low, high + 1)))
    return made


def _line(value: int, low: int, widths: tuple[int, ...]) -> str:
    starts = [(low + (value - low) // width * width, width) for width in widths]
    return ";".join([str(value), *(f"{start}-{start + width - 1}" for start, width in starts), "*"]) + "\n"
