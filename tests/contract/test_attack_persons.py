"""Attacks on releases that promise k over persons: candidates are different persons."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract.attacked import COLUMNS, KINDS, check_linkage, marked
from tests.engines import create_table, read_table
from tests.oracle import attacks


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [3, 4])
def test_persons_are_counted(shared_db: Any, tmp_path: Path, seed: int) -> None:
    name, rows = marked(
        shared_db, tmp_path, seed, identifiers=["who"], person="who", persons="rows", insensitive=["mark"]
    )
    published = read_table(shared_db, ("release", name))
    report = shared_db.attack(name)
    assert report.counted == "persons (who)"
    check_linkage(report, attacks.persons("ranges", COLUMNS, published, rows, "mark", "who"), 3)
    assert report.held


@pytest.mark.thorough
def test_too_few_persons_exceed_the_promise(shared_db: Any) -> None:
    """Events whose k counts rows, of an older sqlanon, whose runs warned of classes with fewer than k persons.

    The attack finds them.
    """
    draw = [(i, i // 4, 20 + i // 8, "f", "a1", "abc"[i % 3], i) for i in range(24)]
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, KINDS, draw)
    shared_db.anonymize(
        name,
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        identifiers="who",
        rows_are="events",
        persons="ignored",
        k=8,
        rest="drop",
    )
    shared_db.engine.execute(
        f"""UPDATE _sqlanon.catalog SET policy = replace(policy, '"persons": "ignored"', '"persons": null')
        WHERE release = '{name}'"""
    )
    report = shared_db.attack(name)
    assert (report.counted, report.linkage[-1].fewest, report.linkage[-1].highest) == ("persons (who)", 2, 0.5)
    assert report.linkage[-1].exceeded
    assert not report.held
