"""In which order a database has text: releases have it in that of bytes."""

from __future__ import annotations

from sqlglot import ErrorLevel, exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.query.sql.sqltree import Tree, sql, string
from sqlanon.sqltext import statement


def in_bytes(engine: Engine, collation: str | None) -> bool:
    """Whether a column of text is ordered by bytes. Cost: a query of a single row.

    Args:
        engine: the database.
        collation: SQL for the column's COLLATE; None: not known, or the engine has none.
    """
    if collation is None or not engine.capabilities.collations:
        return bool(engine.fetch(statement("query/text_order", engine.dialect))[0][0])
    return _holds(engine, exp.Select(), exp.Collate(this=string("a"), expression=exp.Var(this=collation)))


def compares_by_bytes(engine: Engine, published: Tree, view: exp.Expr) -> bool:
    """Whether published text compares by bytes in this session, of an engine with columns that name no collation.

    On DuckDB a column's COLLATE goes with the column's type, and the session's default applies to the others.

    Args:
        engine: the database.
        published: a column of the view.
        view: the view. Without rows nothing compares in a wrong way.
    """
    letter = sql("CASE WHEN FALSE THEN :x ELSE 'a' END", x=published)
    return _holds(engine, exp.Select().from_(view).limit(1), exp.Paren(this=letter))


def _holds(engine: Engine, select: exp.Select, letter: Tree) -> bool:
    query = select.select(exp.Not(this=exp.Paren(this=exp.LT(this=letter, expression=string("B")))))
    text = query.sql(dialect=engine.dialect, unsupported_level=ErrorLevel.IGNORE)
    return all(row[0] for row in engine.fetch(Statement("query/text_order", text)))
