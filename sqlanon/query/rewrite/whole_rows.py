"""Nests a statement in another one with separate tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from sqlglot import exp

from sqlanon.query.sql.sqltree import copy_tree, nodes

T = TypeVar("T", bound=exp.Expr)


def rename_tables(tree: T, names: Mapping[str, str]) -> T:
    """A copy of a query that reads tables by other names.

    If two WITHs of a statement define a name, not every engine takes the nearer definition.
    """
    return rename(copy_tree(tree), names)


def rename(tree: T, names: Mapping[str, str]) -> T:
    """See `rename_tables`; the tree itself is changed."""
    for node in nodes(tree):
        if isinstance(node, exp.Table) and node.name in names and not node.args.get("db"):
            node.set("this", exp.to_identifier(names[node.name]))
        elif isinstance(node, exp.Column) and node.table in names:
            node.set("table", exp.to_identifier(names[node.table], quoted=True))
    return tree
