"""Random statements of the forms that tools send, against every consistent source, by the engine itself.

Aggregates of groups, values of subqueries, frames, groupings, QUALIFY, lists of groups, UNION and first groups, over
the releases of `tests.oracle.words`. Each statement is run over each consistent source.

    python -m tests.oracle.statements --queries 2000 --engine duckdb --seed 7
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlanon.errors import SqlanonError, UnsupportedError
from sqlanon.query.answer import Answer, Bounded
from tests.oracle.words import Found, ask, rows, write

KEYS = ["c", "a", "b", "coalesce(a, -1)", "floor(a / 4.0)", "b % 2", "CASE WHEN a > 3 THEN 1 ELSE 0 END", "(b IS NULL)"]
AGGREGATES = ["count(*)", "count({x})", "sum({x})", "min({x})", "max({x})", "sum(c)", "avg({x})", "count(*) * 2 - 1"]
OUTER = [
    "count(*)",
    "count(n)",
    "sum(n)",
    "avg(n)",
    "min(n)",
    "max(n)",
    "sum(n + 1)",
    "count(*) FILTER (WHERE n > {n})",
    "sum(n) FILTER (WHERE n < {n})",
    "avg(n) FILTER (WHERE n >= {n})",
    "sum(CASE WHEN n > {n} THEN 1 ELSE 0 END)",
    "max(n) - min(n)",
    "sum(n) / nullif(count(*), 0)",
    "coalesce(sum(n), 0)",
    "round(avg(n))",
]
OVER = [
    "sum({v}) OVER (ORDER BY {k} ROWS UNBOUNDED PRECEDING)",
    "sum({v}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "sum({v}) OVER (ORDER BY {k} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)",
    "sum({v}) OVER (ORDER BY {k} DESC ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "avg({v}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "avg({v}) OVER (ORDER BY {k} ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "avg({v}) OVER ()",
    "avg({v}) OVER (ORDER BY {k})",
    "min({v}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "max({v}) OVER (ORDER BY {k} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "count(*) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "lag({v}) OVER (ORDER BY {k})",
    "lag({v}, 2) OVER (ORDER BY {k})",
    "lead({v}) OVER (ORDER BY {k})",
    "lag({v}, 1, 0) OVER (ORDER BY {k})",
    "lead({v}, 1, 7) OVER (ORDER BY {k} DESC)",
    "{v} - lag({v}) OVER (ORDER BY {k})",
    "first_value({v}) OVER (ORDER BY {k})",
    "first_value({v}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "first_value({v}) OVER (ORDER BY {k} DESC ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "{v} - first_value({v}) OVER (ORDER BY {k})",
    "last_value({v}) OVER (ORDER BY {k})",
    "last_value({v}) OVER (ORDER BY {k} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "last_value({v}) OVER (ORDER BY {k} DESC ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING)",
    "ntile(2) OVER (ORDER BY {v} DESC)",
    "ntile(3) OVER (ORDER BY {k})",
    "ntile(4) OVER (ORDER BY {v}, {k})",
    "percent_rank() OVER (ORDER BY {v})",
    "percent_rank() OVER (ORDER BY {k} DESC)",
    "cume_dist() OVER (ORDER BY {v} DESC)",
    "round(100 * cume_dist() OVER (ORDER BY {k}))",
    "rank() OVER (ORDER BY {v} DESC)",
    "sum({v}) OVER ()",
]
MIXED = [
    "a + c",
    "CASE WHEN c = 1 THEN 9 WHEN a > 2 THEN 8 ELSE b END",
    "CASE WHEN c > 1 THEN 1 WHEN a > 2 THEN 2 WHEN a > 0 THEN 3 WHEN a IS NULL THEN 4 ELSE 5 END",
    "CASE WHEN a > 2 AND b < 5 THEN c WHEN NOT (a > 0) THEN 7 END",
    "coalesce(a, b, c)",
    "coalesce(b % 2, c)",
    "greatest(b, c) % 3",
]
ADDED = [
    "count(*)",
    "count({x})",
    "sum({x})",
    "min({x})",
    "max(c)",
    "sum(c) + count(*)",
    "count(*) / 2",
    "count(*) FILTER (WHERE {x} > {n})",
    "sum({x}) FILTER (WHERE c > 1)",
    "100.0 * count({x}) / count(*)",
]
WHERE = ["", "", "", "WHERE {x} > {n}", "WHERE c > 1", "WHERE {x} IS NOT NULL", "WHERE {x} < {n} OR c = 2"]
GROUPED = "SELECT {k} AS g, {i} AS n FROM {t} {w} GROUP BY {k}"
PAIRED = "SELECT {k} AS g, {k2} AS h, {i} AS n FROM {t} {w} GROUP BY {k}, {k2}"
WHOLE = [
    f"SELECT {{o}} AS v FROM ({GROUPED}) AS s",
    f"SELECT {{o}} AS v FROM ({GROUPED}) AS s",
    f"SELECT {{o}} AS v FROM ({GROUPED}) AS s WHERE n > {{n}}",
    f"SELECT {{o}} AS v FROM ({GROUPED} HAVING count(*) > 1) AS s",
    f"SELECT h, {{o}} AS v FROM ({PAIRED}) AS s GROUP BY h",
    f"SELECT h, {{o}} AS v FROM ({PAIRED}) AS s GROUP BY 1",
    "SELECT {o} AS v FROM (SELECT DISTINCT {d} AS n FROM {t} {w}) AS s",
    f"SELECT count(*) AS v FROM (SELECT DISTINCT g FROM ({PAIRED}) AS p) AS s",
    f"SELECT g, n, {{f}} AS v FROM ({GROUPED}) AS s",
    "SELECT {k} AS g, {of} AS v FROM {t} {w} GROUP BY {k}",
    "SELECT {k} AS g, {of} AS v FROM {t} {w} GROUP BY {k}",
    f"SELECT g, n - (SELECT {{i}} FROM {{t}}) AS v FROM ({GROUPED}) AS s",
    f"WITH s AS ({GROUPED}) SELECT g, n * 1.0 / nullif((SELECT sum(n) FROM s), 0) AS v FROM s",
    "SELECT {i} - (SELECT {i2} FROM {t} {w}) AS v FROM {t}",
    "SELECT count(*) AS v FROM {t} WHERE c > (SELECT {i} FROM {t})",
    "SELECT count(*) AS v FROM {t} WHERE {x} > (SELECT max(c) FROM {t})",
    "WITH p AS (SELECT {i} AS m FROM {t} {w}), q AS (SELECT {i2} AS m FROM {t}) SELECT p.m - q.m AS v FROM p, q",
    "SELECT {k} AS g, {i} AS n, max(q.m) AS v FROM {t} CROSS JOIN (SELECT count(*) AS m FROM {t}) AS q GROUP BY {k}",
    (
        "SELECT {k} AS g, {k2} AS h, GROUPING({k}) AS u, GROUPING({k2}) AS v, {i} AS n FROM {t} {w} GROUP BY "
        "ROLLUP ({k}, {k2})"
    ),
    "SELECT {k} AS g, {k2} AS h, GROUPING({k}, {k2}) AS u, {i} AS n FROM {t} GROUP BY CUBE ({k}, {k2})",
    (
        "SELECT {k} AS g, c AS h, GROUPING({k}, c) AS u, count(*) FILTER (WHERE c > 1 OR {k} IS NULL) AS n FROM {t} "
        "GROUP BY CUBE ({k}, c)"
    ),
    (
        "SELECT a > {n} AS g, c IN (1, 2) AS h, {i} AS v FROM {t} {w} GROUP BY ROLLUP (a > {n}, c IN (1, 2)) "
        "ORDER BY GROUPING(a > {n}, c IN (1, 2)), 1, 2"
    ),
    "SELECT DISTINCT {k} AS g, c FROM {t} {w}",
    "SELECT count(*) AS v FROM {t} WHERE c IN (SELECT c FROM {t} {w} GROUP BY c)",
    "SELECT count(*) AS v FROM {t} WHERE c NOT IN (SELECT c FROM {t} {w} GROUP BY c)",
    "SELECT count(*) AS v FROM {t} WHERE c IN (SELECT c FROM {t} GROUP BY c HAVING {i} > {n})",
    "SELECT count(*) AS v FROM {t} WHERE c NOT IN (SELECT c FROM {t} GROUP BY c HAVING count({x}) > 1)",
    "SELECT sum(({x} > {n})::int) AS v, count(DISTINCT CASE WHEN {x} > {n} THEN c END) AS u FROM {t} {w}",
    "SELECT sum(CAST(({x} > {n} OR c = 1) AS INTEGER)) AS v FROM {t} {w}",
    f"SELECT * FROM ({GROUPED}) AS s",
    "SELECT {m} AS g, {j} AS v FROM {t} {w} GROUP BY 1",
    "SELECT {m} AS g, {j} AS v FROM {t} {w} GROUP BY 1",
    "SELECT {m} AS g, {k} AS h, {j} AS v FROM {t} {w} GROUP BY 1, 2",
    "SELECT a AS g, a % 2 AS h, coalesce(a, -3) AS u, {i} AS v FROM {t} {w} GROUP BY 1, 2, 3",
]
"""Statements whose answers list every group that there may be."""
SOME = [
    f"SELECT h, {{o}} AS v FROM ({PAIRED} HAVING count(*) > 1) AS s GROUP BY h",
    f"SELECT h, {{o}} AS v FROM ({PAIRED}) AS s GROUP BY h HAVING {{o}} > {{n}}",
    f"SELECT g, n FROM ({GROUPED}) AS s WHERE n > {{n}} ORDER BY n DESC",
    f"SELECT g, n, v FROM (SELECT g, n, {{f}} AS v FROM ({GROUPED}) AS s) AS w WHERE v > {{n}}",
    f"WITH s AS ({GROUPED}) SELECT g, n FROM s WHERE n > (SELECT avg(n) FROM s)",
    "SELECT {k} AS g, {i} AS v FROM {t} GROUP BY {k} HAVING {i} > (SELECT {i2} FROM {t})",
    (
        "SELECT {k} AS g, {k2} AS h, GROUPING({k}, {k2}) AS u, {i} AS n FROM {t} {w} GROUP BY GROUPING SETS "
        "(({k}), ({k2}), ()) HAVING {i} > {n}"
    ),
    "SELECT 1 AS g, {i} AS v FROM {t} {w} UNION ALL SELECT 2, {i} FROM {t} ORDER BY v DESC LIMIT 1",
    (
        "SELECT c, {i} AS v FROM {t} WHERE c IN (SELECT c FROM {t} {w} GROUP BY c ORDER BY count(*) DESC, c LIMIT "
        "1) GROUP BY c"
    ),
    (
        "WITH x AS (SELECT c, {i} AS n FROM {t} WHERE {x} > {n} GROUP BY c), y AS (SELECT c, {i2} AS m FROM {t} {w} "
        "GROUP BY c) SELECT x.c, n, m, n - m AS v FROM x JOIN y ON x.c = y.c"
    ),
    (
        "WITH x AS (SELECT {k} AS g, count(*) AS n FROM {t} GROUP BY {k}), y AS (SELECT {k} AS g, count(*) AS m, "
        "sum(c) AS s FROM {t} WHERE {x} < {n} GROUP BY {k}) SELECT x.g, n, m, s FROM x LEFT JOIN y ON y.g = x.g"
    ),
    "SELECT g + 1 AS g, n AS v FROM (SELECT c AS g, {i} AS n FROM {t} {w} GROUP BY 1) AS s ORDER BY 1 LIMIT 2",
]
"""Statements whose answers go by estimates: other groups may be there."""
DUCKDB_WHOLE = [
    "SELECT {k} AS g, {i} AS n FROM {t} {w} GROUP BY ALL",
    "SELECT count_if({x} > {n}) AS v, mean({x}) AS u FROM {t} {w}",
]
"""Further ones that DuckDB has."""
DUCKDB_SOME = [
    f"{GROUPED} QUALIFY rank() OVER (ORDER BY {{i}} DESC) = 1",
    (
        "SELECT {k} AS g, c, count(*) AS n FROM {t} GROUP BY {k}, c QUALIFY row_number() OVER (PARTITION BY c "
        "ORDER BY {k}) = 1"
    ),
]
"""The same, by estimates."""
UNIONS = [
    "SELECT {k} AS g FROM {t} {w} UNION SELECT {k} FROM {t}",
    "SELECT {k} AS g, c AS h FROM {t} {w} UNION SELECT {k}, c FROM {t} WHERE {x} > {n}",
    "SELECT c AS g FROM {t} {w} UNION DISTINCT SELECT c + 1 FROM {t}",
    "SELECT {k} AS g, {i} AS v FROM {t} GROUP BY {k} UNION SELECT {k}, {i} FROM {t} {w} GROUP BY {k}",
    "SELECT 1 AS g, {i} AS v FROM {t} {w} UNION SELECT 2, {i2} FROM {t} UNION SELECT 1, {i} FROM {t} {w}",
    "SELECT {i} AS v FROM {t} {w} UNION SELECT {i2} FROM {t}",
    "SELECT {i} AS v FROM {t} GROUP BY c UNION SELECT {i} FROM {t}",
    "SELECT c AS g FROM {t} {w} UNION ALL SELECT c FROM {t} UNION SELECT 2 AS c FROM {t} GROUP BY c",
    "SELECT {k} AS g FROM {t} UNION SELECT c FROM {t} {w} UNION ALL SELECT 7 FROM {t} HAVING count(*) > 0",
    "WITH s AS (SELECT {k} AS g, {i} AS n FROM {t} {w} GROUP BY {k}) SELECT g FROM s UNION SELECT c FROM {t}",
]
"""Rows that are one where they are equal; some rows of an answer may look the same."""
UNIONS_SOME = [
    "SELECT {k} AS g FROM {t} {w} UNION SELECT {k} FROM {t} ORDER BY g LIMIT 2",
    "SELECT {k} AS g FROM {t} GROUP BY {k} HAVING {i} > {n} UNION SELECT {k} FROM {t} GROUP BY {k} HAVING {i2} > {n}",
]
"""The same, by estimates."""
LIMITED = "SELECT {k} AS g, {i} AS n FROM {t} {w} GROUP BY {k} ORDER BY {l}"
PLACED = "SELECT {{k}} AS g, {{i}} AS n, {} AS r FROM {{t}} {{w}} GROUP BY {{k}}"
LIMITS = [
    f"SELECT {{o}} AS v FROM ({LIMITED} LIMIT 1) AS s",
    f"SELECT {{o}} AS v FROM ({LIMITED} LIMIT 2) AS s",
    f"SELECT {{o}} AS v FROM ({LIMITED} LIMIT 1 OFFSET 1) AS s",
    f"WITH s AS ({LIMITED} LIMIT 2) SELECT sum(n) AS v, count(*) AS u FROM s",
    f"SELECT {{o}} AS v FROM ({GROUPED} LIMIT 2) AS s",
    f"SELECT h, {{o}} AS v FROM ({PAIRED} ORDER BY {{l}} LIMIT 9) AS s GROUP BY h",
    f"SELECT {{o}} AS v FROM ({GROUPED} HAVING count(*) > 1 ORDER BY {{l}} LIMIT 2) AS s WHERE n > {{n}}",
    f"SELECT {{o}} AS v FROM ({PLACED.format('rank() OVER (ORDER BY {i} DESC)')}) AS s WHERE r <= 2",
    f"SELECT {{o}} AS v FROM ({PLACED.format('sum({i}) OVER ()')}) AS s WHERE n * 2 > r",
]
"""Aggregates of the first groups."""
LIMITS_SOME = [
    f"SELECT * FROM ({LIMITED} LIMIT 2) AS s ORDER BY g",
    f"WITH s AS ({LIMITED} LIMIT 2) SELECT g, n FROM s ORDER BY n DESC LIMIT 1",
    f"SELECT g, n FROM ({LIMITED} LIMIT 2 OFFSET 1) AS s WHERE n > {{n}}",
    f"SELECT h, {{o}} AS v FROM ({PAIRED} ORDER BY {{l}} LIMIT 2) AS s GROUP BY h",
]
"""The same, by estimates."""
MOST_SOURCES = 36


def statement(rng: random.Random, dialect: str) -> tuple[str, bool]:
    """A random statement, and whether groups may be left out of its answer; ``{t}`` is its table."""
    own = dialect == "duckdb"
    whole = [*WHOLE, *UNIONS, *LIMITS, *(DUCKDB_WHOLE if own else ())]
    some = [*SOME, *UNIONS_SOME, *LIMITS_SOME, *(DUCKDB_SOME if own else ())]
    at = rng.randrange(len(whole) + len(some))
    text, filtered = (whole + some)[at], at >= len(whole)
    key, other = rng.sample(KEYS, 2)
    pieces = {name: rng.choice(AGGREGATES) for name in ("i", "i2")}
    outer, over, where = rng.choice(OUTER), rng.choice(OVER), rng.choice(WHERE)
    text = text.replace("{of}", over.replace("{v}", pieces["i"]).replace("{k}", key))
    text = text.replace("{f}", over.replace("{v}", "n").replace("{k}", "g"))
    pieces |= {"d": rng.choice(KEYS[:-1]), "m": rng.choice(MIXED), "j": rng.choice(ADDED)}
    for name, piece in (("o", outer), ("w", where), *pieces.items(), ("k2", other), ("k", key)):
        text = text.replace(f"{{{name}}}", piece)
    orders = ["{i} DESC", "{i}", "{k}", "{k} DESC", "count(*) DESC, {k}"]
    while "{l}" in text:
        text = text.replace("{l}", rng.choice(orders).replace("{i}", pieces["i"]).replace("{k}", key), 1)
    while "{x}" in text:
        text = text.replace("{x}", rng.choice("ab"), 1)
    return text.replace("{n}", str(rng.choice([-1, 0, 1, 2, 3, 5]))), filtered


def check(db: Any, rng: random.Random, found: Found, queries: int) -> None:
    """Ask random statements of one random release; what is wrong is noted."""
    made, every = rows(rng, 5, MOST_SOURCES)
    name, sources = write(db, made, every)
    for _ in range(queries):
        text, filtered = statement(rng, db.engine.dialect)
        found.asked += 1
        shown = f"{text} of {made}"
        try:
            answer = db.query(text.replace("{t}", name))
        except UnsupportedError as error:
            found.refused[str(error).splitlines()[0][:90]] += 1
            continue
        except SqlanonError as error:
            if "the query has no answer here" in str(error):
                found.refused[str(error).splitlines()[0][:90]] += 1
                if "not there" in str(error) or "do not fit" in str(error):
                    found.wrong.append(f"{type(error).__name__}: {error}: {shown}")
                continue
            found.wrong.append(f"{type(error).__name__}: {error}: {shown}")
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
            found.wrong.append(f"raw {type(error).__name__} {error}: {shown}")
            continue
        try:
            truths = truth(db, sources, text, len(every))
        except SqlanonError as error:  # the engine divides by zero in some source, or has no such type
            found.refused[f"truth: {str(error)[:60]}"] += 1
            continue
        found.wrong += [f"{problem}: {shown}" for problem in problems(answer, truths, filtered=filtered)]
    db.engine.execute(f"DROP TABLE {sources}; DROP TABLE release.{name}; DROP TABLE release.{name}_metadata")


def truth(db: Any, sources: str, text: str, count: int) -> list[list[tuple[Any, ...]]]:
    """The rows of a statement over each source."""
    found: list[list[tuple[Any, ...]]] = []
    for sid in range(count):
        table = f"(SELECT a, b, c FROM {sources} WHERE sid = {sid}) AS people"
        found.append(list(db.engine.fetch(text.replace("{t}", table))))
    return found


def problems(answer: Answer, truths: Sequence[Sequence[tuple[Any, ...]]], *, filtered: bool) -> Iterator[str]:
    """What an answer says that is not so in some source."""
    keys = [i for i, name in enumerate(answer.columns) if name not in answer.aggregates]
    rows = {tuple(_plain(row[answer.columns[i]]) for i in keys): row for row in answer.rows}
    if len(rows) < len(answer.rows):
        return  # rows that look the same
    present: Counter[Any] = Counter()
    for source in truths:
        for true in source:
            key = tuple(_plain(true[i]) for i in keys)
            present[key] += 1
            row = rows.get(key)
            if row is None:
                if not filtered and not answer.unlisted_groups:
                    yield f"group {key} is missing"
                    return
                continue
            for i, name in enumerate(answer.columns):
                cell = row[name]
                if isinstance(cell, Bounded) and not _holds(cell, true[i]):
                    yield f"{name}: {true[i]} in {key} is not in {cell.low}..{cell.high} {cell.undefined_possible}"
                    return
    for key, sure in zip(rows, answer.certain, strict=True):
        if sure and present[key] < len(truths):
            yield f"group {key} is called certain"
            return


def _holds(cell: Bounded, value: Any) -> bool:
    if value is None:
        return cell.undefined_possible or (cell.low is None and cell.high is None)
    if isinstance(value, bool):
        return True
    number, slack = float(value), 1e-9 * max(abs(float(value)), 1)
    above = cell.low is None or float(cell.low) - slack <= number
    below = cell.high is None or number <= float(cell.high) + slack
    return above and below and not (cell.exact and cell.low is None)


def _plain(value: Any) -> Any:
    return float(value) if value is not None and not isinstance(value, bool | str) else value


if __name__ == "__main__":
    sys.exit(ask(check, __doc__))
