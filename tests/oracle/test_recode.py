"""The oracle's released rows and losses against values worked out by hand."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest

from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.losses import losses, width
from tests.oracle.recode import FORMATS, covers, quoted, released
from tests.oracle.test_domains import FRUIT

AGE = Quasi("age", (25, 27, 26, None, None))
FRUITS = Quasi("fruit", ("lemon", "orange", "lime", "pear", None), "hierarchy", levels=FRUIT)
TOWN = Quasi("town", ("b", "a", "b", "c", "c"), "nominal")


@pytest.mark.parametrize(
    ("kind", "column", "rows", "expected"),
    [
        ("ranges", AGE, [0, 1, 2], {"age_lo": 25, "age_hi": 27, "age_null": "none"}),
        ("ranges", AGE, [3, 4], {"age_lo": None, "age_hi": None, "age_null": "all"}),
        ("ranges", AGE, [0, 2, 3], {"age_lo": 25, "age_hi": 26, "age_null": "some"}),
        ("ranges", FRUITS, [0, 1], {"fruit": "citrus", "fruit_null": "none"}),
        ("ranges", FRUITS, [0, 3], {"fruit": "*", "fruit_null": "none"}),
        ("ranges", FRUITS, [0], {"fruit": "lemon", "fruit_null": "none"}),
        ("ranges", TOWN, [0, 1, 2], {"town": ["a", "b"]}),
        ("labels", AGE, [0, 1, 2], {"age": "[25, 27]"}),
        ("labels", AGE, [2], {"age": "26"}),
        ("labels", AGE, [3], {"age": "NULL"}),
        ("labels", AGE, [1, 3], {"age": "*"}),
        ("labels", FRUITS, [1, 2], {"fruit": "citrus"}),
        ("labels", TOWN, [3, 0], {"town": "{b, c}"}),
        ("labels", TOWN, [3, 4], {"town": "c"}),
        ("points", AGE, [0, 1, 2], {"age": 26}),
        ("points", AGE, [0, 1], {"age": 25}),
        ("points", TOWN, [0, 1], {"town": "a"}),
        ("points", TOWN, [0, 1, 2], {"town": "b"}),
        ("suppressed", AGE, [0, 1], {"age": None, "age_suppressed": True}),
        ("suppressed", AGE, [3, 4], {"age": None, "age_suppressed": False}),
        ("suppressed", TOWN, [3, 4], {"town": "c"}),
        ("suppressed", TOWN, [0, 4], {"town": None}),
    ],
)
def test_formats(kind: str, column: Quasi, rows: list[int], expected: dict[str, object]) -> None:
    assert FORMATS[kind](column, rows) == expected


def test_released_rows_carry_their_sensitive_values_and_means() -> None:
    table = Table((Quasi("x", (1, 2, 4)),), (Sensitive("s", ("a", None, "c")),))
    assert released(table, [[0, 2], [1]], "ranges", mean=["x"]) == [
        {"x_lo": 1, "x_hi": 4, "x_mean": 2.5, "s": "a"},
        {"x_lo": 1, "x_hi": 4, "x_mean": 2.5, "s": "c"},
        {"x_lo": 2, "x_hi": 2, "x_mean": 2.0, "s": None},
    ]


@pytest.mark.parametrize("column", [AGE, FRUITS, TOWN])
def test_ranges_cover_their_members(column: Quasi) -> None:
    for rows in ([0, 1, 2], [3, 4], [0, 4], [1]):
        row = FORMATS["ranges"](column, rows)
        assert all(covers(column, column.values[member], row) for member in rows)
    assert not covers(TOWN, "c", FORMATS["ranges"](TOWN, [0, 1]))
    assert not covers(AGE, None, FORMATS["ranges"](AGE, [0, 1]))


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("Broken Arm", "Broken Arm"),
        ("a,b", '"a,b"'),
        ('say "x"', '"say \\"x\\""'),
        ("", '""'),
        ("NULL", '"NULL"'),
        ("*", '"*"'),
        (" a", '" a"'),
        ("a\nb", '"a\\nb"'),
        ("[1", '"[1"'),
        ("é", "é"),
    ],
)
def test_quoted(value: str, label: str) -> None:
    assert quoted(value) == label


def test_losses_of_one_table() -> None:
    days = tuple(dt.date(2024, 1, day) for day in (1, 2, 3, 11))
    table = Table(
        (
            Quasi("day", days, weight=2),
            Quasi("fruit", ("lemon", "lime", "pear", "apple"), "hierarchy", levels=FRUIT),
            Quasi("town", ("a", "b", "c", "c"), "nominal"),
        )
    )
    found = losses(table, [[0, 1], [2, 3]], k=2)
    assert found.columns["day"] == {"ncp": Fraction(9, 20), "lm": Fraction(9, 20)}  # (1/10 + 8/10) / 2
    assert found.columns["fruit"] == {"ncp": Fraction(1, 2), "lm": Fraction(3, 8)}  # (3/5 + 2/5) / 2; (2/4 + 1/4) / 2
    assert found.columns["town"] == {"ncp": Fraction(1, 3), "lm": Fraction(1, 4)}  # 2/3 and 0; 1/2 and 0
    assert found.gcp == (2 * Fraction(9, 20) + Fraction(1, 2) + Fraction(1, 3)) / 4
    assert found.dm == 8
    assert found.c_avg == 1
    assert found.il1 == Fraction(13, 30)  # (2/10 + 3/5 + 2/3) / 4 = 11/30 and (16/10 + 2/5 + 0) / 4 = 1/2
    assert (found.il_inf, found.il_sum) == (Fraction(1, 2), Fraction(13, 15))
    assert found.weighted_max_ncp == 1
    assert found.avg_ncp == Fraction(77, 180)  # (1/10 + 3/5 + 2/3) / 3 = 41/90 and (8/10 + 2/5 + 0) / 3 = 36/90
    assert found.weighted_avg_volume == Fraction(11, 150)  # 1/10 x 3/5 x 2/3 and 8/10 x 2/5 x 1/3


def test_widths() -> None:
    assert width(AGE, [0, 1, 2]) == 2
    assert width(AGE, [3, 4]) == 0
    assert width(AGE, [2, 3]) is None
    assert width(FRUITS, [0, 1]) == 3
    assert width(TOWN, [0, 1, 2]) == 2
    moments = Quasi("at", (dt.datetime(2024, 1, 1, 18), dt.datetime(2024, 1, 3, 6)))
    assert width(moments, [0, 1]) == Fraction(3, 2)


def test_losses_of_nulls() -> None:
    table = Table((Quasi("x", (None, None, 1, 3)),))
    assert losses(table, [[0, 1], [2, 3]], k=2).gcp == Fraction(1, 2)
    assert losses(table, [[0, 2], [1, 3]], k=2).gcp == 1
