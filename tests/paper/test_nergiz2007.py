"""delta-presence.

The public table P and the private table T of Nergiz, Atzori and Clifton 2007, released with delta = (1/2, 2/3).
"""

from __future__ import annotations

import uuid
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.engines import create_table, read_table

PUBLIC = [
    ("47906", 35, "USA", False),
    ("47903", 59, "Canada", True),
    ("47906", 42, "USA", True),
    ("47630", 18, "Brazil", False),
    ("47630", 22, "Brazil", False),
    ("47633", 63, "Peru", True),
    ("48973", 33, "Spain", False),
    ("48972", 47, "Bulgaria", True),
    ("48970", 52, "France", True),
]
"""Zip, age and nationality of nine persons, Alice to Iris, and whether each is in T."""
PLACES = {"USA": "N. America", "Canada": "N. America", "Brazil": "S. America", "Peru": "S. America"}
"""Of America; the others are of Europe, east or west."""


def path(nationality: str) -> list[str]:
    """A nationality's nodes up to the root."""
    if nationality in PLACES:
        return [nationality, PLACES[nationality], "America", "*"]
    return [nationality, "E. Europe" if nationality == "Bulgaria" else "W. Europe", "Europe", "*"]


def test_the_release_is_present_from_one_half_to_two_thirds(shared_db: Any, tmp_path: Path) -> None:
    """America has three of its six persons in T, Europe two of its three; with all in one cell five of nine are."""
    levels = {
        "zip": [[z, f"{z[:4]}*", f"{z[:3]}**", f"{z[:2]}***", "*"] for z in dict.fromkeys(row[0] for row in PUBLIC)],
        "age": [[str(age), "*"] for _, age, _, _ in PUBLIC],
        "nationality": [path(row[2]) for row in {one[2]: one for one in PUBLIC}.values()],
    }
    for name, paths in levels.items():
        (tmp_path / name).write_text("\n".join(";".join(nodes) for nodes in paths), encoding="utf-8")
    columns = {"zip": "TEXT", "age": "TEXT", "nationality": "TEXT"}
    table = f"nergiz_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, table, columns, [(z, str(a), n) for z, a, n, inside in PUBLIC if inside])
    create_table(shared_db, f"{table}_p", columns, [(z, str(a), n) for z, a, n, _ in PUBLIC])
    asked: dict[str, Any] = {
        "quasi": list(columns),
        "hierarchies": {name: tmp_path / name for name in columns},
        "seed": 1,
        "method": "fulldomain:search=global,metric=height",
        "allow_weaker": True,
    }

    def reached(least: str, most: str) -> tuple[list[int], dict[str, float]]:
        presence = {"min": least, "max": most, "population": f"{table}_p"}
        report = shared_db.anonymize(table, **asked, delta_presence=presence).report
        cells = Counter(tuple(row.values()) for row in read_table(shared_db, ("release", table)))
        return sorted(cells.values()), {one.name: one.reached for one in report.requirements}

    sizes, found = reached("1/2", "2/3")
    assert sizes == [2, 3]
    assert found["delta_presence"] == float(Fraction(2, 3))
    assert found["delta_presence, least"] == float(Fraction(1, 2))
    sizes, found = reached("1/2", "3/5")
    assert (sizes, found["delta_presence"]) == ([5], float(Fraction(5, 9)))
