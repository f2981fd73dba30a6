"""Bounds on the length of a query's texts.

Neither DuckDB's memory limit nor a deadline holds within one call of a function.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.refusal import refuse

MOST_CHARACTERS = 20_000
"""Characters of a text that a query may compute, of columns with `COLUMN` characters."""

MOST_PADDED = 1000
"""Characters that a text may be padded to."""

COLUMN = 100
"""Characters that a value of a column is taken to have."""

_VALUE = 400
"""Characters of a number, a date or a time as text: the longest double has some 330."""

_SHORTER = (exp.Substring, exp.Left, exp.Right, exp.Trim)
_CHANGED = (exp.Lower, exp.Upper, exp.Initcap, exp.Reverse)
_FORMATTED = (exp.TimeToStr, exp.ToChar, exp.Anonymous)


def check_lengths(text: str, select: exp.Select) -> None:
    """Refuse a query that computes a text which may be too long.

    Args:
        text: the whole query, for messages.
        select: the query as it was parsed.

    Raises:
        Refused: a text is longer than `MOST_CHARACTERS`, or padded to more than `MOST_PADDED`.

    Cost: one walk over the query.
    """
    known: dict[int, int] = {}
    for node in reversed(list(select.walk(bfs=True))):  # arguments before the functions of them
        if isinstance(node, exp.Pad) and not _few(node.expression):
            refuse(text, node, f"text is padded to at most {MOST_PADDED} characters, written as a number")
        known[id(node)] = length = _length(node, known)
        if length > MOST_CHARACTERS:
            refuse(
                text,
                node,
                f"this text may have more than {MOST_CHARACTERS:,} characters, with {COLUMN} for each column in it; "
                "replace by shorter texts, or compute less at once",
            )


def _length(node: exp.Expr, known: dict[int, int]) -> int:
    """The most characters that the value of an expression has as a text."""
    if isinstance(node, exp.Literal):
        return len(node.this) if node.is_string else _VALUE
    if isinstance(node, exp.Column):
        return COLUMN
    parts = [known[id(part)] for part in node.iter_expressions() if id(part) in known]
    longest = max(parts, default=0)
    if isinstance(node, exp.Pad):
        return MOST_PADDED
    if isinstance(node, exp.Replace):
        new = node.args.get("replacement")
        return max(_of(node.this, known) * max(_of(new, known), 1), 1)
    if isinstance(node, exp.Concat | exp.ConcatWs | exp.DPipe):
        separators = _of(node.expressions[0], known) * len(node.expressions) if isinstance(node, exp.ConcatWs) else 0
        return sum(parts) + separators
    if isinstance(node, _SHORTER):
        return _of(node.this, known)
    if isinstance(node, _CHANGED):
        return 3 * longest
    if isinstance(node, _FORMATTED):
        return 20 * longest
    return longest


def _of(node: exp.Expr | None, known: dict[int, int]) -> int:
    return known.get(id(node), 0)


def _few(length: exp.Expr | None) -> bool:
    return (
        isinstance(length, exp.Literal)
        and not length.is_string
        and length.name.isdigit()
        and int(length.name) <= MOST_PADDED
    )
