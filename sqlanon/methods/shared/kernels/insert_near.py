"""Lists of the cheapest items of a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Lists = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def insert_near(near: Lists, row: int, price: Longs, count: int, most: int, item: int, more: int) -> int:
    """Insert an item into the list of a row, ascending by price; of equal prices the first item stays before.

    Args:
        near: int[rows, at least ``most``], the lists.
        row: the list.
        price: int64[at least ``most``], the prices of the list's items.
        count: items of the list.
        most: items that it has room for; the dearest falls out.
        item, more: the item, and its price.

    Returns:
        The items of the list afterwards.

    Cost: O(``most``).
    """
    if count == most and more >= price[most - 1]:
        return count
    slot = min(count, most - 1)
    while slot > 0 and price[slot - 1] > more:
        price[slot], near[row, slot] = price[slot - 1], near[row, slot - 1]
        slot -= 1
    price[slot], near[row, slot] = more, item
    return min(count + 1, most)
