"""Releases of counts for tests: a table of stays, and the policy that publishes its counts."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlanon.policy import load
from sqlanon.spec import ReleaseSpec
from tests.engines import create_table, read_table

Rows = list[tuple[Any, ...]]


COLUMNS = {"region": "TEXT", "sex": "TEXT", "age": "INTEGER", "pid": "INTEGER"}


AGES = ((20, "20..39"), (30, "20..39"), (45, "40..59"), (None, None))


def stays(seed: object, persons: int = 120, times: int = 1) -> Rows:
    """Rows of persons, with NULL as a region and an age."""
    draw = random.Random(str(seed))
    rows = []
    for pid in range(persons):
        for _ in range(1 + draw.randrange(times)):
            region = draw.choice(["north", "north", "south", "it's", None])
            rows.append((region, draw.choice("FFM"), draw.choice(AGES)[0], pid))
    return rows


class Published:
    """A policy file and its only release, published in ``view``."""

    db: Any
    file: Path
    view: str

    @property
    def spec(self) -> ReleaseSpec:
        return load(self.file).releases[0]

    def run(self, **asked: Any) -> Any:
        return self.db.run(self.spec, **asked)

    def rows(self) -> list[dict[str, Any]]:
        return read_table(self.db, ("release", self.view))


class Made(Published):
    """A table in a database, and the policy that publishes its counts."""

    def __init__(self, db: Any, folder: Path, rows: Rows, **more: Any) -> None:
        self.db, self.source = db, f"stays_{uuid4().hex[:10]}"
        create_table(db, self.source, COLUMNS, rows)
        self.name, self.file = f"counts of {self.source}", folder / "anon.yml"
        self.write(**more)

    def write(
        self,
        tables: str = "[{name: all, by: [region, sex, age]}]",
        columns: str = '{region: {}, sex: {}, age: {hierarchy: "steps:20"}}',
        measures: str = "{n: count}",
        protect: str = "{persons: 3, bounds: exact}",
        more: str = "",
    ) -> None:
        self.view = f"v_{self.source}"
        self.file.write_text(
            f"version: 1\nreleases:\n  - name: {self.name}\n    source: {self.source}\n    person: pid\n    publish: "
            f"release.{self.view}\n{more}    statistics:\n      columns: {columns}\n      tables: {tables}\n"
            f"      measures: {measures}\n      protect: {protect}\n"
        )


def cells_of(rows: Rows) -> dict[tuple[Any, ...], int]:
    """Every cell by its levels and values, counted in Python."""
    counts: dict[tuple[Any, ...], int] = {}
    nodes = dict(AGES)
    for region, sex, age, _ in rows:
        text = None if age is None else str(age)
        for r, s, a in itertools.product(
            ((0, region), (1, None)), ((0, sex), (1, None)), ((0, text), (1, nodes[age]), (2, None))
        ):
            counts[r, s, a] = counts.get((r, s, a), 0) + 1
    return counts


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((row[f"level_{name}"], row[name]) for name in ("region", "sex", "age"))
