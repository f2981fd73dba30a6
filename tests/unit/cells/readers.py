"""Small cells that readers who try every source find, where a person has several rows."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.person_reader import Rows
from tests.oracle.table_reader import Cell
from tests.unit.cells.persons_beside import Beside
from tests.unit.cells.persons_made import Persons


def failing_persons(
    case: Persons, hidden: Sequence[bool], known: tuple[Rows, Sequence[Cell]] | None = None
) -> list[Cell]:
    """The small cells that cannot have each number of persons that is promised; ``known``: what an insider knows."""
    shown = case.shown(hidden)
    asked = [cell for cell in case.small if known is None or cell not in known[1]]
    found = case.read(shown, asked, known)
    wrong = []
    for cell in asked:
        least = min(case.case.parts(cell), case.threshold)
        if not {count for _, count in found[cell]}.issuperset(range(least, case.threshold + 1)):
            wrong.append(cell)
        if known is None and "n" in case.measures and min(rows for rows, _ in found[cell]) > case.case.parts(cell):
            wrong.append(cell)
    return wrong


def failing_beside(
    case: Beside, hidden: Sequence[bool], known: tuple[Rows, Sequence[Cell]] | None = None
) -> list[Cell]:
    """The small cells that cannot have each number of persons that is promised next to the rows alone."""
    small = [cell for cell in case.persons.small if known is None or cell not in known[1]]
    nothing = dict.fromkeys(case.persons.case.cells)
    found = case.read(case.persons.shown(hidden), small, known)
    alone = case.read(nothing, small)
    wrong = []
    for cell in small:
        parts = case.persons.case.parts(cell)
        least = max(parts, min(rows for rows, _ in alone[cell]))
        persons = {count for _, count in found[cell]}
        if max(persons) < case.threshold or min(persons) > least:
            wrong.append(cell)
        if known is None and "n" in case.measures and min(rows for rows, _ in found[cell]) > least:
            wrong.append(cell)
    return wrong
