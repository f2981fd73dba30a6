"""The risk with every published column.

A run, a preview and the owner's report warn of columns that are published as they are.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.results import Exposure
from tests.engines import create_table, read_table


def people(db: Any, rows: int = 60) -> str:
    name = f"exposed_{uuid.uuid4().hex[:10]}"
    draw = random.Random(4)
    drawn = [(20 + i // 4, draw.choice("fm"), draw.choice("uvw"), draw.randint(0, 30), i % 2) for i in range(rows)]
    kinds = {"age": "INTEGER", "sex": "TEXT", "ill": "TEXT", "cost": "INTEGER", "flag": "INTEGER"}
    create_table(db, name, kinds, drawn)
    return name


def spec(name: str, **changes: Any) -> Any:
    asked: dict[str, Any] = {
        "quasi": ["age", "sex"],
        "sensitive": "ill",
        "insensitive": ["cost", "flag"],
        "accept_unique": ["cost"],
        "k": 4,
        "name": name,
        "publish": f"release.{name}",
    }
    return policy.release(source=name, **(asked | changes))


@pytest.mark.parametrize("form", ["ranges", "labels", "suppressed"])
def test_a_run_counts_who_is_alone(shared_db: Any, form: str) -> None:
    name = people(shared_db)
    report = shared_db.run(spec(name, format=form))
    groups = Counter(
        repr([value for column, value in row.items() if column != "ill"])
        for row in read_table(shared_db, ("release", name))
    )
    alone = sum(n == 1 for n in groups.values())
    assert alone > 10
    assert report.exposed == Exposure(1, alone, 60, ("cost", "flag"))
    assert f"{alone} of 60 rows are alone (k 1, not 4)" in report.exposed.warning(4)
    page = shared_db.report(name, form="md")
    before = page.partition("Every requirement of the policy is met")[0]
    assert "without what is published as it is" in page
    assert f"{alone} of 60 rows are alone" in before.replace("\\", "")
    first = page.partition("\n- ")[2].splitlines()[0]
    assert first == "highest risk of being found, with every published column: 100 %"
    assert shared_db.preview(spec(name, format=form)).exposed.columns == ("cost", "flag")


def test_nothing_is_said_where_classes_hide_all(shared_db: Any) -> None:
    name = people(shared_db)
    report = shared_db.run(spec(name, insensitive=[], accept_unique=[], rest="drop"))
    assert report.exposed is None
    assert "without what is published as it is" not in shared_db.report(name, form="md")
    same = people(shared_db)
    shared_db.engine.execute(f"UPDATE {same} SET flag = 1")
    report = shared_db.run(spec(same, insensitive=["flag"], accept_unique=[], rest="drop"))
    assert report.exposed.k >= 4
    assert report.exposed.warning(4) is None


def test_a_pair_of_tables_has_no_such_figure(shared_db: Any) -> None:
    name = people(shared_db)
    assert shared_db.run(spec(name, format="anatomy", k=1, l="1.5")).exposed is None
