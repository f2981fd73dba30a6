"""Values of every type, in its order: its ends, what rounds, what is no number, empty text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

WHOLE = ("-7", "-3", "-1", "0", "1", "2", "3", "10")
DAYS = ("1969-12-31", "1970-01-01", "2020-01-30", "2020-01-31", "2020-02-29", "2020-03-01", "2023-12-31", "2024-01-01")
CLOCK = (
    "1969-12-31 23:59:59.999999",
    "2020-01-29 12:00:00",
    "2020-01-30 00:30:00",
    "2020-01-31 00:00:00",
    "2020-01-31 12:30:00.5",
    "2020-01-31 12:30:59",
    "2020-01-31 12:59:59.999999",
    "2020-02-29 00:00:00",
    "2020-03-01 06:00:00",
    "2023-12-31 23:00:00",
    "2024-01-01 00:00:00",
)
VALUES: dict[str, dict[str, tuple[str, ...]]] = {
    "whole": {
        "SMALLINT": ("-32768", *WHOLE, "32767"),
        "INTEGER": ("-2147483648", *WHOLE, "2147483647"),
        "BIGINT": ("-9223372036854775808", "-9007199254740993", *WHOLE, "9007199254740993", "9223372036854775807"),
    },
    "decimal": {
        "DECIMAL(6,2)": ("-9999.99", "-2.50", "-0.50", "-0.01", "0", "0.01", "0.50", "1", "1.50", "2.50", "9999.99"),
        "DECIMAL(18,10)": (
            "-99999999.9999999999",
            "-0.9999999999",
            "0",
            "0.0000000001",
            "0.3333333333",
            "0.9999999999",
            "1",
            "70009999.9999999999",
            "70010000",
            "99999999.9999999999",
        ),
    },
    "double": {
        "REAL": (
            "-Infinity",
            "-3e38",
            "-2.5",
            "-0.1",
            "-0.0",
            "0.1",
            "1",
            "2.5",
            "16777216",
            "3e38",
            "Infinity",
            "NaN",
        ),
        "DOUBLE PRECISION": (
            "-Infinity",
            "-1.7e308",
            "-9007199254740993",
            "-2.5",
            "-0.1",
            "-0.0",
            "1e-300",
            "0.1",
            "1",
            "2.5",
            "9007199254740992",
            "1.7e308",
            "Infinity",
            "NaN",
        ),
    },
    "date": {"DATE": ("-infinity", "0001-01-01", *DAYS, "9999-12-31", "infinity")},
    "timestamp": {
        "TIMESTAMP": ("-infinity", "0001-01-01 00:00:00", *CLOCK, "9999-12-31 23:59:59", "infinity"),
        "TIMESTAMP WITH TIME ZONE": tuple(f"{one}+00" for one in CLOCK),
    },
    "boolean": {"BOOLEAN": ("false", "true")},
    "text": {"TEXT": ("", " ", "A", "a", "ab", "b%", "é", "ß", "ŉ", "12")},
}
"""By kind and type, values in the order of the type: its ends, what rounds, what is no number."""


def combinations(kinds: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Types for the ranges of a form."""
    listed = [[type_ for kind in one for type_ in VALUES[kind]] for one in kinds]
    return list(itertools.product(*listed))


def values_of(type_: str) -> tuple[str, ...]:
    """The values of a type."""
    return next(listed[type_] for listed in VALUES.values() if type_ in listed)


def constant(value: str, type_: str) -> str:
    """A value as SQL."""
    return f"CAST('{value}' AS {type_})"
