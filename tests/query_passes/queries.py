"""Queries whose passes are run one by one: for each a name, the source columns of its boxes, and the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Asked(NamedTuple):
    """One query of people.

    Args:
        boxes: the source columns of its boxes, by the name of the box.
        text: the SQL.
    """

    boxes: Mapping[str, str]
    text: str


AGE = {"k1": "age"}
BOTH = {"k1": "age", "k2": "sex"}

QUERIES: Mapping[str, Asked] = {
    # Uncertain values are added from either end.
    "average of an exact column": Asked(AGE, "SELECT avg(cost) AS a FROM people WHERE age > 23"),
    "aggregates of the column with ranges itself": Asked(
        AGE, "SELECT min(age) AS m, sum(age) AS s FROM people WHERE age >= 25"
    ),
    "calculations with aggregates": Asked(
        AGE, "SELECT 2 * max(cost) - 1 AS x, round(count(*) / 3.0, 1) AS r FROM people WHERE age > 26"
    ),
    # Rows of a box that reaches over the end are possible and not certain.
    "count under a range": Asked(AGE, "SELECT count(*) AS n FROM people WHERE age < 24"),
    "filter and distinct": Asked(
        AGE,
        "SELECT count(*) FILTER (WHERE age < 30) AS young, count(DISTINCT ill) AS d FROM people WHERE cost > 1",
    ),
    "groups of an exact column": Asked(
        AGE,
        "SELECT ill, count(*) AS n FROM people WHERE age < 35 GROUP BY ill HAVING count(*) > 1 ORDER BY n DESC LIMIT 2",
    ),
    "ranges spread over their values": Asked(AGE, "SELECT age, count(*) AS n FROM people WHERE age < 24 GROUP BY age"),
    "sets spread over their members": Asked(
        {"k1": "sex"}, "SELECT sex, count(*) AS n FROM people WHERE sex <> 'X' GROUP BY sex"
    ),
    "ranges spread in steps": Asked(AGE, "SELECT floor(age / 10) AS decade, count(*) AS n FROM people GROUP BY 1"),
    "a table keyed by an exact column": Asked(
        AGE,
        "SELECT k.organ, count(*) AS n FROM people AS p JOIN kinds AS k ON k.ill = p.ill "
        "WHERE p.age < 30 GROUP BY k.organ",
    ),
    # A formula whose parts share a column is divided by what its values decide.
    "or of columns": Asked(
        BOTH, "SELECT count(*) AS n FROM people WHERE (age < 23 AND sex = 'F') OR (age > 35 AND ill <> 'flu')"
    ),
    "subqueries that calculate and filter": Asked(
        BOTH,
        "WITH w AS (SELECT age AS years, cost + 1 AS c, sex FROM people WHERE sex = 'F') "
        "SELECT count(*) AS n FROM (SELECT years, c FROM w WHERE c > 2) AS v WHERE years < 35",
    ),
    "sum under a range and a set": Asked(
        BOTH, "SELECT count(*) AS n, sum(cost) AS s FROM people WHERE age BETWEEN 22 AND 35 AND sex = 'F'"
    ),
    # Interval arithmetic.
    "range compared with an exact column": Asked(
        AGE, "SELECT count(*) AS n FROM people WHERE age - (5 - 2) < cost + 20"
    ),
}
