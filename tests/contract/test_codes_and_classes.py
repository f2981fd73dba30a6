"""The tables that rows go through in a run, made from rows that are known: codes, and rows with their class."""

from __future__ import annotations

import random
import uuid
from typing import Any

import numpy as np
import pytest

from sqlanon.column_spec import ColumnSpec
from sqlanon.engines.base import TableRef
from sqlanon.spec import PrivacySpec, ReleaseSpec
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage
from sqlanon.table.work import Packing
from tests.engines import PAIR, create_table

ROWS = 500


def temporary(scratch: Scratch, step: str, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> TableRef:
    table = scratch.table(step)
    scratch.engine.load_rows(table, list(columns.items()), rows)
    return table


def read(db: Any, table: TableRef, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(db.engine.fetch(f'SELECT {", ".join(columns)} FROM "{table.name}"'), key=repr)


@pytest.mark.parametrize("test_engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("dense", [False, True], ids=["joined", "dense"])
@pytest.mark.parametrize(
    ("kind", "low"),
    [("SMALLINT", -32768), ("SMALLINT", 32700), ("INTEGER", -7), ("BIGINT", -(2**63)), ("BIGINT", 2**63 - 60)],
)
@pytest.mark.parametrize("nulls", [False, True], ids=["filled", "nulls"])
def test_codes_of_integers(connect_module, test_engine, dense, kind, low, nulls):
    """Values with gaps between them, at both ends of their type, read by an array or by a join."""
    chance = random.Random(3)
    present = sorted(chance.sample(range(low, low + 60), 20))
    rows = [(rid, chance.choice(present + [None] * nulls)) for rid in range(ROWS)]
    rows[: len(present)] = enumerate(present)
    codes = {value: code for code, value in enumerate([None] * nulls + present)}
    db = connect_module(test_engine)
    with Scratch(db.engine) as scratch:
        stage = temporary(scratch, "stage", {"rid": "INTEGER", "q1": kind}, rows)
        domain = temporary(
            scratch, "domain", {"code": "INTEGER", "value": kind}, [(code, value) for value, code in codes.items()]
        )
        column = {
            "alias": "q1",
            "domain": domain,
            "type": "SMALLINT",
            "nulls": nulls,
            "as_float": False,
            "as_text": False,
            "listed": None,
            "code": "c1",
            "dense": dense,
        }
        work = scratch.table("work")
        scratch.execute("table/work", work=work, stage=stage, columns=[column], words=0, among=None)
        assert read(db, work, "rid", "c1") == sorted(((rid, codes[value]) for rid, value in rows), key=repr)
        if db.engine.fetch_words is None:
            some = temporary(scratch, "some", {"rid": "INTEGER"}, [(rid,) for rid in range(0, ROWS, 7)])
            part = scratch.table("part")
            scratch.execute("table/work", work=part, stage=stage, columns=[column], words=0, among=some)
            assert read(db, part, "rid", "c1") == sorted(((i, codes[v]) for i, v in rows[::7]), key=repr)
            return
        binds = {"first": 30, "past": 90}
        placed = [column | {"word": 0, "shift": 9}, column | {"word": 1, "shift": 0}]
        made = scratch.sql("table/work", binds, work=None, stage=stage, columns=placed, words=2, blocks=True, span=True)
        first, second = (words.tolist() for words in db.engine.fetch_words(made))
        assert sorted((word & 511, word >> 9) for word in first) == [(i, codes[value]) for i, value in rows[30:90]]
        assert second == [word >> 9 for word in first]


def test_codes_of_many_bits_take_several_words() -> None:
    """Each has a place of its own within the 63 bits of a word that is not negative."""
    assert Packing.of([20, 43]).places == ((0, 0), (0, 20))
    assert Packing.of([20, 44, 19, 1]).places == ((0, 0), (1, 0), (1, 44), (2, 0))


@pytest.mark.parametrize("test_engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("many", [1, ROWS + 1], ids=["many", "few"])
def test_staged_rows_are_numbered(connect, test_engine, many, monkeypatch):
    """From 0 on, each number once, however the engine numbers so many rows."""
    monkeypatch.setattr("sqlanon.table.stage.MANY_ROWS", many)
    db = connect(test_engine)
    create_table(db, "staged", {"name": "VARCHAR"}, [(f"v{i}",) for i in range(ROWS)])
    spec = ReleaseSpec("staged", "staged", columns=(ColumnSpec("name", "quasi"),), privacy=PrivacySpec(k=2))
    with Scratch(db.engine) as scratch, db.engine.snapshot():
        roles = assign_roles(spec, db.engine.relation("staged"))
        stage = take_stage(scratch, roles, [], rows=ROWS)
        found = db.engine.fetch(f'SELECT rid, q1 FROM "{stage.name}"')
        assert sorted(rid for rid, _ in found) == list(range(ROWS))
        assert {name for _, name in found} == {f"v{i}" for i in range(ROWS)}


@pytest.mark.cover
@pytest.mark.parametrize("test_engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("flaw", ["none", "a row left out", "a row twice", "an unknown row", "no class"])
@pytest.mark.parametrize("tied", [False, True], ids=["plain", "tied"])
@pytest.mark.parametrize("unassigned", [False, True], ids=["all", "unassigned"])
@pytest.mark.parametrize("block", [0, 200])
def test_rows_with_their_class(connect_module, test_engine, flaw, tied, unassigned, block):
    """Whatever a method returns, in whatever order: a row has the classes that it gave it, no others."""
    chance = random.Random(5)
    given = [(rid, chance.randrange(-1 if unassigned else 0, 9)) for rid in range(ROWS)]
    if flaw == "a row left out":
        del given[40]
    elif flaw == "a row twice":
        given[40] = (41, 3)
    elif flaw == "an unknown row":
        given[40] = (ROWS + 7, 3)
    elif flaw == "no class":
        given[40] = (40, None)
    chance.shuffle(given)
    moved = {rid: chance.randrange(100, 109) for rid in range(0, ROWS, 7)} if tied else {}
    expected = [(moved.get(rid, at), rid, rid * 2) for rid, at in given if rid < ROWS]
    if unassigned:
        expected = [row for row in expected if row[0] is not None and row[0] >= 0]
    db = connect_module(test_engine)
    with Scratch(db.engine) as scratch:
        stage = temporary(
            scratch,
            "stage",
            {"rid": "INTEGER", "s1": "INTEGER", "link": "BIGINT"},
            [(rid, rid * 2, rid) for rid in range(ROWS)],
        )
        pairs = {"rid": "INTEGER", "class": "INTEGER"}
        assign = temporary(scratch, "assign", pairs, given)
        classed = scratch.table("classed")
        scratch.execute(
            "table/classed",
            classed=classed,
            stage=stage,
            work=stage,
            assign=assign,
            raw=["s1"],
            codes=[],
            kept="assigned" if unassigned else "all",
            tied=temporary(scratch, "tied", pairs, list(moved.items())) if tied else None,
            rows=ROWS,
            block=block,
            listed=False,
            link=(),
            in_order=tied,
        )
        assert read(db, classed, "class", "rid", "s1") == sorted(expected, key=repr)


@pytest.mark.parametrize("test_engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("tied", [False, True], ids=["plain", "tied"])
def test_rows_whose_classes_are_listed(connect_module, test_engine, tied):
    """One array has the classes of all rows; a table of rows can be made of it."""
    db = connect_module(test_engine)
    if db.engine.load_list is None:
        pytest.skip("classes are loaded row by row")
    chance = random.Random(6)
    given = [chance.randrange(9) for _ in range(ROWS)]
    moved = dict.fromkeys(range(0, ROWS, 7), 100) if tied else {}
    with Scratch(db.engine) as scratch:
        stage = temporary(
            scratch,
            "stage",
            {"rid": "INTEGER", "s1": "INTEGER", "link": "BIGINT"},
            [(rid, rid * 2, rid) for rid in range(ROWS)],
        )
        pairs = {"rid": "INTEGER", "class": "INTEGER"}
        listed, assign, classed = (scratch.table(name) for name in ("listed", "assign", "classed"))
        db.engine.load_list(listed, "classes", np.array(given, np.int32))
        scratch.execute("table/unlisted", assign=assign, listed=listed)
        assert read(db, assign, "rid", "class") == sorted(enumerate(given), key=repr)
        scratch.execute(
            "table/classed",
            classed=classed,
            stage=stage,
            work=stage,
            assign=listed,
            raw=["s1"],
            codes=[],
            kept="all",
            tied=temporary(scratch, "tied", pairs, list(moved.items())) if tied else None,
            rows=ROWS,
            block=0,
            listed=True,
            link=(),
            in_order=False,
        )
        expected = [(moved.get(rid, at), rid, rid * 2) for rid, at in enumerate(given)]
        assert read(db, classed, "class", "rid", "s1") == sorted(expected, key=repr)


@pytest.mark.parametrize("test_engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize(
    ("values", "repeats"),
    [
        ([], False),
        ([5], False),
        ([None], None),
        ([3, 1, 2], None),
        ([1, 2, 3], False),
        ([1, 2, 2, 3], True),
        ([None, 1, 2], None),
        ([None, None, 1], True),
        ([1, 1], True),
    ],
)
def test_ascending_identifiers_do_not_repeat(connect_module, test_engine, values, repeats):
    """None: an engine may see that nothing repeats, or leave it to the count."""
    db = connect_module(test_engine)
    name = f"numbered_{uuid.uuid4().hex[:10]}"
    create_table(db, name, {"id": "INTEGER"}, [(value,) for value in values])
    with Scratch(db.engine) as scratch:
        source = db.engine.relation(name).ref
        breaks = scratch.fetch("table/distinct", source=source, column="id")[0][0]
    assert repeats is None or (int(str(breaks)) > 1) == repeats
