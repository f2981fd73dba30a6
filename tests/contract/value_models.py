"""Requirements of values beyond l, each with its definition, and judgement of a small table's release by it."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.declared import METHODS, REQUIREMENTS
from sqlanon.privacy.requirements import make_requirements
from sqlanon.spec import PrivacySpec
from tests.engines import create_table, read_table
from tests.oracle import models

LEVELS = (("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*"))
PATHS = {int(path[0]): path for path in LEVELS}
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@dataclass(frozen=True)
class Model:
    """The requirement of column s, its definition, and the reached value if the whole table is a class."""

    name: str
    asked: Any
    meets: Callable[[Any, Any], bool]
    distance: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}:{self.asked}"


MODELS = (
    Model("entropy_l", "5/2", models.entropy(Fraction(5, 2))),
    Model("entropy_l", 3, models.entropy(Fraction(3))),
    Model("recursive_cl", {"c": "3/2", "l": 2}, models.recursive(Fraction(3, 2), 2)),
    Model("recursive_cl", "c=3,l=3", models.recursive(Fraction(3), 3)),
    Model("alpha", "2/5", models.alpha(Fraction(2, 5))),
    Model("alpha", {"max": "1/3", "values": ["1", "4"]}, models.alpha(THIRD, (1, 4))),
    Model("t", "3/10", models.close(Fraction(3, 10), lambda _: models.equal)),
    Model("t", "1/5 ordered", models.close(Fraction(1, 5), models.ordered)),
    Model("t", "1/4 hierarchical", models.close(Fraction(1, 4), lambda _: models.hierarchical(PATHS)), "h"),
    Model("beta", {"basic": 1}, models.beta(Fraction(1), enhanced=False)),
    Model("beta", "enhanced=3/2", models.beta(Fraction(3, 2), enhanced=True)),
    Model("delta_disclosure", "3/2", models.delta(Fraction(3, 2), ignored=False)),
    Model("delta_disclosure", "1 ignored", models.delta(Fraction(1), ignored=True)),
)
ORACLES = {one.name for one in MODELS}
BEYOND = [name for name, one in REQUIREMENTS.items() if name not in ("k", "l", "distinct_l") and not one.population]
WAYS = [
    ("tree", "kernel"),
    ("hilbert", "kernel"),
    ("hilbert", "pushdown"),
    ("mondrian", "kernel"),
    ("mondrian", "pushdown"),
    ("mondrian:variant=relaxed", "kernel"),
    ("mondrian:variant=relaxed", "pushdown"),
    ("fulldomain:search=local", "kernel"),
    ("fulldomain:search=global", "kernel"),
    ("fulldomain:search=global", "pushdown"),
]
OTHERS = [name for name, one in METHODS.items() if one.requirements is None]
COLUMNS = {"q": "INTEGER", "w": "TEXT", "s": "INTEGER", "r": "TEXT"}


def rows_of(seed: int, count: int = 70) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [
        (rng.randrange(10), rng.choice("pq"), rng.choices([1, 2, 3, 4, None], [4, 3, 3, 3, 2])[0], rng.choice("xy"))
        for _ in range(count)
    ]


def placed(db: Any) -> str:
    """The name of a new table of these rows."""
    name = f"models_{uuid.uuid4().hex[:10]}"
    create_table(db, name, COLUMNS, rows_of(1))
    return name


def asked_for(model: Model, folder: Path) -> dict[str, Any]:
    """The arguments of a release that asks for a model."""
    asked = {"quasi": ["q", "w"], "sensitive": "s", "insensitive": "r", "k": 3, "seed": 1, model.name: model.asked}
    if model.distance:
        file = folder / "s.csv"
        file.write_text("\n".join(";".join(path) for path in LEVELS), encoding="utf-8")
        asked["hierarchies"] = {"s": file}
    return asked


def released(db: Any, table: str) -> list[tuple[Any, ...]]:
    """Per row what it is published with, and its sensitive value."""
    found = read_table(db, ("release", table))
    return [(tuple(str(value) for name, value in row.items() if name not in ("s", "r")), row["s"]) for row in found]


def failing(rows: list[tuple[Any, ...]], model: Model) -> tuple[int, int]:
    """Classes, and those that do not meet a model by its definition."""
    classes = defaultdict(list)
    for box, value in rows:
        classes[box].append(value)
    everything = [value for _, value in rows]
    return len(classes), sum(not model.meets(own, everything) for own in classes.values())


def spec_of(model: Model) -> tuple[Any, ...]:
    """The requirements that a model asks of s, and of r within s and the other way where it may."""
    value = REQUIREMENTS[model.name].value.read(model.asked)
    hierarchy = Hierarchy("s", LEVELS) if model.distance else None
    return tuple(
        one
        for one in make_requirements(
            PrivacySpec.of({model.name: value}), ("s",), (), (ColumnSpec("s", "sensitive", hierarchy=hierarchy),)
        )
        if one.name == model.name
    )
