"""Data frames in and out.

The kind and the values are the same, no further library is needed, and nothing of the source is kept.
"""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sqlanon

N = 240
CANARY = "Zoe Canary"
ZONE = dt.UTC
ROOT = Path(__file__).parents[2]


def columns() -> dict[str, list[Any]]:
    """A table with what frames have and SQL may stumble over; NULLs, names with quotes and spaces, exact decimals."""
    return {
        'a"ge; --': [20 + i * 7 % 50 for i in range(N)],
        "Größe m": [None if i % 5 == 0 else i % 9 for i in range(N)],
        "seen": [dt.datetime(2024, 1, 1 + i % 28, 12, tzinfo=ZONE) for i in range(N)],
        "size": ["small" if i % 3 else "large" for i in range(N)],
        "name": [f"{CANARY} {i}" for i in range(N)],
        "illness": [("flu", "cold", "asthma")[i % 3] for i in range(N)],
        "cost": [Decimal(f"{10**15 + i}.25") for i in range(N)],
        "born": [None if i % 7 == 0 else dt.date(1950, 1, 1) + dt.timedelta(i) for i in range(N)],
    }


ASKED: dict[str, Any] = {
    "quasi": ['a"ge; --', "Größe m", "seen", "size"],
    "sensitive": "illness",
    "identifiers": "name",
    "insensitive": ["cost", "born"],
    "accept_unique": ["cost", "born"],
    "k": 6,
}


def as_pandas() -> pd.DataFrame:
    frame = pd.DataFrame(columns(), index=[f"{CANARY} row {i}" for i in range(N)])
    frame["Größe m"] = frame["Größe m"].astype("Int16")
    frame["seen"] = frame["seen"].dt.tz_convert("Europe/Berlin")
    frame["size"] = pd.Categorical(frame["size"], categories=["tiny", "small", "large"], ordered=True)
    frame["illness"] = frame["illness"].astype("category")
    return frame


def as_polars() -> pl.DataFrame:
    return pl.DataFrame(columns()).with_columns(
        pl.col("size").cast(pl.Enum(["tiny", "small", "large"])), pl.col("illness").cast(pl.Categorical)
    )


def as_arrow() -> pa.Table:
    return pa.table(columns())


GIVEN = {"pandas": as_pandas, "polars": as_polars, "arrow": as_arrow}


@pytest.fixture(scope="module", params=GIVEN)
def released(request: pytest.FixtureRequest) -> Any:
    """One release of each kind of frame."""
    with sqlanon.anonymize(GIVEN[request.param](), **ASKED) as release:
        yield request.param, release


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of any frame as Python's values, lists as tuples and missing values as None."""
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in found]


def test_the_kind_that_was_given_comes_back(released):
    kind, release = released
    wanted = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table}[kind]
    assert type(release.frame) is wanted


def test_classes_are_as_large_as_asked_and_cover_their_rows(released):
    """By brute force over the released frame.

    k rows share the published quasi columns, and their box covers the rows.
    """
    _, release = released
    table = release.to_polars()
    quasi = [name for name in table.columns if name not in ("illness", "cost", "born")]
    assert {name.removesuffix("_lo").removesuffix("_hi").removesuffix("_null") for name in quasi} == set(ASKED["quasi"])
    sizes = Counter(rows_of(release.to_arrow().select(quasi)))
    assert min(sizes.values()) == release.report.min_class == release.audit().k >= 6
    assert sum(sizes.values()) == N == release.report.rows
    ages, low, high = columns()['a"ge; --'], table['a"ge; --_lo'], table['a"ge; --_hi']
    # A row's cost is its own, so it says which row of the source it was.
    place = {cost: i for i, cost in enumerate(columns()["cost"])}
    for i, cost in enumerate(table["cost"]):
        assert low[i] <= ages[place[cost]] <= high[i]
        assert table["illness"][i] == columns()["illness"][place[cost]]
        assert table["born"][i] == columns()["born"][place[cost]]


def test_exact_types_survive_in_every_kind(released):
    _, release = released
    frame, other, table = release.to_pandas(), release.to_polars(), release.to_arrow()
    costs = sorted(columns()["cost"])
    assert sorted(frame["cost"]) == sorted(other["cost"]) == sorted(table["cost"].to_pylist()) == costs
    assert str(frame["Größe m_lo"].dtype).startswith("Int")
    assert frame["Größe m_lo"].isna().any()
    assert str(frame["seen_lo"].dtype).endswith("UTC]")
    assert table.schema.field("seen_lo").type.tz == "UTC"
    assert other.schema["seen_lo"] == pl.Datetime("us", "UTC")
    assert table.schema.field("born").type == pa.date32()
    assert other.schema["born"] == pl.Date
    assert list(frame.index) == list(range(N))
    assert rows_of(other) == rows_of(table)


def test_nothing_of_the_source_is_kept(released):
    _, release = released
    engine = release._database.engine
    databases = {row[0] for row in engine.fetch("SELECT database_name FROM duckdb_databases()")}
    assert {name for name in databases if not name.startswith("_sqlanon_empty")} == {"memory", "system", "temp"}
    tables = engine.fetch("SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL")
    assert tables == [("release", "frame"), ("release", "frame_metadata")]
    assert engine.fetch("SELECT count(*) FROM duckdb_views() WHERE NOT internal") == [(0,)]
    for _, name in tables:
        assert CANARY not in str(engine.fetch(f"SELECT * FROM release.{name}"))
    report, loss, audit = release.report, release.loss(), release.audit()
    assert CANARY not in f"{report}{loss}{audit}"


def test_a_release_of_a_frame_is_asked_and_keeps_its_measures(released):
    _, release = released
    ages = columns()['a"ge; --']
    answer = release.query('SELECT count(*) AS n FROM anything WHERE "a""ge; --" < 40').rows[0]["n"]
    assert answer.low <= sum(age < 40 for age in ages) <= answer.high
    assert release.loss() == release.report.loss
    assert release.audit().satisfied
    with pytest.raises(sqlanon.PolicyError, match="does not keep its source"):
        release.evaluate()


def test_categories_keep_a_declared_order():
    """``tiny < small < large``: a box from tiny to small does not hold large, unlike in the order of letters."""
    values = ["tiny"] * 3 + ["small"] * 3 + ["large"] * 6
    for frame in (
        pd.DataFrame({"size": pd.Categorical(values, categories=["tiny", "small", "large"], ordered=True)}),
        pl.DataFrame({"size": pl.Series(values, dtype=pl.Enum(["tiny", "small", "large"]))}),
    ):
        with sqlanon.anonymize(frame, quasi="size", k=6, format="labels") as release:
            assert set(release.to_polars()["size"]) == {"{small, tiny}", "large"}, release.to_polars()


def test_polars_needs_no_other_library(monkeypatch):
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    frame = pl.DataFrame({"age": [i // 5 for i in range(20)], "wait": [dt.timedelta(hours=i) for i in range(20)]})
    with sqlanon.anonymize(frame, quasi="age", insensitive="wait", accept_unique="wait", k=5) as release:
        assert release.frame["age_lo"].to_list() == sorted(i // 5 for i in range(20))
        assert sorted(release.frame["wait"]) == [dt.timedelta(hours=i) for i in range(20)]
        with pytest.raises(sqlanon.UnsupportedError, match="to_arrow needs the package pyarrow"):
            release.to_arrow()
        with pytest.raises(sqlanon.UnsupportedError, match="to_pandas needs the package pandas"):
            release.to_pandas()


@pytest.mark.thorough
def test_no_library_of_frames_is_imported_with_sqlanon():
    code = "import sys, sqlanon.database.frames; print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout == "set()\n"


def person(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"age": [1, 2], **more})


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (person(AGE=[1, 2]), {}, "differ in their case at most: AGE, age"),
        (pa.table([[1, 2], [1, 2]], names=["age", "age"]), {}, "differ in their case at most: age"),
        (person(**{"": [1, 2]}), {}, "whose name is no text, or empty"),
        (pd.DataFrame([[1, 2], [3, 4]]), {"quasi": "0"}, "2 column.* whose name is no text"),
        (person(m=pd.period_range("2024-01", periods=2, freq="M")), {"insensitive": "m"}, r"lacks: m \(period\[M\]\)"),
        ({"age": [1, 2]}, {}, "a dict is no file and no frame"),
        (pl.LazyFrame({"age": [1, 2]}), {}, "polars .collected."),
        (person(), {"publish": "release.x"}, "publish: the release of a frame is a frame"),
        (person(), {"key": "age"}, "key: the release of a frame has no versions"),
        (person(), {"to": "x.csv"}, "to is for files"),
        (person(), {"types": {"age": "INT"}}, "types is for files"),
        (person(), {"k": 3}, "2 rows"),
        (person().head(0), {}, "frame: main.frame has no rows"),
        (person(secret=[CANARY, CANARY]), {}, "secret"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_refused_says_why(frame, options, message):
    with pytest.raises(sqlanon.SqlanonError, match=message) as caught:
        sqlanon.anonymize(frame, **{"quasi": "age", "k": 1, **options})
    assert CANARY not in str(caught.value)


def test_a_file_needs_to(tmp_path):
    with pytest.raises(TypeError, match="to is missing"):
        sqlanon.anonymize(tmp_path / "x.csv", quasi="age", k=1)


def test_objects_have_the_type_of_all_their_values():
    """DuckDB looks at a sample of 1,000 objects unless it is asked to look at all."""
    frame = pd.DataFrame({"code": pd.Series([*range(1500), "x"] * 2, dtype=object)})
    with sqlanon.anonymize(frame, quasi="code", k=2) as release:
        assert release.report.rows == 3002


def test_anatomy_has_a_second_frame():
    frame = pl.DataFrame({"age": list(range(12)), "illness": ["a", "b", "c"] * 4})
    with sqlanon.anonymize(frame, quasi="age", sensitive="illness", l=2, method="anatomy", format="anatomy") as release:
        assert sorted(release.frame["age"]) == list(range(12))
        counted = release.to_polars(sensitive=True)
        assert counted["count"].sum() == 12
        assert set(counted["illness"]) == {"a", "b", "c"}
    with (
        sqlanon.anonymize(frame, quasi="age", rest="drop", k=2) as release,
        pytest.raises(sqlanon.PolicyError, match="second table"),
    ):
        release.to_polars(sensitive=True)


def test_a_release_in_a_database_becomes_every_kind(shared_db, tmp_path):
    """The rows that the engine itself has, in types that are as near as there are."""
    from tests.engines import create_table

    rows = [
        (
            20 + i % 7,
            f"s'{i % 3}",
            Decimal(i % 4) / 8,
            None if i % 6 else dt.date(2024, 1, 1 + i % 9),
            i % 2 == 0,
            i / 3,
        )
        for i in range(60)
    ]
    names = ("age", "city", "cost", "day", "ok", "ratio")
    types = ("integer", "text", "numeric", "date", "boolean", "float")
    create_table(shared_db, "framed", dict(zip(names, types, strict=True)), rows)
    release = shared_db.anonymize(
        "framed", quasi=["age", "city"], insensitive=list(names[2:]), accept_unique="ratio", k=5
    )
    wanted = Counter(
        tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row)
        for row in shared_db.engine.fetch("SELECT * FROM release.framed")
    )
    table, frame = release.to_arrow(), release.to_pandas()
    assert Counter(rows_of(table)) == wanted == Counter(rows_of(release.to_polars()))
    assert table.schema.field("day").type == pa.date32()
    assert pa.types.is_decimal(table.schema.field("cost").type)
    assert sorted(frame["cost"]) == sorted(row[2] for row in rows)
    for ending in ("csv", "parquet"):
        (file,) = release.write(tmp_path / f"out.{ending}")
        assert len(pl.read_parquet(file) if ending == "parquet" else pl.read_csv(file)) == 60
    assert Counter(rows_of(pa.table(pl.read_parquet(tmp_path / "out.parquet")))) == wanted
    with pytest.raises(sqlanon.PolicyError, match=r"written as .csv or .parquet"):
        release.write(tmp_path / "out.txt")


def test_a_release_in_another_file_is_read_there(tmp_path):
    import duckdb

    source = tmp_path / "source.duckdb"
    with duckdb.connect(str(source)) as made:
        made.execute("CREATE TABLE t AS SELECT i // 5 AS age FROM range(20) AS r(i)")
    with sqlanon.connect(f"duckdb:///{source}") as db:
        release = db.anonymize("t", quasi="age", k=5, publish="release.t", publish_file=str(tmp_path / "out.duckdb"))
        assert release.to_polars()["age_lo"].to_list() == [i // 5 for i in range(20)]
