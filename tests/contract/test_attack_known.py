"""Which columns an attacker knows, and what he knows wrongly."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError
from tests.contract.attacked import COLUMNS, check_linkage, marked, people, release, victims
from tests.covering import seeds
from tests.engines import create_table, read_table
from tests.oracle import attacks


@pytest.mark.thorough
def test_columns_that_are_known(shared_db: Any, tmp_path: Path) -> None:
    """Sets of the named columns, and all columns together; what names no column is refused."""
    rows = people(9, 24, nulls=False)
    name, published, _ = release(shared_db, tmp_path, rows, "ranges")
    report = shared_db.attack(name, known=["SEX", "age"])
    assert report.quasi == ("age", "sex")
    expected = attacks.linkage("ranges", COLUMNS, published, victims(rows))
    kept = {known: chances for known, chances in expected.items() if "zip" not in known or len(known) == 3}
    check_linkage(report, kept, 3)
    with pytest.raises(PolicyError, match="no quasi column weight; there are: age, sex, zip"):
        shared_db.attack(name, known=["weight"])


@pytest.mark.thorough
def test_too_many_columns_are_refused(shared_db: Any) -> None:
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    columns = {f"q{i}": "INTEGER" for i in range(11)}
    create_table(shared_db, name, columns, [(row % 2,) * 11 for row in range(8)])
    shared_db.anonymize(name, quasi=list(columns), k=2)
    with pytest.raises(
        PolicyError, match=r"all sets of 11 quasi columns are too many; name at most 10.*--known"
    ):
        shared_db.attack(name)
    right = [one for one in shared_db.attack(name, known=["q1"]).linkage if not one.errors]
    assert [one.known for one in right] == [1, 11]


@pytest.mark.cover("engine", "form")
@pytest.mark.parametrize("form", ["ranges", "labels", "suppressed"])
@pytest.mark.parametrize("seed", seeds(3))
def test_one_wrong_value(shared_db: Any, tmp_path: Path, form: str, seed: int) -> None:
    name, rows = marked(shared_db, tmp_path, seed, format=form)
    published = read_table(shared_db, ("release", name))
    expected = attacks.mistaken(form, COLUMNS, published, rows, "mark")
    found = [one for one in shared_db.attack(name).linkage if one.errors]
    assert [one.known for one in found] == [1, 2, 3]
    for one in found:
        means = {known: sum(some) / len(some) for known, some in expected.items() if len(known) == one.known}
        assert one.mean == pytest.approx(float(sum(means.values()) / len(means)))
        assert one.worst_mean == pytest.approx(float(max(means.values())))
        assert one.highest == pytest.approx(float(max(max(expected[known]) for known in means)))
        assert not one.exceeded
