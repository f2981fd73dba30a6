"""Checks of insiders, of empty combinations and of shared events, against their definitions on tiny tables."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from typing import Any

import pytest

from sqlanon.sqltext import statement
from tests.engines import create_table

Numbers = list[tuple[int, ...]]


def stored(db: Any, columns: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """A new table of whole numbers; columns with an underscore are texts."""
    name = f"checked_{uuid.uuid4().hex[:10]}"
    create_table(db, name, {column: "TEXT" if "_" in column else "BIGINT" for column in columns.split()}, rows)
    return db.engine.target(name)


def pairs_without_witness(tables: dict[str, Numbers], threshold: int) -> int:
    """Small cells and insiders for whom no witness that keeps their atoms has the least, or none the threshold."""
    least, own = dict(tables["least"]), {(cell, owner): excess for cell, owner, excess in tables["own"]}
    failing = 0
    for cell, value, small in tables["compared"]:
        for owner in {owner for _, owner in tables["insiders"]}:
            ends = [(witness, change) for of, witness, change in tables["ends"] if of == cell]
            excess = own.get((cell, owner), 0)
            if not small or cell not in least or not ends or excess < 0:
                continue
            atoms = {atom for atom, of in tables["insiders"] if of == owner}
            moved = {witness for witness, atom, change in tables["witness"] if atom in atoms and change}
            numbers = [value + change for witness, change in ends if witness not in moved]
            low = any(number <= least[cell] + excess for number in numbers)
            failing += not (low and any(number >= threshold + excess for number in numbers))
    return failing


def test_insiders_without_a_witness_are_counted(shared_db: Any) -> None:
    draw, found = random.Random("insiders"), []
    columns = {
        "ends": "cell witness change",
        "compared": "cell value small",
        "least": "cell least",
        "insiders": "atom owner",
        "own": "cell owner excess",
        "witness": "witness atom change",
    }
    for _ in range(14):
        cells, witnesses, atoms, owners = range(2), range(3), range(3), range(2)
        tables: dict[str, Numbers] = {
            "ends": [(cell, w, draw.randrange(-2, 3)) for cell in cells for w in witnesses if draw.random() < 0.8],
            "compared": [(cell, draw.randrange(4), draw.randrange(2) or draw.randrange(2)) for cell in cells],
            "least": [(cell, draw.randrange(2)) for cell in cells],
            "insiders": [(atom, owner) for atom in atoms for owner in owners if draw.random() < 0.4],
            "own": [(cell, o, draw.randrange(-1, 2)) for cell in cells for o in owners if draw.random() < 0.5],
            "witness": [(w, atom, draw.randrange(-1, 2)) for w in witnesses for atom in atoms if draw.random() < 0.4],
        }
        threshold = draw.randrange(2, 4)
        targets = {name: stored(shared_db, columns[name], rows) for name, rows in tables.items()}
        engine = shared_db.engine
        query = statement("statistics/verify_insiders", engine.dialect, threshold=threshold, sums=[], **targets)
        ((failing,),) = engine.fetch(query)
        assert failing == pairs_without_witness(tables, threshold), tables
        found.append((failing, len({owner for _, owner in tables["insiders"]})))
    assert any(failing for failing, _ in found)
    assert any(not failing and owners for failing, owners in found)


def test_combinations_that_are_not_empty_for_readers_are_counted(shared_db: Any) -> None:
    """Of two columns with a table each, and of one table of both."""
    draw, seen = random.Random("empty"), set()
    for number in range(16):
        tables = ([1], [2]) if number % 2 else ([1, 2],)
        atoms = [
            (
                draw.choice((-1, 0, 0, 1, 1)),
                draw.choice((0, 0, 1)),
                draw.choice((-1, -1, 3)),
                draw.choice("ab"),
                draw.choice("xy"),
            )
            for _ in range(draw.randrange(1, 6))
        ]
        shown = [{tuple(atom[2 + place] for place in places) for atom in atoms if atom[0] > 0} for places in tables]
        expected = sum(
            rows < 0
            or persons != 0
            or owner != -1
            or any(
                tuple((first, second)[place - 1] for place in places) not in cells
                for places, cells in zip(tables, shown, strict=True)
            )
            for rows, persons, owner, first, second in atoms
            if rows < 1
        )
        query = statement(
            "statistics/verify_empty",
            shared_db.engine.dialect,
            atoms=stored(shared_db, "n persons owner v1_0 v2_0", atoms),
            columns=[{"levels": 1}, {"levels": 1}],
            tables=[{"columns": places} for places in tables],
        )
        ((failing,),) = shared_db.engine.fetch(query)
        assert failing == expected, atoms
        seen.add(failing > 0)
    assert seen == {True, False}


A, B, C = "person a", "person b", "person c"


@pytest.mark.parametrize(
    ("rows", "shared"),
    [
        ([(A, "e"), (B, "f"), (A, "e")], 0),
        ([(A, "e"), (B, "e")], 1),
        ([(A, None)], 1),
        ([(A, None), (B, None), (A, "e"), (C, "e"), (B, "f")], 2),
    ],
)
def test_events_of_several_persons_or_of_none_are_counted(
    shared_db: Any, rows: list[tuple[str, str | None]], shared: int
) -> None:
    table = stored(shared_db, "v_token v_event", rows)
    listed = {"table": table, "token": "v_token", "event": "v_event"}
    query = statement("verify/shared_events", shared_db.engine.dialect, tables=[{**listed, "key": "visit"}])
    assert shared_db.engine.fetch(query)[0][0] == shared
    # The same event of tables with other keys is another one.
    both = statement(
        "verify/shared_events", shared_db.engine.dialect, tables=[{**listed, "key": key} for key in ("visit", "stay")]
    )
    assert shared_db.engine.fetch(both)[0][0] == 2 * shared - any(event is None for _, event in rows)
