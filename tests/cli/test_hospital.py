"""The synthetic hospital is what it says: reproducible, one row a patient, correlated, covered by its hierarchy."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import pairwise

import pytest

from sqlanon.demo.hospital import COLUMNS, FIRST_DAY, LAST_DAY, draw_patients, zip_hierarchy

ROWS = 20_000


@pytest.fixture(scope="module")
def table():
    return draw_patients(ROWS, 7)


def share(rows, wanted) -> float:
    chosen = list(rows)
    return sum(1 for row in chosen if wanted(row)) / len(chosen)


def test_same_seed_same_patients(table):
    assert draw_patients(ROWS, 7) == table
    assert draw_patients(ROWS, 8) != table


def test_shape(table):
    assert list(table) == [name for name, _ in COLUMNS]
    assert {len(values) for values in table.values()} == {ROWS}
    assert len(set(table["patient_id"])) == ROWS
    assert table["patient_id"] != sorted(table["patient_id"])
    for name in ("patient_id", "name", "birth_date", "sex", "admitted", "diagnosis", "cost"):
        assert None not in table[name]
    for name in ("zip", "marital_status", "stay_days"):
        assert 0 < table[name].count(None) < ROWS / 20


def test_dates(table):
    for born, admitted in zip(table["birth_date"], table["admitted"], strict=True):
        assert isinstance(born, date)
        assert FIRST_DAY <= admitted <= LAST_DAY
        assert born <= admitted
        assert admitted.year - born.year < 110


def test_correlated(table):
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    for row in rows:
        row["age"] = (row["admitted"] - row["birth_date"]).days / 365.25
    men = [row for row in rows if row["sex"] == "M"]
    assert not any(row["diagnosis"] in ("Childbirth", "Cesarean birth") for row in men)
    assert all(15 <= row["age"] < 51 for row in rows if row["diagnosis"] == "Childbirth")
    old = [row for row in rows if row["age"] > 75]
    assert share(old, lambda row: row["diagnosis"] == "Dementia") > 5 * share(
        rows, lambda row: row["diagnosis"] == "Dementia" and row["age"] < 75
    )
    assert all(row["marital_status"] in ("single", None) for row in rows if row["age"] < 18)
    influenza = [row for row in rows if row["diagnosis"] == "Influenza"]
    assert share(influenza, lambda row: row["admitted"].month in (12, 1, 2)) > 1.5 * share(
        influenza, lambda row: row["admitted"].month in (6, 7, 8)
    )
    long = [row["cost"] for row in rows if (row["stay_days"] or 0) > 15]
    short = [row["cost"] for row in rows if (row["stay_days"] or 99) < 3]
    assert sum(long) / len(long) > 2 * sum(short) / len(short)


def test_hierarchy_covers(table):
    paths = zip_hierarchy()
    leaves = [path[0] for path in paths]
    assert len(leaves) == len(set(leaves))
    assert {code for code in table["zip"] if code is not None} <= set(leaves)
    assert {len(path) for path in paths} == {4}
    assert {path[-1] for path in paths} == {"*"}
    parents: dict[str, set[str]] = {}
    for path in paths:
        for child, parent in pairwise(path):
            parents.setdefault(child, set()).add(parent)
    assert all(len(above) == 1 for above in parents.values())


def test_few_costs_are_unique():
    cost = Counter(draw_patients(5_000, 3)["cost"])
    assert sum(1 for times in cost.values() if times == 1) < 0.01 * 5_000
