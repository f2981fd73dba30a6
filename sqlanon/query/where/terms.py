"""The exact expressions that a query needs of every row: each becomes a column of the rewritten rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.query.sql.sqltree import Tree, column


class Terms:
    """Names exact expressions while a query is read; `named` holds the named expressions.

    Args:
        dialect: dialect of the expressions: those with the same text in it are merged.
    """

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._names: dict[str, str] = {}
        self._trees: dict[str, Tree] = {}

    def column(self, tree: Tree) -> Tree:
        """The column of an expression over the view and the joined tables."""
        name = self._names.setdefault(tree.sql(dialect=self._dialect), f"x{len(self._names) + 1}")
        self._trees.setdefault(name, tree)
        return column(name)

    @property
    def named(self) -> Mapping[str, Tree]:
        """The expressions, by the columns' names."""
        return dict(self._trees)
