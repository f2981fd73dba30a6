"""Queries of many shapes over a table like Adult, from a seed.

WHERE in any nesting, every aggregate, groups, joins, CTEs.
"""

from __future__ import annotations

import random

NUMBERS = {"age": (17, 90), "hours": (1, 99), "net": (0, 8)}
WORDS = {
    "workclass": ("Private", "State-gov", "Local-gov"),
    "education": ("Bachelors", "HS-grad", "Masters"),
    "sex": ("Male", "Female"),
    "race": ("White", "Black"),
}
COLUMNS = [
    ("age", "INTEGER"),
    ("hours", "INTEGER"),
    ("net", "DOUBLE PRECISION"),
    ("born", "DATE"),
    ("workclass", "TEXT"),
    ("education", "TEXT"),
    ("sex", "TEXT"),
    ("race", "TEXT"),
    ("occupation", "TEXT"),
    ("income", "TEXT"),
    ("gain", "INTEGER"),
]
QUASI = ["age", "hours", "net", "born", "workclass", "education", "sex"]
JOBS = ("Sales", "Tech-support", "Craft-repair")
AGGREGATES = (
    "count(*)",
    "count(gain)",
    "sum(gain)",
    "avg(gain)",
    "min(gain)",
    "max(gain)",
    "count(DISTINCT occupation)",
    "count(age)",
    "sum(age)",
    "avg(age)",
    "min(age)",
    "max(age)",
    "sum(hours)",
    "avg(net)",
    "min(born)",
    "max(born)",
    "count(*) FILTER (WHERE age < 40)",
    "sum(gain) FILTER (WHERE sex = 'Male')",
    "2 * count(*) - 1",
    "round(avg(gain), 2)",
    "coalesce(sum(gain), 0)",
    "sum(age) + count(*)",
)
GROUPS = (
    "income",
    "occupation",
    "race",
    "sex",
    "education",
    "age",
    "floor(net)",
    "floor(age / 10.0)",
    "date_trunc('year', born)",
    "extract(year FROM born)",
    "gain > 0",
    "CASE WHEN age < 40 THEN 'young' ELSE 'old' END",
    "upper(race)",
)


def queries(seed: int, count: int, table: str, dimension: str) -> list[str]:
    """The queries.

    Args:
        seed: of the choices.
        count: how many.
        table: the source's name.
        dimension: a table keyed by ``occupation``, with a column ``kind``.
    """
    rng = random.Random(seed)
    return [_query(rng, number, table, dimension) for number in range(count)]


def _query(rng: random.Random, number: int, table: str, dimension: str) -> str:
    groups = rng.sample(GROUPS, rng.choice([0, 0, 1, 1, 1, 2]))
    if sum("born" in group for group in groups) > 1 or sum("age" in group for group in groups) > 1:
        groups = groups[:1]  # a column with ranges is grouped by once
    source = table
    kind = ("plain", "plain", "cte", "subquery", "join")[number % 5]
    if kind == "join":
        source = f"{table} {rng.choice(['JOIN', 'LEFT JOIN'])} {dimension} USING (occupation)"
        groups = ["kind", *groups[1:]]
    where = _where(rng, rng.randint(1, 5)) if rng.random() < 0.9 else ""
    if kind in ("cte", "subquery"):
        inner = f"SELECT * FROM {table} WHERE {_where(rng, rng.randint(1, 2))}"
        source = "w" if kind == "cte" else f"({inner}) AS w"
    listed = [f"{group} AS k{i}" for i, group in enumerate(groups)]
    chosen = rng.sample(AGGREGATES, rng.randint(1, 3))
    listed += [f"{text} AS a{i}" for i, text in enumerate(chosen)]
    parts = [f"WITH w AS ({inner})" if kind == "cte" else "", "SELECT", ", ".join(listed), "FROM", source]
    parts += ["WHERE", where] if where else []
    if groups:
        parts += ["GROUP BY", ", ".join(str(i + 1) for i in range(len(groups)))]
        if rng.random() < 0.3:
            parts.append(f"HAVING count(*) > {rng.randint(0, 20)}")
        parts += ["ORDER BY", ", ".join(f"k{i} NULLS FIRST" for i in range(len(groups)))]
        if rng.random() < 0.2:
            parts.append(f"LIMIT {rng.randint(1, 6)}")
    return " ".join(part for part in parts if part)


def _where(rng: random.Random, atoms: int) -> str:
    if atoms == 1:
        text = _atom(rng)
    else:
        left = rng.randint(1, atoms - 1)
        text = f"({_where(rng, left)} {rng.choice(['AND', 'OR'])} {_where(rng, atoms - left)})"
    return f"NOT ({text})" if rng.random() < 0.15 else text


def _atom(rng: random.Random) -> str:
    number, word = rng.choice(list(NUMBERS)), rng.choice(list(WORDS))
    low, high = sorted(rng.randint(*NUMBERS[number]) for _ in range(2))
    values = WORDS[word]
    return rng.choice(
        [
            f"{number} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {low}",
            f"{number} BETWEEN {low} AND {high}",
            f"{number} IN ({low}, {high})",
            f"{number} IS NOT NULL",
            f"{word} = '{values[0]}'",
            f"{word} <> '{values[1]}'",
            f"{word} IN ({', '.join(repr(value) for value in values)})",
            f"{word} LIKE '{values[0][0]}%'",
            f"{word} IS NULL",
            f"born < DATE '{rng.randint(1910, 1980)}-06-15'",
            f"extract(year FROM born) >= {rng.randint(1920, 1970)}",
            f"occupation = '{rng.choice(JOBS)}'",
            "income = '>50K'",
            f"gain > {rng.randint(0, 5000)}",
            f"age < {low} + 20",
            "hours < age",
        ]
    )
