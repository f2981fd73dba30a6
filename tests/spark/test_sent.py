"""Releases from Spark in other places (``publish_to``, ``publish: delta:..``): what arrives, after kills as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines.base import TableRef
from sqlanon.engines.portable import Portable, PortableColumn
from sqlanon.engines.spark.engine import SparkEngine
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.release.publish import send
from tests.contract.elsewhere import KINDS, shown, visits_spec
from tests.contract.lakes import Delta, rows_in
from tests.contract.test_transfer import marks
from tests.contract.test_transfer import send as carry

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

VALUES = """
SELECT CAST(a AS TINYINT) AS tiny, CAST(a AS BIGINT) * 4611686018427387904 AS large,
    CAST(a / 8 AS DECIMAL(9, 3)) AS price, a > 0 AS truth,
    CASE a WHEN 0 THEN '' WHEN 1 THEN 'é🙂\\\\N' ELSE "b'\\t\\n" END AS words,
    CAST(CASE a WHEN 0 THEN '0001-01-01' WHEN 1 THEN '-0043-03-15' ELSE '+12345-06-07' END AS DATE) AS day,
    CAST(CASE a WHEN 0 THEN '-0043-03-15 10:00:00.5' WHEN 1 THEN '1969-12-31 23:59:59.999999' ELSE '9999-12-31' END
        AS TIMESTAMP_NTZ) AS at,
    CAST(CASE a WHEN 0 THEN '-0043-03-15 10:00:00' WHEN 1 THEN '2020-02-29 23:59:59.12' ELSE '2000-01-01' END
        AS TIMESTAMP) AS moment,
    CAST(CASE a WHEN 0 THEN '' ELSE 'a\\\\x' END AS BINARY) AS data,
    CASE a WHEN 0 THEN ARRAY('a,b', NULL, '', '"') WHEN 1 THEN CAST(ARRAY() AS ARRAY<STRING>) END AS listed,
    CASE a WHEN 0 THEN ARRAY(CAST('NaN' AS DOUBLE), -0.0D, NULL, 0.1D) END AS numbers
FROM (SELECT EXPLODE(ARRAY(-1, 0, 1, NULL)) AS a) AS r
"""
FLOATS = """
0.0 -0.0 0.1 -0.1 1.0 2.0 0.5 3.0 1e308 1.7976931348623157E308 -1.797E308 2.2250738585072014E-308 2.225073858507201E-308
4.9E-324 1e-320 NaN Infinity -Infinity 9007199254740993 0.9999999999999999 1.0000000000000002 1.9999999999999998
3.9999999999999996 1e22
"""


@pytest.fixture(scope="module")
def spark(session: Any) -> Iterator[Any]:
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        yield db


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_every_value_arrives_with_the_same_hash(spark, kind, tmp_path):
    if why := KINDS[kind].missing():
        pytest.skip(why)
    spark.engine.execute(f"CREATE OR REPLACE TEMPORARY VIEW values_sent AS {VALUES}")
    numbers = ", ".join(f"'{text}'" for text in FLOATS.split())
    spark.engine.execute(
        "CREATE OR REPLACE TEMPORARY VIEW floats_sent AS SELECT CAST(x AS DOUBLE) AS x, CAST(x AS FLOAT) AS y, "
        f"CASE WHEN x <> '0.0' THEN CAST(x AS DOUBLE) END AS z FROM (SELECT EXPLODE(ARRAY({numbers})) AS x) AS r"
    )
    url = KINDS[kind].fresh(tmp_path)
    with sqlanon.connect(url) as there:
        for name in ("values_sent", "floats_sent"):
            carry(spark.engine, there.engine, TableRef(None, name))
            there.engine.execute("DROP TABLE copied")
    KINDS[kind].drop(url)


def test_other_rows_have_another_hash(spark):
    asked = [PortableColumn("a", Portable("text")).parameters(), PortableColumn("b", Portable("float64")).parameters()]
    seen = set()
    for rows in ("('x', 1D)", "('x', 1D), ('x', 1D)", "('x', -1D)", "('1', 0D)", "('N', NULL)", "(NULL, NULL)"):
        spark.engine.execute(f"CREATE OR REPLACE TEMPORARY VIEW other_sent AS SELECT * FROM VALUES {rows} AS t(a, b)")
        seen.add(marks(spark.engine, TableRef(None, "other_sent"), asked))
    assert len(seen) == 6


def fill(db: Any, rows: int) -> None:
    cells = ", ".join(f"({i}, {20 + i % 6}, 'd{i % 4}')" for i in range(rows))
    db.engine.execute("DROP TABLE IF EXISTS visits")
    db.engine.execute(f"CREATE TABLE visits AS SELECT * FROM VALUES {cells} AS t(id, age, ill)")


class Target:
    """A place outside, and the rows of its readers."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.lake = Delta(folder) if kind == "delta" else None
        self.kind = None if self.lake else KINDS[kind]
        if self.kind is not None and (why := self.kind.missing()):
            pytest.skip(why)
        self.url = self.lake.name if self.lake else self.kind.fresh(folder) if self.kind else ""

    def rows(self) -> Counter[str]:
        if self.lake:
            return rows_in(self.lake)
        with sqlanon.connect(self.url) as db:
            return shown(db)

    def drop(self) -> None:
        if self.kind is not None:
            self.kind.drop(self.url)


@pytest.fixture(params=["postgres", "duckdb", "delta"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    made = Target(request.param, tmp_path)
    yield made
    made.drop()


def test_versions_a_failure_and_a_rollback(spark, target, monkeypatch):
    """Rows are worked on in memory of this process, then by Spark; what was lost on the way publishes nothing."""
    name = f"visits_{target.url.partition(':')[0]}"
    asked = visits_spec(target.url, name=name, publish="release.visits", keep=2)
    fill(spark, 18)
    monkeypatch.setattr(SparkEngine, "most_rows", 100)
    first = spark.run(asked)
    assert target.rows() == shown(spark)
    assert sum(target.rows().values()) == 18
    assert spark.run(asked).outcome == "unchanged"
    before = target.rows()
    monkeypatch.setattr(SparkEngine, "most_rows", 0)
    fill(spark, 24)
    plain = SparkEngine.stream_rows
    with monkeypatch.context() as patched:
        patched.setattr(SparkEngine, "stream_rows", lambda *words: (block[1:] for block in plain(*words)))
        with pytest.raises(PrivacyViolation, match="differ from what was verified"):
            spark.run(asked)
    assert target.rows() == before == shown(spark)
    second = spark.run(asked)
    assert (first.version, second.outcome) == (1, "published")
    assert target.rows() == shown(spark) != before
    spark.rollback(name)
    assert target.rows() == shown(spark) == before
    spark.unpublish(name, purge=True)
    assert target.rows() == shown(spark) == Counter()


@pytest.mark.parametrize("target", ["duckdb"], indirect=True)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_around_the_commit(spark, target, moment, monkeypatch):
    name = f"killed_{moment}"
    asked = visits_spec(target.url, name=name, publish="release.visits")
    fill(spark, 18)
    spark.run(asked)
    before = target.rows()
    fill(spark, 24)
    owner, attribute = (send.Receiver, "add") if moment == "before" else (send, "_send_version")
    plain = getattr(owner, attribute)

    def last(*words: Any) -> None:
        if moment == "after":
            plain(*words)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, attribute, last)
        patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            spark.run(asked)
    assert (target.rows() == before) == (moment == "before")
    assert spark.run(asked).outcome == ("published" if moment == "before" else "unchanged")
    assert target.rows() == shown(spark) != before
    spark.unpublish(name, purge=True)


def test_types_that_no_other_engine_has(spark, tmp_path):
    fill(spark, 18)
    spark.engine.execute("CREATE OR REPLACE VIEW odd_visits AS SELECT *, INTERVAL '1' DAY AS wait FROM visits")
    asked = visits_spec(f"duckdb:///{tmp_path}/a.duckdb", source="odd_visits", insensitive="wait", name="odd")
    with pytest.raises(PolicyError, match=r"no type for every value of these columns.*wait"):
        spark.run(asked)


COUNTS = """
version: 1
releases:
  - name: {name}
    source: visits
    publish: {lake}
    person: id
    statistics:
      columns: {{ill: {{}}, age: {{}}}}
      tables: [{{name: all, by: [ill, age]}}]
      measures: {{n: count}}
      protect: {{persons: 3}}
"""


def test_counts_in_a_lake_table(spark, tmp_path):
    fill(spark, 24)
    lake = Delta(tmp_path)
    (spec,) = policy.loads(COUNTS.format(name="counted", lake=lake.name), {}).releases
    spark.run(spec)
    view = spark.engine.relation("release.counted")
    names = [column.name for column in view.columns]
    rows = spark.engine.fetch("SELECT * FROM release.counted")
    assert rows_in(lake) == Counter(str(sorted(zip(names, row, strict=True))) for row in rows)
    assert spark.run(spec).outcome == "unchanged"
