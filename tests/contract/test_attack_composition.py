"""A victim in two versions of a release, or in two releases of one source."""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.contract.attacked import marked
from tests.engines import read_table


def of_cells(db: Any, name: str) -> dict[int, Any]:
    """Published cells by the number of the row."""
    rows = read_table(db, ("release", name))
    return {
        row["mark"]: str({key: value for key, value in row.items() if key not in ("mark", "disease")}) for row in rows
    }


@pytest.mark.thorough
def test_two_releases_of_one_source(shared_db: Any, tmp_path: Path) -> None:
    name, _ = marked(shared_db, tmp_path, 5)
    other = f"beside_{name}"
    shared_db.anonymize(
        name,
        name=other,
        publish=f"release.{other}",
        quasi=["age", "sex"],
        sensitive="disease",
        insensitive="mark",
        accept_unique="mark",
        k=4,
        rest="drop",
        method="mondrian",
    )
    one, two = of_cells(shared_db, name), of_cells(shared_db, other)
    both = Counter((one[mark], two[mark]) for mark in one)
    found = next(each for each in shared_db.attack(name).composition if each.other == f"{other}@1")
    assert (found.kind, found.who, found.rows, found.fewest) == ("release", "common", 24, min(both.values()))
    assert found.mean == pytest.approx(len(both) / 24)
    assert found.promised == pytest.approx(1 / 3)
    assert shared_db.together(name, other).k == found.fewest


@pytest.mark.thorough
def test_versions_of_one_release(shared_db: Any, tmp_path: Path) -> None:
    """Rows that both versions have are found by both classes; a row that came or went by what only one version has."""
    name, _ = marked(shared_db, tmp_path, 6, name=f"twice_{uuid.uuid4().hex[:8]}", key="id")
    release_name = next(row.release for row in shared_db.releases() if row.source.endswith(name))
    first = of_cells(shared_db, name)
    shared_db.engine.execute(f"DELETE FROM {name} WHERE mark = 0")
    tree = tmp_path / "zip.csv"
    shared_db.anonymize(
        name,
        name=release_name,
        publish=f"release.{name}",
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        insensitive="mark",
        accept_unique="mark",
        k=3,
        rest="drop",
        hierarchies={"zip": tree},
        key="id",
        method="mondrian",
    )
    second = of_cells(shared_db, name)
    both = Counter((first[mark], second[mark]) for mark in second)
    found = {each.who: each for each in shared_db.attack(release_name).composition}
    assert found["common"].other == f"{release_name}@1"
    assert (found["common"].rows, found["common"].fewest) == (23, min(both.values()))
    assert found["common"].mean == pytest.approx(len(both) / 23)
    assert (found["left"].rows, found["left"].highest) == (1, 1.0)
    assert "arrived" not in found
