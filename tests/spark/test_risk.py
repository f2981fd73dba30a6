"""Figures of sets of columns are on Spark those of DuckDB."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from tests.spark.tables import arrow, in_duckdb, load

pytestmark = [pytest.mark.spark, pytest.mark.thorough]


def test_sets_of_columns_and_wildcards(session: Any) -> None:
    table = arrow(60)
    load(session, table, "risky")
    with in_duckdb(table, "risky") as known, sqlanon.connect(session, temporary=True, accept_shared=True) as spark:
        few = [one.name for one in known.engine.relation("risky").columns][:5]
        found = [
            (db.find_quasi("risky", columns=few).sets, db.assess("risky", quasi=few, null_is="wildcard").wildcard)
            for db in (spark, known)
        ]
    assert found[0] == found[1]
    assert found[0][0]
