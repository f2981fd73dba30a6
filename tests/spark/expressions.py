"""Small boxes of values of every type, what a definition says of expressions over them, and what Spark says.

A statement of Spark takes long, whatever it computes. So all expressions over columns of the same types are columns of
one statement, over one table of boxes with each of their values. Where an expression has an error and no value,
Spark's own wrapper of its ``try_`` functions says so; it takes any expression.

Nothing here knows a function: expressions come from the forms of the registry.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from sqlanon.errors import DatabaseError
from sqlanon.query.functions.definition import NoEndsError
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import failing
from sqlanon.query.functions.spellings import spell_alike
from sqlanon.query.functions.value import Value, fix_value
from sqlanon.query.sql.sqltree import FALSE
from tests.contract.boxes_of_values import Box, BoxLeaves, Found, _ordinary, _shown, _text, boxes
from tests.contract.values_of_types import values_of

TYPES = {
    "REAL": "FLOAT",
    "DOUBLE PRECISION": "DOUBLE",
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    "TEXT": "STRING",
}
"""Of the suite's types those that Spark calls otherwise."""

PROBLEMS = {
    "NULL is a value, and said to be none": "{r}.v IS NULL AND NOT {e}.n",
    "there is a value, and said to be none": "{r}.v IS NOT NULL AND {e}.u",
    "a value is below the low end": "{r}.v < {e}.a",
    "a value is above the high end": "{r}.v > {e}.b",
    "an end is missing of a bounded value": "{bounded} AND NOT {e}.u AND ({e}.a IS NULL OR {e}.b IS NULL)",
}
_FACTS = {
    "error": "{r} IS NULL",
    "no ends": "{e} IS NULL",
    "low": "{r}.v = {e}.a",
    "high": "{r}.v = {e}.b",
    "open": "{e}.a IS NULL",
}
_BITS = {name: 1 << i for i, name in enumerate([*_FACTS, *PROBLEMS])}
"""What a statement says of a box, one of its values, and an expression."""

Places = tuple[int | None, ...]
"""Of each column the place of a value in the list of its type; None: NULL."""

Results = tuple[tuple[str | None] | None, ...]
"""Of each expression its value as a text; None in place of an error."""


def spark_type(type_: str) -> str:
    """What Spark calls a type of the suite."""
    return TYPES.get(type_, type_)


def places_of(type_: str) -> list[int]:
    """The places of the values that Spark has of a type: its dates and times are finite."""
    timed = type_ == "DATE" or type_.startswith("TIMESTAMP")
    return [i for i, value in enumerate(values_of(type_)) if not (timed and value.endswith("infinity"))]


class Leaves(BoxLeaves):
    """See `BoxLeaves`; Spark is not asked whether a literal is NULL."""

    def __init__(self, db: Any, types: Mapping[str, str]) -> None:
        super().__init__(db, {name: spark_type(type_) for name, type_ in types.items()})

    def leaf(self, node: exp.Expr, *, sharp: bool) -> Value | None:
        """See `sqlanon.query.functions.evaluate.Leaves`."""
        if isinstance(node, exp.Literal | exp.Interval | exp.Boolean):
            return fix_value(node, self.types([node])[0], null=FALSE)
        return super().leaf(node, sharp=sharp)


def compare(db: Any, types: Sequence[str], texts: Sequence[str], rng: random.Random, found: Found, most: int) -> None:
    """Compare what the definitions say of expressions with Spark's own values of them; what is wrong is noted.

    Args:
        db: the database.
        types: of the columns x and y.
        texts: the expressions.
        rng: draws the boxes.
        found: is added to.
        most: boxes.
    """
    leaves = Leaves(db, dict(zip("xy", types, strict=False)))
    known: dict[str, Value] = {}
    for text in dict.fromkeys(texts):
        try:
            known[text] = evaluate(read(text), leaves)
        except (DatabaseError, NoEndsError):
            found.lacking.append(_label(text, types))
    if not known:
        return
    drawn = [tuple(map(_finite, row, types)) for row in boxes(rng, types, most)]
    rows = [(k, places) for k, row in enumerate(drawn) for places in itertools.product(*map(_values, row, types))]
    shown = _frame(db, types, [_cells(drawn[k], places) for k, places in rows])
    computed, bits = {}, []
    for i, (text, value) in enumerate(known.items()):
        said = {"a": value.low, "b": value.high, "n": value.null, "u": value.nothing}
        computed[f"r{i}"] = _tried([f"{_ported(text)} AS v"])
        computed[f"e{i}"] = _tried([f"{_text(db, tree)} AS {name}" for name, tree in said.items()])
        facts = " + ".join(f"if({test}, {_BITS[name]}, 0)" for name, test in (_FACTS | PROBLEMS).items())
        bits.append(facts.format(r=f"r{i}", e=f"e{i}", bounded=value.bounded) + f" AS b{i}")
    answer = shown.withColumns(computed).selectExpr("i", *bits).toArrow().sort_by("i")
    for i, (text, value) in enumerate(known.items()):
        bits_ = answer.column(f"b{i}").to_pylist()
        _judge(_Judged(_label(text, types), value, tuple(types), drawn), text, rows, bits_, found)


def is_known(db: Any, types: Sequence[str], text: str) -> bool:
    """Whether Spark has an expression over columns of these types."""
    try:
        Leaves(db, dict(zip("xy", types, strict=False))).types([read(text)])
    except (DatabaseError, ParseError):
        return False
    return True


def results(db: Any, types: Sequence[str], items: Sequence[str]) -> list[tuple[Places, Results]]:
    """Of all combinations of values, NULL among them, what Spark computes.

    Args:
        db: the database.
        types: of the columns x and y.
        items: expressions.
    """
    listed = list(itertools.product(*([None, *places_of(type_)] for type_ in types)))
    shown = _frame(db, types, [tuple((at, None, None, "any") for at in places) for places in listed])
    columns = {f"r{i}": _tried([f"CAST({_ported(item)} AS STRING) AS v"]) for i, item in enumerate(items)}
    answer = shown.withColumns(columns).select("i", *columns).toArrow().sort_by("i")
    values = zip(*(answer.column(name).to_pylist() for name in columns), strict=True)
    return [
        (places, tuple(None if cell is None else (cell["v"],) for cell in row))
        for places, row in zip(listed, values, strict=True)
    ]


@dataclass(frozen=True)
class _Judged:
    label: str
    value: Value
    types: tuple[str, ...]
    drawn: list[tuple[Box, ...]]


def _judge(one: _Judged, text: str, rows: list[tuple[int, Places]], bits: list[int], found: Found) -> None:
    tree = read(text)
    used = [node.name for node in tree.find_all(exp.Column)]
    once = len(used) == len(set(used))  # ends of one column in two places are two values
    found.checked += 1
    if any(flags & _BITS["error"] for flags in bits) and not any(failing(tree)):
        found.wrong.append(f"{one.label}: the engine has an error, and no definition foresees one")
    for k, group in itertools.groupby(zip(rows, bits, strict=True), key=lambda pair: pair[0][0]):
        flags = [each for _, each in group]
        good = [each for each in flags if not each & _BITS["error"]]
        box = one.drawn[k]
        if flags[0] & _BITS["no ends"]:
            found.failed += 1
            if once and len(good) == len(flags) and _ordinary(box, one.types):
                found.wrong.append(
                    f"{one.label}: an error of {_shown(box, one.types)}, of which every value has a result"
                )
            continue
        found.boxes += 1
        for name in PROBLEMS:
            if any(each & _BITS[name] for each in good):
                found.wrong.append(f"{one.label}: {name}, of {_shown(box, one.types)}")
        whole = len(good) == len(flags) and all(side.state in ("none", "some") for side in box)
        reached = all(any(each & _BITS[end] for each in good) for end in ("low", "high"))
        if one.value.exact and once and whole and not reached and not flags[0] & _BITS["open"]:
            found.wrong.append(f"{one.label}: an end is said to be a value and is none, of {_shown(box, one.types)}")


def _label(text: str, types: Sequence[str]) -> str:
    return f"spark: {text} over {', '.join(types)}"


def read(text: str) -> exp.Expr:
    """An expression as a query's are read."""
    select = sqlglot.parse_one(f"SELECT {text}", read="spark")
    spell_alike(select, "spark")
    return select.expressions[0].pop()


def _ported(text: str) -> str:
    return read(text).sql(dialect="spark")


def _finite(box: Box, type_: str) -> Box:
    first, last = places_of(type_)[0], places_of(type_)[-1]
    return Box(min(max(box.low, first), last), min(max(box.high, first), last), box.state)


def _values(box: Box, type_: str) -> list[int | None]:
    places = set(places_of(type_))
    return [at for at in box.values(len(values_of(type_))) if at is None or at in places]


def _cells(row: tuple[Box, ...], places: Places) -> tuple[tuple[int | None, int | None, int | None, str], ...]:
    """Of each column a value, the ends where they are known, and the state."""
    return tuple(
        (at, *((box.low, box.high) if box.state in ("none", "some") else (None, None)), box.state)
        for box, at in zip(row, places, strict=True)
    )


def _frame(db: Any, types: Sequence[str], rows: Sequence[Any]) -> Any:
    """Columns ``x``, ``x_lo``, ``x_hi`` and ``x_state``, and those of y, and ``i``, the number of the row."""
    import pyarrow as pa

    columns: dict[str, Any] = {"i": pa.array(range(len(rows)), pa.int32())}
    items = ["i"]
    for at, (name, type_) in enumerate(zip("xy", types, strict=False)):
        places = places_of(type_)
        listed = ", ".join(f"CAST('{values_of(type_)[place]}' AS {spark_type(type_)})" for place in places)
        for part, column in enumerate((name, f"{name}_lo", f"{name}_hi")):
            found = [row[at][part] for row in rows]
            numbers = [None if place is None else places.index(place) for place in found]
            columns[f"{column}_at"] = pa.array(numbers, pa.int32())
            items.append(f"get(array({listed}), {column}_at) AS {column}")
        columns[f"{name}_state"] = pa.array([row[at][3] for row in rows])
        items.append(f"{name}_state")
    return db.engine._session.createDataFrame(pa.table(columns)).coalesce(1).selectExpr(*items)


def _tried(items: Sequence[str]) -> Any:
    """A struct of expressions; NULL where one of them has an error."""
    from pyspark.sql import Column, SparkSession, functions

    session = SparkSession.getActiveSession()
    assert session is not None
    java = session._jvm.org.apache.spark.sql
    made = java.classic.ExpressionUtils.expression(functions.expr(f"struct({', '.join(items)})")._jc)
    return Column(java.classic.ExpressionUtils.column(java.catalyst.expressions.TryEval(made)))
