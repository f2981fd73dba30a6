"""Checks of the certificate of counts, against their definitions on tiny tables."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from typing import Any, NamedTuple

import pytest

from sqlanon.sqltext import statement
from tests.engines import create_table

COLUMNS = {"atom": "BIGINT", "class": "BIGINT", "kind": "BIGINT", "n": "BIGINT", "r1": "BIGINT", "v2_0": "TEXT"}


class Part(NamedTuple):
    """A finest combination: the class and the kind that it is a part of (-1: none), rows, a rank, a shown value."""

    atom: int
    class_: int
    kind: int
    n: int
    rank: int
    shown: str


def count_faults(parts: list[Part], how: str) -> tuple[int, int, int]:
    """Parts outside of their class, kinds of several classes or values, and classes whose kinds are apart."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for part in parts:
        if part.n > 0 and part.class_ >= 0:
            ranks[part.class_].add(part.rank)
    outside = 0
    for part in parts:
        if part.class_ >= 0 and part.class_ not in ranks:
            outside += 1
        elif part.class_ >= 0:
            own = ranks[part.class_]
            beyond = not min(own) <= part.rank <= max(own) or (min(own) == 0 and part.rank not in own)
            outside += beyond if how == "ends" else part.rank not in own
    kinds: dict[int, set[tuple[int, str]]] = defaultdict(set)
    values: dict[tuple[int, str], set[int]] = defaultdict(set)
    for part in parts:
        if part.kind >= 0 or part.class_ >= 0:
            kinds[part.kind].add((part.class_, part.shown))
        if part.class_ >= 0:
            values[part.class_, part.shown].add(part.kind)
    mixed = sum(kind < 0 or len(found) > 1 or min(found)[0] < 0 for kind, found in kinds.items())
    return outside, mixed, sum(len(found) > 1 for found in values.values())


@pytest.mark.parametrize("how", ["ends", "members"])
def test_faults_of_parts_are_counted(shared_db: Any, how: str) -> None:
    draw, engine, seen = random.Random(how), shared_db.engine, [0, 0, 0]
    for _ in range(12):
        parts = [
            Part(
                atom,
                draw.randrange(-1, 3),
                draw.randrange(-1, 5),
                draw.randrange(3),
                draw.randrange(4),
                draw.choice("xy"),
            )
            for atom in range(draw.randrange(1, 7))
        ]
        name = f"parts_{uuid.uuid4().hex[:10]}"
        create_table(shared_db, name, COLUMNS, parts)
        query = statement(
            "statistics/verify_parts",
            engine.dialect,
            atoms=engine.target(name),
            neighbour=[{"place": 1, "how": how}],
            shown=[2],
        )
        ((*counted,),) = engine.fetch(query)
        expected = count_faults(parts, how)
        assert tuple(map(int, counted)) == expected, parts
        seen = [before + (number > 0) for before, number in zip(seen, expected, strict=True)]
    assert min(seen) > 0


def test_numbers_that_several_cells_have_are_counted(shared_db: Any) -> None:
    cells, atoms = (f"{name}_{uuid.uuid4().hex[:10]}" for name in ("cells", "atoms"))
    target = shared_db.engine.target
    for table, column, numbers in ((cells, "cell", (1, 1, 2)), (atoms, "atom", (5, 5, 5, 7))):
        create_table(shared_db, table, {column: "BIGINT"}, [(number,) for number in numbers])
    query = statement("statistics/verify_numbers", shared_db.engine.dialect, cells=target(cells), atoms=target(atoms))
    ((failing,),) = shared_db.engine.fetch(query)
    assert failing == 1 + 2
