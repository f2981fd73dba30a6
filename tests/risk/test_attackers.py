"""Prosecutor, journalist and marketer, of tables and of populations, row by row in Python."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from tests.engines import create_table
from tests.invoked import invoke
from tests.oracle import risk as oracle

COLUMNS = {"zip": "VARCHAR(9)", "age": "INTEGER", "who": "INTEGER", "w": "INTEGER", "disease": "VARCHAR(9)"}
QUASI = ["zip", "age"]
# Ten persons of a population; the first six are the table: classes of 3, 2 and 1, of which the population has 4, 2 and
# 3.
PEOPLE = [
    ("a", 1, 1, 1, "flu"),
    ("a", 1, 1, 2, "flu"),
    ("a", 1, 2, 1, "hiv"),
    ("*", None, 3, 1, "flu"),
    ("*", None, 4, 1, "flu"),
    (None, 1, 5, 3, "flu"),
    ("a", 1, 6, 1, "flu"),
    (None, 1, 7, 1, "flu"),
    (None, 1, 8, 1, "flu"),
    ("b", 9, 9, 1, "flu"),
]


def made(db: Any, rows: list[tuple[Any, ...]]) -> str:
    create_table(db, name := f"t_{uuid4().hex[:8]}", COLUMNS, rows)
    return name


def named(rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def compared(found: Any, risks: list[Any], threshold: float, average: Any = None) -> None:
    assert found.highest == pytest.approx(float(max(risks)))
    assert found.average == pytest.approx(float(sum(risks) / len(risks) if average is None else average))
    assert found.above == pytest.approx(sum(float(risk) > threshold for risk in risks) / len(risks))


def check(db: Any, rows: list[tuple[Any, ...]], people: list[tuple[Any, ...]], threshold: float) -> None:
    table, population = made(db, rows), made(db, people)
    report = db.assess(table, quasi=QUASI, population=population, threshold=threshold)
    compared(report.prosecutor, oracle.prosecutor(named(rows), QUASI), threshold)
    by_row, by_person = oracle.journalist(named(rows), named(people), QUASI)
    back = sum(by_person) / len(by_person)
    compared(report.journalist, by_row, threshold, max(sum(by_row) / len(by_row), back))
    assert report.marketer.average == pytest.approx(float(sum(by_row) / len(by_row)))
    alone = [len(members) for members in oracle.classes(named(people), QUASI)].count(1)
    assert (report.population.exact, report.population.population) == (alone, len(people))
    inside, outside = (Counter(tuple(row[name] for name in QUASI) for row in named(one)) for one in (rows, people))
    shares = [inside[key] / outside[key] for key in outside]
    figures = {(one.model, one.form): one.reached for one in report.models}
    assert figures["k_map", ""] == min(outside[key] for key in inside)
    assert (figures["delta_presence", "max"], figures["delta_presence", "min"]) == (max(shares), min(shares))
    smaller_is_better = {(one.model, one.form) for one in report.models if one.at_most}
    assert ("k_map", "") not in smaller_is_better
    assert {("delta_presence", "max"), ("delta_presence", "min")} & smaller_is_better == {("delta_presence", "max")}
    persons = db.assess(table, quasi=QUASI, identifiers=["who"], threshold=threshold)
    compared(persons.prosecutor, oracle.prosecutor(named(rows), QUASI, "who"), threshold)


def test_by_hand(shared_db: Any) -> None:
    """f = 3, 2, 1 and F = 4, 2, 3: the marketer is right for 3/4 + 2/2 + 1/3 of 6 rows."""
    table, population = made(shared_db, PEOPLE[:6]), made(shared_db, PEOPLE)
    report = shared_db.assess(table, quasi=QUASI, population=population, threshold=0.5)
    assert (report.prosecutor.highest, report.prosecutor.average) == (1, 0.5)
    assert report.prosecutor.above == pytest.approx(1 / 6)
    assert report.marketer.average == pytest.approx((3 / 4 + 1 + 1 / 3) / 6)
    assert report.expected == pytest.approx(3 / 4 + 1 + 1 / 3)
    assert shared_db.assess(table, quasi=QUASI).expected == pytest.approx(3)  # three classes, each 1 in all
    assert (report.journalist.highest, report.journalist.above) == (0.5, 0)
    assert report.journalist.average == pytest.approx((3 / 4 + 1 + 1 / 3) / 6)  # of 9 persons 3 classes: 1/3 is less
    assert (report.sample_uniques, report.population.exact) == (1, 1)
    check(shared_db, PEOPLE[:6], PEOPLE, 0.3)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
def test_random_tables(shared_db: Any, seed: int) -> None:
    rng = random.Random(seed)
    people = [
        (rng.choice(["a", "b", "*", None]), rng.choice([1, 2, 3, None]), rng.randrange(20), 1, "flu") for _ in range(60)
    ]
    check(shared_db, rng.sample(people, 5 + 4 * seed), people, rng.choice([0, 0.1, 0.25, 1 / 3, 0.9]))


def test_weights_and_sizes(shared_db: Any) -> None:
    """Classes of 3, 2 and 1 rows whose weights sum to 4, 2 and 3."""
    table = made(shared_db, PEOPLE[:6])
    report = shared_db.assess(table, quasi=QUASI, weight="w")
    risks = [oracle.individual(3, 3 / 4, 500)] * 3 + [1 / 2] * 2 + [oracle.individual(1, 1 / 3, 500)]
    compared(report.journalist, risks, 0.2)
    assert report.journalist.basis == report.marketer.basis == "weights"
    assert report.population.population == 9
    sized = shared_db.assess(table, quasi=QUASI, population_size=60)
    risks = [oracle.individual(f, 0.1, 2000) for f in (3, 3, 3, 2, 2, 1)]
    compared(sized.journalist, risks, 0.2)
    whole = shared_db.assess(table, quasi=QUASI, population_size=6)
    assert whole.journalist.highest == 1
    assert (whole.population.zayatz, whole.population.dankar) == (1, 1)


BAD = (
    ({"population_size": 5}, "smaller than the table, which has 6 rows"),
    ({"population_size": 0}, "population size 0 is not from 1"),
    ({"threshold": 1.0}, "threshold 1.0 is no probability"),
    ({"threshold": float("nan")}, "is no probability"),
    ({"weight": "nope"}, "there is no column nope"),
    ({"weight": "disease"}, "is no number"),
    ({"weight": "zip"}, "zip cannot have two roles"),
    ({"weight": "who", "population": "people"}, "needs no weights"),
    ({"population_size": 60, "population": "people"}, "not both"),
    ({"identifiers": ["who"], "population_size": 60}, "without identifiers"),
    ({"population": "narrow"}, "there is no column age"),
    ({"population": "texts"}, "age is VARCHAR|age is character varying"),
    ({"population": "few"}, "does not cover .*: 2 classes have more rows"),
)


def test_bad_input(shared_db: Any) -> None:
    made_by = {"people": PEOPLE, "few": PEOPLE[2:5]}
    names = {name: made(shared_db, rows) for name, rows in made_by.items()}
    for name, columns in (("narrow", {"zip": "VARCHAR(9)"}), ("texts", {"zip": "VARCHAR(9)", "age": "VARCHAR(9)"})):
        create_table(shared_db, f"{name}_{names['few']}", columns, [])
        names[name] = f"{name}_{names['few']}"
    table = made(shared_db, PEOPLE[:6])
    weightless = made(shared_db, [(*row[:3], None, "flu") for row in PEOPLE[:2]])
    for given, said in BAD:
        asked = {key: names.get(value, value) if key == "population" else value for key, value in given.items()}
        with pytest.raises(sqlanon.PolicyError, match=said):
            shared_db.assess(table, quasi=QUASI, **asked)
    with pytest.raises(sqlanon.PolicyError, match="2 rows have none, or one below 1"):
        shared_db.assess(weightless, quasi=QUASI, weight="w")


@pytest.mark.thorough
def test_on_the_command_line(tmp_path: Path) -> None:
    for name, rows in (("t.csv", PEOPLE[:6]), ("people.csv", PEOPLE)):
        lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
        (tmp_path / name).write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    words = ["audit", str(tmp_path / "t.csv"), "--qi", "zip,age", "--threshold", "0.5"]
    ended = invoke(*words, "--population", tmp_path / "people.csv", "--json")
    assert ended.exit_code == 0
    found = json.loads(ended.stdout)["risk"]
    assert found["marketer"] == {"basis": "population table", "average": pytest.approx((3 / 4 + 1 + 1 / 3) / 6)}
    shown = invoke(*words, "--population-size", "60")
    assert "not estimable" in shown.stdout
    assert "rows above 0.5" in shown.stdout
    for more, said in (
        (["--population-size", "5"], "smaller than the table"),
        (["--population", str(tmp_path / "gone.csv")], "gone.csv"),
    ):
        assert said in invoke(*words, *more).stderr.replace("\n", " ")
    ended = invoke("audit", tmp_path / "t.csv", "--weight", "w")
    assert "name the columns that an attacker knows" in ended.stderr.replace("\n", " ")
