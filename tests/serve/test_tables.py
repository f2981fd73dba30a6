"""Names of the tables that clients see."""

from __future__ import annotations

import sqlanon
from sqlanon.serve.client_tables import Reader, read_served
from tests.oracle.handmade import plain, publish


def test_dots_in_the_name_of_a_lake_table_are_part_of_the_name() -> None:
    sources = {"a": "iceberg:lake/clinic.visits", "b": "delta:/lake/v1.2/visits", "c": "shop.visits"}
    with sqlanon.connect("duckdb:///:memory:") as db:
        for name, source in sources.items():
            publish(db, name, [plain("x", "integer", "INTEGER")], [("1",)], facts={"source": source})
        served = read_served(db.engine, Reader(None, owner=True))
    names = [("public", sources["a"]), ("public", sources["b"]), ("shop", "visits")]
    assert [(table.schema, table.name) for table in served] == names
