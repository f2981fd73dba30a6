"""Tiny releases written by hand, and every source that is consistent with them, enumerated.

A table has two columns with ranges or sets, drawn from all kinds, an exact column ``c`` of whole numbers with NULL, and
an exact column ``d`` of letters. Rows come in classes; the metadata may list that classes attain their ends.
"""

from __future__ import annotations

import itertools
import math
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from sqlanon.errors import SqlanonError, UnsupportedError
from tests.oracle.handmade import Given, members, plain, publish, quasi

MOST_SOURCES = 400
RANGES: dict[str, list[tuple[str, str, list[str]]]] = {
    "whole": [
        ("0", "2", ["0", "1", "2"]),
        ("1", "1", ["1"]),
        ("-1", "1", ["-1", "0", "1"]),
        ("2", "4", ["2", "3", "4"]),
    ],
    "decimal": [
        ("0.50", "0.52", ["0.50", "0.51", "0.52"]),
        ("1.00", "1.00", ["1.00"]),
        ("-0.01", "0.00", ["-0.01", "0.00"]),
    ],
    "double": [
        ("-1.5", "2.5", ["-1.5", "0.1", "2.5"]),
        ("0", "0", ["0", "-0.0"]),
        ("0.5", "Infinity", ["0.5", "7", "Infinity"]),
        ("1e308", "NaN", ["1e308", "Infinity", "NaN"]),
    ],
    "date": [
        ("2024-02-28", "2024-03-01", ["2024-02-28", "2024-02-29", "2024-03-01"]),
        ("2024-12-31", "2024-12-31", ["2024-12-31"]),
        ("2024-12-30", "2025-01-01", ["2024-12-30", "2024-12-31", "2025-01-01"]),
    ],
    "text": [("p", "q", ["p", "q"]), ("r", "r", ["r"]), ("p", "r", ["p", "r"])],
}
"""By kind, ranges (of text, sets) with values that represent all of theirs."""
TYPES = {"whole": "INTEGER", "decimal": "DECIMAL(6,2)", "double": "DOUBLE PRECISION", "date": "DATE", "text": "TEXT"}
_KINDS = {"whole": "integer", "decimal": "decimal", "double": "float", "date": "date"}
CONDITIONS = {
    "whole": ["{x} > 0", "{x} <= 1", "{x} = 1", "{x} IN (0, 2)", "{x} IS NULL", "{x} % 2 = 1", "NOT ({x} < 2)"],
    "decimal": ["{x} > 0.5", "{x} = 1", "{x} <= 0.51", "{x} IS NOT NULL"],
    "double": ["{x} > 0", "{x} <= 0.1", "{x} IS NULL", "{x} < 2.5"],
    "date": ["{x} > DATE '2024-02-28'", "{x} <= DATE '2024-12-31'", "{x} = DATE '2024-12-31'", "{x} IS NULL"],
    "text": ["{x} = 'p'", "{x} IN ('q', 'r')", "{x} <> 'p'", "{x} LIKE 'r%'"],
    "letter": ["{x} = 'k'", "{x} <> 'k'", "{x} IN ('k', 'l')"],
}
KEYS = {
    "whole": ["{x}", "floor({x} / 2.0)", "{x} IS NULL"],
    "decimal": [
        "{x} IS NULL",
        "CASE WHEN {x} > 0.5 THEN 1 WHEN {x} = 0.5 THEN 2 ELSE 0 END",
        "coalesce({x} <= 0, TRUE)",
    ],
    "double": ["{x} IS NULL", "CASE WHEN {x} > 0 THEN 'p' WHEN {x} <= 0 THEN 'n' END", "({x} < 2.5)"],
    "date": ["{x}", "date_trunc('year', {x})"],
    "text": ["{x}"],
}


@dataclass(frozen=True)
class Table:
    """A release and its sources.

    Attributes:
        name: of the release; ``sources`` is the table of all sources, by their numbers ``sid``.
        kinds: of the columns with ranges or sets.
        count: how many sources there are.
        shown: its rows, for a message.
    """

    name: str
    sources: str
    kinds: dict[str, str]
    count: int
    shown: str


@dataclass
class Asked:
    """What was asked, and what was wrong."""

    asked: int = 0
    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    cells: int = 0
    wide: list[str] = field(default_factory=list)
    """Of groups that are in every source and have no NULL: cells, and those whose bounds no source reaches."""


def keys_of(rng: random.Random, table: Table) -> str | None:
    """A term of GROUP BY, or none."""
    listed = [key.format(x=name) for name, kind in table.kinds.items() for key in KEYS.get(kind, [])]
    return rng.choice([None, None, "d", "c", *listed])


@contextmanager
def drawn(
    db: Any, rng: random.Random, kinds: Sequence[Sequence[str]], *, attains: bool | None = None
) -> Iterator[Table]:
    """A random table whose first columns are of these kinds.

    Args:
        db: the database.
        rng: draws it.
        kinds: for each of the first columns the kinds that it may have.
        attains: whether it lists that classes attain their ends, and then has no NULL in them; None: it is drawn.
    """
    own = [rng.choice(list(one)) for one in kinds] + [rng.choice(list(RANGES)) for _ in range(2 - len(kinds))]
    table, cells, every = _draw(rng, own, attains)
    name, sources = table
    columns = [
        members(column) if kind == "text" else quasi(column, _KINDS[kind], TYPES[kind], nulls=True)
        for column, kind in zip("ab", own, strict=True)
    ]
    given: list[Given] = [*columns, plain("c", "integer", "INTEGER"), plain("d", "text", "TEXT", "sensitive")]
    publish(db, name, given, cells.rows, attained=cells.attained)
    types = [*(TYPES[kind] for kind in own), "INTEGER", "TEXT"]
    listed = ", ".join(f"{column} {type_}" for column, type_ in zip("abcd", types, strict=True))
    db.engine.execute(f"CREATE TABLE {sources} (sid INTEGER, {listed})")
    written = [
        f"({sid}, {', '.join(_sql(value, type_) for value, type_ in zip(row, types, strict=True))})"
        for sid, source in enumerate(every)
        for row in source
    ]
    db.engine.execute(f"INSERT INTO {sources} VALUES {', '.join(written)}")
    try:
        yield Table(name, sources, dict(zip("ab", own, strict=True)), len(every), f"{cells.rows} {cells.attained}")
    finally:
        db.engine.execute(f"DROP TABLE {sources}; DROP TABLE release.{name}; DROP TABLE release.{name}_metadata")


@dataclass(frozen=True)
class _Cells:
    rows: list[list[str]]
    attained: list[str]


Row = tuple[str | None, ...]


def _draw(
    rng: random.Random, kinds: Sequence[str], given: bool | None
) -> tuple[tuple[str, str], _Cells, list[list[Row]]]:
    """Names, cells, and sources of a random table that has few."""
    while True:
        rows: list[list[str]] = []
        ways: list[list[list[Row]]] = []
        attains = rng.random() < 0.6 if given is None else given
        seen: set[str] = set()
        for _ in range(rng.randint(1, 3)):
            boxes = [rng.choice(RANGES[kind]) for kind in kinds]
            states = [
                "none" if kind == "text" or given else rng.choice(["none"] * 6 + ["some", "all"]) for kind in kinds
            ]
            if repr((boxes, states)) in seen:
                continue
            seen.add(repr((boxes, states)))
            exact = [(rng.choice(["0", "1", "2", None]), rng.choice("kl")) for _ in range(rng.choice([1, 2, 2, 3]))]
            cells = [
                text for box, state, kind in zip(boxes, states, kinds, strict=True) for text in _cell(box, state, kind)
            ]
            rows += [[*cells, _sql(c, "INTEGER"), _sql(d, "TEXT")] for c, d in exact]
            ways.append(_class(list(zip(boxes, states, strict=True)), exact, attains=attains))
        total = math.prod(map(len, ways))
        if 0 < total <= MOST_SOURCES:
            every = [[row for part in way for row in part] for way in itertools.product(*ways)]
            place = uuid.UUID(int=rng.getrandbits(128)).hex[:10]
            return (f"t{place}", f"s{place}"), _Cells(rows, ["a", "b"] if attains else []), every


def _class(
    boxes: Sequence[tuple[tuple[str, str, list[str]], str]], exact: Sequence[tuple[str | None, str]], *, attains: bool
) -> list[list[Row]]:
    """What the rows of a class may be, together."""
    columns = []
    for (low, high, values), state in boxes:
        choices: list[str | None] = [None] if state == "all" else [*values, *([None] if state == "some" else [])]
        needed: set[str | None] = {None} if state != "none" else set()
        needed |= set() if state == "all" else set(values) if values[0] in "pr" else {low, high}
        ways = itertools.product(choices, repeat=len(exact))
        columns.append([way for way in ways if not attains or needed <= set(way)])
    return [
        [(one, two, *rest) for one, two, rest in zip(*pair, exact, strict=True)] for pair in itertools.product(*columns)
    ]


def _cell(box: tuple[str, str, list[str]], state: str, kind: str) -> list[str]:
    if kind == "text":
        return [f"ARRAY[{', '.join(_sql(value, 'TEXT') for value in box[2])}]"]
    ends = ["NULL", "NULL"] if state == "all" else [_sql(end, TYPES[kind]) for end in box[:2]]
    return [*ends, f"'{state}'"]


def _sql(value: str | None, type_: str) -> str:
    return "NULL" if value is None else f"CAST('{value}' AS {type_})"


Keys = str | tuple[str, ...] | None
"""Terms of GROUP BY."""


def ask(db: Any, table: Table, aggregate: str, where: str, key: Keys, found: Asked) -> None:
    """Ask an aggregate of a table, and note what some source shows to be wrong."""
    keys = (key,) if isinstance(key, str) else key or ()
    group = f" GROUP BY {', '.join(str(at) for at in range(1, len(keys) + 1))}" if keys else ""
    condition = f" WHERE {where}" if where else ""
    items = "".join(f"{one} AS g{at}, " for at, one in enumerate(keys))
    text = f"SELECT {items}{aggregate} AS n FROM {table.name}{condition}{group}"
    found.asked += 1
    try:
        answer = db.query(text)
    except UnsupportedError as error:
        found.refused[str(error).splitlines()[0][:80]] += 1
        return
    except SqlanonError as error:
        if "the query has no answer here" in str(error):  # PostgreSQL refuses sums beyond its doubles in some source
            found.refused[str(error).splitlines()[0][:80]] += 1
            return
        found.wrong.append(f"{type(error).__name__} {error}: {text} of {table.shown}")
        return
    found.answered += 1
    truth = _truth(db, table, aggregate, where, keys)
    cells = {_group(row, len(keys)): row["n"] for row in answer.rows}
    for g, values in truth.items():
        cell = cells.get(g)
        if cell is not None and len(values) == table.count and None not in values:
            found.cells += 1
            ends = min(map(plain_value, values)), max(map(plain_value, values))
            if not isinstance(ends[0], str) and (cell.low, cell.high) != pytest.approx(ends, nan_ok=True):
                found.wide.append(f"{cell.low}..{cell.high}, not {ends}: {text} of {table.shown}")
    problem = next(_problems(answer, truth, table.count, len(keys)), None)
    if problem is not None:
        found.wrong.append(f"{problem}: {text} of {table.shown}")


Group = tuple[Any, ...]


def _group(row: Any, keys: int) -> Group:
    return tuple(plain_value(row[f"g{at}"]) for at in range(keys))


def _truth(db: Any, table: Table, aggregate: str, where: str, keys: Sequence[str]) -> dict[Group, list[Any]]:
    """The values of each group over all sources that have it."""
    condition = f" WHERE {where}" if where else ""
    items, numbers = ", ".join(["sid", *keys]), ", ".join(str(at) for at in range(1, len(keys) + 2))
    rows = db.engine.fetch(f"SELECT {items}, {aggregate} AS n FROM {table.sources}{condition} GROUP BY {numbers}")
    made: dict[Group, list[Any]] = {}
    for _, *group, n in rows:
        made.setdefault(tuple(map(plain_value, group)), []).append(n)
    if not keys and len(made.get((), ())) < table.count:
        ((nothing,),) = db.engine.fetch(f"SELECT {aggregate} FROM {table.sources} WHERE FALSE")
        made.setdefault((), []).append(nothing)
    return made


def _problems(answer: Any, truth: dict[Group, list[Any]], count: int, keys: int) -> Iterator[str]:
    cells = {_group(row, keys): row["n"] for row in answer.rows}
    for g, values in truth.items():
        if g not in cells:
            if not answer.unlisted_groups:
                yield f"group {g} is missing"
            continue
        cell = cells[g]
        for value in values:
            if not _inside(cell, value):
                yield f"{value} in group {g} is not in {cell.low}..{cell.high}"
        numbers = [plain_value(value) for value in values if value is not None]
        if cell.tight and numbers and (not keys or len(numbers) == count) and len(set(map(type, numbers))) == 1:
            yield from _loose(cell, numbers, g)
    for (g, _), sure in zip(cells.items(), answer.certain, strict=True):
        if keys and sure and len(truth.get(g, ())) < count:
            yield f"group {g} is called certain"


def _loose(cell: Any, numbers: list[Any], g: Any) -> Iterator[str]:
    """Bounds that are called tight are reached: of counts by one of the enumerated sources."""
    whole = all(isinstance(one, int) for one in (cell.low, cell.high, *numbers))
    ends = min(numbers), max(numbers)
    if whole and (cell.low, cell.high) != ends:
        yield f"{cell.low}..{cell.high} in group {g} is called tight, and sources give {ends[0]}..{ends[1]}"


def _inside(cell: Any, value: Any) -> bool:
    if value is None:
        return bool(cell.undefined_possible) or (cell.low is None and cell.high is None)
    if isinstance(value, float) and math.isnan(value):
        return cell.low is None or (isinstance(cell.low, float) and math.isnan(cell.low)) or _nan(cell.high)
    low, high = (None if _nan(end) else end for end in (cell.low, cell.high))
    if isinstance(value, int | float | Decimal):
        slack = 1e-9 * max(abs(float(value)), 1) if math.isfinite(value) else 0.0
        return (low is None or float(low) <= float(value) + slack) and (
            high is None or float(value) - slack <= float(high)
        )
    low, high = (None if end is None else str(end)[:10] for end in (low, high))
    return (low is None or low <= str(value)[:10]) and (high is None or str(value)[:10] <= high)


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def plain_value(value: Any) -> Any:
    """A value as answers and sources alike have it."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        made = float(value)
        return int(made) if math.isfinite(made) and made == int(made) else made
    return str(value)[:10]
