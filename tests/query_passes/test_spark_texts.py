"""Texts of queries in Spark's dialect: a doubled quote, which sqlglot reads as two texts, is refused."""

from __future__ import annotations

import pytest

from sqlanon.query.parse.parse import parse
from sqlanon.query.refusal import RefusedQueryError

ASKED = "select count(*) from t where a = '{}'"


def test_a_quote_within_a_text_is_written_with_a_backslash() -> None:
    """Spark reads ``it''s`` as ``it's``; sqlglot would ask for ``its``."""
    with pytest.raises(RefusedQueryError, match=r"write a quote within a text as \\'"):
        parse(ASKED.format("it''s"), "spark")
    where = parse(ASKED.format(r"it\'s"), "spark").where
    assert where is not None
    assert where.sql(dialect="duckdb") == "a = 'it''s'"


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_other_dialects_double_it(dialect: str) -> None:
    where = parse(ASKED.format("it''s"), dialect).where
    assert where is not None
    assert where.sql(dialect="duckdb") == "a = 'it''s'"
