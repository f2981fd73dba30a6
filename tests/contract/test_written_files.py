"""Written files and frames contain what was verified.

Every type and every odd value is compared by other readers and by plain SQL.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import sqlanon
from tests.contract.odd_values import TYPES

REFUSED = {
    "parquet": {"UNION"},
    "csv": {"UNION", "VARIANT"},
    **{frame: {"UNION", "VARIANT"} for frame in ("arrow", "polars", "pandas")},
}
"""Types that a target holds in no way."""
ROWS = 120


def made(path: Path, columns: dict[str, list[str]]) -> str:
    """A database whose table t has in each column its values in turn, NULL in some rows, and a column to group by."""
    source = path / "source.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        shown = ", ".join(
            f'CASE WHEN i >= 6 THEN ([{", ".join(values)}])[1 + i % {len(values)}] END AS "{name}"'
            for name, values in columns.items()
        )
        connection.execute(f"CREATE TABLE t AS SELECT i // 6 AS age, {shown} FROM range({ROWS}) AS r(i) ORDER BY i")
    return f"duckdb:///{source}"


def released(db: Any, columns: Iterable[str]) -> Any:
    return db.anonymize("t", quasi="age", insensitive=list(columns), accept_unique=list(columns), k=4)


@pytest.fixture(autouse=True)
def long_fields() -> Iterator[None]:
    before = csv.field_size_limit(10_000_000)
    yield
    csv.field_size_limit(before)


@pytest.fixture(scope="module")
def plain() -> Any:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One release of a column of every type that each target holds.

    Its files, its frames, and the texts of the source.
    """
    path = tmp_path_factory.mktemp("written")
    columns = {name: values for name, values in TYPES.items() if name not in {"UNION", "VARIANT", "DOUBLE"}}
    doubles = path / "doubles"
    doubles.mkdir()
    with (
        sqlanon.connect(made(path, columns)) as db,
        sqlanon.connect(made(doubles, {"DOUBLE": TYPES["DOUBLE"]})) as second,
    ):
        release, other = released(db, columns), released(second, {"DOUBLE": TYPES["DOUBLE"]})
        with pytest.warns(UserWarning, match=r"^out\.csv: ") as caught:
            release.write(path / "out.csv")
        said = sorted(str(one.message).partition(": ")[2].partition(": ")[0] for one in caught)
        assert said == [
            "column INTERVAL of days",
            "column VARCHAR holds empty texts and NULL",
        ]  # '-3 days' is a formula
        release.write(path / "out.parquet")
        other.write(path / "double.csv")
        other.write(path / "double.parquet")
        texts = {
            name: Counter(row[0] for row in one.engine.fetch(f'SELECT CAST("{name}" AS VARCHAR) FROM t'))
            for one, names in ((db, columns), (second, ["DOUBLE"]))
            for name in names
        }
        frames = {frame: getattr(release, f"to_{frame}")() for frame in ("arrow", "polars", "pandas")}
        second_frames = {frame: getattr(other, f"to_{frame}")() for frame in ("arrow", "polars")}
        with pytest.raises(sqlanon.PolicyError, match="one missing value for the NULL and the NaN of DOUBLE"):
            other.to_pandas()
        yield path, texts, frames, second_frames


HELD = [kind for kind in TYPES if kind not in {"UNION", "VARIANT"}]


@pytest.mark.parametrize("kind", HELD)
def test_parquet_has_every_value_of_the_source(written: Any, plain: Any, kind: str) -> None:
    path, texts, *_ = written
    file = path / ("double.parquet" if kind == "DOUBLE" else "out.parquet")
    rows = plain.execute(f"SELECT CAST(\"{kind}\" AS VARCHAR) FROM read_parquet('{file}')").fetchall()
    assert Counter(row[0] for row in rows) == texts[kind]
    assert "double" not in str(pq.read_schema(file).field(kind).type) or kind == "DOUBLE"


@pytest.mark.parametrize("kind", HELD)
def test_csv_has_every_value_of_the_source(written: Any, kind: str) -> None:
    path, texts, *_ = written
    with (path / ("double.csv" if kind == "DOUBLE" else "out.csv")).open(newline="") as file:
        found = Counter(row[kind] for row in csv.DictReader(file))
    if kind == "VARCHAR[]":
        assert set(found) == {"", "{}", "{a}", '{a, NULL, "b,c", "", "NULL"}'}
    else:
        wanted: Counter[str] = Counter()
        for value, rows in texts[kind].items():
            wanted["" if value is None else value] += rows
        assert found == wanted


@pytest.mark.parametrize("frame", ["arrow", "polars", "pandas"])
@pytest.mark.parametrize("kind", HELD)
def test_a_frame_has_every_value_of_the_source(written: Any, kind: str, frame: str) -> None:
    """As many different values as the source has, each as often, by the library's own Python values."""
    _, texts, frames, second = written
    if kind == "DOUBLE":
        if frame != "pandas":
            shown = {value or "None" for value in cells(second[frame], kind)}
            assert shown == {"None", "nan", "-inf", "-0.0", "5e-324", "0.30000000000000004"}
        return
    found, wanted = cells(frames[frame], kind), Counter(texts[kind])
    assert found.pop(None) == wanted.pop(None) == 6
    assert sorted(found.values()) == sorted(wanted.values())


def cells(frame: Any, name: str) -> Counter[Any]:
    """The cells of a column, missing ones as None."""
    if isinstance(frame, pl.DataFrame):
        column = frame[name]
        if column.dtype.is_temporal():
            column = column.to_physical()
        found = [None if missing else value for value, missing in zip(column.to_list(), column.is_null(), strict=True)]
    elif hasattr(frame, "schema"):
        column = frame[name].combine_chunks()
        kind = str(column.type)
        if kind.startswith(("time64", "timestamp", "date32")):  # Python has neither nanoseconds nor years before 1
            column = column.cast("int32" if kind.startswith("date32") else "int64")
        found = column.to_pylist()
    else:
        found = [
            None if missing is True else value for value, missing in zip(frame[name], frame[name].isna(), strict=True)
        ]
    return Counter(repr(value) if isinstance(value, list | dict | float) else value for value in found)


@pytest.mark.parametrize("kind", ["UNION", "VARIANT"])
def test_a_column_that_a_target_cannot_hold_is_named(tmp_path: Path, plain: Any, kind: str) -> None:
    columns = {"x": TYPES[kind]}
    with sqlanon.connect(made(tmp_path, columns)) as db:
        release = released(db, columns)
        texts = Counter(row[0] for row in db.engine.fetch("SELECT CAST(x AS VARCHAR) FROM t"))
        for target, refused in REFUSED.items():
            file = tmp_path / f"out.{target}"
            make = (
                getattr(release, f"to_{target}")
                if target not in ("csv", "parquet")
                else (lambda file=file: release.write(file))
            )
            if kind in refused:
                with pytest.raises(sqlanon.PolicyError, match=rf"x \({kind}") as caught:
                    make()
                assert target in str(caught.value).lower()
                assert not file.exists()
            else:
                make()
                rows = plain.execute(f"SELECT CAST(x AS VARCHAR) FROM read_parquet('{file}')").fetchall()
                assert Counter(row[0] for row in rows) == texts


def test_sensitive_values_stay_different(tmp_path: Path, plain: Any) -> None:
    """Forty sensitive values which floating point would make one; distinct_l is counted in the file by plain SQL."""
    with duckdb.connect(str(tmp_path / "s.duckdb")) as connection:
        connection.execute("CREATE TABLE t (age INTEGER, big HUGEINT)")
        rows = ", ".join(f"({i // 5}, {2**70 + i % 5})" for i in range(100))
        connection.execute(f"INSERT INTO t VALUES {rows}")
    with sqlanon.connect(f"duckdb:///{tmp_path}/s.duckdb") as db:
        release = db.anonymize("t", quasi="age", sensitive="big", k=5, distinct_l=2)
        release.write(tmp_path / "out.parquet")
    least = plain.execute(
        f"SELECT min(n) FROM (SELECT count(DISTINCT big) AS n FROM '{tmp_path}/out.parquet' GROUP BY age_lo, age_hi)"
    ).fetchall()
    assert least[0][0] >= 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("change", ["cell", "row"])
def test_a_file_that_differs_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, change: str
) -> None:
    """The writer is made to change one cell, or to leave a row out: the file that was there stays, byte for byte."""
    from sqlanon.engines.duckdb import export

    target = tmp_path / f"out.{ending}"
    target.write_text("older")

    class Changing:
        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, text: str, *more: Any) -> Any:
            if text.startswith("COPY ("):
                inner, rest = text[len("COPY (") :].split(") TO ", 1)
                changed = (
                    (
                        "SELECT * REPLACE (CASE WHEN rowid_ = 3 THEN 'other' ELSE x END AS x) EXCLUDE (rowid_) FROM "
                        f"(SELECT *, row_number() OVER () AS rowid_ FROM ({inner}))"
                        if change == "cell"
                        else f"SELECT * FROM ({inner}) LIMIT 119"
                    )
                    .replace("* REPLACE", "* EXCLUDE (rowid_) REPLACE")
                    .replace(" EXCLUDE (rowid_) FROM", " FROM")
                )
                text = f"COPY ({changed}) TO {rest}"
            return self._connection.execute(text, *more)

    for name in ("write_csv", "write_parquet"):
        original = getattr(export, name)
        monkeypatch.setattr(
            export, name, lambda connection, *more, _as=original, **named: _as(Changing(connection), *more, **named)
        )
    with sqlanon.connect(made(tmp_path, {"x": ["'a'", "'b'"]})) as db:
        with pytest.raises(sqlanon.PrivacyViolation, match="differs from the verified release") as caught:
            released(db, ["x"]).write(target)
        assert change == "row" or "column x (VARCHAR)" in str(caught.value)
    assert target.read_text() == "older"
    assert not list(tmp_path.glob("*.sqlanon-*"))


@pytest.mark.thorough
def test_a_line_of_megabytes_is_read_back(tmp_path: Path) -> None:
    source = tmp_path / "s.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i // 4 AS age, repeat('x', 3000000) || i % 2 AS x FROM range(8) AS r(i)"
        )
    with sqlanon.connect(f"duckdb:///{source}") as db:
        released(db, ["x"]).write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert Counter((len(row["x"]), row["x"][-1]) for row in csv.DictReader(file)) == {
            (3_000_001, "0"): 4,
            (3_000_001, "1"): 4,
        }


def test_odd_names_of_columns_and_files(tmp_path: Path) -> None:
    """A name may hold the delimiter, quotes, line breaks and spaces; a file's what DuckDB takes for a pattern."""
    names = ['a,"b\n', " c ", "d'"]
    source = tmp_path / "s.duckdb"
    with duckdb.connect(str(source)) as connection:
        made_of = ", ".join(f'i % 2 AS "{name.replace(chr(34), chr(34) * 2)}"' for name in names)
        connection.execute(f"CREATE TABLE t AS SELECT i // 5 AS age, {made_of} FROM range(20) AS r(i)")
    with sqlanon.connect(f"duckdb:///{source}") as db:
        release = db.anonymize("t", quasi="age", insensitive=names, k=5)
        release.write(tmp_path / "o[u]t*'.csv")
        release.write(tmp_path / "o[u]t*'.parquet")
    with (tmp_path / "o[u]t*'.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["age_lo", "age_hi", *names]
    assert pq.read_schema(tmp_path / "o[u]t*'.parquet").names == ["age_lo", "age_hi", *names]


OF_POSTGRES: dict[str, tuple[str, list[str]]] = {
    "bytes": ("bytea", [r"'\\x00ff'", r"'\\x00fe'"]),
    "document": ("jsonb", ["'{\"a\": 1}'", "'[1, 2]'", "'null'"]),
    "instant": ("timestamptz", ["'infinity'", "'2024-01-01 10:00:00+02'", "'0044-03-15 10:00:00+00 BC'"]),
    "day": ("date", ["'infinity'", "'0044-03-15 BC'", "'2024-01-01'"]),
    "past": ("timestamp", ["'0044-03-15 10:00:00 BC'", "'2024-01-01 00:00:00.123456'"]),
    "span": ("interval", ["'1 month'", "'30 days'", "'-1 day'"]),
    "real": ("float8", ["'NaN'", "'-Infinity'", "0.1", "5e-324"]),
    "number": ("numeric", ["'NaN'", "1e40", "1e-10"]),
    "cents": ("numeric(5, 2)", ["'NaN'", "1.25"]),
    "hundreds": ("numeric(5, -2)", ["100", "1200"]),
    "clock": ("timetz", ["'12:34:56+05:30'", "'07:04:56+00'"]),
    "town": ("text", ["'Victoria BC'", "'Victoria (BC)'", "'2024-01-01 BC'"]),
    "address": ("inet", ["'10.0.0.1'", "'10.0.0.2/8'"]),
    "span_of_days": ("daterange", ["'[2024-01-01,2024-02-01)'", "'empty'"]),
}


def test_a_release_of_postgres_is_written_as_it_is(connect: Any, tmp_path: Path, plain: Any) -> None:
    """Files and frames have the texts that PostgreSQL itself gives.

    Exceptions are DuckDB's marks of years before 1 and of infinite numbers.
    """
    from tests.engines import ENGINES

    with connect(next(engine for engine in ENGINES if engine.name == "postgres")) as db:
        db.engine.execute(
            f"CREATE TABLE t (age integer, {', '.join(f'{name} {kind}' for name, (kind, _) in OF_POSTGRES.items())})"
        )
        for at in range(72):
            given = ", ".join("NULL" if at < 6 else values[at % len(values)] for _, values in OF_POSTGRES.values())
            db.engine.execute(f"INSERT INTO t VALUES ({at // 6}, {given})")
        release = released(db, OF_POSTGRES)
        release.write(tmp_path / "out.parquet")
        with pytest.warns(UserWarning, match="column span: 22 cells begin as a formula"):  # '-1 days'
            release.write(tmp_path / "out.csv")
        table = release.to_arrow()
        wanted = {
            name: Counter(
                as_duckdb(row[0]) if OF_POSTGRES[name][0] in ("date", "timestamp", "timestamptz") else row[0]
                for row in db.engine.fetch(f"SELECT CAST({name} AS text) FROM t")
            )
            for name in OF_POSTGRES
        }
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name, texts in wanted.items():
        read = plain.execute(f"SELECT CAST({name} AS VARCHAR) FROM read_parquet('{tmp_path}/out.parquet')").fetchall()
        assert same(Counter(row[0] for row in read), texts), name
        assert same(Counter(row[name] or None for row in rows), texts), name
        assert sorted(cells(table, name).values()) == sorted(texts.values()), name


def as_duckdb(text: str | None) -> str | None:
    if text is None or not text.endswith(" BC"):
        return text
    day, space, time = text.removesuffix(" BC").partition(" ")
    return f"{day} (BC){space}{time}"


def same(found: Counter[Any], wanted: Counter[Any]) -> bool:
    """The same texts, where numbers may be spelled otherwise."""
    if found == wanted:
        return True
    numbers = [Counter() for _ in range(2)]
    for counted, texts in zip(numbers, (found, wanted), strict=True):
        for text, rows in texts.items():
            counted[text if text is None else repr(Decimal(text).normalize()).lower()] += rows
    return numbers[0] == numbers[1]


def test_rows_of_another_engine(plain: Any) -> None:
    """Values as drivers give them: bytes, lists, NaN, decimals, texts that look like dates."""
    from sqlanon.engines.base import Column
    from sqlanon.engines.duckdb import frames

    kinds = [
        ("b", "binary", "other"),
        ("l", "array<string>", "other"),
        ("d", "double", "float"),
        ("n", "decimal(10,2)", "decimal"),
        ("t", "string", "text"),
    ]
    columns = [Column(name, kind, of) for name, kind, of in kinds]  # type: ignore[arg-type]
    rows = [
        (bytearray(b"\x00\xff"), ["a", None, "b,c"], float("nan"), Decimal("1.25"), "Victoria BC"),
        (b"a", [], 0.1, None, "NaN"),
        (None, None, None, Decimal("-0.50"), None),
    ]
    frames.load(plain, "loaded", columns, rows)
    found = plain.execute("SELECT b, l, CAST(d AS VARCHAR), n, t FROM loaded").fetchall()
    assert found == [
        (r"\x00\xFF", ["a", None, "b,c"], "nan", Decimal("1.25"), "Victoria BC"),
        (r"\x61", [], "0.1", None, "NaN"),
        (None, None, None, Decimal("-0.50"), None),
    ]
