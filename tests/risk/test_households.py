"""Households: the risk of any member, by products in plain Python; sdcMicro's example of individual risk."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from sqlanon.policy import loads
from sqlanon.risk.households import join_risks
from tests.engines import create_table
from tests.invoked import invoke
from tests.oracle import risk as oracle

COLUMNS = {"zip": "VARCHAR(9)", "who": "INTEGER", "home": "VARCHAR(9)", "flat": "INTEGER", "w": "DOUBLE PRECISION"}
FRANCDAT = [
    (1, 2, 5, 1, 18, 1),
    (1, 2, 1, 1, 45.5, 1),
    (1, 2, 1, 1, 39, 2),
    (3, 3, 1, 5, 17, 2),
    (4, 3, 1, 4, 541, 3),
    (4, 3, 1, 1, 8, 4),
    (6, 2, 1, 5, 5, 5),
    (1, 2, 5, 1, 92, 3),
]
"""Table francdat of sdcMicro (Capobianchi, Polettini and Lucarelli 2001): four keys, weights; households are ours."""
RISKS = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
"""Their individual risks (Templ 2008, "Statistical disclosure control for microdata using the R-package sdcMicro")."""


def made(db: Any, rows: list[tuple[Any, ...]], columns: dict[str, str] = COLUMNS) -> str:
    create_table(db, name := f"t_{uuid4().hex[:8]}", columns, rows)  # type: ignore[arg-type]
    return name


def expected(rows: list[tuple[Any, ...]], risks: list[Any], *, persons: bool) -> dict[Any, list[Any]]:
    """The risks of the members of each household."""
    members: dict[Any, dict[Any, Any]] = defaultdict(dict)
    for at, (row, risk) in enumerate(zip(rows, risks, strict=True)):
        person = row[1] if persons else at
        home = (row[2], row[3]) if None not in row[2:4] else ("alone", person)
        members[home][person] = max(members[home].get(person, 0), risk)
    return {home: list(own.values()) for home, own in members.items()}


def compared(found: Any, members: dict[Any, list[Any]], basis: str, threshold: float = 0.2) -> None:
    joined = {home: 1 - prod(1 - float(risk) for risk in own) for home, own in members.items()}
    assert (found.basis, found.households) == (basis, len(joined))
    assert (found.largest, found.persons) == (max(map(len, members.values())), sum(map(len, members.values())))
    assert found.highest == pytest.approx(max(joined.values()))
    assert found.average == pytest.approx(sum(joined.values()) / len(joined))
    assert found.above == pytest.approx(sum(risk > threshold for risk in joined.values()) / len(joined))
    assert found.expected == pytest.approx(sum(joined[home] * len(own) for home, own in members.items()))


def test_the_example_of_sdcmicro(shared_db: Any) -> None:
    names = ["key1", "key2", "key3", "key4"]
    columns = {**dict.fromkeys(names, "INTEGER"), "w": "DOUBLE PRECISION", "hid": "INTEGER"}
    report = shared_db.assess(made(shared_db, FRANCDAT, columns), quasi=names, weight="w", household="hid")
    assert report.journalist.highest == pytest.approx(max(RISKS), abs=1e-8)
    assert report.expected == pytest.approx(sum(RISKS), abs=1e-7)
    members: dict[Any, list[float]] = defaultdict(list)
    for row, risk in zip(FRANCDAT, RISKS, strict=True):
        members[row[5]].append(risk)
    joined = {home: 1 - prod(1 - risk for risk in own) for home, own in members.items()}
    assert report.household.average == pytest.approx(sum(joined.values()) / 5, abs=1e-7)
    assert report.household.expected == pytest.approx(sum(joined[row[5]] for row in FRANCDAT), abs=1e-7)


def test_certain_members_and_digits() -> None:
    assert join_risks([1.0, 0.5, 0.5], [0, 0, 1]).tolist() == [1, 0.5]
    assert join_risks([1e-18] * 3, [0] * 3).tolist() == pytest.approx([3e-18])
    risks = [0.1, 0.3, 1 / 3, 1e-9, 0.7]
    assert join_risks(risks, [0] * 5).tolist() == join_risks(risks[::-1], [0] * 5).tolist()


@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(3))
def test_against_products(db: Any, seed: int) -> None:
    rng = random.Random(seed)
    rows = [
        (
            rng.choice(["a", "b", "*", None]),
            rng.choice([1, 2, 3, 4, None]),
            rng.choice(["x", "y", "z", None]),
            rng.choice([1, 2]),
            rng.choice([1.0, 2.5, 40.0]),
        )
        for _ in range(4 + 8 * seed)
    ]
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    table, home = made(db, rows), {"quasi": ["zip"], "household": ["HOME", "flat"]}
    of = [len([1 for other in rows if other[0] == row[0]]) for row in rows]
    compared(db.assess(table, **home).household, expected(rows, [Fraction(1, n) for n in of], persons=False), "table")
    persons = [Fraction(1, len({other[1] for other in rows if other[0] == row[0]})) for row in rows]
    found = db.assess(table, identifiers="who", **home).household
    compared(found, expected(rows, persons, persons=True), "persons")
    sums = [sum(other[4] for other in rows if other[0] == row[0]) for row in rows]
    risks = [oracle.individual(n, n / w, 3000) for n, w in zip(of, sums, strict=True)]
    compared(db.assess(table, weight="w", **home).household, expected(rows, risks, persons=False), "weights")
    sized = [oracle.individual(n, 1 / 3, 3000) for n in of]
    found = db.assess(table, population_size=3 * len(rows), **home).household
    compared(found, expected(rows, sized, persons=False), "population size")
    people = made(db, [*rows, *rows, ("c", 9, "x", 1, 1.0)])
    risks, _ = oracle.journalist(named, [*named, *named], ["zip"])
    found = db.assess(table, population=people, **home).household
    compared(found, expected(rows, risks, persons=False), "population table")
    every = db.assess(table, quasi=[], household="home", threshold=0.9).household
    one = [(*row[:3], 0, row[4]) for row in rows]
    compared(every, expected(one, [Fraction(1, len(rows))] * len(rows), persons=False), "table", 0.9)


def test_bad_input_and_the_command(shared_db: Any, tmp_path: Path) -> None:
    table = made(shared_db, [])
    assert shared_db.assess(table, quasi=["zip"], household="home").household is None
    for asked, said in (
        ({"household": "nowhere"}, "there is no column nowhere"),
        ({"household": "zip"}, "zip cannot have two roles"),
        ({"household": "who", "identifiers": "who"}, "who cannot have two roles"),
    ):
        with pytest.raises(sqlanon.PolicyError, match=said):
            shared_db.assess(table, quasi=["zip"], **asked)
    file = tmp_path / "people.csv"
    file.write_text("zip,home\n1111,canary1\n1111,canary1\n2222,canary2\n")
    words = ["audit", file, "--qi", "zip", "--household", "home"]
    found = json.loads(invoke(*words, "--json").stdout)["risk"]["household"]
    assert (found["households"], found["highest"], found["average"]) == (2, 1, 0.875)
    shown = invoke(*words)
    assert "household, any member" in shown.stdout
    assert "persons whose household is expected to be found" in shown.stdout
    assert "canary" not in shown.stdout + shown.stderr
    assert "name the columns that an attacker knows with --qi" in invoke("audit", file, "--household", "home").stderr


def test_releases_of_persons_and_of_households(shared_db: Any) -> None:
    """With rows_are: events a class holds k persons and k households; with person: home it is made so."""
    rows = [(20 + at // 16, at, f"home{at // 4}", f"d{at % 3}") for at in range(96)]
    columns = {"age": "INTEGER", "who": "INTEGER", "home": "VARCHAR(9)", "ill": "VARCHAR(9)"}
    table = made(shared_db, rows, columns)
    facts = f"source: {table}, columns: {{age: quasi, ill: sensitive, who: identifier, home: identifier}}"

    def run(k: int, more: str) -> Any:
        text = f"version: 1\nreleases: [{{name: {table}, {facts}, privacy: {{k: {k}}}, {more}}}]"
        return shared_db.run(loads(text, {}).releases[0])

    both = run(3, "rows_are: events, method: tree")
    assert min(both.min_identifiers.values()) >= 3
    assert set(both.min_identifiers) == {"who", "home"}
    with pytest.raises(sqlanon.PrivacyViolation, match="different values of home, and k is 12"):
        run(12, "rows_are: events, method: tree")
    homes = run(12, "person: home, method: tree")
    assert homes.min_identifiers == {"home": 12}
    assert homes.min_class == 48
