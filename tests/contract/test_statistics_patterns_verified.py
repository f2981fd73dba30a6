"""Checks of patterns of persons, and of combinations without rows, against their definitions on tiny tables.

Each counts failures of several kinds in one number: no kind makes up for another.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlanon.sqltext import statement
from tests.engines import create_table

Rows = list[tuple[Any, ...]]


def store(db: Any, columns: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """A new table of whole numbers; those of values are texts."""
    name = f"checked_{uuid.uuid4().hex[:10]}"
    create_table(db, name, {column: "TEXT" if column.startswith("v") else "BIGINT" for column in columns.split()}, rows)
    return db.engine.target(name)


def count_changes(witness: Rows, patterns: Rows, atoms: set[int]) -> tuple[int, int, int]:
    """Unknown, repeated and impossible changes of numbers of patterns, and patterns that are so."""
    persons_of: dict[int, set[int | None]] = {}
    for pattern, _, _, persons in patterns:
        persons_of.setdefault(pattern, set()).add(persons)
    unknown = sum(pattern not in persons_of for _, pattern, _ in witness)
    unknown += sum(atom not in atoms for _, atom, _, _ in patterns)
    twice = sum(many > 1 for many in Counter((w, pattern) for w, pattern, _ in witness).values())
    twice += sum(many > 1 for many in Counter((pattern, atom) for pattern, atom, _, _ in patterns).values())
    broken = sum(
        change is None or persons is None or persons + change < 0
        for _, pattern, change in witness
        for persons in persons_of.get(pattern, {None})
    )
    broken += sum(times is None or times < 1 or persons is None or persons < 0 for _, _, times, persons in patterns)
    broken += sum(len(numbers - {None}) > 1 for numbers in persons_of.values())
    return unknown, twice, broken


def test_wrong_changes_of_patterns_are_counted(shared_db: Any) -> None:
    draw, engine, seen = random.Random("pattern changes"), shared_db.engine, set()
    tables: list[tuple[Rows, Rows]] = [
        ([(1, 9, 1)], [(1, 9, 1, 2)]),  # one of no pattern, one of no atom
        ([(1, 1, 1), (1, 1, -1)], [(1, 2, 1, 2), (1, 2, 1, 2)]),
        ([(1, 1, -3)], [(1, 1, 1, 2), (1, 2, 0, 2)]),
        ([(1, 1, -3)], [(1, 1, 1, 2), (1, 2, 1, 3)]),
        ([(1, 1, 1)], [(1, 1, 0, 2), (2, 1, 1, 2), (2, 2, 1, 3)]),
        ([(1, 1, -2)], [(1, 1, 1, 2)]),
        ([], [(1, 1, 1, 0)]),
    ]
    for _ in range(10):
        patterns = [
            (draw.randrange(1, 4), draw.randrange(1, 5), draw.choice((0, 1, 2, 2, None)), draw.choice((-1, 0, 1, 2)))
            for _ in range(4)
        ]
        witness = [(draw.randrange(2), draw.randrange(1, 5), draw.choice((-2, -1, 1, 1, None))) for _ in range(3)]
        tables.append((witness, patterns))
    for witness, patterns in tables:
        targets = {
            "witness": store(shared_db, "witness pattern change", witness),
            "patterns": store(shared_db, "pattern atom times persons", patterns),
            "atoms": store(shared_db, "atom", [(1,), (2,), (3,)]),
        }
        ((*found,),) = engine.fetch(statement("statistics/verify_pattern_changes", engine.dialect, **targets))
        assert tuple(found) == count_changes(witness, patterns, {1, 2, 3}), (witness, patterns)
        seen |= {(place, bool(number)) for place, number in enumerate(found)}
    assert len(seen) == 6


def count_promised(witness: Rows, patterns: Rows, atoms: Rows, least: int, share: tuple[int, int]) -> tuple[int, int]:
    """Classes that witnesses leave with too few persons, or of no number, and patterns of too much of a class."""
    class_of = {atom: number for atom, number, _, _ in atoms}
    numbers = {number for _, number, _, _ in atoms if number is not None}
    of_class = {number: [row for row in atoms if row[1] == number] for number in numbers}
    inside = {(pattern, class_of[atom]) for pattern, atom, _ in patterns if (class_of.get(atom) or 0) >= 0}
    inside = {(pattern, number) for pattern, number in inside if number is not None}
    moved: Counter[tuple[int, int]] = Counter()
    for w, pattern, change in witness:
        for number in (number for of, number in inside if of == pattern):
            moved[w, number] += change
    few = sum(number is None for number in class_of.values())
    for (_, number), change in moved.items():
        persons = [row[3] for row in of_class[number]]
        rows = sum(row[2] for row in of_class[number])
        few += None in persons or min(persons) > rows or (change < 0 and min(persons) + change < least)
    part, whole = share
    times: Counter[tuple[int, int]] = Counter()
    for pattern, atom, many in patterns:
        if (pattern, class_of[atom]) in inside:
            times[pattern, class_of[atom]] += many
    large = sum(many * whole > part * sum(row[2] for row in of_class[number]) for (_, number), many in times.items())
    return few, large


def test_classes_of_too_few_persons_are_counted(shared_db: Any) -> None:
    draw, engine, seen = random.Random("promised"), shared_db.engine, set()
    tables: list[tuple[Rows, Rows, Rows]] = [
        ([(1, 1, -1)], [(1, 1, 1)], [(1, 0, 3, 2), (2, None, 1, 1)]),  # one of too few, one of no class
        ([(1, 1, -1)], [(1, 1, 1)], [(1, 0, 3, 3)]),
        ([(1, 1, 1)], [(1, 1, 1)], [(1, 0, 2, 1), (2, 0, 1, 1)]),
        ([(1, 1, 0)], [(1, 1, 1)], [(1, 0, 1, 1)]),
        ([(1, 1, 1)], [(1, 1, 1)], [(1, 0, 2, 3)]),
        ([(1, 1, 1)], [(1, 1, 1)], [(1, 0, 3, 3)]),
        ([(1, 1, 1)], [(1, 1, 2), (1, 2, 1)], [(1, 0, 2, 3), (2, 0, 2, None)]),
        ([(1, 1, -2), (1, 2, 1)], [(1, 1, 1), (1, 2, 1), (2, 1, 1)], [(1, 0, 4, 3), (2, 0, 4, 3)]),
        ([(1, 1, -5)], [(1, 1, 1)], [(1, -1, 2, 9)]),
        ([(1, 1, -1)], [(1, 1, 1)], [(1, 0, 2, 3), (2, 0, 2, 1)]),
    ]
    for _ in range(10):
        atoms = [
            (atom, draw.choice((-1, 0, 0, 1, 1, None)), draw.randrange(4), draw.choice((1, 2, 3, 3, None)))
            for atom in range(1, 5)
        ]
        patterns = [(pattern, draw.randrange(1, 5), draw.randrange(1, 3)) for pattern in (1, 1, 2, 3)]
        witness = [(draw.randrange(2), pattern, draw.choice((-2, -1, 1))) for pattern in (1, 2, 3)]
        tables.append((witness, patterns, atoms))
    for witness, patterns, atoms in tables:
        targets = {
            "witness": store(shared_db, "witness pattern change", witness),
            "patterns": store(shared_db, "pattern atom times", patterns),
            "atoms": store(shared_db, "atom class n class_persons", atoms),
        }
        for least, part, whole in ((2, 1, 2), (1, 1, 1)):
            numbers = {"least": least, "part": part, "whole": whole}
            query = statement("statistics/verify_promised", engine.dialect, **numbers, **targets)
            ((few, large),) = engine.fetch(query)
            assert (few, large) == count_promised(witness, patterns, atoms, least, (part, whole)), (atoms, numbers)
            seen |= {("few", bool(few)), ("large", bool(large))}
    assert len(seen) == 4


def test_combinations_of_no_value_are_counted_whatever_there_is_too_often(shared_db: Any) -> None:
    """An atom with the number of another one doubles a combination, and hides none that is lost."""
    engine, shape = shared_db.engine, {"columns": [{"levels": 1}, {"levels": 1}], "tables": [{"columns": [1, 2]}]}
    for atoms, able, missing, cells in (
        ([(1, "a", "x"), (2, "b", "y"), (3, "a", "y")], [(4, 1, 2)], 0, 0),
        ([(1, "a", "x"), (2, "b", "y")], [(3, 1, 2)], 0, 1),
        ([(1, "a", "x"), (2, "b", "y")], [(3, 1, 7)], 1, 0),
        ([(1, "a", "x"), (1, "b", "x"), (2, "b", "y"), (3, "a", "y")], [(4, 1, 2), (5, 1, 7)], 1, 0),
    ):
        every = engine.target(f"every_{uuid.uuid4().hex[:10]}")
        kept = {
            "atoms": store(shared_db, "atom n persons owner v1_0 v2_0", [(atom, 1, 1, atom, *v) for atom, *v in atoms]),
            "able": store(shared_db, "atom a1 a2", able),
        }
        engine.execute(statement("statistics/able_atoms", engine.dialect, every=every, sums=[], **kept, **shape))
        ((failing,),) = engine.fetch(statement("statistics/verify_able", engine.dialect, every=every, **kept, **shape))
        assert bool(failing) == bool(missing or cells), (atoms, able)
