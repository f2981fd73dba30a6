"""Texts of clients: statements, parameters, columns of bounds, and places in errors."""

from __future__ import annotations

import datetime
import math
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import Transformer
from psycopg.types.array import ArrayBinaryLoader

from sqlanon.serve import texts
from sqlanon.serve.refusals import QueryText, ServeError
from sqlanon.serve.values import (
    DATE,
    FLOAT8,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    Type,
    decode,
    encode,
    find_type,
    list_of,
    type_of,
)
from tests.properties.strategies import examples

COLUMNS = {"age": INT4, "ill": TEXT, "t_low": TEXT}


def taken(sql: str) -> tuple[str, list[tuple[str, str, str]]]:
    """The text without columns of bounds, and the outputs."""
    (piece,) = texts.split(sql)
    cuts, outputs = texts.take_bounds(piece, COLUMNS)
    return texts.edit(piece.text, cuts).text, [(one.name, one.item, one.end) for one in outputs]


@pytest.mark.parametrize(
    ("sql", "left", "outputs"),
    [
        ("SELECT count(*) AS n, n_low FROM t", "SELECT count(*) AS n FROM t", [("", "", ""), ("n_low", "n", "low")]),
        (
            "SELECT n_high, f(a, b_low) AS n FROM t",
            "SELECT f(a, b_low) AS n FROM t",
            [("n_high", "n", "high"), ("", "", "")],
        ),
        (
            "SELECT a_low, b_high, c FROM t",
            "SELECT c FROM t",
            [("a_low", "a", "low"), ("b_high", "b", "high"), ("", "", "")],
        ),
        ("SELECT t_low, count(*) AS n FROM t", "SELECT t_low, count(*) AS n FROM t", [("", "", "")] * 2),
        ("SELECT n_low FROM t", "SELECT n_low FROM t", [("", "", "")]),
        (
            'WITH x AS (SELECT a_low, b FROM t) SELECT count(*) AS n, "n_LOW" AS "m" FROM x',
            "WITH x AS (SELECT a_low, b FROM t) SELECT count(*) AS n FROM x",
            [("", "", ""), ("m", "n", "low")],
        ),
        (
            "SELECT a AS n FROM t UNION ALL SELECT n_low FROM t",
            "SELECT a AS n FROM t UNION ALL SELECT n_low FROM t",
            [],
        ),
    ],
)
def test_columns_of_bounds_are_taken_out(sql: str, left: str, outputs: list[tuple[str, str, str]]) -> None:
    assert taken(sql) == (left, outputs)


def test_statements_end_at_semicolons_outside_of_quotes() -> None:
    found = texts.split(" SELECT ';' ; -- a;b\n SELECT $x$;$x$ /* ; */;; ")
    assert [(piece.text, piece.start) for piece in found] == [("SELECT ';'", 1), ("SELECT $x$;$x$", 22)]
    assert texts.split(" ; /* */ ") == []
    for text in ("SELECT 'a", "SELECT /* a", "SELECT $x$ a"):
        with pytest.raises(ServeError) as caught:
            texts.split(text)
        assert caught.value.code == "42601"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("SELECT a FROM t WHERE x IN ($1,$2,$3)", [1, 2, 3]),
        ("SELECT $1+$2||$3,a,$4", [1, 2, 3, 4]),
        ("SELECT '$5,$6', E'\\'$5,$6', \"$5,$6\", $$ $5,$6 $$, $a$5,$6$a$, /* $5,$6 */ $1,$2 -- $5,$6", [1, 2]),
    ],
)
def test_parameters_without_spaces_are_no_quoted_text(text: str, numbers: list[int]) -> None:
    (piece,) = texts.split(text)
    assert [number for number, _, _ in texts.parameters(piece)] == numbers
    assert piece.text.replace(" ", "").startswith(text.split("--", maxsplit=1)[0].replace(" ", ""))


@pytest.mark.parametrize("part", ["/*", "'", "$a$", "$1,", '"', "E'\\"])
def test_texts_that_do_not_end_are_read_once(part: str) -> None:
    """A search that began anew at each of 30,000 places would not end in this test's time."""
    with suppress(ServeError):
        texts.split(part * (60_000 // len(part)) + "x")


def test_parameters_are_found_outside_of_quotes() -> None:
    (piece,) = texts.split("SELECT '$1', $2, \"$3\", $x$ $4 $x$, $10 -- $5")
    assert [number for number, _, _ in texts.parameters(piece)] == [2, 10]
    (piece,) = texts.split("SELECT $99999")
    with pytest.raises(ServeError):
        texts.parameters(piece)


@pytest.mark.parametrize(
    ("sql", "types"),
    [
        ("SELECT 1 FROM t WHERE age < $1 AND $2 = ill", [INT4, TEXT]),
        ("SELECT 1 FROM t WHERE age BETWEEN $1 AND $2", [INT4, INT4]),
        ("SELECT 1 FROM t WHERE age IN ($1, $2)", [INT4, INT4]),
        ("SELECT $1::double precision, CAST($2 AS date)", [FLOAT8, DATE]),
        ("SELECT 1 FROM t LIMIT $1 OFFSET $2", [INT8, INT8]),
        ("SELECT $1, $2::int", [TEXT, INT4]),
    ],
)
def test_types_of_parameters(sql: str, types: list[object]) -> None:
    (piece,) = texts.split(sql)
    assert texts.parameter_types(piece, [], COLUMNS) == [kind.oid for kind in types]  # type: ignore[attr-defined]
    assert texts.parameter_types(piece, [20], COLUMNS)[0] == 20


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.text("xyz", max_size=6)), max_size=4), st.data())
def test_a_place_of_the_asked_text_is_that_of_the_same_character(
    parts: list[tuple[int, int, str]], data: st.DataObject
) -> None:
    """Every kept character has its own letter, so that its place is known."""
    text, edits, at = "", [], 0
    for kept, cut, new in parts:
        text += "".join(chr(0x4E00 + at + i) for i in range(kept + cut))
        edits.append((at + kept, at + kept + cut, new))
        at += kept + cut
    text += chr(0x9000)
    asked = texts.edit(text, edits)
    for i, letter in enumerate(asked.text):
        if letter not in "xyz":
            assert asked.place(i) == text.index(letter)
        else:
            assert 0 <= asked.place(i) <= len(text)
    assert data is not None


def test_a_place_without_edits_is_its_own() -> None:
    assert QueryText("abc").place(2) == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-5, "(-5)"),
        (1e-7, "0.0000001"),
        (Decimal("1E+3"), "1000"),
        ("it's; --", "'it''s; --'"),
        (datetime.date(2024, 3, 1), "CAST('2024-03-01' AS DATE)"),
        (["a'", None], "ARRAY['a''', NULL]"),
    ],
)
def test_values_are_literals(value: object, text: str) -> None:
    assert texts.write_literal(value, "duckdb") == text
    assert texts.write_literal("a'\\", "spark") == r"'a\'\\'"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {"a": 1}, "a\0b", [b"x"]])
def test_values_without_a_literal_are_refused(value: object) -> None:
    with pytest.raises(ServeError):
        texts.write_literal(value, "duckdb")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, INT8),
        (2.5, FLOAT8),
        (Decimal("12.50"), NUMERIC),
        ("ü", TEXT),
        (datetime.date(1999, 12, 31), DATE),
        (datetime.datetime(2000, 1, 1, 3, 4, 5), TIMESTAMP),
    ],
)
def test_values_come_back_as_they_went(value: object, kind: object) -> None:
    for binary in (False, True):
        data = encode(value, kind, binary)  # type: ignore[arg-type]
        assert data is not None
        assert decode(data, kind.oid, binary) == value  # type: ignore[attr-defined]


def test_a_value_is_never_rounded_to_a_type() -> None:
    with pytest.raises(ServeError):
        encode(7.5, INT8, False)
    assert encode(8.0, INT8, False) == b"8"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (b"a\xaa", TEXT, r"\x61aa"),
        ([1, None, 2], TEXT, "{1,NULL,2}"),
        (["a b", "", "null", 'x"\\', None, "{", "\u00a0"], TEXT, '{"a b","","null","x\\"\\\\",NULL,"{",\u00a0}'),
        ([[True], (Decimal("1E-9"), math.inf)], TEXT, "{{t},{0.000000001,Infinity}}"),
        ({"a": [1, True], "b": {"c": Decimal("1.50")}}, TEXT, '{"a": [1, true], "b": {"c": "1.50"}}'),
        (datetime.timedelta(days=1, microseconds=5), TEXT, "1 day 00:00:00.000005"),
        (datetime.timedelta(days=30), find_type("INTERVAL"), "30 days"),
        (datetime.timedelta(hours=-1), find_type("INTERVAL"), "-01:00:00"),
        (datetime.timedelta(days=-1), find_type("INTERVAL"), "-1 days"),
        (datetime.timedelta(), find_type("INTERVAL"), "00:00:00"),
        (datetime.datetime(44, 1, 2, 3, 4, 5, 500000), find_type("TIMESTAMP"), "0044-01-02 03:04:05.5"),
        (datetime.time(7, 4, 56, tzinfo=datetime.UTC), find_type("TIME WITH TIME ZONE"), "07:04:56+00"),
    ],
)
def test_values_are_written_as_postgresql_writes_them(value: object, kind: Type, text: str) -> None:
    assert encode(value, kind, False) == text.encode()


def test_intervals_are_no_whole_numbers() -> None:
    """The name of the type begins with that of another one."""
    day = datetime.timedelta(days=1)
    assert find_type("INTERVAL").oid == type_of([day]).oid == 1186
    assert encode(day, find_type("INTERVAL"), True) == bytes(8) + (1).to_bytes(4, "big") + bytes(4)


@pytest.mark.parametrize("items", [[], [1, 2], [None, 3], [-(2**31)]])
def test_lists_in_binary_form_are_those_of_psycopg(items: list[int | None]) -> None:
    """Written and read as psycopg does it."""
    made = encode(items, list_of(INT4), binary=True)
    assert made is not None
    assert decode(made, 1007, binary=True) == items
    assert ArrayBinaryLoader(1007, Transformer()).load(made) == items
