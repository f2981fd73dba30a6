"""Requirements over a population: every node of small lattices against plain Python, both engines, both executions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.policy import release
from tests.contract.lattices import CITY
from tests.contract.populations import COLUMNS, HEIGHTS, METHOD, SMALL, World, asked_for, made
from tests.engines import constant, create_table, read_table, table_name


def world(seed: int) -> World:
    rng = random.Random(seed)
    nulls = [rng.random() < 0.3 for _ in range(3)]
    cities, kinds = [path[0] for path in CITY], "xyz"
    people = [
        (
            None if nulls[0] and rng.random() < 0.2 else rng.choice(cities),
            None if nulls[1] and rng.random() < 0.2 else rng.randrange(4),
            None if nulls[2] and rng.random() < 0.2 else rng.choice(kinds),
        )
        for _ in range(rng.randrange(8, 25))
    ]
    source = rng.sample(people, rng.randrange(3, len(people)))
    for i in range(3):  # NULL is refused where the source has none
        if all(row[i] is not None for row in source):
            people = [
                row if row[i] is not None else (*row[:i], "oslo" if i == 0 else 0 if i == 1 else "x", *row[i + 1 :])
                for row in people
            ]
    return World(tuple(source), tuple(people))


def questions(one: World, seed: int) -> list[tuple[int, Fraction, Fraction]]:
    """What is asked: values that some nodes reach exactly, so that bounds are met with equality."""
    nodes = list(product(*(range(height + 1) for height in HEIGHTS)))
    rng = random.Random(seed)
    reached = [one.reached(node) for node in rng.sample(nodes, 3)]
    (k, _, _), (_, most, _), (_, other, least) = reached
    return [(k, Fraction(1), Fraction(0)), (1, most, Fraction(0)), (1, max(other, least), least)]


def check(db: Any, seed: int, cities: Path, execution: str, form: str) -> None:
    one = world(seed)
    table, people = made(db, one)
    for k, most, least in questions(one, seed):
        asked: dict[str, Any] = {"k_map": {"k": k, "population": people}} if k > 1 else {}
        if most < 1 or least > 0 or not asked:
            asked["delta_presence"] = {"min": str(least), "max": str(most), "population": people}
        node = one.best(k, most, least)
        arguments = asked_for(cities, format=form, execution=execution, **asked)
        if node is None:
            with pytest.raises(InfeasibleError, match="feasible value is"):
                db.anonymize(table, **arguments)
            continue
        done = db.anonymize(table, **arguments)
        report = done.report
        assert report.execution == execution
        shown = " ".join(f"{name} {level}," for name, level in zip(COLUMNS, node, strict=True))
        assert f"at the levels {shown[:-1]};" in report.notes[0]
        held, largest, smallest = one.reached(node)
        measured = {item.name: item.reached for item in report.requirements}
        if "k_map" in asked:
            assert measured["k_map"] == held
        if "delta_presence" in asked:
            assert measured["delta_presence"] == float(largest)
            assert measured.get("delta_presence, least", float(smallest)) == float(smallest)
        assert report.classes == len(one.counted(node)[0])
        audit = db.audit(f"release.{table}", spec=done.spec)
        assert (audit.requirements, audit.not_measured) == (report.requirements, ())


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize(("execution", "form"), [("kernel", "labels"), ("pushdown", "ranges")])
def test_the_best_node_and_what_it_reaches_are_those_of_plain_python(
    shared_db: Any, execution: str, form: str, cities: Path
) -> None:
    check(shared_db, 1, cities, execution, form)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 18))
def test_more_worlds(shared_db: Any, seed: int, cities: Path) -> None:
    check(shared_db, seed, cities, ("kernel", "pushdown")[seed % 2], ("ranges", "labels")[seed // 2 % 2])


def test_an_example_by_hand(shared_db: Any, cities: Path) -> None:
    """Cells by country, n and any kind: norway 1: 2 of 4; italy 2: 2 of 3; norway 2 is not published."""
    table, people = made(shared_db, SMALL)
    asked = asked_for(cities, delta_presence={"max": "2/3", "population": people}, k_map=f"k=3,population={people}")
    report = shared_db.anonymize(table, **asked).report
    assert "at the levels city 1, n 0, kind 1;" in report.notes[0]
    assert {one.name: one.reached for one in report.requirements} == {"k": 2, "k_map": 3, "delta_presence": 2 / 3}
    rows = read_table(shared_db, ("release", table))
    assert sorted((row["city"], row["n_lo"]) for row in rows) == [
        ("italy", 2),
        ("italy", 2),
        ("norway", 1),
        ("norway", 1),
    ]
    least = asked_for(cities, delta_presence={"min": "1/2", "max": "1", "population": people})
    report = shared_db.anonymize(table, **least).report
    assert "at the levels city 2, n 0, kind 0;" in report.notes[0]  # bergen is in no cell below that
    assert {one.name: one.reached for one in report.requirements}["delta_presence, least"] == 1 / 2


def test_with_l_as_well(shared_db: Any, cities: Path) -> None:
    """k_map alone would publish norway and italy by n.

    Both rows of norway have one illness, and all four together have two.
    """
    table, people = made(shared_db, SMALL)
    shared_db.engine.execute(f"DROP TABLE {table_name(table)}")
    rows = [(*row, s) for row, s in zip(SMALL.source, "ffgf", strict=True)]
    create_table(shared_db, table, {**COLUMNS, "s": "TEXT"}, rows)
    asked = asked_for(cities, sensitive="s", l="4/3", k_map={"k": 3, "population": people}, rest="drop")
    shown = []
    for execution in ("kernel", "pushdown"):
        report = shared_db.anonymize(table, **asked, execution=execution).report
        shown.append(sorted(map(str, read_table(shared_db, ("release", table)))))
        assert {one.name: one.reached for one in report.requirements} == {"k": 4, "l": 4 / 3, "k_map": 8}
        assert "at the levels city 2, n 1, kind 1;" in report.notes[0]
    assert shown[0] == shown[1]


def test_a_value_beside_those_of_the_source_lies_in_the_range_that_hides_them(shared_db: Any, cities: Path) -> None:
    """7 is beyond the range of 1 to 3, 2 within it, though the source has neither.

    The largest probability falls, the least one is 0.
    """
    source = (("oslo", 1, "x"), ("oslo", 3, "x"))
    one = World(source, (*source, ("oslo", 2, "x"), ("oslo", 7, "x")))
    table, people = made(shared_db, one)
    asked = asked_for(cities, delta_presence={"max": "2/3", "population": people})
    report = shared_db.anonymize(table, **asked).report
    assert {item.name: item.reached for item in report.requirements}["delta_presence"] == 2 / 3
    with pytest.raises(
        InfeasibleError,
        match=r"reaches delta_presence, least = 0\.1; the largest feasible value is 0; 1 rows of the population",
    ):
        shared_db.anonymize(table, **asked_for(cities, delta_presence={"min": "0.1", "max": "1", "population": people}))
    with pytest.raises(InfeasibleError, match="reaches k_map = 4; the largest feasible value is 3"):
        shared_db.anonymize(table, **asked_for(cities, k_map={"k": 4, "population": people}))


def test_a_changed_population_calls_for_a_new_version(shared_db: Any, cities: Path) -> None:
    """A nightly run looks at the population too."""
    table, people = made(shared_db, SMALL)
    spec = shared_db.anonymize(table, **asked_for(cities, k_map={"k": 2, "population": people})).spec
    assert shared_db.run(spec).outcome == "unchanged"
    values = ", ".join(map(constant, ("rome", 2, "x")))
    shared_db.engine.execute(f"INSERT INTO {table_name(people)} VALUES ({values})")
    assert shared_db.run(spec).outcome != "unchanged"


def test_k_may_be_left_out_beside_a_population() -> None:
    assert release(source="t", quasi="n", method=METHOD, k_map="k=2,population=p").privacy.k == 1
    with pytest.raises(PolicyError, match="k: is missing"):
        release(source="t", quasi="n", method=METHOD)
