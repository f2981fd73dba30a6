"""Columns of any name can be published on Spark.

What a template adds to them is called as no column of a policy may be.
"""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import TableRef
from sqlanon.sqltext import statement


@pytest.mark.parametrize("names", [["mark", "part"], ["age_lo", "age_hi"]])
def test_names_beside_a_star_are_ours(names: list[str]) -> None:
    """Two columns of one name in a subquery are ambiguous."""
    made = statement(
        "recode/released",
        "spark",
        released=TableRef("s", "r"),
        shown=TableRef("s", "v"),
        names=names,
        keys=dict.fromkeys(names),
    )
    stars = [select for select in sqlglot.parse_one(made.text, read="spark").find_all(exp.Select) if select.is_star]
    added = [one.alias for select in stars for one in select.expressions if not one.is_star]
    assert stars
    assert added
    assert all(name.startswith("_sqlanon_") for name in added)
