"""What is attacked: releases of random rows, and their figures against an attacker in plain Python."""

from __future__ import annotations

import random
import uuid
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.engines import create_table, read_table
from tests.oracle import attacks
from tests.oracle.attacks import Column

TREE = (("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"))
BELOW = {label: frozenset(path[0] for path in TREE if label in path) for label in {x for path in TREE for x in path}}
COLUMNS = (Column("age", "number"), Column("sex", "nominal"), Column("zip", "hierarchy", BELOW))
FORMATS = ("ranges", "labels", "suppressed", "anatomy")
NAMES = ("mark", "who", "age", "sex", "zip", "disease", "id")
KINDS = dict.fromkeys(NAMES, "TEXT") | dict.fromkeys(("mark", "who", "age", "id"), "INTEGER")


def people(seed: int, rows: int, *, nulls: bool) -> list[tuple[Any, ...]]:
    """Random rows of age, sex, zip and disease."""
    draw = random.Random(seed)
    empty = [None] if nulls else []
    return [
        (
            draw.choice([*range(20, 20 + rows // 2), *empty]),
            draw.choice(["f", "m", "x", *empty]),
            draw.choice([p[0] for p in TREE]),
            draw.choice(["flu", "cold", "cough", *empty]),
        )
        for _ in range(rows)
    ]


def release(
    db: Any, directory: Path, rows: list[tuple[Any, ...]], form: str, **options: Any
) -> tuple[str, list[attacks.Row], Any]:
    """Release random rows; give the release's name, its published rows and its report."""
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    report = release_as(db, directory, name, rows, form, **options)
    return name, read_table(db, ("release", name)), report


def release_as(db: Any, directory: Path, name: str, rows: list[tuple[Any, ...]], form: str, **options: Any) -> Any:
    """As `release`, by a name; returns the report of the run."""
    create_table(db, name, {"age": "INTEGER", "sex": "TEXT", "zip": "TEXT", "disease": "TEXT"}, rows)
    tree = directory / "zip.csv"
    tree.write_text("".join(";".join(path) + "\n" for path in TREE))
    asked: dict[str, Any] = {
        "quasi": ["age", "sex", "zip"],
        "sensitive": "disease",
        "k": 1 if form == "anatomy" else 3,
        "l": "1.2",
        "format": form,
        "hierarchies": {"zip": tree},
        "publish": f"release.{name}",
    }
    return db.anonymize(name, **{**asked, **options}).report


def victims(rows: list[tuple[Any, ...]]) -> list[attacks.Row]:
    return [dict(zip(("age", "sex", "zip", "disease"), row, strict=True)) for row in rows]


def grouped(db: Any, name: str, form: str, published: list[attacks.Row]) -> list[list[Any]]:
    """The sensitive values of every group that a reader sees."""
    found: dict[Any, list[Any]] = defaultdict(list)
    if form == "anatomy":
        for row in sorted(read_table(db, ("release", f"{name}_sensitive")), key=lambda row: row["group_id"]):
            found[row["group_id"]] += [row["disease"]] * row["count"]
    else:
        for row in published:
            found[str([value for key, value in row.items() if key != "disease"])].append(row["disease"])
    return list(found.values())


def check_linkage(report: Any, expected: dict[tuple[str, ...], list[Fraction]], k: int | None) -> None:
    """The figures by number of known columns."""
    for one in report.linkage:
        if one.errors:
            continue
        sets = {known: chances for known, chances in expected.items() if len(known) == one.known}
        means = {known: sum(chances) / len(chances) for known, chances in sets.items()}
        highest = max(max(chances) for chances in sets.values())
        assert one.subsets == len(sets)
        assert one.mean == pytest.approx(float(sum(means.values()) / len(means)), rel=1e-12)
        assert one.worst_mean == pytest.approx(float(max(means.values())), rel=1e-12)
        assert float(means[one.worst]) == pytest.approx(one.worst_mean, rel=1e-12)
        assert one.highest == pytest.approx(float(highest), rel=1e-12)
        assert Fraction(1, one.fewest) == highest
        assert one.promised == (1 / k if k else None)
        assert one.exceeded == (k is not None and highest > Fraction(1, k))
    assert {one.known for one in report.linkage} == {len(known) for known in expected}


def check_guess(one: Any, expected: list[Fraction], bound: Fraction) -> None:
    """The share of the most frequent value."""
    assert one.mean == pytest.approx(float(sum(expected) / len(expected)), rel=1e-12)
    assert one.highest == pytest.approx(float(max(expected)), rel=1e-12)
    assert one.promised == pytest.approx(float(1 / bound))
    assert one.exceeded == (max(expected) > 1 / bound)


def check_beyond(
    report: Any, form: str, published: list[attacks.Row], rows: list[attacks.Row], groups: list[list[Any]]
) -> None:
    """The figures that no model bounds."""
    (gain,), (learnt,) = report.skewness, report.bayes
    adds, times = attacks.gains(groups)
    means = [float(sum(some) / len(some)) for some in (adds, times)]
    assert (gain.mean, gain.mean_ratio) == (pytest.approx(means[0]), pytest.approx(means[1]))
    assert (gain.highest, gain.highest_ratio) == (pytest.approx(float(max(adds))), pytest.approx(float(max(times))))
    shown = []
    for row in published:
        values = groups_of(groups, row) if form == "anatomy" else [row["disease"]]
        shown.append((row, {value: Fraction(n, len(values)) for value, n in Counter(values).items()}))
    domains = {
        c.name: sorted({row[c.name] for row in rows}, key=str) if c.kind != "hierarchy" else [p[0] for p in TREE]
        for c in COLUMNS
    }
    expected = attacks.bayes(form, COLUMNS, shown, rows, "disease", domains)
    assert (learnt.accuracy, learnt.in_class, learnt.baseline) == tuple(pytest.approx(float(one)) for one in expected)


def groups_of(groups: list[list[Any]], row: attacks.Row) -> list[Any]:
    """The values of a row's group, format anatomy: groups are in the order of their numbers."""
    return groups[row["group_id"] - 1]


def marked(db: Any, directory: Path, seed: int, **options: Any) -> tuple[str, list[attacks.Row]]:
    """Release 24 random rows of eight persons with a published number, which says whose row each published one is."""
    draw = random.Random(seed)
    rows = [(i, draw.randrange(8), *row, i) for i, row in enumerate(people(seed, 24, nulls=True))]
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    create_table(db, name, KINDS, rows)
    tree = directory / "zip.csv"
    tree.write_text("".join(";".join(path) + "\n" for path in TREE))
    asked: dict[str, Any] = {
        "quasi": ["age", "sex", "zip"],
        "sensitive": "disease",
        "insensitive": "mark",
        "accept_unique": "mark",
        "k": 3,
        "rest": "drop",
        "hierarchies": {"zip": tree},
        "publish": f"release.{name}",
    }
    db.anonymize(name, **{**asked, **options})
    return name, [dict(zip(NAMES, row, strict=True)) for row in rows]
