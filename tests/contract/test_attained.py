"""Attained ends.

The metadata list a column if and only if each published end, or member of a set, is the value of some row of its class.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation
from sqlanon.release.divide import classes as making
from sqlanon.sqltext import identifier
from tests.contract.cases import QI, Case, release_rows
from tests.oracle.requirements import Privacy

LEVELS = ("low", "mid", "high")
PATHS = tuple((leaf, leaf[0], "*") for leaf in ("a1", "a2", "b1", "b2", "b3"))


def case(seed: int) -> Case:
    """Every kind of column, with and without NULLs; ``id`` says whose a published row is."""
    rng = random.Random(seed)
    none = [None] if seed % 2 else []
    rows = tuple(
        (
            i,
            rng.choice([*range(12), *none]),
            rng.choice([0.0, -0.0, 1.5, 2.5, 1e300, *none]),
            rng.choice(["2024-02-29", "2024-03-01", "1999-12-31", *none]),
            rng.choice(["p", "q", "r", "s t", *none]),
            rng.choice([*LEVELS, *none]),
            rng.choice(["b", "C", "ä", "a"]),
            rng.choice(PATHS)[0],
            rng.choice("xyz"),
        )
        for i in range(26)
    )
    return Case(
        f"attained {seed}",
        {
            "id": "INTEGER",
            "n": "INTEGER",
            "f": "DOUBLE PRECISION",
            "d": "DATE",
            "g": "TEXT",
            "o": "TEXT",
            "t": "TEXT",
            "h": "TEXT",
            "sa": "TEXT",
        },
        rows,
        {
            "n": QI(),
            "f": QI(),
            "d": QI(),
            "g": QI("nominal"),
            "o": QI("text", ordered=LEVELS),
            "t": QI("text", ordered="alphabetical"),
            "h": QI("hierarchy", levels=PATHS),
        },
        ("sa",),
        Privacy(k=3),
    )


def listed(db: Any, name: str) -> list[str]:
    """The columns that the metadata list."""
    found = db.engine.fetch(f"SELECT published FROM release.{identifier(name + '_metadata')} WHERE column_name = ''")
    attained: list[str] = json.loads(found[0][0]).get("attained", [])
    return attained


def attained(db: Any, case: Case, name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns whose ends and members are values of rows, by comparison of each class with its source rows."""
    columns = [*case.quasi]
    source = {
        row[0]: dict(zip(columns, row[1:], strict=True))
        for row in db.engine.fetch(f"SELECT id, {', '.join(columns)} FROM {identifier(name)}")
    }
    classes: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        classes.setdefault(repr([value for key, value in row.items() if key not in ("id", "sa")]), []).append(row)
    found = []
    for column, quasi in case.quasi.items():
        if quasi.kind == "hierarchy":
            continue
        good = True
        for members in classes.values():
            first, values = members[0], {source[row["id"]][column] for row in members}
            ends = first[column] if column in first else [first[f"{column}_lo"], first[f"{column}_hi"]]
            if ends is not None and ends != [None, None]:
                good &= set(ends) <= values
        found += [column] if good else []
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_columns_are_listed_whose_ends_rows_have(shared_db: Any, tmp_path: Path, seed: int) -> None:
    one = case(seed)
    rows, report = release_rows(shared_db, one, tmp_path, insensitive=["id"], accept_unique=["id", "sa"])
    names = listed(shared_db, report.release)
    assert names == attained(shared_db, one, report.release, rows)
    assert names == ["n", "f", "d", "g", "o", "t"]


@pytest.mark.parametrize(
    ("column", "wider"),
    [("n", "n_hi = n_hi + 1"), ("o", "o_lo = 'low', o_hi = 'high'"), ("g", "g = ARRAY['p', 'q', 'r', 's t', 'u']")],
)
def test_a_column_with_a_wider_box_is_not_listed(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, wider: str
) -> None:
    """The box of one class is wider than its rows, which is no violation."""
    one = case(2)
    verify = making.verify_staged

    def widened(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        database, schema, table = (recoded.released.database, recoded.released.schema, recoded.released.name)
        place = ".".join(identifier(part) for part in (database, schema, table) if part)
        scratch.engine.execute(
            f"UPDATE {place} SET {wider} WHERE _sqlanon_class = (SELECT MIN(_sqlanon_class) FROM {place})"
        )
        return verify(scratch, classed, recoded, form)

    monkeypatch.setattr(making, "verify_staged", widened)
    rows, report = release_rows(shared_db, one, tmp_path, insensitive=["id"], accept_unique=["id", "sa"])
    names = listed(shared_db, report.release)
    assert names == attained(shared_db, one, report.release, rows)
    assert names == [name for name in ("n", "f", "d", "g", "o", "t") if name != column]


@pytest.mark.parametrize(
    ("which", "value"), [("> 1", "ARRAY[g[1]]"), ("> 0", "ARRAY['u']")], ids=["one less", "another"]
)
def test_a_set_without_a_value_of_its_rows_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, value: str
) -> None:
    one = replace(case(2), quasi={"g": QI("nominal"), "n": QI()}, privacy=Privacy(k=7))
    verify = making.verify_staged

    def shrunk(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        ref = recoded.released
        place = ".".join(identifier(part) for part in (ref.database, ref.schema, ref.name) if part)
        assert scratch.engine.fetch(f"SELECT COUNT(*) FROM {place} WHERE ARRAY_LENGTH(g, 1) {which}")[0][0]
        scratch.engine.execute(f"UPDATE {place} SET g = {value} WHERE ARRAY_LENGTH(g, 1) {which}")
        return verify(scratch, classed, recoded, form)

    monkeypatch.setattr(making, "verify_staged", shrunk)
    with pytest.raises(PrivacyViolation, match="cover"):
        release_rows(shared_db, one, tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"format": "labels"},
        {"format": "points"},
        {"method": "freeform", "boxes": "own"},
        {"method": {"name": "koptimize"}, "suppression": {"limit": 0.5}},
    ],
    ids=str,
)
def test_what_need_not_hold_is_not_listed(shared_db: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    """The single row of a box of its own, and intervals that are the same in all classes."""
    one = replace(case(2), quasi={"n": QI(), "d": QI()})
    _, report = release_rows(shared_db, one, tmp_path, **options)
    assert listed(shared_db, report.release) == []
