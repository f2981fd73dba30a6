"""Random queries made of the words in which answers were wrong.

They are NULL constants, steps, coalesce, CASE, roots of hierarchies, and NULL rows.

Releases are written by hand, of a column of ranges ``a``, a hierarchy that a rule builds ``b``, both with NULLs, and an
exact one ``c``. Every source that is consistent with one is enumerated into one table, and the engine itself answers
the query over each of them.

    python -m tests.oracle.words --queries 5000 --engine duckdb --seed 7
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.errors import SqlanonError, UnsupportedError
from tests.oracle.forms import KEYS, OF_ROWS, OF_TRIED, TRIED, WHERE
from tests.oracle.handmade import Given, plain, publish, quasi

COLUMNS = [
    quasi("a", "integer", "INTEGER", nulls=True),
    Given(
        "b",
        "quasi",
        "integer",
        "INTEGER",
        (("b", "TEXT"), ("b_null", "TEXT")),
        "hierarchy",
        {"rule": {"steps": ["4", "8"]}},
    ),
    plain("c", "integer", "INTEGER"),
]
ANY = [-1, 0, 2, 3, 4, 5, 7, 50, 51]
"""Values that represent those of a cell which says nothing."""
RANGES: list[tuple[int | None, int | None, str]] = [
    (0, 3, "none"),
    (2, 2, "none"),
    (3, 6, "none"),
    (-2, 1, "none"),
    (None, None, "all"),
    (None, None, "some"),
    (1, 3, "some"),
    (4, 4, "some"),
]
NODES: list[tuple[str | None, str]] = [
    ("0..3", "none"),
    ("4..7", "none"),
    ("0..7", "none"),
    ("*", "none"),
    (None, "all"),
    ("*", "some"),
    ("5", "none"),
]
MOST_SOURCES = 600


@dataclass
class Found:
    """What a run of random queries found."""

    asked: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


Rows = list[tuple[tuple[int | None, int | None, str], tuple[str | None, str], int]]
Sources = list[tuple[tuple[int | None, int | None, int], ...]]


def rows(rng: random.Random, most_rows: int = 4, most_sources: int = MOST_SOURCES) -> tuple[Rows, Sources]:
    """A random release of few rows, with few enough sources, and the rows of each of these."""
    while True:
        made = [(rng.choice(RANGES), rng.choice(NODES), rng.randint(0, 3)) for _ in range(rng.randint(1, most_rows))]
        if math.prod(len(values(a)) * len(values(b)) for a, b, _ in made) <= most_sources:
            return made, list(itertools.product(*(itertools.product(values(a), values(b), [c]) for a, b, c in made)))


def write(db: Any, made: Rows, every: Sources) -> tuple[str, str]:
    """Publish a release, and write its sources, numbered, into one table: the names of both."""
    name, sources = f"w{uuid.uuid4().hex[:10]}", f"s{uuid.uuid4().hex[:10]}"
    cells = [[_sql(low), _sql(high), _sql(a), _sql(node), _sql(b), str(c)] for (low, high, a), (node, b), c in made]
    publish(db, name, COLUMNS, cells)
    db.engine.execute(f"CREATE TABLE {sources} (sid INTEGER, a INTEGER, b INTEGER, c INTEGER)")
    listed = [f"({sid}, {', '.join(map(_sql, row))})" for sid, source in enumerate(every) for row in source]
    db.engine.execute(f"INSERT INTO {sources} VALUES {', '.join(listed)}")
    return name, sources


def values(cell: Sequence[Any]) -> list[int | None]:
    """The values that a cell may have."""
    state = cell[-1]
    if state == "all":
        return [None]
    if state == "some" and (len(cell) == 2 or cell[0] is None):
        return [*ANY, None]
    if len(cell) == 3:
        return [*range(cell[0], cell[1] + 1), *([None] if state == "some" else [])]
    if cell[0] == "*":
        return list(ANY)
    low, _, high = cell[0].partition("..")
    return list(range(int(low), int(high or low) + 1))


def query(rng: random.Random, dialect: str) -> tuple[str | None, str, str]:
    """A random query: the key of its groups, an aggregate and a predicate."""
    tried = dialect == "duckdb"
    keys, of_rows, where = KEYS + [TRIED] * tried, OF_ROWS + OF_TRIED * tried, WHERE + [f"{TRIED} > {{n}}"] * tried
    column, other = rng.sample(["a", "b"], 2)

    def written(words: Sequence[str], name: str) -> str:
        return rng.choice(words).format(x=name, y=other, n=rng.choice([-1, 0, 2, 3, 4, 5, 50]))

    key = written(keys, rng.choice([column, column, other])) if rng.random() < 0.6 else None
    return key, written(of_rows, column), written(where, rng.choice([column, column, other]))


def check(db: Any, rng: random.Random, found: Found, queries: int) -> None:
    """Ask random queries of one random release; what is wrong is noted."""
    made, every = rows(rng)
    name, sources = write(db, made, every)
    for _ in range(queries):
        key, aggregate, where = query(rng, db.engine.dialect)
        suffix = (f" WHERE {where}" if where else "") + (" GROUP BY 1" if key else "")
        text = f"SELECT {key + ' AS g, ' if key else ''}{aggregate} AS n FROM {name}{suffix}"
        found.asked += 1
        try:
            answer = db.query(text)
        except UnsupportedError as error:
            found.refused[str(error).splitlines()[0][:80]] += 1
            continue
        except SqlanonError as error:
            if "the query has no answer here" in str(
                error
            ):  # the engine itself refuses: a number divided by zero and the like
                found.refused[str(error).splitlines()[0][:80]] += 1
                continue
            found.wrong.append(f"{type(error).__name__} {error}: {text} of {made}")
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
            found.wrong.append(f"raw {type(error).__name__} {error}: {text} of {made}")
            continue
        truth = _truth(db, sources, key, aggregate, where, len(every))
        found.wrong += [
            f"{problem}: {text} of {made}" for problem in problems(answer, truth, len(every), grouped=bool(key))
        ]
    db.engine.execute(f"DROP TABLE {sources}; DROP TABLE release.{name}; DROP TABLE release.{name}_metadata")


def ask_random(ask: Callable[..., None], db: Any, seed: int, releases: int, queries: int) -> Found:
    """Random queries of random releases: what `check`, or that of statements, found."""
    rng, found = random.Random(seed), Found()
    for _ in range(releases):
        ask(db, rng, found, queries)
    return found


def _truth(
    db: Any, sources: str, key: str | None, aggregate: str, where: str, count: int
) -> list[tuple[int, Any, Any]]:
    """The source's number, the group and the value, as the engine computes them."""
    condition = f" WHERE {where}" if where else ""
    listed = db.engine.fetch(
        f"SELECT sid, {key or 'NULL'} AS g, {aggregate} AS n FROM {sources}{condition} GROUP BY 1, 2"
    )
    if key is None:  # a source none of whose rows qualifies has a row of its own in the answer
        seen = {row[0] for row in listed}
        ((nothing,),) = db.engine.fetch(f"SELECT {aggregate} FROM {sources} WHERE FALSE")
        listed += [(sid, None, nothing) for sid in range(count) if sid not in seen]
    return [(int(sid), _plain(g), n) for sid, g, n in listed]


def problems(answer: Any, truth: list[tuple[int, Any, Any]], count: int, *, grouped: bool) -> Iterator[str]:
    """What an answer says that is not so in some source."""
    cells = {(_plain(row["g"]) if grouped else None): row["n"] for row in answer.rows}
    present = Counter(g for _, g, _ in truth)
    for cell in cells.values():
        if cell.low is not None and cell.high is not None and cell.low > cell.high:
            yield f"low {cell.low} above high {cell.high}"
    for _, g, value in truth:
        if g not in cells:
            if not answer.unlisted_groups:
                yield f"group {g} is missing"
                return
            continue
        cell = cells[g]
        if value is None:
            sound = cell.undefined_possible or (cell.low is None and cell.high is None)
        elif cell.low is None and cell.high is None:
            sound = not cell.exact
        else:
            slack = 1e-9 * max(abs(float(value)), 1)
            sound = float(cell.low) - slack <= float(value) <= float(cell.high) + slack
        if not sound:
            yield f"{value} in group {g} is not in {cell.low}..{cell.high}"
            return
    for (g, _), sure in zip(cells.items(), answer.certain, strict=True):
        if grouped and sure and present[g] < count:
            yield f"group {g} is called certain"
            return


def _plain(value: Any) -> Any:
    return float(value) if value is not None and not isinstance(value, bool | str) else value


def _sql(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def ask(check: Callable[[Any, random.Random, Found, int], None], description: str | None) -> int:
    """Ask as many queries as the command line says, and say what was found; 1 if anything is wrong."""
    from tests.engines import PAIR

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--engine", default="duckdb", choices=[engine.family for engine in PAIR])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    import tempfile
    from pathlib import Path

    import sqlanon

    engine = next(one for one in PAIR if one.family == args.engine)
    rng, found = random.Random(args.seed), Found()
    with tempfile.TemporaryDirectory() as folder, sqlanon.connect(engine.fresh(Path(folder))) as db:
        while found.asked < args.queries:
            check(db, rng, found, 25)
    print(f"{found.asked} asked, {found.refused.total()} refused, {len(found.wrong)} wrong")
    for reason, times in found.refused.most_common(8):
        print(f"  refused {times}: {reason}")
    for one in found.wrong[:20]:
        print(f"  {one}")
    return int(bool(found.wrong))


if __name__ == "__main__":
    sys.exit(ask(check, __doc__))
