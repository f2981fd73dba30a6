"""Parentheses around the terms of ROLLUP, CUBE and GROUPING SETS, which the parser takes without comparisons only."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType

_KINDS = (TokenType.ROLLUP, TokenType.CUBE, TokenType.GROUPING_SETS)


def parenthesize_terms(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a query with parentheses around each term of several tokens in a list of groupings.

    ``ROLLUP (age > 40, sex)`` becomes ``ROLLUP ((age > 40), sex)``. New tokens have the places of their neighbours, so
    that messages underline the text as it was written.

    Args:
        tokens: the tokens of a text, in order.
    """
    output: list[Token] = []
    depth, lists = 0, set[int]()
    term: list[Token] = []
    for index, token in enumerate(tokens):
        inner = bool(lists) and max(lists) == depth
        closes = token.token_type is TokenType.R_PAREN
        if inner and (closes or token.token_type is TokenType.COMMA):
            output += _parenthesize(term)
            term = []
        elif inner and token.token_type in _KINDS:
            output.append(token)  # a list within a list
            continue
        depth += (token.token_type is TokenType.L_PAREN) - closes
        if closes:
            lists.discard(depth + 1)
        if token.token_type is TokenType.L_PAREN and index and tokens[index - 1].token_type in _KINDS:
            lists.add(depth)
            output.append(token)
        elif lists and not (inner and (closes or token.token_type is TokenType.COMMA)):
            term.append(token)
        else:
            output.append(token)
    return [*output, *term]


def _parenthesize(term: Sequence[Token]) -> list[Token]:
    """A term in parentheses, unless it is a single name or in parentheses already."""
    if len(term) < 2 or _encloses(term):
        return list(term)
    first, last = term[0], term[-1]
    return [
        Token(TokenType.L_PAREN, "(", first.line, first.col, first.start, first.start),
        *term,
        Token(TokenType.R_PAREN, ")", last.line, last.col, last.end, last.end),
    ]


def _encloses(term: Sequence[Token]) -> bool:
    """Whether the first parenthesis of a term ends with it."""
    depth = 0
    for index, token in enumerate(term):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            return index == len(term) - 1
    return False
