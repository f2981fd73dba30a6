"""Tables of a hospital's stays: rows, persons and costs of patients who have several stays, in two linked tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.policy import load
from tests.engines import create_table, read_table

pytest.importorskip("highspy")
pytestmark = pytest.mark.thorough

COLUMNS = {
    "patient_id": "INTEGER",
    "region": "TEXT",
    "age": "INTEGER",
    "sex": "TEXT",
    "diagnosis": "TEXT",
    "cost": "INTEGER",
}
POLICY = """\
version: 1
releases:
  - name: admissions of {source}
    source: {source}
    person: patient_id
    publish: release.v_{source}
    statistics:
      columns:
        region: {{hierarchy: region.csv}}
        age: {{hierarchy: "steps:5,20"}}
        sex: {{}}
        diagnosis: {{hierarchy: icd.csv}}
      tables:
        - {{name: by_region, by: [region, age, sex]}}
        - {{name: by_diagnosis, by: [diagnosis, sex]}}
      measures:
        n: count
        persons: persons
        cost: {{sum: cost, range: [0, 1000000], dominance: {{n: 2, share: 0.85}}, p_percent: 10}}
      protect: {{method: suppress, persons: 10, zeros: shown, interval: full, insiders: alone, bounds: exact}}
"""
ICD = {"I21": "I", "I50": "I", "J18": "J", "J44": "J"}
REGIONS = {"north": "land", "south": "land", "port": "coast"}


def hospital(patients: int) -> list[tuple[Any, ...]]:
    """Stays of patients, 1 to 4 each: a patient has one sex, and several diagnoses, regions and ages."""
    draw = random.Random("hospital")
    rows: list[tuple[Any, ...]] = []
    for patient in range(patients):
        region, sex = draw.choices(list(REGIONS), [6, 4, 1])[0], draw.choice("FM")
        age = draw.choices([31, 42, 58, 77], [1, 4, 4, 3])[0]
        for stay in range(draw.choices([1, 2, 3, 4], [70, 18, 8, 4])[0]):
            place = region if draw.random() < 0.9 else draw.choice(list(REGIONS))
            diagnosis = draw.choices(list(ICD), [8, 4, 2, 1])[0]
            rows.append(
                (patient, place, age + (stay > 2), sex, diagnosis, min(1_000_000, int(draw.lognormvariate(8, 1))))
            )
    return rows


def test_the_tables_of_a_hospital_are_certified(shared_db: Any, tmp_path: Path) -> None:
    rows, source = hospital(400), f"stays_{uuid4().hex[:10]}"
    for name, tree in (("region", REGIONS), ("icd", ICD)):
        (tmp_path / f"{name}.csv").write_text("".join(f"{leaf};{node};*\n" for leaf, node in tree.items()))
    file = tmp_path / "anon.yml"
    file.write_text(POLICY.format(source=source))
    create_table(shared_db, source, COLUMNS, rows)
    spec = load(file).releases[0]
    report = shared_db.run(spec)
    assert report.verified
    assert report.statistics.patterns
    assert report.statistics.hidden > 0
    for row in read_table(shared_db, ("release", f"v_{source}")):
        if row["level_diagnosis"] == 0 and row["level_sex"] == 1 and row["status"] == "shown":
            inside = [stay for stay in rows if stay[4] == row["diagnosis"]]
            numbers = len(inside), len({stay[0] for stay in inside}), sum(stay[5] for stay in inside)
            assert (row["n"], row["persons"], row["cost"]) == numbers
    assert shared_db.audit(f"release.v_{source}", spec=spec).satisfied
    attacked = shared_db.attack(spec.name)
    assert attacked.held, [repr(one) for one in (*attacked.attacks, *attacked.sums)]
    answer = shared_db.query(f"select sum(persons) as p, count(*) as n from {source} where diagnosis in ('I21', 'J44')")
    asked = [stay for stay in rows if stay[4] in ("I21", "J44")]
    (found,) = answer.rows
    for name, number in (("p", len({stay[0] for stay in asked})), ("n", len(asked))):
        assert found[name].low <= number
        assert found[name].high is None or number <= found[name].high
