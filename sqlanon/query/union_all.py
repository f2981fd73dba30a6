"""UNION ALL: its SELECTs are asked one after the other, and their rows put below one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from sqlglot import Token, TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlanon.query.answer import Answer
from sqlanon.query.refusal import refuse


def split_union(text: str, dialect: str) -> list[str]:
    """The SELECTs of a UNION ALL; a query without one is its only part.

    Raises:
        Refused: a clause that belongs to all of them together.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return [text]  # the parser explains it
    outside = _outside(tokens)
    cuts = [
        (one.start, after.end + 1)
        for one, after in pairwise(outside)
        if one.token_type is TokenType.UNION and after.token_type is TokenType.ALL
    ]
    if not cuts:
        return [text]
    if outside[0].token_type is TokenType.WITH:
        refuse(
            text,
            None,
            "WITH before a UNION ALL is not answered; write the subquery after FROM in each SELECT",
        )
    if any(
        one.token_type in (TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH) for one in outside
    ):
        refuse(
            text,
            None,
            "ORDER BY and LIMIT of a UNION ALL are not answered; leave them out, and order the rows of the answer",
        )
    ends = [0, *(place for cut in cuts for place in cut), len(text)]
    return [text[ends[i] : ends[i + 1]].strip().rstrip(";") for i in range(0, len(ends), 2)]


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that are in no parentheses."""
    depth, found = 0, []
    for one in tokens:
        depth -= one.token_type is TokenType.R_PAREN
        if depth == 0:
            found.append(one)
        depth += one.token_type is TokenType.L_PAREN
    return found


def merge_answers(text: str, answers: Sequence[Answer]) -> Answer:
    """The rows of several answers as one, under the names of the first.

    Raises:
        Refused: they have not the same columns, with bounds or without.
    """
    first = answers[0]
    shape = [name in first.aggregates for name in first.columns]
    rows = []
    for one in answers:
        if [name in one.aggregates for name in one.columns] != shape:
            refuse(
                text,
                None,
                "the SELECTs of a UNION ALL need as many columns each, with aggregates in the same places",
            )
        rows += [dict(zip(first.columns, (row[name] for name in one.columns), strict=True)) for row in one.rows]
    return replace(
        first,
        rows=tuple(rows),
        certain=tuple(sure for one in answers for sure in one.certain),
        sql="\nUNION ALL\n".join(one.sql for one in answers),
        unlisted_groups=any(one.unlisted_groups for one in answers),
    )
