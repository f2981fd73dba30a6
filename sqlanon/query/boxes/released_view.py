"""A release in the database: texts as the source compares them, and facts about the rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.query.release import Field, ReaderRelease
from sqlanon.query.sql.sqltree import Tree
from sqlanon.sqltext.trees import port_tree


@dataclass(frozen=True)
class ReleasedView:
    """A release, and the database that is asked about it.

    Attributes:
        engine: the database.
    """

    engine: Engine
    released: ReaderRelease

    def collate(self, field: Field, tree: Tree) -> Tree:
        """A value of a text column as the source holds it: a release holds text, which compares by bytes."""
        if field.kind != "text" or field.collation is None or not self.engine.capabilities.collations:
            return tree
        kind = exp.DataType.build(field.source_type, dialect=self.engine.dialect, udt=True)
        return exp.Collate(this=exp.cast(tree, kind), expression=exp.Var(this=field.collation))

    def fact(self, name: str, query: exp.Select) -> object:
        """A fact about the view's rows: the only value of a query, asked once for each version."""
        text = port_tree(query, self.engine.dialect).sql(dialect=self.engine.dialect)
        return self.released.once((name, text), lambda: self.engine.fetch(Statement(name, text))[0][0])
