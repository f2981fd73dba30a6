"""Queries over releases of the usual kinds, by the public API.

Both engines give the same answers and refusals, with joins, HAVING and LIMIT.
"""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest

from sqlanon.errors import PolicyError, UnsupportedError

COLUMNS = [
    ("age", "INTEGER"),
    ("sex", "TEXT"),
    ("seen", "DATE"),
    ("height", "DOUBLE PRECISION"),
    ("diagnosis", "TEXT"),
    ("cost", "INTEGER"),
]
ROWS = [
    (
        20 + i * 7 % 41,
        "FM"[i % 3 == 0],
        f"2024-{1 + i % 6:02}-{1 + i * 5 % 27:02}",
        150 + i * 13 % 50 / 2,
        ("flu", "asthma", "ulcer")[i % 5 % 3],
        None if i % 11 == 0 else i * 17 % 23 - 3,
    )
    for i in range(120)
]
QUERIES = [
    "SELECT count(*) AS n FROM {t} WHERE age < 35 OR age >= 35",
    (
        "SELECT diagnosis, count(*) AS n, sum(cost) AS s, avg(cost) AS a FROM {t} WHERE age BETWEEN 25 AND 40 AND sex "
        "= 'F' GROUP BY diagnosis"
    ),
    (
        "SELECT diagnosis AS d, count(*) AS n FROM {t} WHERE age > 30 GROUP BY 1 HAVING count(*) > 15 ORDER BY 2 DESC "
        "LIMIT 2"
    ),
    "SELECT age, count(*) AS n, avg(cost) AS a FROM {t} WHERE sex <> 'M' GROUP BY age",
    (
        "SELECT sex, min(age) AS m, max(age) AS x, avg(age) AS a, sum(age) AS s, count(age) AS n FROM {t} WHERE age < "
        "45 GROUP BY sex"
    ),
    "SELECT extract(month FROM seen) AS m, count(*) AS n FROM {t} GROUP BY 1",
    "SELECT count(*) AS n, min(seen) AS f FROM {t} WHERE seen >= '2024-03-01' AND seen < DATE '2024-04-01'",
    "SELECT count(*) AS n, avg(height) AS h FROM {t} WHERE height > 160.5 AND NOT (height >= 170)",
    (
        "SELECT sex, percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS m, count(DISTINCT age) AS d FROM {t} WHERE "
        "age < 50 GROUP BY sex"
    ),
    "SELECT count(*) FILTER (WHERE age < 30) AS young, count(DISTINCT diagnosis) AS d FROM {t} WHERE cost > 3",
    (
        "SELECT 2 * avg(cost) - 1 AS x, round(sum(cost) / 10.0, 1) AS r, coalesce(min(cost), 0) AS c FROM {t} WHERE "
        "age > 58"
    ),
    (
        "WITH w AS (SELECT age AS years, cost + 1 AS c FROM {t} WHERE sex = 'F') SELECT sum(c) AS s FROM w WHERE "
        "years < 33"
    ),
    "SELECT count(*) AS n FROM {t} WHERE age < cost + 30",
    "SELECT count(*) AS n FROM {t} WHERE sex LIKE 'F%' OR lower(sex) = 'm'",
    "SELECT avg(age % 7) AS a, sum(age % 7) AS s FROM {t} WHERE age < 40",
]


def make(db: Any, **options: Any) -> str:
    """A release of `ROWS`; returns the name of its source."""
    name = f"q{uuid.uuid4().hex[:10]}"
    db.engine.load_rows(db.engine.target(name), COLUMNS, ROWS)
    db.anonymize(
        name,
        quasi=["age", "sex", "seen", "height"],
        sensitive="diagnosis",
        insensitive=["cost"],
        k=6,
        accept_unique=["cost"],
        **{"method": "mondrian", "seed": 1, **options},
    )
    return name


@pytest.fixture(scope="module")
def names(both_dbs: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(make(db, mean=["age"]) for db in both_dbs)


def cells(answer: Any) -> list[list[Any]]:
    """Everything that an answer says, as numbers and texts."""
    return [
        [part for name in answer.columns for part in parts(row[name])] + [certain]
        for row, certain in zip(answer.rows, answer.certain, strict=True)
    ]


def parts(cell: Any) -> list[Any]:
    if not hasattr(cell, "low"):
        return [float(cell) if isinstance(cell, int | float) or hasattr(cell, "as_tuple") else str(cell)]
    numbers = [cell.estimate, cell.low, cell.high]
    return [
        *(float(n) if isinstance(n, int | float) else str(n) for n in numbers),
        cell.tight,
        cell.exact,
        cell.undefined_possible,
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_engines_agree_and_bounds_hold_the_truth(both_dbs: tuple[Any, ...], names: tuple[str, ...], query: str) -> None:
    answers = [db.query(query.format(t=name)) for db, name in zip(both_dbs, names, strict=True)]
    first, second = map(cells, answers)
    assert len(first) == len(second)
    for one, two in zip(first, second, strict=True):
        for a, b in zip(one, two, strict=True):
            assert a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)), query
    answer = answers[0]
    listed = both_dbs[0].engine.fetch(query.format(t=f"main.{names[0]}"))
    if "LIMIT" in query:
        return
    for row in listed:
        values = dict(zip(answer.columns, row, strict=True))
        keys = [name for name in answer.columns if name not in answer.aggregates]
        (mine,) = [found for found in answer.rows if all(found[key] == values[key] for key in keys)]
        for name in answer.aggregates:
            cell, truth = mine[name], values[name]
            if truth is None:
                assert cell.undefined_possible
            elif isinstance(truth, int | float) or hasattr(truth, "as_tuple"):
                assert float(cell.low) - 1e-9 <= float(truth) <= float(cell.high) + 1e-9, (query, name)
            else:
                assert cell.low <= truth <= cell.high


def test_everyone_is_below_35_or_not(both_dbs: tuple[Any, ...], names: tuple[str, ...]) -> None:
    cell = both_dbs[0].query(QUERIES[0].format(t=names[0])).rows[0]["n"]
    assert (cell.estimate, cell.low, cell.high, cell.exact, cell.tight) == (120, 120, 120, True, True)


@pytest.mark.parametrize(
    ("query", "piece"),
    [
        ("SELECT mode(age) FROM {t}", "mode(age)"),
        ("SELECT * FROM {t}", "*"),
        ("SELECT height, count(*) FROM {t} GROUP BY height", "height"),
        ("SELECT count(*) FROM {t} WHERE age > (SELECT avg(age) FROM {t})", "avg(age) FROM {t}"),
        ("SELECT rank() OVER (ORDER BY cost) FROM {t}", "rank() OVER (ORDER BY cost)"),
        ("SELECT nothing FROM {t} GROUP BY 1", "nothing"),
        ("SELECT sum(DISTINCT age) FROM {t}", "sum(DISTINCT age)"),
        ("SELECT sum(sqrt(age)) FROM {t}", "sqrt(age)"),
        ("SELECT cost, count(*) FROM {t} GROUP BY diagnosis", "cost"),
    ],
)
def test_what_has_no_answer_is_refused_with_the_piece(shared_db: Any, query: str, piece: str) -> None:
    name = make(shared_db)
    text = query.format(t=name)
    with pytest.raises(UnsupportedError) as error:
        shared_db.query(text)
    lines = str(error.value).splitlines()
    start = lines[-1].index("^")
    assert lines[-2].strip() == text
    assert lines[-2][start : start + lines[-1].count("^")] == piece.format(t=name)


def test_joins_need_a_key_or_permission(shared_db: Any) -> None:
    table, twice = (f"{kind}{uuid.uuid4().hex[:8]}" for kind in "de")
    name = make(shared_db, dimensions=[table, twice])
    rows = [("flu", "lungs", 1), ("asthma", "lungs", 2), ("ulcer", "belly", 3)]
    columns = [("diagnosis", "TEXT"), ("organ", "TEXT"), ("code", "INTEGER")]
    shared_db.engine.load_rows(shared_db.engine.target(table), columns, rows)
    query = f"SELECT organ, count(*) AS n FROM {name} JOIN {table} USING (diagnosis) GROUP BY organ"
    found = {row["organ"]: row["n"].low for row in shared_db.query(query).rows}
    assert found == {"lungs": sum(r[4] != "ulcer" for r in ROWS), "belly": sum(r[4] == "ulcer" for r in ROWS)}
    shared_db.engine.load_rows(shared_db.engine.target(twice), columns, [*rows, ("flu", "nose", 4)])
    linking = f"SELECT count(*) AS n FROM {name} AS p JOIN {twice} AS q ON q.diagnosis = p.diagnosis"
    with pytest.raises(UnsupportedError, match="allow-linking"):
        shared_db.query(linking)
    assert shared_db.query(linking, allow_linking=True).rows[0]["n"].low == 120 + sum(r[4] == "flu" for r in ROWS)
    with pytest.raises(UnsupportedError, match="column with ranges"):
        shared_db.query(f"SELECT count(*) FROM {name} AS p JOIN {table} AS q ON q.code = p.age")


def test_no_release_of_that_name(shared_db: Any) -> None:
    with pytest.raises(PolicyError, match="no release goes by the name nobody"):
        shared_db.query("SELECT count(*) FROM nobody")


def test_more_than_twelve_predicates_are_sound_and_not_tight(shared_db: Any) -> None:
    name = make(shared_db)
    where = " AND ".join(f"age <> {20 + i}" for i in range(13))
    cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    truth = sum(row[0] > 32 for row in ROWS)
    assert not cell.tight
    assert cell.low <= truth <= cell.high
    twelve = " AND ".join(f"age <> {20 + i}" for i in range(12))
    assert shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {twelve}").rows[0]["n"].tight
