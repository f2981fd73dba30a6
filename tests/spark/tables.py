"""A table of every type that Spark and DuckDB share, with NULL, NaN, -0.0 and texts that quoting could break."""

from __future__ import annotations

import datetime
import decimal
import random
from typing import Any

COLUMNS = {
    "f": "DOUBLE",
    "d": "DATE",
    "t": "TIMESTAMP",
    "z": "TIMESTAMP WITH TIME ZONE",
    "m": "DECIMAL(7, 2)",
    "w": "DECIMAL(38, 0)",
    "b": "BOOLEAN",
    "s": "VARCHAR",
    "i": "SMALLINT",
    "l": "BIGINT",
    "diag": "VARCHAR",
    "name": "VARCHAR",
    "odd `\"' col": "DOUBLE",
}
QUASI = ("f", "d", "t", "z", "m", "w", "b", "s", "i", "l")
ODD = "odd `\"' col"
CANARY = "canary-7f3a"


def arrow(rows: int) -> Any:
    """The table, by Arrow; the last column has a name with every quote, the names of people are marked."""
    import pyarrow as pa

    draw = random.Random(3)
    start = datetime.datetime(2000, 1, 1)

    def some(make: Any) -> list[Any]:
        return [None if draw.random() < 0.05 else make() for _ in range(rows)]

    values: dict[str, Any] = {
        "f": (
            some(lambda: draw.choice([0.0, -0.0, float("nan"), float("inf"), float("-inf"), draw.random() * 10])),
            pa.float64(),
        ),
        "d": (some(lambda: start.date() + datetime.timedelta(draw.randrange(3000))), pa.date32()),
        "t": (some(lambda: start + datetime.timedelta(seconds=draw.randrange(10**8))), pa.timestamp("us")),
        "z": (
            some(lambda: start.replace(tzinfo=datetime.UTC) + datetime.timedelta(seconds=draw.randrange(10**8))),
            pa.timestamp("us", tz="UTC"),
        ),
        "m": (some(lambda: decimal.Decimal(draw.randrange(-(10**6), 10**6)) / 100), pa.decimal128(7, 2)),
        "w": (some(lambda: decimal.Decimal(draw.randrange(-(10**20), 10**20))), pa.decimal128(38, 0)),
        "b": (some(lambda: draw.random() < 0.3), pa.bool_()),
        "s": (some(lambda: draw.choice(["a", "b'b", "c\\d", "é", "", '"', "`", ":k", CANARY])), pa.string()),
        "i": (some(lambda: draw.randrange(-50, 50)), pa.int16()),
        "l": (some(lambda: draw.randrange(-(2**62), 2**62)), pa.int64()),
        "diag": ([draw.choice(["x", "y", "z'"]) for _ in range(rows)], pa.string()),
        "name": ([f"{CANARY}-{i}" for i in range(rows)], pa.string()),
        ODD: (some(lambda: draw.choice([0.5, -0.0, 0.0, float("nan")])), pa.float64()),
    }
    return pa.table({name: pa.array(cells, kind) for name, (cells, kind) in values.items()})


def load(spark: Any, table: Any, name: str) -> None:
    """Make a table of Spark of one file, as Spark reads the largest of several first.

    A time without a zone stays one.
    """
    view = f"{name}_rows"
    before = spark.conf.get("spark.sql.timestampType", "TIMESTAMP_LTZ")
    spark.createDataFrame(table).coalesce(1).createOrReplaceTempView(view)
    types = {"t": "TIMESTAMP_NTZ"}
    listed = ", ".join(
        f"CAST({quoted(c)} AS {types[c]}) AS {quoted(c)}" if c in types else quoted(c) for c in table.column_names
    )
    spark.sql(f"CREATE TABLE {name} AS SELECT {listed} FROM {view}")
    spark.catalog.dropTempView(view)
    assert before == spark.conf.get("spark.sql.timestampType", "TIMESTAMP_LTZ")


def quoted(name: str) -> str:
    """A name as Spark has it."""
    return "`" + name.replace("`", "``") + "`"


def in_duckdb(table: Any, name: str) -> Any:
    """The same table in DuckDB, connected."""
    import sqlanon
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    made = sqlanon.connect("duckdb:///:memory:")
    assert isinstance(made.engine, DuckDBEngine)
    raw = made.engine._connection
    raw.register("rows_of_it", table)
    raw.execute("USE memory.main")
    raw.execute(f"CREATE TABLE memory.main.{name} AS SELECT * FROM rows_of_it")
    raw.unregister("rows_of_it")
    made.engine._current = "memory"
    return made
