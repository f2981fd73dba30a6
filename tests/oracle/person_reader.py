"""A reader of rows and persons: every source of persons with rows that agrees with what is published, one by one.

A source says how many persons have which rows. The reader sees levels and values of each cell, the numbers of its rows
and of its persons, or that they are hidden; a cell that is not listed is empty. It shares no code with sqlanon, and is
for tiny sources.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import inf

Cell = tuple[object, ...]
"""Of each column the node, or None for the total."""
Rows = tuple[int, ...]
"""A person's rows: places of finest combinations, in ascending order, each as often as the person has it."""
Source = dict[Rows, int]
"""How many persons have these rows."""


def sources(
    leaves: int,
    shown: Mapping[Cell, tuple[int | None, int | None] | None],
    within: Mapping[Cell, Sequence[int]],
    most: tuple[int, int, int],
    able: Sequence[Rows] | None = None,
    known: tuple[Rows, Sequence[Cell]] | None = None,
) -> Iterator[Source]:
    """All sources that a reader cannot rule out.

    Args:
        leaves: how many finest combinations may not be empty.
        shown: of each published cell its rows and its persons, each None where it is not published; None: hidden.
        within: of each cell its combinations.
        most: rows of a person, persons with equal rows, and persons, at most.
        able: the rows that persons may have; None: any.
        known: the reader's own rows, and cells in which the reader is the only person.
    """
    # In this order the kinds that touch a cell are close together, so that a cell is known to be wrong early.
    kinds = sorted(able if able is not None else _all_rows(leaves, most[0]))
    if known is not None:
        alone = {place for cell in known[1] for place in within[cell]}
        kinds = [kind for kind in kinds if not alone & set(kind)] + [known[0]]
    cells = list(shown)
    effect = []
    for kind in kinds:
        inside = [sum(place in set(within[cell]) for place in kind) for cell in cells]
        effect.append([(index, rows) for index, rows in enumerate(inside) if rows])
    touched = [[index for index, _ in own] for own in effect]
    closing: list[list[int]] = [[] for _ in kinds]
    for index in range(len(cells)):
        touching = [at for at, own in enumerate(touched) if index in own]
        if not touching:
            return
        closing[touching[-1]].append(index)
    limits = [[inf if number is None else number for number in shown[cell] or (None, None)] for cell in cells]
    everybody = min((limits[index][1] for index in set.intersection(*map(set, touched))), default=inf)
    # Of each cell the persons who are not in it: as many as are left of all.
    outside = [everybody - persons if persons < inf else inf for _, persons in limits]
    finite = [index for index, most_outside in enumerate(outside) if most_outside < inf]
    untouched = [[index for index in finite if index not in own] for own in touched]
    rows, persons = [0] * len(cells), [0] * len(cells)
    source: Source = {}

    def fits(at: int, counted: int) -> bool:
        for index in touched[at]:
            most_rows, most_persons = limits[index]
            if rows[index] > most_rows or persons[index] > most_persons:
                return False
        return all(counted - persons[index] <= outside[index] for index in untouched[at])

    def ends(at: int) -> bool:
        """Whether the cells that no later kind touches have their numbers."""
        for index in closing[at]:
            numbers = shown[cells[index]]
            if numbers is None:
                if not persons[index]:
                    return False
                continue
            for number, value in zip(numbers, (rows[index], persons[index]), strict=True):
                if number is not None and value != number:
                    return False
        return True

    def extend(at: int, left: int) -> Iterator[Source]:
        if at == len(kinds):
            yield dict(source)
            return
        fixed = known is not None and at == len(kinds) - 1
        number = 0
        while number <= min(most[1], left):
            if number:
                for index, times in effect[at]:
                    rows[index] += times
                    persons[index] += 1
            if number and not fits(at, most[2] - left + number):
                number += 1
                break
            if (not fixed or number == 1) and ends(at):
                if number:
                    source[kinds[at]] = number
                yield from extend(at + 1, left - number)
                source.pop(kinds[at], None)
            number += 1
        for index, times in effect[at]:
            rows[index] -= times * (number - 1)
            persons[index] -= number - 1

    yield from extend(0, most[2])


def _all_rows(leaves: int, most: int) -> list[Rows]:
    return [
        kind for many in range(1, most + 1) for kind in itertools.combinations_with_replacement(range(leaves), many)
    ]


def count(source: Mapping[Rows, int], inside: Sequence[int]) -> tuple[int, int]:
    """The rows and the persons of a cell."""
    own = set(inside)
    rows = sum(times * sum(place in own for place in kind) for kind, times in source.items())
    return rows, sum(times for kind, times in source.items() if own & set(kind))
