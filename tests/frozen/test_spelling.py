"""Texts of a list of keys: only what is the value of the column's type is taken, on either engine."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest

from sqlanon.engines.base import Column
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.release.frozen.exact_casts import says
from tests.engines import create_table
from tests.frozen.wards import begun, seen, spec_of, ward, write

FRESH = count()
BOTH = {
    "INTEGER": (("30", "+30", " 30", "030", "-7"), ("30.6", "30.5", "0.4")),
    "BIGINT": (("9007199254740993",), ("9007199254740992.5",)),
    "DECIMAL(5,2)": (("1.5", "1.50", "1.500", "1e2", "-0.25"), ("1.236", "1.499")),
    "DOUBLE PRECISION": (("0.1", "1e300", "9007199254740992"), ("9007199254740993", "0.10000000000000000001")),
    "VARCHAR": (("", "a ", "30"), ()),
    "BOOLEAN": (("true", "F"), ()),
    "DATE": (("2024-01-31",), ("2024-01-31 10:00:00",)),
    "TIMESTAMP": (
        ("2024-01-31 10:00:00", "2024-01-31T10:00:00.5", "2024-01-31 10:00:00.500000", "2024-01-31"),
        ("2024-01-31 10:00:00.1234567", "2024-01-31 10:00:00+02:00"),
    ),
    "TIMESTAMPTZ": (("2024-01-31 10:00:00+02:00", "2024-01-31 10:00:00"), ("2024-01-31 10:00:00.1234567+00",)),
    "UUID": (("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",), ()),
}
"""By type: texts that are its values, and texts of which a cast makes another value."""
OWN = {
    "VARCHAR(4)": (("abcd", "ab "), ("abcde",)),
    "CHAR(4)": (("abcd", "ab", "ab  "), ("abcde",)),
    "TIMESTAMP(0)": (("2024-01-31 10:00:00",), ("2024-01-31 10:00:00.6",)),
    "TIME(0)": (("10:00:00",), ("10:00:00.6",)),
    "REAL": (("0.5",), ("16777217",)),
    "BIT(2)": (("10",), ("101",)),
}
"""The same of types that PostgreSQL alone cuts."""


def test_a_text_is_the_value_that_it_says(shared_db: Any) -> None:
    kinds = BOTH | (OWN if shared_db.engine.dialect == "postgres" else {})
    wrongly = {}
    for kind, (right, wrong) in kinds.items():
        table = f"spelled_{next(FRESH)}"
        create_table(shared_db, table, {"c": kind}, [])
        (column,) = shared_db.engine.relation(table).columns
        refused = [text for text in right if not _taken(shared_db, column, text)]
        taken = [text for text in wrong if _taken(shared_db, column, text)]
        if refused or taken:
            wrongly[kind] = refused, taken
    assert not wrongly


def _taken(db: Any, column: Column, text: str) -> bool:
    try:
        typed = db.engine.fetch(f"SELECT CAST(CAST('{text}' AS {column.type}) AS VARCHAR)")
    except DatabaseError:  # PostgreSQL refuses some of them itself
        return False
    return says(column, text, typed[0][0])


KEYS = {
    "INTEGER": "5",
    "BIGINT": "5",
    "NUMERIC": "5",
    "NUMERIC(9,2)": "5",
    "REAL": "5.5",
    "DOUBLE PRECISION": "5.25",
    "VARCHAR(9)": "5",
    "CHAR(9)": "5",
    "TEXT": "5",
    "DATE": "2024-01-05",
    "TIMESTAMP": "2024-01-05 10:00:00",
    "TIMESTAMPTZ": "2024-01-05 10:00:00+02:00",
    "TIME": "05:00:00",
    "INTERVAL": "5 days",
    "UUID": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a05",
    "BOOLEAN": "true",
}
"""Types of a key's columns, and a value of each as a database prints it."""
POSTGRES_KEYS = {"NUMERIC(40,5)": "5", "BPCHAR": "5", "BIT VARYING(5)": "101", "BYTEA": "\\x05", "INET": "10.0.0.5/32"}


def test_a_key_of_any_type_is_found(shared_db: Any) -> None:
    """A cast to another type than the column's makes other texts, of which no hash is one of a published key."""
    own = POSTGRES_KEYS if shared_db.engine.dialect == "postgres" else {}
    kinds, table = KEYS | own | {"NUMERIC ": "0.123456"}, f"spelled_{next(FRESH)}"
    if shared_db.engine.dialect == "duckdb":
        kinds["NUMERIC "] = "0.123"  # which has three digits there
    names = [f"k{i}" for i in range(len(kinds))]
    spec = spec_of(table, key=["id", *names], rest="drop")
    write(shared_db, table, ward(random.Random(3), 20))
    for name, (kind, value) in zip(names, kinds.items(), strict=True):
        shared_db.engine.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
        shared_db.engine.execute(f"UPDATE {table} SET {name} = '{value}'")
    shared_db.run(spec)
    key = dict(zip(names, kinds.values(), strict=True)) | {"id": 3}
    assert shared_db.erase(spec, [key]).published == 1


def test_a_list_that_a_cast_would_change_erases_nothing(shared_db: Any) -> None:
    """DuckDB reads 3.6 as 4."""
    table, spec, source = begun(shared_db)
    duckdb = shared_db.engine.dialect == "duckdb"
    said = "in 2 of 4 keys of the list the text of id is not the value" if duckdb else "no value of its column"
    with pytest.raises(PolicyError, match=said) as refused:
        shared_db.erase(spec, [{"id": text} for text in ("1", "3.6", "0.4", "2")], confirmed=True)
    assert "3.6" not in str(refused.value)
    assert sum(seen(shared_db, table).values()) == len(source)
    assert shared_db.erase(spec, [{"id": "2.0" if duckdb else "02"}]).published == 1
