"""Bounds on the length of a query's texts.

Neither DuckDB's memory limit nor a deadline holds within a call of a function.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.definition import flat
from sqlanon.query.functions.registry import definition_of, find_padding, length_of
from sqlanon.query.functions.texts import LENGTHS, PADDED
from sqlanon.query.refusal import refuse

MOST_CHARACTERS = 20_000
"""Characters of a text that a query may compute, of columns with `COLUMN` characters."""

COLUMN = 100
"""Characters that a value of a column is taken to have."""

_VALUE = 400
"""Characters of a number, a date or a time as text: the longest double has some 330."""


def check_lengths(text: str, select: exp.Select) -> None:
    """Refuse a query that computes a text which may be too long.

    Args:
        text: the whole query, for messages.
        select: the query as it was parsed.

    Raises:
        RefusedQueryError: a text is longer than `MOST_CHARACTERS`, or padded to more than `PADDED`.

    Cost: a walk over the query.
    """
    lengths: dict[int, int] = {}
    for node in reversed(list(select.walk(bfs=True))):  # arguments before the functions of them
        padded = find_padding(node)
        if padded is not None and not _few(padded):
            refuse(text, node, f"text is padded to at most {PADDED} characters, written as a number")
        lengths[id(node)] = length = _length(node, lengths)
        if length > MOST_CHARACTERS:
            refuse(
                text,
                node,
                f"this text may have more than {MOST_CHARACTERS:,} characters, with {COLUMN} for each column in it; "
                "replace by shorter texts, or compute less at once",
            )


def _length(node: exp.Expr, lengths: dict[int, int]) -> int:
    """The most characters that the value of an expression has as a text."""
    if isinstance(node, exp.Literal):
        return len(node.this) if node.is_string else _VALUE
    if isinstance(node, exp.Column):
        return COLUMN
    parts = [lengths[id(part)] for part in node.iter_expressions() if id(part) in lengths]
    operands = [lengths[id(part)] for part in flat(node)] or parts
    return LENGTHS[length_of(node)](operands if definition_of(node) is not None else parts)


def _few(length: exp.Expr | None) -> bool:
    return (
        isinstance(length, exp.Literal)
        and not length.is_string
        and length.name.isdigit()
        and int(length.name) <= PADDED
    )
