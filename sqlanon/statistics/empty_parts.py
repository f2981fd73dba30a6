"""Adds empty combinations within classes of rows, where readers of several tables cannot know that they are empty.

See `sqlanon.statistics.empty_combinations`. A row keeps the values that the class shows. Without other combinations of
these values with the cells of the class, a person may have no other place. So within each class the cells of one table
are combined with the remaining values of the class's rows, unless a table excludes the combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import Atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_OF_CLASS = 300
"""Combinations of a class that are combined with each other, at most."""
MOST_ADDED = 50_000
"""Combinations that are added, at most."""


def list_class_empty(atoms: Atoms, atom: Longs, of: Longs, finest: Sequence[tuple[int, ...]]) -> Longs:
    """Combinations without rows of values that rows of one class have.

    Args:
        atoms: the combinations that occur.
        atom: int64[n], a combination.
        of: int64[n], a class with rows of it.
        finest: the margins of whole tables at their finest levels.

    Returns:
        int64[combinations, columns], of each column an atom with the value.

    Cost: for each class the pairs of its combinations.
    """
    columns = len(atoms.nodes)
    inside = [np.array([levels[place] == 0 for place in range(columns)], bool) for levels in finest]
    nothing = np.zeros((0, columns), np.int64)
    if len(finest) < 2 or any(table.all() for table in inside):
        return nothing
    codes = np.stack([nodes[0] for nodes in atoms.nodes])
    listed = [set(map(tuple, codes[table].T.tolist())) for table in inside]
    occurring = set(map(tuple, codes.T.tolist()))
    draw, added = np.random.default_rng(0), dict[tuple[int, ...], list[int]]()
    pairs = np.unique(np.stack([of, atom]), axis=1)
    for class_atoms in np.split(pairs[1], np.flatnonzero(np.diff(pairs[0])) + 1):
        chosen = class_atoms if len(class_atoms) <= MOST_OF_CLASS else draw.permutation(class_atoms)[:MOST_OF_CLASS]
        for table in inside:
            cells = chosen[np.unique(codes[table][:, chosen], axis=1, return_index=True)[1]]
            others = chosen[np.unique(codes[~table][:, chosen], axis=1, return_index=True)[1]]
            for first in cells.tolist():
                for other in others.tolist():
                    sources = [first if own_column else other for own_column in table.tolist()]
                    key = tuple(int(codes[place, source]) for place, source in enumerate(sources))
                    if key in occurring or key in added or len(added) >= MOST_ADDED:
                        continue
                    if all(
                        tuple(key[place] for place in np.flatnonzero(some_table).tolist()) in cells_of_table
                        for some_table, cells_of_table in zip(inside, listed, strict=True)
                    ):
                        added[key] = sources
    return np.array(list(added.values()), np.int64).reshape(-1, columns)
