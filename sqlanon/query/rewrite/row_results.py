"""Results of conditions as columns of the rows, so that each is written and computed once.

A condition that is split by the values of a column repeats the results of its parts many times, and so does every
aggregate under it. As columns of an earlier table each is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.logic.formula import Triple
from sqlanon.query.sql.sqltree import Tree, column, named, nodes, select, sql

SHORT = 8
"""Nodes up to which a tree is written out wherever it is used."""


@dataclass(frozen=True)
class RowResults:
    """Columns of the rows that hold results.

    Attributes:
        trees: the expression of each column, over the columns of the rows and earlier ones of these.
        levels: of each column, how many tables there are before the one that has it.
    """

    trees: dict[str, Tree] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)

    def keep(self, triple: Triple) -> Triple:
        """The results as columns, where they are not short."""
        return Triple(*(self.column(tree) for tree in (triple.possible, triple.certain, triple.share)))

    def column(self, tree: Tree) -> Tree:
        """A column that holds a tree; the tree itself where it is short."""
        tree_nodes = list(nodes(tree))
        if len(tree_nodes) <= SHORT:
            return tree
        name = f"t{len(self.trees)}"
        self.trees[name] = tree
        self.levels[name] = max((self.levels[column_name] + 1 for column_name in self._in(tree_nodes)), default=0)
        return column(name)

    def rows(self, last: str, used: Iterable[Tree]) -> exp.Expr | str:
        """The rows with the columns that some trees read.

        Args:
            last: the table of the rows.
            used: the trees.
        """
        needed = self._list_wanted(used)
        source: exp.Expr | str = last
        for level in sorted({self.levels[name] for name in needed}):
            level_names = [name for name in self.trees if name in needed and self.levels[name] == level]
            expressions = [named(self.trees[name], name) for name in level_names]
            source = select([sql("*"), *expressions], source).subquery("r", copy=False)
        return source

    def _list_wanted(self, used: Iterable[Tree]) -> set[str]:
        """The columns that some trees read, and those that these are made of."""
        waiting, needed = [name for tree in used for name in self._in(nodes(tree))], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self._in(nodes(self.trees[name]))
        return needed

    def _in(self, trees: Iterable[exp.Expr]) -> list[str]:
        return [node.name for node in trees if isinstance(node, exp.Column) and node.name in self.trees]
