"""Hierarchies that a policy builds, against the same trees written by hand.

What is published of a rule, and what its nodes answer.
"""

from __future__ import annotations

import datetime
import json
import random
import uuid
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import release
from tests.engines import create_table

COLUMNS = {
    "age": "INTEGER",
    "f": "DOUBLE PRECISION",
    "e": "DECIMAL(8, 2)",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "seen": "DATE",
    "zip": "TEXT",
    "code": "TEXT",
    "kind": "TEXT",
    "ill": "TEXT",
}

BUILT: dict[str, object] = {
    "age": {"steps": [5, 10, 20]},
    "f": {"steps": [0.1, 0.5], "from": "0"},
    "e": "steps:10,50 from 5",
    "day": {"calendar": ["month", "quarter", "year", "decade"]},
    "moment": "calendar:day,week",
    "seen": {"steps": [7, 14], "from": datetime.date(2024, 1, 1)},
    "zip": {"prefix": [3, 1]},
    "code": {"mask": "right"},
    "kind": {"groups": {"young": ["a", "b"], "old": ["c;d"]}},
}

# From the leaf to the root, leaves in the order of their values; nothing of the product wrote this.
BY_HAND = {
    "age": """-20;-20..-16;-20..-11;-20..-1;*
-1;-5..-1;-10..-1;-20..-1;*
0;0..4;0..9;0..19;*
4;0..4;0..9;0..19;*
5;5..9;0..9;0..19;*
10;10..14;10..19;0..19;*
39;35..39;30..39;20..39;*""",
    "f": """-0.1;-0.1..<0;-0.5..<0;*
0.0;0..<0.1;0..<0.5;*
0.29999999999999993;0.2..<0.3;0..<0.5;*
0.3;0.3..<0.4;0..<0.5;*
0.7;0.7..<0.8;0.5..<1;*
1.1;1.1..<1.2;1..<1.5;*""",
    "e": """-5.01;-15..<-5;-45..<5;*
-5.00;-5..<5;-45..<5;*
4.99;-5..<5;-45..<5;*
5.00;5..<15;5..<55;*
55.00;55..<65;55..<105;*""",
    "day": """1999-12-31;1999-12;1999-Q4;1999;1990s;*
2020-02-29;2020-02;2020-Q1;2020;2020s;*
2020-03-01;2020-03;2020-Q1;2020;2020s;*
2020-04-01;2020-04;2020-Q2;2020;2020s;*
2021-12-31;2021-12;2021-Q4;2021;2020s;*""",
    "moment": """1969-12-28 10:00:00;1969-12-28;1969-12-22..1969-12-28;*
2024-02-29 00:00:00;2024-02-29;2024-02-26..2024-03-03;*
2024-02-29 23:59:59.999999;2024-02-29;2024-02-26..2024-03-03;*
2024-03-03 12:00:00;2024-03-03;2024-02-26..2024-03-03;*
2024-03-04 00:00:00;2024-03-04;2024-03-04..2024-03-10;*""",
    "seen": """2023-12-31;2023-12-25..2023-12-31;2023-12-18..2023-12-31;*
2024-01-01;2024-01-01..2024-01-07;2024-01-01..2024-01-14;*
2024-01-07;2024-01-01..2024-01-07;2024-01-01..2024-01-14;*
2024-01-08;2024-01-08..2024-01-14;2024-01-01..2024-01-14;*""",
    "zip": """10115;101*;1*;*
10117;101*;1*;*
12;12*;1*;*
{a,b};{a,*;{*;*
é'x9;é'x*;é*;*""",
    "code": """ab;a*;**;**;*
ax;a*;**;**;*
C501;C50*;C5**;C***;*
C509;C50*;C5**;C***;*
C61x;C61*;C6**;C***;*""",
    "kind": """a;young;*
b;young;*
"c;d";old;*""",
}

READ = {
    "age": int,
    "f": float,
    "e": Decimal,
    "day": datetime.date.fromisoformat,
    "moment": datetime.datetime.fromisoformat,
    "seen": datetime.date.fromisoformat,
}


def rows(count: int = 90, seed: int = 5) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    leaves = {
        name: [
            READ.get(name, str)(line.rsplit(";", line.count(";") - ('"' in line))[0].strip('"'))
            for line in tree.split("\n")
        ]
        for name, tree in BY_HAND.items()
    }
    made: list[tuple[Any, ...]] = []
    for _ in range(count):
        values = [rng.choice(leaves[name]) for name in BY_HAND]
        values[0] = None if rng.random() < 0.1 else values[0]
        made.append((*values, rng.choice("xyz")))
    return made


@pytest.fixture(scope="module")
def world(shared_db: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("trees")
    table = f"h_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, COLUMNS, rows())
    files = {}
    for name, tree in BY_HAND.items():
        files[name] = folder / f"{name}.csv"
        files[name].write_text(tree + "\n", encoding="utf-8")
    return shared_db, table, files


def made(db: Any, table: str, name: str, trees: dict[str, Any], **more: Any) -> Any:
    asked = {"quasi": list(BY_HAND), "sensitive": "ill", "k": 3, "accept_unique": ["ill"]} | more
    return db.anonymize(table, name=name, publish=f"release.{name}", hierarchies=trees, allow_weaker=True, **asked)


def published(db: Any, name: str) -> list[dict[str, Any]]:
    names = [column.name for column in db.engine.relation(f"release.{name}").columns]
    listed = ", ".join(f'"{one}"' for one in names)
    return [dict(zip(names, row, strict=True)) for row in db.engine.fetch(f"SELECT {listed} FROM release.{name}")]


def shown(db: Any, name: str) -> Counter[str]:
    return Counter(str(sorted(row.items())) for row in published(db, name))


@pytest.mark.cover
@pytest.mark.parametrize(
    ("method", "form", "columns"),
    [
        ("fulldomain", "ranges", ("age", "day", "zip")),
        ("tree", "labels", ("f", "e", "moment")),
        ("tds", "ranges", ("seen", "code", "kind")),
        ("best", "points", ("age", "f", "zip")),
        ("mondrian", "suppressed", ("day", "code", "kind")),
        ("kmember", "labels", ("zip", "age", "seen")),
    ],
)
def test_a_builder_publishes_what_the_tree_by_hand_does(
    world: Any, method: str, form: str, columns: tuple[str, ...]
) -> None:
    db, table, files = world
    asked: dict[str, Any] = {"quasi": list(columns), "rest": "drop", "method": method, "format": form, "seed": 3}
    built = made(db, table, "built", {name: BUILT[name] for name in columns}, **asked)
    by_hand = made(db, table, "by_hand", {name: files[name] for name in columns}, **asked)
    assert shown(db, "built") == shown(db, "by_hand")
    assert built.loss().gcp == by_hand.loss().gcp
    assert built.report.verified


QUESTIONS = (
    "age < 5",
    "age BETWEEN 0 AND 19",
    "age IS NULL",
    "age = 39",
    "f < 0.3",
    "f >= 0.5",
    "e < 5",
    "e > 54.99",
    "day < DATE '2020-03-15'",
    "day >= DATE '2020-01-01'",
    "moment < TIMESTAMP '2024-02-29 12:00:00'",
    "moment >= TIMESTAMP '2024-03-04 00:00:00'",
    "seen <= DATE '2024-01-07'",
    "zip = '10115'",
    "zip IN ('12', '10117')",
    "code = 'C501'",
    "code <> 'ab'",
    "kind = 'a'",
    "age >= 0 AND day < DATE '2020-01-01'",
)


@pytest.mark.cover
@pytest.mark.parametrize("form", ["ranges", "labels"])
def test_nodes_of_rules_bound_every_answer(world: Any, form: str) -> None:
    db, table, _ = world
    built = made(db, table, f"asked_{form}", dict(BUILT), format=form, k=2)
    narrow = 0
    for some in [QUESTIONS[at : at + 5] for at in range(0, len(QUESTIONS), 5)]:
        items = ", ".join(f"count(*) FILTER (WHERE {question}) AS n{i}" for i, question in enumerate(some))
        truths = db.engine.fetch(f"SELECT {items} FROM {table}")[0]
        cells = db.query(f"SELECT {items} FROM asked_{form}").rows[0]
        for i, truth in enumerate(truths):
            assert cells[f"n{i}"].low <= truth <= cells[f"n{i}"].high, some[i]
            narrow += cells[f"n{i}"].high - cells[f"n{i}"].low < built.report.rows
    assert narrow > len(QUESTIONS) // 2
    edge = db.query(f"SELECT count(*) AS n FROM asked_{form} WHERE age < 0 OR age >= 0 OR age IS NULL").rows[0]["n"]
    assert edge.high == built.report.rows


def test_metadata_hold_the_rule_and_no_leaf(world: Any) -> None:
    db, table, _ = world
    trees = {name: built for name, built in BUILT.items() if name != "kind"}
    made(db, table, "declared", trees, quasi=list(trees), rest="drop", insensitive=[])
    metadata = {row["column_name"]: row["declared"] for row in published(db, "declared_metadata")}
    said = {name: json.loads(metadata[name]) for name in trees}
    assert all(list(one) == ["rule"] for one in said.values())
    assert said["seen"] == {"rule": {"steps": ["7", "14"], "from": "2024-01-01"}}
    catalog = str(db.engine.fetch("SELECT policy FROM _sqlanon.catalog"))
    assert not [leaf for leaf in ("10115", "C50") if leaf in str(metadata) + catalog]


def test_the_number_of_values_that_no_node_has_is_all_that_is_said(shared_db: Any) -> None:
    name = f"h_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, name, {"f": "DOUBLE PRECISION", "z": "TEXT"}, [(float(i % 4), "zq81") for i in range(8)])
    shared_db.engine.execute(
        f"INSERT INTO {name} VALUES (CAST('Infinity' AS DOUBLE PRECISION), 'zq81'), (CAST('NaN' AS DOUBLE PRECISION), "
        "'zq81')"
    )
    with pytest.raises(PolicyError, match="column f: 2 of its values are in no node"):
        shared_db.anonymize(name, quasi="f", rest="drop", k=2, hierarchies={"f": "steps:2"}, name=name)
    with pytest.raises(
        PolicyError, match=r"1 values of column z are not among its leaves.*name with other: what they count as"
    ) as caught:
        shared_db.anonymize(name, quasi="z", rest="drop", k=2, hierarchies={"z": {"groups": {"g": ["b"]}}}, name=name)
    assert "zq81" not in str(caught.value)


def test_levels_count_the_rows_of_every_node(world: Any) -> None:
    db, table, _ = world
    made(db, table, "counted", {"age": BUILT["age"], "kind": BUILT["kind"]}, quasi=["age", "kind"], rest="drop")
    found = db.hierarchy("counted", "age")
    paths = {line.split(";")[0]: line.split(";") for line in BY_HAND["age"].split("\n")}
    ages = [str(row[0]) for row in rows() if row[0] is not None]
    for level in found.levels:
        expected = Counter(paths[age][level.level] for age in ages)
        assert level.rows == expected
        assert level.nodes == len(expected)
    assert found.nulls == len(rows()) - len(ages)
    assert found.built == "steps 5, 10, 20"
    assert [level.nodes for level in db.hierarchy("counted", "KIND").levels] == [3, 2, 1]
    with pytest.raises(PolicyError, match="those that have one: age, kind"):
        db.hierarchy("counted", "ill")


def test_a_table_is_a_hierarchy_and_its_change_a_new_version(world: Any) -> None:
    db, table, files = world
    tree = f"tree_{uuid.uuid4().hex[:8]}"
    paths = [tuple(line.split(";")) for line in BY_HAND["zip"].split("\n")]
    create_table(db, tree, {"leaf": "TEXT", "three": "TEXT", "one": "TEXT", "root": "TEXT"}, paths)
    asked: dict[str, Any] = {"quasi": ["zip", "age"], "rest": "drop", "method": "fulldomain"}
    made(db, table, "by_table", {"zip": f"table:{tree}", "age": "steps:5"}, **asked)
    made(db, table, "by_file", {"zip": files["zip"], "age": "steps:5"}, **asked)
    assert shown(db, "by_table") == shown(db, "by_file")

    def spec(rule: object) -> Any:
        return release(
            source=table,
            name="nightly",
            publish="release.nightly",
            k=3,
            quasi=["zip", "age"],
            rest="drop",
            hierarchies={"zip": {"table": tree}, "age": rule},
        )

    assert db.run(spec("steps:5,10")).version == 1
    assert db.run(spec("steps:5,10")).version == 1
    assert db.preview(spec("steps:5,10"), rows=1).pairs
    db.engine.execute(f"UPDATE {tree} SET three = '1**' WHERE leaf = '12'")
    assert db.run(spec("steps:5,10")).version == 2
    assert db.run(spec("steps:10")).version == 3
    said = [str(one) for one in db.diff("nightly@2", "nightly@3").policy]
    assert any("steps 5, 10" in one and "steps 10 (coarser)" in one for one in said), said


def test_all_nulls_and_no_rows(shared_db: Any) -> None:
    name = f"h_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, name, {"a": "INTEGER", "z": "TEXT"}, [(None, None)] * 4)
    trees = {"a": "steps:5", "z": "mask:right"}
    for method in ("tree", "fulldomain"):
        found = shared_db.anonymize(name, quasi=["a", "z"], k=2, hierarchies=trees, name=name, method=method)
        assert found.report.classes == 1


@pytest.mark.parametrize(
    ("built", "why"),
    [
        ({"steps": [5, 12]}, "does not nest"),
        ({"steps": [10, 5]}, "does not nest"),
        ({"steps": [0]}, "above 0"),
        ({"steps": ["x"]}, "above 0"),
        ({"calendar": ["month", "week"]}, "do not nest"),
        ({"calendar": ["week", "month"]}, "do not nest"),
        ({"calendar": ["hour"]}, "not known"),
        ({"prefix": [2, 3]}, "do not nest"),
        ({"prefix": [0]}, "whole number"),
        ({"mask": "left"}, "right"),
        ({"groups": {"a": ["1"], "b": ["1"]}}, "listed twice"),
        ({"groups": {"a": ["1"], "b": {"c": ["2"]}}}, "as deep"),
        ({"groups": {"a": []}}, "empty"),
        ({"groups": {"a": {"x": ["1"]}, "b": {"x": ["2"]}}}, "same name"),
        ({"steps": [5], "mask": "right"}, "together"),
        ({"prefix": [2], "from": 3}, "goes with steps"),
        ({"steps": [5], "from": "x"}, "neither"),
        ({}, "no key"),
        ({"stepz": [1]}, "unknown key"),
    ],
)
def test_what_does_not_nest_is_refused(built: dict[str, Any], why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        release(source="t", quasi="a", k=2, hierarchies={"a": built})


@pytest.mark.parametrize(
    ("column", "built", "why"),
    [
        ("age", "prefix:2", "prefix is for text"),
        ("zip", "steps:5", "steps is for"),
        ("age", "calendar:year", "calendar is for"),
        ("age", "steps:0.5", "whole numbers"),
        ("day", "steps:5 from 3", "from is a number"),
        ("age", "steps:5 from 2020-01-01", "from is a date"),
    ],
)
def test_a_rule_that_is_not_for_the_column_is_refused(world: Any, column: str, built: str, why: str) -> None:
    db, table, _ = world
    with pytest.raises(PolicyError, match=why):
        db.anonymize(table, quasi=column, rest="drop", k=2, hierarchies={column: built}, name="refused")


def test_values_that_only_a_population_has_are_leaves_too(shared_db: Any) -> None:
    own, people = (f"h_{uuid.uuid4().hex[:8]}" for _ in range(2))
    create_table(shared_db, own, {"age": "INTEGER"}, [(1,), (2,), (7,), (8,)])
    create_table(shared_db, people, {"age": "INTEGER"}, [(i,) for i in range(10)])
    shared_db.anonymize(
        own,
        quasi="age",
        hierarchies={"age": "steps:5"},
        k_map={"k": 5, "population": people},
        name=own,
        method="fulldomain:search=global",
    )
    assert {row["age"] for row in published(shared_db, own)} == {"0..4", "5..9"}
