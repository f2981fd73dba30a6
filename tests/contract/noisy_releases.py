"""Releases of noisy statistics for tests: a table of stays, its policy, and its exact bounded answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlanon.noisy import answers as answering
from sqlanon.noisy.shape import Shape
from sqlanon.release.budget.events import list_spendings
from sqlanon.release.budget.ledger import Ledger
from sqlanon.table.scratch import Scratch
from tests.contract.counted import Published
from tests.engines import create_table

Rows = list[tuple[Any, ...]]
COLUMNS = {"pid": "INTEGER", "region": "TEXT", "sex": "TEXT", "age": "INTEGER", "cost": "DOUBLE PRECISION"}
REGIONS = ("north", "south", "it's", "empty")
MEASURES = (
    "{n: rows, people: persons, total: {sum: cost, range: [-10, 50]}, cost: {mean: cost, range: [0, 20]}, "
    "paid: {quantiles: [0.5], of: cost, range: [0, 20], steps: 4}}"
)


def stays(seed: object, persons: int = 12, times: int = 6) -> Rows:
    """Rows of persons; of some the region, the age or the cost is NULL, not declared or out of range."""
    draw = random.Random(str(seed))
    rows: Rows = []
    for pid in range(persons):
        for _ in range(1 + draw.randrange(times)):
            region = draw.choice([*REGIONS[:3], "elsewhere", None])
            cost = draw.choice([None, -1e300, 1e300, 3.0, 7.0, 7.0, float(draw.randrange(60))])
            rows.append((pid, region, draw.choice("FFM"), draw.choice([5, 25, 45, 99, None]), cost))
    return rows


class Made(Published):
    """A table in a database, and the policy that publishes its statistics."""

    def __init__(self, db: Any, folder: Path, rows: Rows, **more: Any) -> None:
        self.db, self.folder, self.source = db, folder, f"stays_{uuid4().hex[:10]}"
        create_table(db, self.source, COLUMNS, rows)
        self.name, self.view, self.file = f"noisy {self.source}", f"v_{self.source}", folder / "anon.yml"
        self.budget = f"persons of {self.source}"
        self.write(**more)

    def write(
        self,
        tables: str = "[{by: [region, sex]}]",
        groups: str = "{region: [north, south, it's, empty], sex: [F, M]}",
        measures: str = "{n: rows}",
        contributions: str = "{groups: 2, rows: 2}",
        epsilon: str = "1",
        budget: str = "epsilon: 3, delta: 1e-6",
        every: str = "30d",
        more: str = "kept: false",
        anchor: bool = True,
    ) -> None:
        there = f", anchor: {self.folder / 'anchor'}" if anchor else ""
        groups = groups.replace("it's", '"it\'s"')
        self.file.write_text(
            f'version: 1\nbudgets:\n  - {{name: "{self.budget}", persons: {{{self.source}: pid}}, {budget}{there}}}\n'
            f"releases:\n  - name: {self.name}\n    source: {self.source}\n    publish: release.{self.view}\n"
            f'    every: {every}\n    statistics:\n      budget: "{self.budget}"\n      epsilon: {epsilon}\n'
            + (f"      tables: {tables}\n" if tables else "")
            + f"      groups: {groups}\n      measures: {measures}\n"
            f"      contributions: {contributions}\n      {more}\n"
        )

    def states(self) -> list[str]:
        events = Ledger(self.db.engine).read()[self.budget]
        return [one.state for one in list_spendings(events)]


def exact(db: Any, shape: Shape, source: str, secret: str = "key") -> list[Any]:
    """The bounded answers of every series, verified."""
    with Scratch(db.engine) as scratch:
        coded = answering.bound_rows(scratch, shape, ("pid",), db.engine.relation(source), secret)
        answering.verify_norms(scratch, shape, coded)
        return answering.read_answers(scratch, shape, coded, secret)
