"""A few values of each column as lists.

DuckDB reads them faster than it registers arrays and plans a query of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlanon.engines.duckdb.connection import quote

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEW = 200
"""So many values of a column are a list."""
_TYPES = {"int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE"}


def as_lists(
    create: str, name: str, columns: Mapping[str, npt.NDArray[np.generic]]
) -> tuple[str, list[list[Any]]] | None:
    """Statements that create a table if it is missing, and append the columns to it, with their values.

    None if they should be loaded as arrays.

    Args:
        create: how the table is made, up to the columns.
        name: the table's name as SQL.
        columns: arrays of equal length.
    """
    types = [_TYPES.get(str(array.dtype)) for array in columns.values()]
    if None in types or any(len(array) > FEW for array in columns.values()):
        return None
    pairs = list(zip(map(quote, columns), types, strict=True))
    defined = ", ".join(f"{column} {kind}" for column, kind in pairs)
    lists = ", ".join(f"UNNEST(CAST(? AS {kind}[])) AS {column}" for column, kind in pairs)
    text = f"{create} ({defined}); INSERT INTO {name} BY NAME SELECT {lists}"
    return text, [array.tolist() for array in columns.values()]
