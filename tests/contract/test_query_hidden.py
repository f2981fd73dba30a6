"""Hidden values of listed boxes, and exact columns of every type beside them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.oracle.handmade import Given, plain, publish


@pytest.fixture(scope="module")
def hidden(shared_db: Any) -> tuple[Any, str]:
    """Ages and a hierarchy with a class of NULLs each, and suppressed ages of which one value is shown."""
    name = f"h{uuid.uuid4().hex[:10]}"
    tree = Given(
        "zip",
        "quasi",
        "integer",
        "INTEGER",
        (("zip", "TEXT"), ("zip_null", "TEXT")),
        "hierarchy",
        {"leaves": ["10", "11", "20"], "nodes": [[1, 0, 2, "1x"], [1, 2, 1, "2x"]]},
    )
    sets = Given("sex", "quasi", "text", "TEXT", (("sex", "TEXT[]"), ("sex_null", "TEXT")), "nominal")
    rows = [("'1x'", "'none'", "ARRAY['F']", "'none'", "'flu'", "DATE '2024-01-01'", "1")] * 2
    rows += [("'2x'", "'none'", "ARRAY['F', 'M']", "'none'", "'hiv'", "DATE '2024-01-02'", "2")]
    rows += [("NULL", "'all'", "NULL", "'all'", "'flu'", "NULL", "2")] * 3
    publish(
        shared_db,
        name,
        [
            tree,
            sets,
            plain("d", "text", "TEXT", "sensitive"),
            plain("seen", "date", "DATE"),
            plain("c", "integer", "INTEGER"),
        ],
        rows,
    )
    columns = [
        Given("age", "quasi", "integer", "INTEGER", (("age", "INTEGER"),), "ordered"),
        plain("c", "integer", "INTEGER"),
    ]
    publish(
        shared_db,
        f"{name}_s",
        columns,
        [("30", "1"), ("30", "2"), ("NULL", "3"), ("NULL", "4")],
        "suppressed",
    )
    return shared_db, name


@pytest.mark.parametrize(
    ("item", "bounds"),
    [
        ("count(zip)", (3, 3)),
        ("sum(zip)", (40, 42)),
        ("count(sex)", (3, 3)),
        ("count(sex) FILTER (WHERE sex LIKE 'F%')", (2, 3)),
        ("count(zip) FILTER (WHERE zip IS NULL)", (0, 0)),
        ("count(sex) FILTER (WHERE sex IS NOT NULL AND sex <> 'M')", (2, 3)),
        ("count(*) FILTER (WHERE sex IS NULL)", (3, 3)),
        ("count(*) FILTER (WHERE coalesce(sex, '?') = '?')", (3, 3)),
        ("count(*) FILTER (WHERE coalesce(sex, '?') <> 'F')", (3, 4)),
        ("count(*) FILTER (WHERE coalesce(zip, 0) = 0)", (3, 3)),
        ("count(*) FILTER (WHERE CASE WHEN sex IS NULL THEN 'x' ELSE 'y' END = 'x')", (3, 3)),
        ("count(*) FILTER (WHERE concat(sex, '!') = '!')", (3, 3)),
    ],
)
def test_nulls_of_listed_boxes(hidden: tuple[Any, str], item: str, bounds: tuple[int, int]) -> None:
    db, name = hidden
    cell = db.query(f"SELECT {item} AS n FROM {name}").rows[0]["n"]
    assert (cell.low, cell.high) == bounds


def test_a_group_of_hidden_values_is_not_certain(hidden: tuple[Any, str]) -> None:
    db, name = hidden
    for key in ("age", "age < 40"):
        answer = db.query(f"SELECT {key} AS g, count(*) AS n, avg(age) AS a FROM {name}_s GROUP BY 1 ORDER BY 1")
        found = {row["g"]: (row["n"].low, row["n"].high) for row in answer.rows}
        assert found[30 if key == "age" else True] == (2, 4)
    whole = db.query(f"SELECT avg(age) AS a, sum(age) AS s, max(age) AS m FROM {name}_s").rows[0]
    assert whole["a"].estimate == 30
    assert whole["s"].estimate == 120
    assert (whole["a"].low, whole["a"].high) == (None, None)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sex, min(seen) AS m, count(d) AS n, max(d) AS x FROM {t} GROUP BY sex",
        "SELECT c, sum(c) AS s, max(c) AS m FROM {t} WHERE sex LIKE 'F%' GROUP BY c",
    ],
)
def test_exact_columns_of_every_type_beside_listed_boxes(hidden: tuple[Any, str], query: str) -> None:
    db, name = hidden
    for row in db.query(query.format(t=name)).rows:
        for cell in row.values():
            if hasattr(cell, "low") and cell.low is not None:
                assert cell.low <= cell.high
