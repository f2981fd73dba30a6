"""Kinds of SQL types: numbers, whole numbers, floating point numbers, times with a zone."""

from __future__ import annotations

from sqlglot import exp

_SMALL = (exp.DataType.Type.FLOAT,)
_BITS = {exp.DataType.Type.BIT}
"""The parser's whole numbers of one bit, which these engines have as strings of bits."""


def is_number(kind: exp.DataType) -> bool:
    """Whether it is a type of numbers."""
    return bool(kind.is_type(*exp.DataType.NUMERIC_TYPES - _BITS))


def is_whole(kind: exp.DataType) -> bool:
    """Whether it is a type of whole numbers."""
    return bool(kind.is_type(*exp.DataType.INTEGER_TYPES - _BITS))


def is_float(kind: exp.DataType) -> bool:
    """Whether it is a type of floating point numbers."""
    return bool(kind.is_type(*exp.DataType.FLOAT_TYPES))


def is_single(kind: exp.DataType) -> bool:
    """Whether it is floating point of single precision."""
    return bool(kind.is_type(*_SMALL))


def is_zoned(source_type: str) -> bool:
    """Whether a source's type has times with a zone; PostgreSQL names the type without one as well."""
    return "WITH TIME ZONE" in source_type.upper()
