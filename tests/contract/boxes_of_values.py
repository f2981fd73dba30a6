"""Small boxes of values of every type, what a definition says of an expression over them, and what the engine says.

Nothing here knows a function: expressions come from the forms of the registry.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError
from sqlanon.query.functions.definition import Call, Definition
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import failing
from sqlanon.query.functions.value import Value, fix_value, leaf
from sqlanon.query.parse.source_types import read_type
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, column, sql
from sqlanon.sqltext.trees import port_tree
from tests.contract.values_of_types import constant, values_of

STATES = ("none", "none", "none", "some", "all", "any")
"""Of a box: all rows have a value between the ends; some are NULL; all; or nothing is known but that none is NULL."""


@dataclass
class Found:
    """What a run of expressions found."""

    checked: int = 0
    boxes: int = 0
    failed: int = 0
    lacking: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Box:
    """Ends by their places in the list of values, and a state."""

    low: int
    high: int
    state: str

    def values(self, count: int) -> list[int | None]:
        """The places of the values that a row of it may have; None: NULL."""
        if self.state == "all":
            return [None]
        inside: list[int | None] = list(range(count) if self.state == "any" else range(self.low, self.high + 1))
        return [*inside, None] if self.state == "some" else inside


class BoxLeaves:
    """See `sqlanon.query.functions.evaluate.Leaves`: columns ``x_lo``, ``x_hi`` and ``x_state`` of a table of boxes."""

    def __init__(self, db: Any, types: Mapping[str, str]) -> None:
        self._db, self._types, self.dialect = db, types, db.engine.dialect

    def middle(self, definition: Definition, call: Call, made: Value) -> Tree | None:
        """See `Leaves`."""
        return made.middle

    def leaf(self, node: exp.Expr, *, sharp: bool) -> Value | None:
        """See `Leaves`."""
        if isinstance(node, exp.Column):
            (type_,) = self.types([node])
            name = node.name
            state = column(f"{name}_state")
            return leaf(
                column(f"{name}_lo"),
                column(f"{name}_hi"),
                sql(":s IN ('some', 'all')", s=state),
                sql(":s = 'all'", s=state),
                type_,
                middle=column(f"{name}_lo"),
                bounded=False,
            )
        if node.find(exp.Column) is not None:
            return None
        if isinstance(node, exp.Null):
            return fix_value(node, exp.DataType.build("NULL"), null=TRUE)
        (type_,) = self.types([node])
        text = exp.Select().select(exp.Is(this=exp.Paren(this=node.copy()), expression=exp.null())).sql(self.dialect)
        return fix_value(node, type_, null=TRUE if self._db.engine.fetch(Statement("null", text))[0][0] else FALSE)

    def types(self, nodes: Sequence[exp.Expr]) -> Sequence[exp.DataType]:
        """See `Leaves`."""
        items = ", ".join(f"{node.sql(dialect=self.dialect)} AS t{i}" for i, node in enumerate(nodes))
        nulls = ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in self._types.items())
        return [
            read_type(text, self.dialect)
            for text in self._db.engine.describe(f"SELECT {items} FROM (SELECT {nulls}) AS s")
        ]


def boxes(rng: random.Random, types: Sequence[str], most: int) -> list[tuple[Box, ...]]:
    """Random boxes, one for each range: short ones, whole types, single values."""
    made = []
    for _ in range(most):
        row = []
        for type_ in types:
            last = len(values_of(type_)) - 1
            low = rng.randint(0, last)
            high = min(last, low + rng.choice([0, 0, 1, 2, 3, 5, last]))
            row.append(Box(low, high, rng.choice(STATES)))
        made.append(tuple(row))
    return made


def check(db: Any, text: str, types: Sequence[str], rng: random.Random, found: Found, most: int = 30) -> None:
    """Compare what the definitions say of an expression with the engine's own values of it; what is wrong is noted.

    Args:
        db: the database.
        text: the expression, its columns x, y, ... in the order of the types.
        types: of the columns.
        rng: draws the boxes.
        found: is added to.
        most: boxes.
    """
    names = "xyz"[: len(types)]
    named = dict(zip(names, types, strict=True))
    label = f"{db.engine.dialect}: {text} over {', '.join(types)}"
    tree = sqlglot.parse_one(text, read=db.engine.dialect)
    leaves = BoxLeaves(db, named)
    try:
        leaves.types([tree])
    except DatabaseError:
        found.lacking.append(label)
        return
    value = evaluate(tree, leaves)
    drawn = boxes(rng, types, most)
    places = [
        list(itertools.product(*(box.values(len(values_of(t))) for box, t in zip(row, types, strict=True))))
        for row in drawn
    ]
    listed = list(dict.fromkeys(pair for pairs in places for pair in pairs))
    numbers = {pair: i for i, pair in enumerate(listed)}
    rows, ends = (
        [_cells(i, pair, types) for i, pair in enumerate(listed)],
        [_ends(i, row, types) for i, row in enumerate(drawn)],
    )
    truth = f"SELECT i, {tree.sql(dialect=db.engine.dialect)} AS r FROM (VALUES {{rows}}) AS v({_names(types, '')})"
    said = ", ".join(
        f"{_text(db, part)} AS {name}"
        for name, part in (("a", value.low), ("b", value.high), ("n", value.null), ("u", value.nothing))
    )
    said = f"SELECT i, {said} FROM (VALUES {{rows}}) AS v({_names(types, ' lo hi state')})"
    good = _without_errors(db, truth, "CAST(r AS VARCHAR)", rows)
    known = _without_errors(db, said, "CAST(a AS VARCHAR), CAST(b AS VARCHAR), n, u", ends)
    used = [one.name for one in tree.find_all(exp.Column)]
    once = len(used) == len(set(used))  # ends of one column in two places are two values
    found.checked += 1
    for i, (row, pairs) in enumerate(zip(drawn, places, strict=True)):
        if i not in known:
            found.failed += 1
            if once and all(numbers[pair] in good for pair in pairs) and _ordinary(row, types):
                found.wrong.append(f"{label}: an error of {_shown(row, types)}, of which every value has a result")
    if len(good) < len(listed) and not any(failing(tree)):
        found.wrong.append(f"{label}: the engine has an error, and no definition foresees one")
    found.boxes += len(known)
    pairs = [(i, numbers[pair]) for i in known for pair in places[i] if numbers[pair] in good]
    if not pairs:
        return
    joined = (
        f"(SELECT * FROM ({said.format(rows=', '.join(ends[i] for i in known))}) AS t) AS t "
        f"JOIN (VALUES {', '.join(map(str, pairs))}) AS p(k, j) ON p.k = t.i "
        f"JOIN ({truth.format(rows=', '.join(rows[j] for j in good))}) AS v ON v.i = p.j"
    )
    problems = {
        "NULL is a value, and said to be none": "r IS NULL AND NOT n",
        "there is a value, and said to be none": "r IS NOT NULL AND u",
        "a value is below the low end": "r < a",
        "a value is above the high end": "r > b",
        "an end is missing of a bounded value": f"{value.bounded} AND NOT u AND (a IS NULL OR b IS NULL)",
    }
    flags = ", ".join(f"BOOL_OR(COALESCE({test}, FALSE))" for test in problems.values())
    reached = "BOOL_OR(COALESCE(r = a, FALSE)), BOOL_OR(COALESCE(r = b, FALSE)), BOOL_OR(a IS NULL)"
    for k, *results in db.engine.fetch(Statement("compare", f"SELECT k, {flags}, {reached} FROM {joined} GROUP BY k")):
        asked = results[: len(problems)]
        for name, is_so in zip(problems, asked, strict=True):
            if is_so:
                found.wrong.append(f"{label}: {name}, of {_shown(drawn[k], types)}")
        whole = all(numbers[pair] in good for pair in places[k]) and all(b.state in ("none", "some") for b in drawn[k])
        if value.exact and once and whole and not results[-1] and not all(results[len(problems) : -1]):
            found.wrong.append(f"{label}: an end is said to be a value and is none, of {_shown(drawn[k], types)}")


def nulls(db: Any, text: str, types: Sequence[str]) -> list[tuple[bool, bool]]:
    """Of each combination of values, NULL among them, that has a result: whether an operand is NULL, and the result."""
    listed = list(itertools.product(*([None, *range(len(values_of(type_)))] for type_ in types)))
    rows = [_cells(i, pair, types) for i, pair in enumerate(listed)]
    query = f"SELECT i, {text} AS r FROM (VALUES {{rows}}) AS v({_names(types, '')})"
    good = _without_errors(db, query, "CAST(r AS VARCHAR)", rows)
    if not good:
        return []
    asked = query.format(rows=", ".join(rows[i] for i in good))
    found = db.engine.fetch(Statement("nulls", f"SELECT i, r IS NULL FROM ({asked}) AS q"))
    return [(None in listed[int(i)], bool(null)) for i, null in found]


def _ordinary(row: Sequence[Box], types: Sequence[str]) -> bool:
    """Whether no box has an end of its type: beyond that an end may leave the range of the type, and is refused."""
    return all(
        box.state == "all" or (box.state != "any" and box.low > 0 and box.high < len(values_of(type_)) - 1)
        for box, type_ in zip(row, types, strict=True)
    )


def _shown(row: Sequence[Box], types: Sequence[str]) -> str:
    return " and ".join(
        f"{values_of(type_)[box.low]}..{values_of(type_)[box.high]} {box.state}"
        for box, type_ in zip(row, types, strict=True)
    )


def _cells(number: int, pair: tuple[int | None, ...], types: Sequence[str]) -> str:
    cells = (
        f"CAST(NULL AS {type_})" if at is None else constant(values_of(type_)[at], type_)
        for at, type_ in zip(pair, types, strict=True)
    )
    return f"({number}, {', '.join(cells)})"


def _ends(number: int, row: Sequence[Box], types: Sequence[str]) -> str:
    cells = [str(number)]
    for box, type_ in zip(row, types, strict=True):
        known = box.state in ("none", "some")
        cells += [
            constant(values_of(type_)[at], type_) if known else f"CAST(NULL AS {type_})" for at in (box.low, box.high)
        ]
        cells.append(f"'{box.state}'")
    return f"({', '.join(cells)})"


def _names(types: Sequence[str], parts: str) -> str:
    names = [name + ("_" + part if part else "") for name in "xyz"[: len(types)] for part in parts.split() or [""]]
    return ", ".join(["i", *names])


def _text(db: Any, tree: Tree) -> str:
    return str(port_tree(exp.Paren(this=tree.copy()), db.engine.dialect).sql(dialect=db.engine.dialect))


def _without_errors(db: Any, text: str, items: str, rows: Sequence[str]) -> list[int]:
    """The numbers of the rows that have results: where a query fails, halves of its rows are asked.

    A row is never asked alone: DuckDB simplifies an expression over one row, and may not come to the part that fails.
    """
    if not rows:
        return []
    try:
        query = f"SELECT i, {items} FROM ({text.format(rows=', '.join([*rows, rows[-1]]))}) AS q"
        return list(dict.fromkeys(int(row[0]) for row in db.engine.fetch(Statement("boxes", query))))
    except DatabaseError:
        if len(rows) == 1:
            return []
        half = len(rows) // 2
        return [*_without_errors(db, text, items, rows[:half]), *_without_errors(db, text, items, rows[half:])]
