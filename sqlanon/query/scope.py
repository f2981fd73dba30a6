"""Names: every column of the query becomes an exact column of a joined table, or the value of a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from sqlanon.engines.base import Engine, Relation
from sqlanon.query.boxes import VIEW, Box, box_of
from sqlanon.query.refuse import refuse
from sqlanon.query.released import Field, Released
from sqlanon.query.terms import Tree, column, with_columns
from sqlanon.sqltext import statement


@dataclass
class Scope:
    """The tables of one query.

    Attributes:
        text: the query, for messages.
        alias: what the query calls the release.
        released: the release.
        tables: the joined tables, by what the query calls them, and what the rewritten SQL calls them.
        joins: the joins, bound, over the names of the rewritten SQL.
        linked: a joined table may have several rows for one of the release: they come and go together.
        using: columns that joins name in USING; by themselves they mean the release's.
        boxes: the boxes that the query uses, by source column; filled as names are resolved.
        terms: the exact expressions that the query uses, by their text: the name that the rewritten rows give each.
    """

    engine: Engine
    text: str
    alias: str
    released: Released
    tables: dict[str, tuple[str, Relation]] = field(default_factory=dict)
    joins: list[exp.Join] = field(default_factory=list)
    linked: bool = False
    using: set[str] = field(default_factory=set)
    boxes: dict[str, Box] = field(default_factory=dict)
    terms: dict[str, tuple[str, Tree]] = field(default_factory=dict)

    def bind(self, node: exp.Expr) -> Tree:
        """A copy of an expression with every column resolved.

        Raises:
            Refused: a column that neither the release nor a joined table has.
        """
        return with_columns(node, self._placed)

    def check_order(self, box: Box, node: exp.Expr) -> None:
        """Refuse what asks for the order of a text column where this database has another one than bytes.

        Raises:
            Refused: see above.
        """
        if box.field.kind != "text" or box.shape != "interval" or self._bytes:
            return
        refuse(
            self.text, node,
            f"column {box.field.name}: the release orders text by bytes, and this database by its collation, so that bounds "
            "would not hold; ask with = or IN, or of a database with the collation C",
        )  # fmt: skip

    @cached_property
    def _bytes(self) -> bool:
        return bool(self.engine.fetch(statement("query/text_order", self.engine.dialect))[0][0])

    def has(self, name: str) -> bool:
        """Whether a table of the query has a column of that name."""
        names = [own.name for own in self.released.fields]
        names += [column.name for _, relation in self.tables.values() for column in relation.columns]
        return name.lower() in [found.lower() for found in names]

    def _placed(self, node: exp.Column) -> Tree:
        """A column's tree, which still knows where the analyst wrote it."""
        found = self._column(node).copy()
        found.meta.update(node.this.meta)
        return found

    def box(self, name: str) -> Box:
        """A box by its id."""
        return next(box for box in self.boxes.values() if box.id == name)

    def term(self, tree: Tree) -> Tree:
        """An exact expression, as a column of the rewritten rows."""
        name, _ = self.terms.setdefault(tree.sql(), (f"x{len(self.terms) + 1}", tree))
        return column(name)

    def _column(self, node: exp.Column) -> Tree:
        if node.args.get("db"):
            refuse(self.text, node, "write columns as column or alias.column")
        own = (
            _match([own.name for own in self.released.fields], node)
            if node.table.lower() in ("", self.alias.lower())
            else []
        )
        joined = [
            (name, found)
            for alias, (name, relation) in self.tables.items()
            if node.table.lower() in ("", alias.lower())
            for found in _match([c.name for c in relation.columns], node)
        ]
        if own and node.name.lower() in self.using:
            joined = []
        if len(own) + len(joined) > 1:
            refuse(
                self.text,
                node,
                f"several columns are called {node.name}; write alias.{node.name}, or the exact name in quotes",
            )
        if joined:
            return column(joined[0][1], joined[0][0])
        if not own:
            names = ", ".join(found.name for found in self.released.fields)
            refuse(self.text, node, f"the release has no column {node.sql()}; it has: {names}")
        return self._own(next(found for found in self.released.fields if found.name == own[0]))

    def _own(self, own: Field) -> Tree:
        if self.is_exact(own):
            return column(own.published[0] if own.published else own.name, VIEW)
        if own.name not in self.boxes:
            self.boxes[own.name] = box_of(self.engine, self.released, own, f"k{len(self.boxes) + 1}")
        return self.boxes[own.name].value

    def is_exact(self, own: Field) -> bool:
        """Whether the release shows every row's own value of a column."""
        if self.released.format == "anatomy":
            return own.role != "sensitive"
        return own.role != "quasi"


def boxes_in(tree: exp.Expr) -> list[str]:
    """The ids of the boxes whose values a bound expression reads."""
    return list(dict.fromkeys(node.name for node in tree.find_all(exp.Column) if node.table == "_box"))


def _match(names: Sequence[str], node: exp.Column) -> list[str]:
    """The columns that may be meant: the exact name in quotes, else all that differ in case alone."""
    if node.this.args.get("quoted") and node.name in names:
        return [node.name]
    return [found for found in names if found.lower() == node.name.lower()]
