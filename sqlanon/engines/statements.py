"""Batches statements: groups those that an engine may send in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlanon.engines.base import Statement


def split_batches(statements: Iterable[Statement]) -> Iterator[list[Statement]]:
    """Statements that may go together, in their order: only the last one of a call has values."""
    together: list[Statement] = []
    for statement in statements:
        together.append(statement)
        if statement.binds:
            yield together
            together = []
    if together:
        yield together


def join_statements(statements: Sequence[Statement]) -> Statement:
    """Several statements together, named after all of them."""
    if len(statements) == 1:
        return statements[0]
    names = ", ".join(dict.fromkeys(statement.name for statement in statements))
    # A comment at a statement's end ends with its line.
    return Statement(names, "\n;\n".join(statement.text for statement in statements), statements[-1].binds)
