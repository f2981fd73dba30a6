"""Frames go in as they are: no value is rounded while a frame is read, and what would be is refused by its column."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sqlanon

AGES = [i // 5 for i in range(20)]


def released(frame: Any) -> Any:
    return sqlanon.anonymize(frame, quasi="age", insensitive="x", accept_unique="x", k=5)


def in_pandas(values: list[Any], dtype: Any = object) -> pd.DataFrame:
    return pd.DataFrame({"age": AGES, "x": pd.Series((values * 20)[:20], dtype=dtype)})


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("123456789012345.67"), Decimal("NaN"), Decimal("0.01")],
        [Decimal("123456789012345.67"), float("nan"), Decimal("0.01")],
        [Decimal("123456789012345.67"), None, 5],
        [Decimal("1E+30"), Decimal("1E-7")],
        [Decimal("1E+37"), pd.NA],
        [Decimal(0), Decimal("-0.000")],
        [2**60 + 1, None],
        [2**100, -1],
        [2**53, 0.5],
    ],
    ids=repr,
)
def test_numbers_of_objects_keep_their_values(values: list[Any]) -> None:
    with released(in_pandas(values)) as release:
        found = release.frame["x"]
        wanted = Counter(None if pd.isna(value) else value for value in (values * 20)[:20])
        assert Counter(None if pd.isna(value) else value for value in found) == wanted
        if any(isinstance(value, Decimal) and value.is_finite() for value in values):
            assert pa.types.is_decimal(release.to_arrow().schema.field("x").type)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([Decimal("1E+30"), Decimal("1E-30")], object),
        ([Decimal("Infinity"), Decimal(1)], object),
        ([2**60 + 1, 0.5], object),
        ([Decimal("0.1000000000000000000001"), 0.5], object),
        ([Decimal(1), np.float64(0.5), 2**70 + 1], object),
        ([pd.Timedelta(1001, "ns")], object),
        ([pd.Timestamp("2024-01-01 00:00:00.000000001")], object),
        ([1001, 2000], "timedelta64[ns]"),
    ],
    ids=repr,
)
def test_what_would_be_rounded_is_refused(values: list[Any], dtype: Any) -> None:
    with pytest.raises(sqlanon.PolicyError, match=r"would change when DuckDB reads them. x: ") as caught:
        released(in_pandas(values, dtype))
    assert "0.1" not in str(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"age": AGES, "x": pl.Series([1001] * 20, dtype=pl.Duration("ns"))}),
        pl.DataFrame({"age": AGES, "x": pl.Series([object()] * 20, dtype=pl.Object)}),
        pa.table({"age": AGES, "x": pa.array([1001] * 20, pa.duration("ns"))}),
        pa.table({"age": AGES, "x": pa.array([(1, 2, 3)] * 20, pa.month_day_nano_interval())}),
    ],
    ids=["polars ns", "polars object", "arrow ns", "arrow interval"],
)
def test_columns_of_arrow_that_would_change_are_refused(frame: Any) -> None:
    with pytest.raises(sqlanon.PolicyError, match=r"would change when DuckDB reads them. x: "):
        released(frame)


def test_durations_of_whole_microseconds_are_read() -> None:
    wanted = [dt.timedelta(microseconds=i) for i in range(20)]
    for frame in (
        pl.DataFrame({"age": AGES, "x": pl.Series(wanted, dtype=pl.Duration("ns"))}),
        pa.table({"age": AGES, "x": pa.array(wanted, pa.duration("ns"))}),
        in_pandas(wanted, "timedelta64[ns]"),
    ):
        with released(frame) as release:
            assert sorted(release.to_polars()["x"]) == wanted
            assert sorted(release.to_pandas()["x"]) == wanted


def test_sets_are_tuples_in_pandas() -> None:
    """They can be grouped and merged by; rows of one class are one group."""
    frame = pd.DataFrame({"city": ["a", "b", "c", "d"] * 5, "age": [i // 10 for i in range(20)]})
    with sqlanon.anonymize(frame, quasi=["city", "age"], k=5) as release:
        found = release.frame
        assert {type(value) for value in found["city"]} == {tuple}
        assert sorted(found.groupby(["city", "age_lo"]).size()) == sorted(
            Counter(zip(map(tuple, release.to_polars()["city"]), release.to_polars()["age_lo"], strict=True)).values()
        )
        assert len(found.merge(found.drop_duplicates(), on=list(found.columns))) == 20


def test_a_release_says_what_it_is() -> None:
    with released(in_pandas([1, 2])) as release:
        shown = repr(release)
    for part in ("FrameRelease", "20 rows", "4 classes of at least 5", "ranges"):
        assert part in shown


def base(**more: Any) -> dict[str, Any]:
    return {"age": AGES, "s": ["a", "b"] * 10, **more}


WIDE = pa.array([Decimal(i) for i in AGES], type=pa.decimal256(50, 2))
UNREADABLE = [
    (pd.DataFrame(base(x=pd.period_range("2020-01", periods=20, freq="M"))), r"x \(period\[M\]\).*astype\(str\)"),
    (pd.DataFrame(base(x=pd.arrays.IntervalArray.from_breaks(range(21)))), r"x \(interval.*astype\(str\)"),
    (pd.DataFrame(base(x=[complex(i) for i in AGES])), r"x \(complex128\)"),
    (pd.DataFrame(base(x=pd.Series(pd.arrays.ArrowExtensionArray(WIDE)))), r"x \(decimal256\(50, 2\)"),
    (pd.DataFrame(base(x=[object() for _ in AGES])), "x: Python objects"),
    (pl.DataFrame(base(x=pl.Series(AGES, dtype=pl.Int128))), r"x \(Int128\).*cast\(pl.String\)"),
    (pl.DataFrame(base(x=pl.Series([object() for _ in AGES], dtype=pl.Object))), "x: Python objects"),
    (pa.table(base(x=WIDE)), r"x \(decimal256\(50, 2\)\).*cast\(pyarrow.string\(\)\)"),
    (pa.table(base(x=pa.array(AGES).cast(pa.float16()))), r"x \(halffloat\)"),
]


@pytest.mark.parametrize(("frame", "reported"), UNREADABLE, ids=[reported[:12] for _, reported in UNREADABLE])
def test_a_column_that_cannot_be_read_is_named_and_may_be_dropped(frame: Any, reported: str) -> None:
    with pytest.raises(sqlanon.PolicyError, match=reported):
        sqlanon.anonymize(frame, quasi=["age", "x"], sensitive="s", k=5)
    with sqlanon.anonymize(frame, quasi="age", sensitive="s", rest="drop", k=5) as release:
        assert release.report.rows == 20


def test_a_stream_is_read_without_the_columns_that_are_dropped() -> None:
    reader = pa.table(base(x=WIDE)).to_reader()
    with sqlanon.anonymize(reader, quasi="age", sensitive="s", rest="drop", k=5) as release:
        assert release.to_arrow().column_names == ["age_lo", "age_hi", "s"]
    with pytest.raises(sqlanon.PolicyError, match=r"x \(decimal256\(50, 2\)\)"):
        sqlanon.anonymize(pa.table(base(x=WIDE)).to_reader(), quasi=["age", "x"], sensitive="s", k=5)


def test_columns_that_are_dropped_need_no_names() -> None:
    frame = pd.concat(
        [pd.DataFrame(base()), pd.DataFrame({0: AGES}), pd.DataFrame({"q": AGES}), pd.DataFrame({"Q": AGES})], axis=1
    )
    with sqlanon.anonymize(frame, quasi="age", sensitive="s", rest="drop", k=5) as release:
        assert list(release.frame.columns) == ["age_lo", "age_hi", "s"]
    with pytest.raises(sqlanon.PolicyError, match="none of the columns"):
        sqlanon.anonymize(frame, quasi="z", rest="drop", k=5)


def test_ranges_of_pandas_cut_keep_their_order() -> None:
    """By its letters (100, 110] comes before (10, 100]."""
    cut = pd.cut(pd.Series([5, 50, 105, 500] * 5), [0, 10, 100, 110, 1000])
    with sqlanon.anonymize(pd.DataFrame({"x": cut}), quasi="x", k=10) as release:
        assert set(release.frame["x"]) == {("(0, 10]", "(10, 100]"), ("(100, 110]", "(110, 1000]")}


@pytest.mark.parametrize("values", [pl.Series([None] * 20), pl.Series([None] * 20, dtype=pl.Null)])
def test_a_column_of_nothing_is_read(values: pl.Series) -> None:
    with released(pl.DataFrame({"age": AGES, "x": values})) as release:
        assert release.frame["x"].to_list() == [None] * 20


def test_wide_decimals_of_parquet_are_refused_or_dropped(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table(base(x=WIDE)), tmp_path / "in.parquet")
    with pytest.raises(sqlanon.PolicyError, match="column x has decimals of more than 38 digits"):
        sqlanon.anonymize(tmp_path / "in.parquet", quasi=["age", "x"], sensitive="s", k=5, to=tmp_path / "out.csv")
    report = sqlanon.anonymize(
        tmp_path / "in.parquet", quasi="age", sensitive="s", rest="drop", k=5, to=tmp_path / "out.csv"
    )
    assert report.rows == 20
