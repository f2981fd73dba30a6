"""The oracle's domains and extents against values worked out by hand."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

from tests.oracle.domains import SCALE, Quasi, Sensitive, Table
from tests.oracle.extent import extent, loss
from tests.oracle.trees import Tree

FRUIT = (
    ("apple", "pome", "*"),
    ("lemon", "citrus", "*"),
    ("pear", "pome", "*"),
    ("lime", "citrus", "*"),
    ("orange", "citrus", "*"),
)


def test_numbers_are_coded_by_value_null_first_nan_last() -> None:
    column = Quasi("x", (2.0, None, math.nan, -0.0, 0.0, math.inf, -math.inf, 1.0))
    assert column.codes == [4, 0, 6, 2, 2, 5, 1, 3]
    assert [column.position(v) for v in column.domain] == [0, 0, SCALE // 2, SCALE, SCALE, SCALE]


def test_positions_round_down() -> None:
    column = Quasi("x", (0, 1, 3))
    assert [column.position(v) for v in (0, 1, 3)] == [0, 349525, SCALE]  # 2^20 / 3 = 349525.33


def test_exact_decimals_and_dates() -> None:
    tenths = Quasi("x", (Decimal("0.1"), Decimal("0.2"), Decimal("0.3")))
    assert tenths.position(Decimal("0.2")) == SCALE // 2
    days = Quasi("x", (dt.date(2024, 2, 28), dt.date(2024, 3, 1), dt.date(2024, 2, 29)))
    assert days.codes == [1, 3, 2]
    assert days.position(dt.date(2024, 2, 29)) == SCALE // 2
    stamps = Quasi("x", (dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1)))
    assert [stamps.position(v) for v in stamps.values] == [0, SCALE]


def test_text_is_ordered_by_bytes_or_as_declared() -> None:
    assert Quasi("x", ("b", "a", "B", "é", None), "text").codes == [3, 2, 1, 4, 0]
    declared = Quasi("x", ("low", "high", "mid"), "text", order=("low", "mid", "high"))
    assert declared.codes == [1, 3, 2]
    assert [declared.position(v) for v in ("low", "mid", "high")] == [0, SCALE // 2, SCALE]


def test_nominal_values_are_coded_by_frequency_then_bytes() -> None:
    assert Quasi("x", ("b", "a", "c", "c", None), "nominal").codes == [3, 2, 1, 1, 0]
    assert Sensitive("s", ("b", "a", "c", "c", None, None, None)).codes == [3, 2, 1, 1, 0, 0, 0]
    assert Sensitive("s", (10, 9, None, True)).codes == [3, 2, 0, 1]


def test_leaves_are_numbered_in_order() -> None:
    assert Tree(FRUIT).leaves == ["apple", "pear", "lemon", "lime", "orange"]
    assert Quasi("x", ("lemon", "pear", "apple"), "hierarchy", levels=FRUIT).codes == [3, 2, 1]
    assert Tree(FRUIT).common(["lemon", "orange"]) == (1, "citrus")
    assert Tree(FRUIT).common(["lemon", "pear"]) == (2, "*")
    assert Tree(FRUIT).common(["lime"]) == (0, "lime")


def test_extents() -> None:
    numbers = Quasi("x", (0, 2, 8, None))
    assert [extent(numbers, rows) for rows in ([0], [0, 1], [0, 1, 2], [3], [3, 0])] == [0, SCALE // 4, SCALE, 0, SCALE]
    fruit = Quasi("x", ("lemon", "lime", "pear"), "hierarchy", levels=FRUIT)
    assert [extent(fruit, rows) for rows in ([0], [0, 1], [0, 2])] == [0, 3 * SCALE // 5, SCALE]
    sets = Quasi("x", ("a", "b", "c", "a"), "nominal")
    assert [extent(sets, rows) for rows in ([0, 3], [0, 1], [1, 2])] == [0, 2 * SCALE // 3, 2 * SCALE // 3]


def test_large_sets_are_counted_by_their_span() -> None:
    values = tuple(f"v{i:03}" for i in range(257))
    column = Quasi("x", values, "nominal")
    assert extent(column, [0, 256]) == SCALE
    assert extent(column, [0, 1, 3]) == 4 * SCALE // 257
    small = Quasi("x", values[:256], "nominal")
    assert extent(small, [0, 255]) == 2 * SCALE // 256


def test_loss_weighs_and_counts_rows() -> None:
    table = Table((Quasi("x", (0, 1, 4), weight=2), Quasi("y", (0, 1, 1))))
    assert loss(table, [0, 1]) == 2 * (2 * SCALE // 4 + SCALE)


def test_occurrence_numbers_count_equal_rows() -> None:
    table = Table((Quasi("x", (1, 1, 2, 1, 1)),), (Sensitive("s", ("a", "b", "a", "a", "a")),))
    assert table.occurrence == [1, 1, 1, 2, 3]
