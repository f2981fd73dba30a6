"""Random queries over the tiny table of the query tests, and the check of an answer against all consistent sources."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

TYPES = {"a": "INTEGER", "s": "TEXT", "h": "TEXT", "d": "TEXT", "c": "INTEGER"}
"""``a`` is ordered, ``s`` nominal, ``h`` has a hierarchy, ``d`` is sensitive, ``c`` insensitive."""
TREE = (("x1", "x", "*"), ("x2", "x", "*"), ("y1", "y", "*"), ("y2", "y", "*"))
ANYTHING = {"a": list(range(-2, 9)), "s": ["p", "q", "r", "z"]}

AGGREGATES = {
    "n": "count(*)",
    "nc": "count(c)",
    "sc": "sum(c)",
    "ac": "avg(c)",
    "mc": "min(c)",
    "xc": "max(c)",
    "dd": "count(distinct d)",
    "na": "count(a)",
    "sa": "sum(a)",
    "aa": "avg(a)",
    "ma": "min(a)",
    "xa": "max(a)",
}
OF_ROWS = {
    "sv0": "sum(a * 2)",
    "av1": "avg(a + 1)",
    "nv2": "count(CASE WHEN a > 2 THEN 1 END)",
    "sv3": "sum(CASE WHEN a > 1 THEN c ELSE 0 END)",
    "sv4": "sum(a * c)",
    "av5": "avg(CASE WHEN a > 1 AND s = 'p' THEN 1.0 ELSE 0.0 END)",
    "mv6": "min(3 - a)",
    "xv7": "max(a * c - 1)",
    "xv8": "sum(abs(a - 2))",
    "sv9": "sum(coalesce(a, 0) + c)",
    "sva": "sum(CASE WHEN a < 3 THEN a WHEN c > 0 THEN c END)",
    "avb": "avg(CASE a WHEN 1 THEN c ELSE a END)",
    "svc": "sum(2 * CASE WHEN h LIKE 'x%' THEN 1 ELSE 0 END)",
    "xr0": "100.0 * count(*) FILTER (WHERE a > 2) / nullif(count(*), 0)",
    "xr1": "1.0 * sum(c) / nullif(count(*) FILTER (WHERE a < 3), 0)",
    "xr2": "1.0 * sum(a) / nullif(count(c), 0)",
    "xr3": "1.0 * sum(a * 2) FILTER (WHERE d = 'flu') / nullif(sum(c + 3) FILTER (WHERE a > 1), 0)",
    "xr4": "1 - 1.0 * count(*) FILTER (WHERE s = 'p') / nullif(count(*) FILTER (WHERE c > 0), 0)",
    "xr5": "avg(a) / nullif(count(*), 0)",
    "xr6": "sum(a) * count(c)",
    "xq0": "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)",
    "xq1": "percentile_disc(0.3) WITHIN GROUP (ORDER BY a)",
    "xq2": "percentile_cont(0.5) WITHIN GROUP (ORDER BY c)",
    "xq3": "percentile_cont(0.75) WITHIN GROUP (ORDER BY c)",
    "xq4": "percentile_disc(0.5) WITHIN GROUP (ORDER BY c) FILTER (WHERE a > 1)",
    "xq5": "percentile_cont(0.5) WITHIN GROUP (ORDER BY a * 2 - c)",
    "da6": "count(DISTINCT a)",
    "ds7": "count(DISTINCT s)",
    "xq8": "stddev_pop(c) FILTER (WHERE c > 0)",
    "dh9": "count(DISTINCT h)",
    "xqa": "sum(1.0 * a / nullif(c, 0))",
    "xqb": "avg((a - 2) / nullif(1.0 * c + 3, 0))",
    "xt0": "CASE WHEN count(*) > 2 THEN 'many' WHEN sum(c) > 0 THEN 'few' END",
    "xt1": "CASE WHEN avg(a) >= 2 THEN 'old' WHEN avg(a) < 2 THEN 'new' END",
}
"""Aggregates of calculations over columns with ranges, and of CASE."""
WINDOWS = {
    "xw0": "rank() OVER ({p} ORDER BY count(*) DESC)",
    "xw1": "row_number() OVER ({p} ORDER BY count(*) DESC, {k})",
    "xw2": "dense_rank() OVER ({p} ORDER BY sum(c))",
    "xw3": "100.0 * count(*) / sum(count(*)) OVER ({p})",
    "xw4": "1.0 * sum(c) / nullif(sum(sum(c)) OVER ({p}), 0)",
    "xw5": "sum(sum(a)) OVER ({p})",
    "xw6": "sum(count(*)) OVER ({p} ORDER BY {k} DESC)",
    "xw7": "count(*) OVER ({p})",
    "xw8": "max(count(*)) OVER ({p})",
    "xw9": "min(avg(c)) OVER ({p})",
    "xwa": "1.0 * count(*) FILTER (WHERE a > 1) / nullif(sum(count(*) FILTER (WHERE a > 1)) OVER ({p}), 0)",
    "xwb": "rank() OVER ({p} ORDER BY avg(c) DESC, {k})",
    "xwc": "sum(count(*)) OVER ({p}) - count(*)",
    "xwd": "CASE WHEN rank() OVER ({p} ORDER BY count(*)) <= 1 THEN 1 ELSE 0 END",
    "xwe": "sum(max(c)) OVER ({p})",
    "xwf": "max(max(a)) OVER ({p})",
    "xwg": "1.0 * sum(c + 3) / nullif(sum(sum(c + 3)) OVER ({p}), 0)",
    "xwh": "rank() OVER ({p} ORDER BY sum(a), count(*) DESC)",
    "xwi": "row_number() OVER ({p} ORDER BY {k})",
    "xwj": "dense_rank() OVER ({p} ORDER BY {k}, count(*))",
    "xwk": "min(min(c)) OVER ({p})",
    "xwl": "sum(avg(c)) OVER ({p} ORDER BY {k})",
    "xwm": "row_number() OVER ({p} ORDER BY max(c) DESC)",
    "xwn": "dense_rank() OVER ({p} ORDER BY count(*))",
    "xwo": "coalesce(sum(sum(c)) OVER ({p}), 0)",
    "xwp": "count(*) OVER ({p} ORDER BY {k})",
}
"""Window functions over the groups: ``{p}`` is a PARTITION BY or nothing, ``{k}`` a key of the groups."""
ANATOMY = {
    "n": "count(*)",
    "nc": "count(c)",
    "sc": "sum(c)",
    "ac": "avg(c)",
    "mc": "min(c)",
    "xc": "max(c)",
    "nd": "count(d)",
    "na": "count(a)",
    "sa": "sum(a)",
    "aa": "avg(a)",
    "ma": "min(a)",
    "xa": "max(a)",
}
CALCULATED = {
    "n2": "count(*) / 2",
    "x0": "sum(a) / 3",
    "x1": "sum(c) / -2",
    "x2": "round(avg(c))",
    "x3": "floor(avg(a))",
    "x4": "CAST(avg(c) AS INTEGER)",
    "x5": "floor(sum(f) * 10)",
    "x6": "round(avg(f))",
    "x7": "sum(c) % 3",
    "x8": "ceil(sum(a) / 2)",
    "x9": "round(avg(a), 1)",
    "nd": "count(d)",
    "n3": "count(*) FILTER (WHERE upper(d) = 'É')",
    "n4": "count(*) FILTER (WHERE d ILIKE 'É%')",
}
"""Calculations with aggregates, and text beyond ASCII.

They depend on the engine's types and the columns' collations.
"""


def table(rng: random.Random, rows: int, *, nulls: bool) -> list[tuple[Any, ...]]:
    """A random source."""
    none = [None] if nulls else []
    return [
        (
            rng.choice([0, 1, 1, 2, 3, 5, *none]),
            rng.choice(["p", "p", "q", "r", *none]),
            rng.choice(["x1", "x1", "x2", "y1"]),
            rng.choice(["flu", "hiv"]),
            rng.choice([-2, 0, 1, 4, None]),
        )
        for _ in range(rows)
    ]


def atom(rng: random.Random, columns: Sequence[str]) -> str:
    """One predicate."""
    op = rng.choice(["=", "<>", "<", "<=", ">", ">="])
    ways = {
        "a": [
            f"a {op} {rng.randint(-1, 6)}",
            f"{rng.randint(0, 5)} {op} a",
            f"a BETWEEN {rng.randint(0, 3)} AND {rng.randint(1, 5)}",
            f"a IN ({rng.randint(0, 5)}, {rng.randint(0, 5)})",
            "a IS NULL",
            "a IS NOT NULL",
            f"a {op} {rng.randint(0, 5)}.5",
            f"a IN ({rng.randint(0, 5)}, NULL)",
            f"a IS DISTINCT FROM {rng.randint(0, 5)}",
        ],
        "A": [
            f"abs(a - {rng.randint(0, 4)}) {op} {rng.randint(0, 2)}",
            f"a * 2 {op} {rng.randint(0, 7)}",
            f"coalesce(a, 0) {op} {rng.randint(0, 3)}",
            f"(a {op} {rng.randint(0, 5)}) IS NOT TRUE",
            f"(a > {rng.randint(0, 3)} AND c {op} 0) IS NOT TRUE",
            f"(a < {rng.randint(1, 4)}) IS FALSE",
            f"(a {op} {rng.randint(0, 4)}) IS NULL",
            f"a = ANY (ARRAY[{rng.randint(0, 2)}, {rng.randint(2, 5)}])",
            f"a = ANY (ARRAY[{rng.randint(0, 5)}])",
            f"a <> ALL (ARRAY[{rng.randint(0, 5)}, 1])",
            f"coalesce(a, {rng.randint(0, 3)}) {op} {rng.randint(0, 3)}",
            "(a = 1 OR a IS NULL) IS NOT FALSE",
        ],
        "C": [f"a {op} c", f"a + c {op} 2", f"a * 2 - c {op} a"],
        "B": [
            f"a % 2 = {rng.randint(0, 1)}",
            f"a * a {op} {rng.randint(0, 9)}",
            "CASE WHEN a > 1 THEN a < 5 ELSE a = 0 END",
        ],
        "s": [
            f"s = '{rng.choice('pqr')}'",
            f"s <> '{rng.choice('pqr')}'",
            "s IN ('p', 'r')",
            "s LIKE 'p%'",
            "s IS NULL",
            "s > 'p'",
        ],
        "h": [f"h = '{rng.choice(['x1', 'y2'])}'", "h LIKE 'x%'", "h IN ('x1', 'y1')", "h <> 'x2'", "lower(h) = 'y1'"],
        "d": ["d = 'flu'", "d <> 'flu'", "d IN ('hiv')"],
        "c": [f"c {op} {rng.randint(-1, 3)}", "c IS NULL"],
    }
    return rng.choice(ways[rng.choice(columns)])


def predicate(rng: random.Random, columns: Sequence[str], atoms: int) -> str:
    """A predicate of some atoms in any nesting."""
    if atoms == 1:
        text = atom(rng, columns)
    else:
        left = rng.randint(1, atoms - 1)
        parts = (predicate(rng, columns, left), predicate(rng, columns, atoms - left))
        text = f"({parts[0]} {rng.choice(['AND', 'OR'])} {parts[1]})"
    return f"NOT ({text})" if rng.random() < 0.2 else text


def problems(
    answer: Any,
    truth: Mapping[tuple[Any, ...], Mapping[int, tuple[Any, ...]]],
    count: int,
    names: Sequence[str],
    keys: Sequence[str],
    *,
    known: bool,
    weighed: bool = True,
    listed: bool = False,
    counted: bool = True,
    missing: bool = True,
    covered: tuple[Mapping[tuple[Any, ...], Mapping[int, tuple[Any, ...]]], int] | None = None,
) -> list[str]:
    """What is wrong with an answer.

    Args:
        answer: of the product.
        truth: of every source, by group.
        count: how many sources there are.
        names: the aggregates, in order.
        keys: names of the groups' keys.
        known: every value that a row may have is among those that the release shows.
        listed: every group that a row may be in is among those that the release declares.
        counted: counts of groups are as narrow as can be, so that a group that every source has is certain.
        missing: an aggregate of a group that a source has not is 0 or NULL there; else nothing is asked of it.
        weighed: every source is as likely as any other, so that means over them are the estimates.
        covered: ``truth`` and ``count`` of all sources that lie in the boxes, over which estimates are means, as far as
            the bounds allow, where consistent sources attain what the release says as well.
    """
    found: list[str] = []
    rows = {tuple(row[key] for key in keys): (row, sure) for row, sure in zip(answer.rows, answer.certain, strict=True)}
    if keys and listed and not set(truth) <= set(rows):
        found.append(f"groups {sorted(map(str, set(truth) - set(rows)))} are missing")
    if keys and known and set(rows) != set(truth):
        found.append(f"groups {sorted(map(str, rows))} are not {sorted(map(str, truth))}")
    for group, (row, sure) in rows.items():
        seen = truth.get(group, {})
        if keys and sure and len(seen) < count:
            found.append(f"{group} is said to be certain")
        if keys and not sure and len(seen) == count and known and counted:
            found.append(f"{group} is certain")
        for i, name in enumerate(names):
            values = [seen[sid][i] for sid in seen]
            counts = name.startswith(("n", "d"))
            values += [0 if counts else None] * (count - len(seen) if missing else 0)
            found += [f"{group} {name}: {text}" for text in _of_one(row[name], values, known=known)]
        all_seen, all_count = (seen, count) if covered is None else (covered[0].get(group, {}), covered[1])
        found += _means(row, all_seen, names, all_count) if known and weighed else []
    return found


def _of_one(cell: Any, values: list[Any], *, known: bool) -> list[str]:
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        outside = not cell.low <= min(texts) <= max(texts) <= cell.high
        return [f"{texts} are outside"] if outside or (None in values and not cell.undefined_possible) else []
    numbers = [float(v) for v in values if v is not None]
    found = []
    slack = 1e-9 * max(1.0, *(abs(v) for v in numbers)) if numbers else 0.0
    if len(numbers) < len(values) and not cell.undefined_possible:
        found.append("NULL is possible")
    if numbers:
        if cell.low is not None and min(numbers) < cell.low - slack:
            found.append(f"{min(numbers)} is below low {cell.low}")
        if cell.high is not None and max(numbers) > cell.high + slack:
            found.append(f"{max(numbers)} is above high {cell.high}")
        if known and (cell.low is None or cell.high is None):
            found.append("a bound is missing")
        elif known and cell.tight and (cell.low < min(numbers) - slack or cell.high > max(numbers) + slack):
            found.append(f"[{cell.low}, {cell.high}] is not tight: [{min(numbers)}, {max(numbers)}]")
        if known and cell.tight and cell.undefined_possible and len(numbers) == len(values):
            found.append("NULL is not possible")
    elif cell.estimate is not None and cell.tight:
        found.append("there is no value")
    return found


def _means(row: Mapping[str, Any], seen: Mapping[int, tuple[Any, ...]], names: Sequence[str], count: int) -> list[str]:
    """Counts and sums are estimated by their mean over all sources."""
    found = []
    for i, name in enumerate(names):
        if name[0] not in "ns":
            continue
        defined = [float(values[i]) for values in seen.values() if values[i] is not None]
        mean = math.fsum(defined) / count
        if name[0] == "s" and defined:
            mean = min(max(mean, min(defined)), max(defined))  # a sum of nothing counts 0 and is no value
        if row[name].low is not None and row[name].high is not None:
            mean = min(max(mean, row[name].low), row[name].high)
        estimate = row[name].estimate
        if estimate is None and mean == 0:
            continue
        if not math.isclose(estimate, mean, rel_tol=1e-9, abs_tol=1e-9):
            found.append(f"{name}: estimate {estimate} is not {mean}")
    return found
