"""The levels of a column's hierarchy in a release, over the values of the source.

They are for the owner, as nodes are values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlanon.column_spec import Rule
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.evaluate.subject import find_subject
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import by_code
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage
from sqlanon.table.tree import hierarchy_of, tree_of


@dataclass(frozen=True, slots=True)
class Level:
    """A level: the height above the values, how many nodes it has, and the rows of the source in each, by label.

    Nodes are in the order of the tree; those of files, groups and tables may have no row. Nodes that share a label
    count together.
    """

    level: int
    nodes: int
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Levels:
    """The hierarchy of a column of a release.

    Attributes:
        release, column: which.
        built: the rule, or where the tree came from.
        nulls: rows without a value, which are in no node.
        levels: from the values up to the root.
    """

    release: str
    column: str
    built: str
    nulls: int
    levels: tuple[Level, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def read_levels(engine: Engine, release: str, column: str) -> Levels:
    """The hierarchy of a column, with the rows of each node in the source as it is now.

    Raises:
        PolicyError: there is no such release, the column has no hierarchy, or no node has a value of the source.

    Cost: a copy of the column, and a GROUP BY of it.
    """
    import numpy as np

    on = find_subject(engine, release)
    reading = next(
        (column_reading for column_reading in on.roles.quasi if column_reading.name.lower() == column.lower()), None
    )
    if reading is None or reading.treatment != "hierarchy":
        able = ", ".join(quasi.name for quasi in on.roles.quasi if quasi.treatment == "hierarchy")
        raise PolicyError(
            f"{on.name}: {column} is no quasi column with a hierarchy; those that have one: {able or 'none'}"
        )
    with Scratch(engine) as scratch:
        roles = on.only(reading)
        with engine.snapshot():
            stage = take_stage(scratch, roles, [])
        (domain,) = build_domains(scratch, roles, stage).quasi
        (_, rows), *_ = by_code(scratch, "table/domain_counts", [domain], "int64")
        tree, name = tree_of(domain), hierarchy_of(domain).name
        counts = rows[int(domain.has_null) :]
        levels = []
        for level, (first, labels) in enumerate(zip(tree.node, tree.label, strict=True)):
            totals_of: dict[str, int] = {}
            totals = np.bincount(first, counts, len(labels))
            starts = np.unique(first)
            for place in starts:
                totals_of[labels[place]] = totals_of.get(labels[place], 0) + int(totals[place])
            levels.append(Level(level, len(starts), totals_of))
    rule = reading.spec.hierarchy
    return Levels(on.name, reading.name, str(rule) if isinstance(rule, Rule) else name, domain.nulls, tuple(levels))
