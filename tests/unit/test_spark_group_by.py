"""Groups by numbers of columns, which servers of Spark Connect read in several ways."""

from __future__ import annotations

import pytest
import sqlglot

from sqlanon.sqltext.trees import port_tree


@pytest.mark.parametrize(
    ("keys", "ported"),
    [
        ("a AS k", "a"),
        ("COALESCE(a > 1, FALSE) AS k", "COALESCE(a > 1, FALSE)"),
        ("1 AS k", "1"),
        ("COALESCE(a, :bound) AS k", "1"),
        ("(SELECT MAX(b) FROM u) + a AS k", "1"),
    ],
)
def test_spark_groups_by_expressions_over_columns(keys: str, ported: str) -> None:
    text = f"SELECT {keys}, COUNT(*) AS n FROM t GROUP BY 1"
    tree = sqlglot.parse_one(text, dialect="duckdb")
    assert port_tree(tree.copy(), "spark").sql(dialect="spark").partition(" GROUP BY ")[2] == ported
    assert port_tree(tree, "duckdb").sql(dialect="duckdb").endswith(" GROUP BY 1")
