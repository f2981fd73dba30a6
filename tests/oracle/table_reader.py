"""A reader of published counts: every table of whole numbers that agrees with what is published, one by one.

It sees what the view has: levels and values of each cell, its number or that it is hidden; a cell that is not listed is
empty. It shares no code with sqlanon, and is for tiny tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Cell = tuple[object, ...]
"""Of each column the node, or None for the total."""


def tables(
    leaves: Sequence[Cell],
    cells: Mapping[Cell, int | None],
    within: Mapping[Cell, Sequence[int]],
    most: int,
    known: Mapping[int, int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """All tables that a reader cannot rule out, with numbers up to a bound.

    Args:
        leaves: the finest combinations that may not be empty.
        cells: the published cells; None: hidden, which is at least 1.
        within: of each cell its places in ``leaves``.
        most: numbers of single leaves that are tried.
        known: numbers that the reader knows besides, by place.
    """
    known = known or {}
    holds = [[cell for cell in cells if place in within[cell]] for place in range(len(leaves))]
    last = {cell: max(within[cell]) for cell in cells}
    sums = dict.fromkeys(cells, 0)
    table: list[int] = []

    def extend(place: int) -> Iterator[tuple[int, ...]]:
        if place == len(leaves):
            yield tuple(table)
            return
        values = [known[place]] if place in known else range(most + 1)
        for value in values:
            fits = True
            for cell in holds[place]:
                total, shown = sums[cell] + value, cells[cell]
                if shown is not None and (total > shown or (last[cell] == place and total != shown)):
                    fits = False
                if shown is None and last[cell] == place and total < 1:
                    fits = False
            if fits:
                for cell in holds[place]:
                    sums[cell] += value
                table.append(value)
                yield from extend(place + 1)
                table.pop()
                for cell in holds[place]:
                    sums[cell] -= value

    yield from extend(0)


def numbers(
    found: Iterator[tuple[int, ...]], within: Mapping[Cell, Sequence[int]], asked: Sequence[Cell]
) -> dict[Cell, set[int]]:
    """Every number that some cells have in one of the tables."""
    seen: dict[Cell, set[int]] = {cell: set() for cell in asked}
    for table in found:
        for cell in asked:
            seen[cell].add(sum(table[place] for place in within[cell]))
    return seen


def ends(
    found: Iterator[tuple[int, ...]], within: Mapping[Cell, Sequence[int]], asked: Sequence[Cell]
) -> dict[Cell, tuple[int, int]]:
    """The least and the greatest number of some cells over all tables."""
    return {cell: (min(some), max(some)) for cell, some in numbers(found, within, asked).items()}
