"""A reader of published classes of rows: every table of whole numbers that agrees with what they show, one by one.

Of each class the reader sees the number of rows, and of each column both ends or all members; each of them occurs. It
shares no code with sqlanon, and is for tiny tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

Row = tuple[int, ...]
ENDS, MEMBERS, SHOWN, NODES, NOTHING = "ends", "members", "shown", "nodes", "nothing"
NODE_OF = {0: "a", 1: "a", 2: "b", 3: "b"}
"""The nodes of a hierarchy of two levels below the top."""


def see(rows: Sequence[Row], how: Sequence[str]) -> tuple[object, ...]:
    """What a release of rows shows of a class; of a hierarchy the lowest node that has all values."""
    seen: list[object] = []
    for at, words in enumerate(how):
        values = [row[at] for row in rows]
        if words == ENDS:
            seen.append((min(values), max(values)))
        elif words == MEMBERS:
            seen.append(tuple(sorted(set(values))))
        elif words == NODES:
            nodes = {NODE_OF[value] for value in values}
            seen.append(values[0] if len(set(values)) == 1 else nodes.pop() if len(nodes) == 1 else "*")
        elif words == SHOWN:
            seen.append(tuple(sorted(values)))
    return (len(rows), *seen)


def tables_of(
    classes: Sequence[Sequence[Row]], how: Sequence[str], leaves: Sequence[Row], *, empty: bool = False
) -> set[tuple[int, ...]]:
    """All tables over some leaves, none of them empty unless any may be, that have classes which show the same."""
    found = {(0,) * len(leaves)}
    for rows in classes:
        shown = see(rows, how)
        ways = {
            tuple(chosen.count(place) for place in range(len(leaves)))
            for chosen in itertools.combinations_with_replacement(range(len(leaves)), len(rows))
            if see([leaves[place] for place in chosen], how) == shown
        }
        found = {tuple(map(sum, zip(one, way, strict=True))) for one in found for way in ways}
    return {one for one in found if empty or min(one) > 0}


def agreeing(
    found: set[tuple[int, ...]],
    within: dict[tuple[object, ...], Sequence[int]],
    shown: dict[tuple[object, ...], int | None],
) -> Iterator[tuple[int, ...]]:
    """Those of them that have all shown cells."""
    for one in found:
        if all(number is None or sum(one[at] for at in within[cell]) == number for cell, number in shown.items()):
            yield one
