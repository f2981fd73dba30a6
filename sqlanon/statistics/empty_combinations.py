"""Adds empty combinations to a system, where readers of several tables cannot know that they are empty.

If no table has all columns, readers know which cells of each table are empty, but not which combinations of all columns
are: any combination may occur that no table excludes. A system of the occurring combinations alone has fewer tables
than readers must consider, and a small cell may then lack a witness that exists for readers. For example, two persons
of one age, each the only one of a sex, may be of two ages. Empty combinations are therefore added near such cells only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_JOINED = 200
"""Combinations of a finest cell, at most."""
MOST_ADDED = 20_000
"""Combinations that are added, at most."""
Finest = Sequence[tuple[int, ...]]


def list_empty(system: System, finest: Finest, secret: bytes) -> Longs:
    """Combinations without rows near cells that cannot have their least number without them.

    Args:
        system: the cells over the combinations that occur.
        finest: the margins of whole tables at their finest levels.
        secret: key for the order of combinations, where they are too many.

    Returns:
        int64[combinations, columns], of each column an atom with the value.

    Cost: a cover of the finest cells within each small cell, and joins of the tables' finest cells.
    """
    atoms, columns = system.atoms, range(len(system.atoms.nodes))
    inside = [[place for place in columns if levels[place] == 0] for levels in finest]
    groups = [group_atoms(atoms, levels) for levels in finest]
    if len(finest) < 2 or any(len(some) == len(columns) for some in inside):
        return np.zeros((0, len(columns)), np.int64)
    codes = np.stack([nodes[0] for nodes in atoms.nodes])
    seed = hashlib.blake2b(b"empty combinations", key=secret[:64], digest_size=8).digest()
    draw = np.random.default_rng(int.from_bytes(seed, "big"))
    first = [draw.permutation(np.unique(group, return_index=True)[1]) for group in groups]
    occurring = set(map(tuple, codes.T.tolist()))
    added: dict[tuple[int, ...], list[int]] = {}
    for table, group in _list_needy(system, groups):
        fixed = {place: int(np.flatnonzero(groups[table] == group)[0]) for place in inside[table]}
        others = [(inside[other], first[other]) for other in range(len(finest)) if other != table]
        for many, sources in enumerate(_join(fixed, others, codes)):
            if many >= MOST_JOINED or len(added) >= MOST_ADDED:
                break
            key = tuple(int(codes[place, sources[place]]) for place in columns)
            if key not in occurring:
                added.setdefault(key, [sources[place] for place in columns])
    return np.array(list(added.values()), np.int64).reshape(-1, len(columns))


def _list_needy(system: System, groups: Sequence[Longs]) -> list[tuple[int, int]]:
    """The finest cells, each by its table and number, by which a small cell has more than its least number."""
    sizes = [np.bincount(group) for group in groups]
    needy: dict[tuple[int, int], None] = {}
    for cell in np.flatnonzero(system.small).tolist():
        members = system.members(cell)
        covers = []
        for table, (group, size) in enumerate(zip(groups, sizes, strict=True)):
            numbers, many = np.unique(group[members], return_counts=True)
            whole = {int(number) for number, some in zip(numbers, many, strict=True) if some == size[number]}
            covers.append([(table, int(number)) if number in whole else None for number in group[members].tolist()])
        sets = [{place for place in some if place is not None} for some in zip(*covers, strict=True)]
        if _cover(sets) > system.least[cell]:
            needy |= dict.fromkeys(sorted(set().union(*sets)))
    return list(needy)


def _cover(sets: Sequence[set[tuple[int, int]]]) -> int:
    """How many of some sets have all members together: the largest first, which may be more than the fewest."""
    left, count = set().union(*sets), 0
    while left:
        left -= max(sets, key=lambda some: len(some & left))
        count += 1
    return count


def _join(
    fixed: dict[int, int], tables: Sequence[tuple[Sequence[int], Longs]], codes: Longs
) -> Iterator[dict[int, int]]:
    """Combinations of which each table lists the cell; of each column an atom with the value.

    Args:
        fixed: the columns of the first table.
        tables: the columns of each other one, and an atom of each of its cells.
        codes: int64[columns, atoms].
    """
    if not tables:
        yield fixed
        return
    (inside, cells), *others = tables
    shared = [place for place in inside if place in fixed]
    agrees = np.ones(len(cells), bool)
    for place in shared:
        agrees &= codes[place, cells] == codes[place, fixed[place]]
    for atom in cells[agrees].tolist():
        yield from _join(dict.fromkeys(inside, atom) | fixed, others, codes)
