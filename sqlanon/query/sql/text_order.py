"""In which order a database has text: releases have it in that of bytes."""

from __future__ import annotations

from sqlglot import ErrorLevel, exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.query.sql.sqltree import string
from sqlanon.sqltext import statement


def in_bytes(engine: Engine, collation: str | None) -> bool:
    """Whether a column of text is ordered by bytes. Cost: a query of one row.

    Args:
        engine: the database.
        collation: SQL for the column's COLLATE; None: not known, or the engine has none.
    """
    if collation is None or not engine.capabilities.collations:
        return bool(engine.fetch(statement("query/text_order", engine.dialect))[0][0])
    letter = exp.Collate(this=string("a"), expression=exp.Var(this=collation))
    asked = exp.Select().select(exp.Not(this=exp.Paren(this=exp.LT(this=letter, expression=string("B")))))
    text = asked.sql(dialect=engine.dialect, unsupported_level=ErrorLevel.IGNORE)
    return bool(engine.fetch(Statement("query/text_order", text))[0][0])
