"""A lineage's later cohorts are held to what a quasi column of texts may list, by the whole source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from sqlanon.spec import CohortSpec, RefreshSpec
from tests.engines import create_table


def test_a_cohort_may_not_make_a_column_a_list_of_everybody(shared_db: Any) -> None:
    """90 addresses of 200 rows are accepted; with 300 rows more, each with an address of its own, they are not."""
    name = f"mails_{uuid4().hex[:8]}"
    columns = {"id": "INTEGER", "mail": "TEXT", "age": "INTEGER"}
    create_table(shared_db, name, columns, [(at, f"m{at % 90}@x", at % 4) for at in range(200)])
    made = sqlanon.policy.release(
        source=name, quasi=["mail", "age"], identifiers="id", key="id", k=3, publish=f"release.{name}"
    )
    spec = replace(made, refresh=RefreshSpec("frozen", cohort=CohortSpec(8, None)))
    shared_db.run(spec)
    create_table(shared_db, f"{name}_new", columns, [(1000 + at, f"new{at}@x", at % 4) for at in range(300)])
    shared_db.engine.execute(f"INSERT INTO {name} SELECT * FROM {name}_new")
    with pytest.raises(sqlanon.GuardError, match="mail has 390 distinct values in 500 rows"):
        shared_db.run(spec)
