"""Calls of functions with other operands: each operand takes its place, in a list or alone."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

import sqlanon.query.functions.registry  # noqa: F401 - the operands of calls are those of its definitions
from sqlanon.query.functions.definition import Call, flat
from sqlanon.query.sql.sqltree import column

WRITTEN = {
    "greatest(a, b, c)": "GREATEST(p0, p1, p2)",
    "coalesce(a, b, 3)": "COALESCE(p0, p1, p2)",
    "a IN (1, b, 2)": "p0 IN (p1, p2, p3)",
    "concat(a, 'x', b)": "CONCAT(p0, p1, p2)",
    "CASE WHEN a > 1 THEN b WHEN c THEN 2 ELSE 3 END": "CASE WHEN p0 THEN p1 WHEN p2 THEN p3 ELSE p4 END",
    "CASE a WHEN 1 THEN b ELSE 3 END": "CASE p0 WHEN p1 THEN p2 ELSE p3 END",
    "substring(a, 2, 3)": "SUBSTRING(p0, p1, p2)",
    "a + b": "p0 + p1",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_operands_take_their_places(text: str) -> None:
    node = sqlglot.parse_one(f"SELECT {text}", read="duckdb").expressions[0]
    call = Call(node, (), exp.DataType.build("INT"), "duckdb")
    operands = [column(f"p{i}") for i in range(len(flat(node)))]
    assert call.at(*operands).sql(dialect="duckdb").replace('"', "") == WRITTEN[text]
    assert node.sql(dialect="duckdb") != WRITTEN[text]  # the call itself stays as it was
