"""What two versions of boxes of their own reveal together.

They are compared with all assignments of records to rows that a reader of both may think of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import Statement, TableRef
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.divide import own_boxes
from tests.contract.own_boxes import fetch, placed
from tests.covering import seeds
from tests.engines import create_table, read_table
from tests.refresh.conftest import release

COLUMNS = {"id": "INTEGER", "age": "INTEGER", "illness": "TEXT"}
OWN: dict[str, Any] = {
    "quasi": "age",
    "sensitive": "illness",
    "identifiers": "id",
    "key": "id",
    "k": 2,
    "l": None,
    "method": "freeform",
    "boxes": "own",
    "max_failing": 100,
    "accept_unique": "illness",
}
CLASSES = {key: value for key, value in OWN.items() if key not in ("method", "boxes")} | {"method": "tree"}

Source = dict[int, int]
"""The age of every row, by its id; no two are equal."""
Graph = dict[int, tuple[int, frozenset[int]]]
"""By age: the box that a row is published in, and all that it fits."""


def write(db: Any, table: str, source: Source, illness: str = "i") -> None:
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    create_table(db, table, COLUMNS, [(i, age, f"{illness}{i}") for i, age in source.items()])


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graph of every version that is made, as it was drawn."""
    made: list[Graph] = []
    draw = own_boxes.draw_boxes

    def seen(context: Any, *more: Any) -> Any:
        found = draw(context, *more)
        engine = context.scratch.engine
        ages = dict(fetch(engine, context.encoded.stage, "rid", "q1"))
        drawn = dict(fetch(engine, found.table, "rid", "class"))
        fits: dict[int, set[int]] = {rid: set() for rid in ages}
        for rid, box in fetch(engine, found.edges, "rid", "box"):
            fits[rid].add(box)
        made.append({age: (drawn[rid], frozenset(fits[rid])) for rid, age in ages.items()})
        return found

    monkeypatch.setattr(own_boxes, "draw_boxes", seen)
    return made


def classes_of(db: Any, table: str, source: Source) -> Graph:
    """The same of a version of classes, by its published ranges."""
    shown = {(row["age_lo"], row["age_hi"]) for row in read_table(db, ("release", table))}
    number = {ends: place for place, ends in enumerate(sorted(shown))}
    of = {age: next(n for (low, high), n in number.items() if low <= age <= high) for age in source.values()}
    return {age: (n, frozenset([n])) for age, n in of.items()}


def assignments(records: list[int], fits: dict[int, set[int]]) -> Iterator[tuple[int, ...]]:
    for rows in permutations(records):
        if all(row in fits[record] for record, row in zip(records, rows, strict=True)):
            yield rows


def candidates(records: list[int], *versions: tuple[Source, Graph]) -> dict[int, int]:
    """How many rows each record may be of, where it shows one box in each version and each row has one record.

    By enumeration.
    """
    fits = {
        record: {
            row
            for row in records
            if all(graph[source[record]][0] in graph[source[row]][1] for source, graph in versions)
        }
        for record in records
    }
    possible: dict[int, set[int]] = {record: set() for record in records}
    for rows in assignments(records, fits):
        for record, row in zip(records, rows, strict=True):
            possible[record].add(row)
    return {record: len(rows) for record, rows in possible.items()}


def check(sets: Any, found: dict[int, int], k: int) -> int:
    failing = sum(count < k for count in found.values())
    assert (sets.rows, sets.smallest, sets.failing) == (len(found), min(found.values(), default=None), failing)
    return failing


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_candidates_are_those_of_all_assignments(shared_db: Any, graphs: list[Graph], seed: int) -> None:
    """Rows come, go and change; k is 2 or 3, and one of the versions may have classes."""
    random_, name, k = random.Random(seed), f"hc{seed}", 2 + seed % 2
    ages = random_.sample(range(100), 20)
    old: Source = {i: ages[i] for i in range(7)}
    write(shared_db, name, old)
    first = CLASSES if seed % 4 == 2 else OWN
    shared_db.run(release(name, **{**first, "k": k}))
    before = classes_of(shared_db, name, old) if first is CLASSES else graphs[-1]
    new: Source = {i: ages[i] for i in random_.sample(range(7), 5)}
    new |= {10 + i: ages[10 + i] for i in range(random_.randrange(3))}
    changed = random_.choice([i for i in new if i < 7])
    new[changed] = ages[19]
    write(shared_db, name, new, "i" if seed % 3 else "j")
    second = CLASSES if seed % 4 == 3 else OWN
    planned = shared_db.plan(release(name, **{**second, "k": k}))
    report = shared_db.run(release(name, **{**second, "k": k}), allow_weaker=True)
    after = classes_of(shared_db, name, new) if second is CLASSES else graphs[-1]
    (one,) = report.history
    assert planned.history == report.history == shared_db.history(name)
    assert one.candidates == (first is OWN or second is OWN)
    failing = check(one.common, candidates([i for i in old if i in new], (old, before), (new, after)), k)
    failing += check(one.arrived, candidates([i for i in new if i not in old], (new, after)), k)
    failing += check(one.left, candidates([i for i in old if i not in new], (old, before)), k)
    assert one.failing == failing


@pytest.mark.thorough
def test_a_changed_version_needs_a_bound(shared_db: Any) -> None:
    """Without one a reader of both may know rows; private values that change leave all candidates, and need none."""
    source = {i: 3 * i * i for i in range(8)}
    plain = {**OWN, "key": (), "max_failing": None}
    write(shared_db, "hb", source)
    shared_db.run(release("hb", **plain))
    write(shared_db, "hb", source, "other")
    second = shared_db.run(release("hb", **plain))
    assert (second.version, second.history) == (2, ())
    assert [note for note in second.notes if "every row has the same candidates" in note]
    write(shared_db, "hb", source | {0: source[1], 1: source[0]})
    for act in (shared_db.plan, shared_db.run):
        with pytest.raises(sqlanon.GuardError, match=r"name key: \[columns\] and history: {max_failing: N}"):
            act(release("hb", **plain))
    with pytest.raises(sqlanon.GuardError, match="are not both of classes"):
        shared_db.run(release("hb", **{**CLASSES, "key": (), "max_failing": None}))
    with pytest.raises(sqlanon.PrivacyViolation, match=r"would leave 8 rows .*made without key"):
        shared_db.run(release("hb", **{**OWN, "max_failing": 7}))
    keyed = shared_db.run(release("hb", **{**OWN, "max_failing": 8}))
    assert (keyed.version, keyed.history[0].unknown) == (3, "the published version was made without key")
    assert shared_db.run(release("hb", **{**OWN, "max_failing": 8})).outcome == "unchanged"


def move(db: Any, edges: TableRef, *moves: tuple[int, int, int]) -> None:
    """Give rows another box in a certificate: slot, box, and the other one."""
    for slot, before, after in moves:
        text = f"UPDATE {placed(edges)} SET box = {after} WHERE slot = {slot} AND box = {before}"
        db.engine.execute(Statement("test", text, {}))


def test_another_graph_of_equal_draws_is_noticed(both_dbs: Any) -> None:
    """Content and drawn boxes are as before, and a box that rows fit is of other rows.

    Edges decide, not what is drawn.
    """
    for db in both_dbs:
        write(db, "hg", {i: 3 * i * i for i in range(12)})
        plain = {**OWN, "key": (), "max_failing": None}
        db.run(release("hg", **plain))
        (entry,) = Catalog(db.engine).entries("hg")
        edges, drawn = entry.certificate
        held = {(slot, box) for slot, box in fetch(db.engine, edges, "slot", "box")}
        shown = set(fetch(db.engine, drawn, "slot", "box"))
        (one, mine), (other, its) = next(
            pair
            for pair in permutations(held - shown, 2)
            if not held & {(pair[0][0], pair[1][1]), (pair[1][0], pair[0][1])}
        )
        move(db, edges, (one, mine, its), (other, its, mine))
        with pytest.raises(sqlanon.GuardError, match="are not both of classes"):
            db.run(release("hg", **plain), full=True)
        move(db, edges, (one, its, mine), (other, mine, its))
        again = db.run(release("hg", **plain), full=True)
        assert [note for note in again.notes if "every row has the same candidates" in note]


def test_every_version_that_readers_had_is_compared(shared_db: Any, graphs: list[Graph]) -> None:
    """Also those that were replaced or taken back: readers may have kept them."""
    ages = random.Random(4).sample(range(100), 20)
    spec, versions = release("hr", **OWN, keep=5), []
    for version in range(3):
        versions.append({i: ages[i if i % 2 else i + 6 * version] for i in range(7)})
        write(shared_db, "hr", versions[-1])
        shared_db.run(spec)
    shared_db.rollback("hr", 1)
    versions.append({i: ages[19 - i] for i in range(8)})
    write(shared_db, "hr", versions[-1])
    planned, made = shared_db.plan(spec), shared_db.run(spec)
    pairs = list(zip(versions, [*graphs[:3], graphs[-1]], strict=True))
    assert [(one.old, one.new) for one in made.history] == [(1, 4), (2, 4), (3, 4)]
    assert planned.history == made.history
    for one, old in zip(made.history, pairs[:3], strict=True):
        check(one.common, candidates(list(range(7)), old, pairs[3]), 2)


def test_a_version_that_was_taken_back_still_asks_for_a_bound(shared_db: Any) -> None:
    """Classes before and after it do not: readers may have kept its boxes.

    What is as a version that they had says nothing new.
    """
    source, plain = {i: 3 * i * i for i in range(8)}, {"key": (), "max_failing": None}
    classes, own = release("ht", **{**CLASSES, **plain}), release("ht", **{**OWN, **plain})
    write(shared_db, "ht", source)
    shared_db.run(classes)
    shared_db.run(release("ht", **{**OWN, "max_failing": 8}), allow_weaker=True)
    shared_db.rollback("ht", 1, allow_weaker=True)
    changed = source | {7: 1000}
    write(shared_db, "ht", changed)
    refused = "version 2 and this one are not both of classes"
    with pytest.raises(sqlanon.GuardError, match=refused):
        shared_db.plan(classes)
    with pytest.raises(sqlanon.GuardError, match=refused):
        shared_db.run(classes, allow_weaker=True)
    write(shared_db, "ht", source)
    again = shared_db.run(own, allow_weaker=True)
    assert [note for note in again.notes if "the same candidates as in version 2" in note]


@pytest.mark.thorough
def test_a_bound_stops_plan_and_run(shared_db: Any) -> None:
    """The eight rows have two candidates each; with one that comes, some rows have one."""
    source = {i: 3 * i * i for i in range(8)}
    write(shared_db, "hs", source)
    strict = release("hs", **{**OWN, "max_failing": 0})
    shared_db.run(strict)
    write(shared_db, "hs", source | {8: 1000})
    for act in (shared_db.plan, shared_db.run):
        with pytest.raises(
            sqlanon.PrivacyViolation, match=r"rows with fewer candidates than k.*fewest candidates 1, failing"
        ):
            act(strict)
    write(shared_db, "hs", source, "other")
    (same,) = shared_db.run(strict).history
    assert (same.common.smallest, same.failing, same.arrived.rows) == (2, 0, 0)


@pytest.mark.thorough
def test_histories_hold_no_value_and_outlive_their_version(shared_db: Any) -> None:
    write(shared_db, "hk", {i: 3 * i * i for i in range(8)})
    spec = release("hk", **OWN, keep=1)
    shared_db.run(spec)
    write(shared_db, "hk", {i: 3 * i * i for i in range(9)})
    shared_db.run(spec)
    write(shared_db, "hk", {i: 3 * i * i for i in range(10)})
    shared_db.run(spec)
    reports = shared_db.history("hk")
    assert [(one.old, one.new, one.candidates) for one in reports] == [(1, 2, True), (2, 3, True)]
    (entry, *_) = Catalog(shared_db.engine).entries("hk")
    assert not shared_db.engine.exists(entry.certificate[0])
    columns = ("person", "class", "mark", "s1", "boxes")
    for person, box, mark, illness, boxes in fetch(shared_db.engine, entry.history, *columns):
        assert all(set(value) <= set("0123456789abcdef") for value in (person, mark, illness))
        assert box in boxes
        assert len(set(boxes)) == 2


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_releases_held_together_leave_those_candidates(shared_db: Any, graphs: list[Graph], seed: int) -> None:
    """Two releases of one source, both with boxes of their own, or one of classes on either side."""
    random_, name = random.Random(seed), f"hw{seed}"
    source: Source = dict(enumerate(random_.sample(range(100), 7)))
    write(shared_db, name, source)
    made = []
    for side, spec in enumerate((CLASSES if seed % 3 == 1 else OWN, CLASSES if seed % 3 == 2 else OWN)):
        own = {
            **spec,
            "key": (),
            "max_failing": None,
            "k": 2 + side,
            "name": f"{name}_{side}",
            "publish": f"release.{name}_{side}",
        }
        shared_db.run(release(name, **own))
        made.append(classes_of(shared_db, f"{name}_{side}", source) if spec is CLASSES else graphs[-1])
    found = shared_db.together(f"{name}_0", f"{name}_1")
    expected = candidates(list(source), *((source, graph) for graph in made))
    assert (found.candidates, found.matched, found.unmatched, found.classes) == (True, 7, 0, 7)
    assert (found.k, found.unique_rows) == (min(expected.values()), sum(count == 1 for count in expected.values()))
    least = min(found.k_first, found.k_second)
    assert found.rows_below == sum(count < least for count in expected.values())
    (asked,) = found.requirements
    assert (asked.asked, asked.reached) == (2, found.k)
    assert found.satisfied == all(count >= 2 for count in expected.values())


@pytest.mark.thorough
@pytest.mark.parametrize("insensitive", [["illness"], []], ids=["every column is published", "one is not"])
def test_an_unchanged_source_made_anew_needs_no_bound(both_dbs: Any, insensitive: list[str]) -> None:
    """Rows are known by the values of all their columns, whether these are in the staged table or not."""
    for db in both_dbs:
        table = f"anew_{len(insensitive)}"
        db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(db, table, {"age": "INTEGER", "illness": "TEXT"}, [(i * 7 % 23, "abc"[i % 3]) for i in range(20)])
        asked: dict[str, Any] = {
            "quasi": "age",
            "insensitive": insensitive,
            "rest": "drop",
            "k": 3,
            "method": "freeform",
            "boxes": "own",
        }
        first = db.anonymize(table, **asked)
        second = db.run(first.spec, full=True)
        assert (first.report.version, second.version) == (1, 2)
        assert any("same candidates" in note for note in second.notes)
