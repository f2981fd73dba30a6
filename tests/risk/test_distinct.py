"""The different rows of a table as numbers, against a count of the rows in Python."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from sqlanon.risk import distinct
from tests.engines import create_table

KINDS = {"a": "INTEGER", "b": "VARCHAR(9)", "c": "DOUBLE PRECISION", "a b": "VARCHAR(9)", "n": "INTEGER", "e": "DATE"}
NAN = "not a number"
"""Equal to itself in a database."""


def draw_row(draw):
    return (
        draw.choice([None, 1, 2]),
        draw.choice([None, "*", "x"]),
        draw.choice([None, 0.0, -0.0, 1.5, float("nan")]),
        draw.choice(["*", "y"]),
        7,
        draw.choice([None, "2020-01-01"]),
    )


def read_value(value):
    return NAN if isinstance(value, float) and math.isnan(value) else value


@pytest.mark.every_engine
@pytest.mark.parametrize("most", [3, 32])
@pytest.mark.parametrize("starred", [(), ("b",)])
def test_equal_values_have_equal_numbers(shared_db, monkeypatch, most, starred):
    """Each different row once, whether one statement or several number the columns."""
    monkeypatch.setattr(distinct, "MOST", most)
    monkeypatch.setattr(distinct, "BATCH", 2)
    draw = random.Random(len(starred))
    rows = [draw_row(draw) for _ in range(80)]
    create_table(shared_db, name := f"distinct{most}{len(starred)}", KINDS, rows)
    found = distinct.read_distinct(shared_db.engine, shared_db.engine.relation(name).ref, list(KINDS), starred)
    counts = Counter(tuple(map(read_value, row)) for row in rows)
    assert sorted(found.n) == sorted(counts.values())
    assert {codes.dtype.name for codes in (*found.codes, found.n)} == {"int64"}
    numbered = [
        [
            None if column in starred and value == "*" else read_value(value)
            for column, value in zip(KINDS, row, strict=True)
        ]
        for row in rows
    ]
    for at, codes in enumerate(found.codes):
        sizes = Counter(row[at] for row in numbered)
        by_code = Counter(dict.fromkeys(codes.tolist(), 0))
        for code, n in zip(codes.tolist(), found.n.tolist(), strict=True):
            by_code[code] += n
        assert by_code.pop(0, 0) == sizes.pop(None, 0)
        assert sorted(by_code.values()) == sorted(sizes.values())
    # All columns together: the codes of a row are of that row.
    together = Counter()
    for *codes, n in zip(*(one.tolist() for one in (*found.codes, found.n)), strict=True):
        together[tuple(codes)] += n
    assert sorted(together.values()) == sorted(Counter(map(tuple, numbered)).values())


@pytest.mark.parametrize("most", [1, 32])
def test_no_rows(shared_db, monkeypatch, most):
    monkeypatch.setattr(distinct, "MOST", most)
    monkeypatch.setattr(distinct, "BATCH", 2)
    create_table(shared_db, "distinct_none", {"a": "INTEGER", "b": "INTEGER"}, [])
    table = shared_db.engine.relation("distinct_none").ref
    found = distinct.read_distinct(shared_db.engine, table, ["a", "b"])
    assert [len(codes) for codes in (*found.codes, found.n)] == [0, 0, 0]
