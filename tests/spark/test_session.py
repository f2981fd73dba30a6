"""Settings of the caller's session.

What is released does not depend on its time zone, nor on whether it distinguishes cases of names.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import PolicyError
from tests.spark.tables import arrow, in_duckdb, load

pytestmark = [pytest.mark.spark, pytest.mark.thorough]


def test_a_session_of_another_time_zone(session: Any) -> None:
    """Readers there see the moments and the wall clocks that DuckDB publishes, and the session keeps its zone."""
    own = session.newSession()
    own.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    table = arrow(40)
    load(own, table, "zoned")
    options: dict[str, Any] = {
        "quasi": ("t", "z", "d"),
        "identifiers": "name",
        "rest": "drop",
        "k": 4,
        "method": "tree",
        "name": "zoned",
    }
    with in_duckdb(table, "zoned") as known, sqlanon.connect(own, temporary=True, accept_shared=True) as db:
        for one in (known, db):
            one.anonymize("zoned", **options)
        expected = known.engine.fetch(
            "SELECT CAST(t_lo AS VARCHAR), CAST(t_hi AS VARCHAR), epoch_us(z_lo), epoch_us(z_hi), CAST(d_lo AS "
            "VARCHAR) FROM release.zoned"
        )
    shown = own.sql(
        "SELECT CAST(t_lo AS STRING), CAST(t_hi AS STRING), unix_micros(z_lo), unix_micros(z_hi), CAST(d_lo AS STRING) "
        "FROM release.zoned"
    ).collect()
    assert Counter(map(tuple, shown)) == Counter(expected)
    assert own.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


@pytest.mark.parametrize("distinguished", ["true", "false"])
def test_names_in_other_cases(session: Any, distinguished: str) -> None:
    """A policy may write names otherwise than the table, whatever the session does; what is published has the table's.

    Names have three parts.
    """
    own = session.newSession()
    own.conf.set("spark.sql.caseSensitive", distinguished)
    name = f"mixed_{distinguished}"
    own.sql(f"CREATE TABLE {name} AS SELECT id, id % 7 AS Age, id % 3 AS sex FROM range(30)")
    with sqlanon.connect(own, temporary=True, accept_shared=True) as db:
        options: dict[str, Any] = {"quasi": ["AGE", "Sex"], "identifiers": "ID", "k": 3, "name": name}
        with pytest.raises(PolicyError, match=f"publish: elsewhere.release.{name} is in another catalog"):
            db.anonymize(name, publish=f"elsewhere.release.{name}", **options)
        made = db.anonymize(f"spark_catalog.default.{name.upper()}", publish=f"spark_catalog.release.{name}", **options)
        assert made.audit().k >= 3
        (row,) = db.query(f"SELECT count(*) AS n FROM {name} WHERE aGe >= 0").rows
        assert (row["n"].low, row["n"].high) == (30, 30)
    assert {"Age_lo", "sex_lo"} <= set(own.table(f"release.{name}").columns)
    assert own.conf.get("spark.sql.caseSensitive") == distinguished


def test_unsigned_numbers_of_duckdb(session: Any, tmp_path: Path) -> None:
    """Spark reads them from Parquet in wider types of its own.

    The release is that of DuckDB, and a file of it holds the same values.
    """
    file = tmp_path / "unsigned.parquet"
    options: dict[str, Any] = {
        "quasi": ["a", "b", "c"],
        "identifiers": "i",
        "k": 4,
        "name": "unsigned",
        "method": "tree",
    }
    read = (
        "SELECT CAST(a_lo AS BIGINT), CAST(a_hi AS BIGINT), CAST(b_hi AS BIGINT), CAST(c_lo AS VARCHAR), CAST(c_hi AS "
        "VARCHAR) FROM {}"
    )
    with sqlanon.connect("duckdb:///:memory:") as known:
        known.engine.execute(
            "CREATE TABLE unsigned AS SELECT CAST(i AS UTINYINT) AS a, CAST(3000000000 + 1000 * i AS UINTEGER) AS b, "
            "CAST(18000000000000000000 AS UBIGINT) + CAST(i AS UBIGINT) AS c, i FROM range(40) AS r(i)"
        )
        known.engine.execute(f"COPY unsigned TO '{file}'")
        known.anonymize("unsigned", **options)
        session.sql(f"CREATE TABLE unsigned USING parquet LOCATION '{file}'")
        with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
            made = db.anonymize("unsigned", **options)
            made.write(tmp_path / "out.parquet")
            shown = db.engine.fetch(read.format("release.unsigned").replace("VARCHAR", "STRING"))
        expected = Counter(known.engine.fetch(read.format("release.unsigned")))
        assert Counter(shown) == expected
        assert Counter(known.engine.fetch(read.format(f"'{tmp_path}/out.parquet'"))) == expected
    session.sql("DROP TABLE unsigned")
