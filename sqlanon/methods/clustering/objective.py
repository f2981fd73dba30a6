"""The objectives of `sequential`: counts of the table's values, and logarithms of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import NULLS, SCALE, SIZE, Geometry
from sqlanon.methods.clustering.kernels.class_costs import Objective

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs


def objective_of(geometry: Geometry, codes: Ints, value: Longs, values: int, whole: int, part: int) -> Objective:
    """Costs of classes of a table.

    Args:
        geometry: the attributes.
        codes: int32[d, n], of all rows of the table.
        value: int64[n], their sensitive value; 0 where none is counted.
        values: the number of values.
        whole: the weight of log F(R); 0: extents are summed, and nothing is counted.
        part: the weight of log F(R, s).

    Cost: O(d (n + values x the codes of a column)).
    """
    if whole == 0:
        none = np.zeros((0, 2), np.int32)
        return Objective(
            geometry.facts, geometry.table, 0, 0, np.zeros(1, np.int32), none, np.zeros(len(codes), np.int64)
        )
    parts = []
    for column, fact in zip(codes, geometry.facts, strict=True):
        size = int(fact[SIZE] + fact[NULLS])
        rows = np.bincount(column.astype(np.int64) * values + value, minlength=size * values)
        upto = np.zeros((size + 1, values + 1), np.int32)
        np.cumsum(rows.reshape(size, values), axis=0, out=upto[1:, :-1])
        upto[:, -1] = upto[:, :-1].sum(axis=1)
        parts.append(upto)
    logs = np.zeros(codes.shape[1] + 1, np.int32)
    logs[1:] = np.rint(np.log2(np.arange(1, len(logs))) * SCALE)
    first = np.cumsum([0, *(len(upto) for upto in parts[:-1])]).astype(np.int64)
    return Objective(geometry.facts, geometry.table, whole, part, logs, np.concatenate(parts), first)
