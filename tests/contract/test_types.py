"""Types at their edges.

They are the widest numbers, subnormal and huge floats, single precision, zones, and hierarchies over numbers.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case, expected_rows, multiset, release_rows
from tests.contract.samples import TREE
from tests.engines import PAIR
from tests.oracle.losses import losses
from tests.oracle.requirements import Privacy

UTC = dt.UTC
NARROW = {
    "real": ("REAL", [0.5, -0.0, 0.0, 1.25, float("nan"), float("inf"), None, 3.0]),
    "smallint": ("SMALLINT", [-32768, 32767, 0, None, 5, 5]),
    "decimal": ("DECIMAL(18,3)", [Decimal("-0.050"), Decimal("0.050"), Decimal("999999999999999.999"), None]),
    "old_dates": ("DATE", [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None]),
    "old_times": ("TIMESTAMP", [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
    "booleans": ("BOOLEAN", [True, False, None]),
    "constant": ("INTEGER", [7]),
    "only_null": ("INTEGER", [None]),
    "only_nan": ("DOUBLE PRECISION", [float("nan")]),
    "five_or_infinite": ("DOUBLE PRECISION", [5.0, float("inf")]),
    "infinities": ("DOUBLE PRECISION", [float("inf"), float("-inf"), float("nan"), None]),
    "empty_text": ("TEXT", ["", " ", None, "a"]),
}
EXTREME = {
    "huge": ("DOUBLE PRECISION", [-1.7976931348623157e308, 1.7976931348623157e308, 0.0, 1e300]),
    "tiny": ("DOUBLE PRECISION", [5e-324, 0.0, 1e-320, -5e-324]),
    "huge_and_tiny": ("DOUBLE PRECISION", [1e-30, 0.0, 1e300, -1e-200]),
    "wide_decimal": ("DECIMAL(38,10)", [Decimal(f"{'9' * 28}.{'9' * 10}"), Decimal(f"-{'9' * 28}"), Decimal(0)]),
    "money": ("DECIMAL(38,18)", [Decimal("1000000000000000.5"), Decimal("-1.000000000000000001"), Decimal(2)]),
}
ONLY = {
    "duckdb": {
        "hugeint": ("HUGEINT", [-(2**127), 2**127 - 1, 0, 1]),
        "ubigint": ("UBIGINT", [2**64 - 1, 0, 2**63]),
        "nanoseconds": ("TIMESTAMP_NS", ["2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000002"]),
        "zoned": ("TIMESTAMPTZ", ["2024-01-01 00:00:00+00", "2024-06-01 12:00:00+02", "1969-01-01 00:00:00+00"]),
        "endless_dates": ("DATE", ["infinity", "-infinity", "2024-01-01", "2024-01-02"]),
    },
    "postgres": {
        "free_numeric": ("NUMERIC", ["1e30", "-1e-10", "0", "123.4567891"]),
        "numeric": ("NUMERIC", ["1e100", "-1e-50", "0", "NaN", "123.456"]),
        "zoned": ("TIMESTAMPTZ", ["2024-01-01 00:00:00+00", "2024-06-01 12:00:00+02", "1969-01-01 00:00:00+00"]),
        "endless_dates": ("DATE", ["infinity", "-infinity", "2024-01-01", "2024-01-02"]),
        "char": ("CHAR(4)", ["a", "ab", "b  ", "abcd"]),
        "varchar": ("VARCHAR(9)", ["a", "ab", "é", ""]),
    },
}
FEW_VALUES = [
    pytest.param(engine, *EXTREME[name], id=f"{engine.name}-{name}") for engine in PAIR for name in EXTREME
] + [
    pytest.param(engine, *spec, id=f"{engine.name}-{name}")
    for engine in PAIR
    for name, spec in ONLY[engine.family].items()
]


def one_column(sql_type: str, pool: list[Any]) -> Case:
    """Every value of the pool 1 to 3 times, k = 2."""
    values = [value for i, value in enumerate(pool) for _ in range(1 + i % 3)] + pool
    kind = "nominal" if sql_type == "TEXT" else "number"
    return Case("one", {"x": sql_type}, tuple((v,) for v in values), {"x": QI(kind)}, (), Privacy(k=2))


@pytest.mark.cover("engine cut")
@pytest.mark.parametrize("cut", ["median", "loss"])
@pytest.mark.parametrize("name", NARROW)
def test_one_column_equals_oracle(shared_db: Any, name: str, cut: str, tmp_path: Path) -> None:
    case = one_column(*NARROW[name])
    method = {"name": "mondrian", "variant": "strict", "cut": cut}
    for execution in ("kernel", "pushdown"):
        rows, report = release_rows(shared_db, case, tmp_path, method=method, execution=execution)
        assert multiset(rows) == expected_rows(case, "strict", cut)
        truth = losses(case.table, case.classes("strict", cut), case.privacy.k)
        assert report.loss.gcp == pytest.approx(float(truth.gcp), rel=1e-9)
    whole = replace(case, privacy=Privacy(k=len(case.rows)))
    _, report = release_rows(shared_db, whole, tmp_path)
    assert report.loss.gcp == pytest.approx(float(losses(case.table, whole.classes("strict", "loss"), 1).gcp))


KNOWN_LIMITS = {
    "postgres-huge_and_tiny": "PostgreSQL raises on underflow between 1e-300 and 1e300 in one column",
    "duckdb-endless_dates-labels": "Python has no infinite dates to write labels from",
    "nanoseconds-labels": "Python's timestamps end at microseconds, so labels of nanoseconds do not cover",
}
"""Each ends in an error with nothing published; docs/formats.md says so."""


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels"])
@pytest.mark.parametrize(("engine", "sql_type", "pool"), FEW_VALUES)
def test_extreme_values_can_be_released(
    connect_module: Any,
    engine: Any,
    sql_type: str,
    pool: list[Any],
    kind: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Nothing overflows or underflows on the way: every value twice is k = 2 without any loss; k = n is one class."""
    for name, reason in KNOWN_LIMITS.items():
        if name in request.node.name:
            request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    db = connect_module(engine)
    case = Case("one", {"x": sql_type}, tuple((v,) for v in pool * 2), {"x": QI()}, (), Privacy(k=2))
    source = case.create(db)
    for k, classes in ((2, len(pool)), (len(pool) * 2, 1)):
        wanted = replace(case, privacy=Privacy(k=k))
        report = db.anonymize(source, **wanted.arguments(tmp_path), format=kind).report
        assert report.verified
        assert report.classes == classes
        assert report.loss.gcp == pytest.approx(0 if classes > 1 else 1, abs=1e-6)


@pytest.mark.cover
@pytest.mark.parametrize("sql_type", ["INTEGER", "DECIMAL(6,1)", "DATE", "BIGINT"])
def test_hierarchy_over_numbers_and_dates(shared_db: Any, sql_type: str, tmp_path: Path) -> None:
    """A hierarchy's leaves are read in the column's type; the release is that of the same text."""
    leaves: dict[str, list[Any]] = {
        "INTEGER": [1, 2, 3, 4, 5, 6],
        "BIGINT": [2**40 + i for i in range(6)],
        "DECIMAL(6,1)": [Decimal(i) / 2 for i in range(6)],
        "DATE": [dt.date(2024, 1, i) for i in range(1, 7)],
    }
    pool = leaves[sql_type]
    texts = [f"{value:.1f}" if isinstance(value, Decimal) else str(value) for value in pool]
    levels = tuple((text, *row[1:]) for text, row in zip(texts, TREE, strict=True))
    numbers = [0, 0, 1, 2, 2, 4, 5, 5, 5, 1, 3]
    as_text = Case(
        "text",
        {"x": "TEXT"},
        tuple((texts[i],) for i in numbers),
        {"x": QI("hierarchy", levels=levels)},
        (),
        Privacy(k=3),
    )
    typed = replace(as_text, columns={"x": sql_type}, rows=tuple((pool[i],) for i in numbers))
    for kind in ("ranges", "labels"):
        rows, _ = release_rows(shared_db, typed, tmp_path, format=kind)
        assert multiset(rows) == expected_rows(as_text, "strict", "loss", kind)
    rows, _ = release_rows(shared_db, typed, tmp_path, format="suppressed")
    back = dict(zip(texts, pool, strict=True))
    assert {row["x"] for row in rows} <= {*pool, None}
    wanted = expected_rows(as_text, "strict", "loss", "suppressed")
    assert multiset([{"x": back.get(row[0][1])} for row in wanted.elements()]) == multiset(rows)


@pytest.mark.cover
@pytest.mark.parametrize("cut", ["median", "loss"])
def test_an_order_may_name_values_that_are_absent(shared_db: Any, cut: str, tmp_path: Path) -> None:
    """Ranks are those of the values in the column, as for enums, so a longer list changes nothing."""
    pool = ["low", "mid", "high", "high", "mid", "low", "low", "high"]
    order = ("low", "rare", "rarer", "rarest", "mid", "high")
    rows = tuple((level, (i * 7) % 5) for i, level in enumerate(pool))
    case = Case(
        "absent",
        {"level": "TEXT", "n": "INTEGER"},
        rows,
        {"level": QI("text", ordered=order), "n": QI()},
        (),
        Privacy(k=2),
    )
    method = {"name": "mondrian", "variant": "strict", "cut": cut}
    for execution in ("kernel", "pushdown"):
        found, _ = release_rows(shared_db, case, tmp_path, method=method, execution=execution)
        assert multiset(found) == expected_rows(case, "strict", cut)
