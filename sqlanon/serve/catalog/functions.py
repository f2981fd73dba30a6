"""The functions that questions to the catalog may call: those of PostgreSQL's catalog, and plain ones."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

PLAIN = frozenset(
    """
    abs array_agg array_length array_position array_to_string avg bool_and bool_or btrim cardinality ceil
    char_length coalesce concat concat_ws count current_schemas date_trunc dense_rank floor generate_subscripts
    greatest json_build_object least left length lower ltrim max md5 min nullif rank regexp_replace
    replace right round row_number rtrim split_part string_agg string_to_array strpos substr substring sum
    to_char trim upper
    """.split()  # noqa: SIM905 - fifty words
)
"""Functions that are answered besides those that this file makes."""

RENAMED = {"json_build_object": "json_object", "string_to_array": "string_split", "char_length": "length"}
"""Functions that have another name in memory."""

_NAME = re.compile(r"CREATE MACRO fn\.(\w+)")


@cache
def names() -> frozenset[str]:
    """The functions that are made here, in the schema fn."""
    return frozenset(_NAME.findall(_text()))


def definitions() -> list[str]:
    """Statements that make them; each ends a line with a semicolon."""
    return [text for text in _text().split(";\n") if text.strip()]


@cache
def _text() -> str:
    return (files("sqlanon.serve.catalog") / "functions.sql").read_text(encoding="utf-8")
