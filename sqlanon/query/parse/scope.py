"""Names: every column of the query becomes an exact column of a joined table, or the value of a box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from sqlanon.engines.base import Engine, Relation
from sqlanon.query.boxes.box import VIEW, Box, box_of
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.functions.aggregates import is_count
from sqlanon.query.functions.order import is_ordered
from sqlanon.query.functions.registry import by_collation, is_floating
from sqlanon.query.functions.spellings import is_converted
from sqlanon.query.refusal import refuse
from sqlanon.query.release import Field, ReaderRelease
from sqlanon.query.sql.sqltree import Tree, column, table_of, with_columns
from sqlanon.query.sql.text_order import compares_by_bytes, in_bytes

ITEM = "_item"
"""The table of the items of the SELECT, in bound expressions of other clauses."""

_SHORT = frozenset(["TINYINT", "SMALLINT", "INTEGER"])
_OWN_EQUALITY = re.compile(r"(.+\.)?(character|bpchar|citext)\b(?! varying)", re.IGNORECASE)
_TEXT = re.compile(r"(text|character varying|varchar|character|char|bpchar)\b", re.IGNORECASE)
_RECODED = (
    "the release has it rounded or coded at its ends, so that nobody knows how far its values lie from those published"
)
_OTHER = "values that its hierarchy does not list are one value in the release, so that nobody knows what they are"


@dataclass(frozen=True)
class Scope(ReleasedView):
    """The tables of a query.

    Attributes:
        text: the query, for messages.
        alias: the query's name for the release.
        tables: the joined tables, by the query's names for them, with their names in the rewritten SQL.
        joins: the joins, bound, over the names of the rewritten SQL.
        linked: a joined table may have several rows for a row of the release: they come and go together.
        using: columns that joins name in USING; by themselves they mean the release's.
        boxes: the boxes that the query uses, by source column.
        orders: whether columns of text compare by bytes, if asked before.
    """

    text: str
    alias: str
    tables: Mapping[str, tuple[str, Relation]] = field(default_factory=dict)
    joins: tuple[exp.Join, ...] = ()
    linked: bool = False
    using: frozenset[str] = frozenset()
    boxes: Mapping[str, Box] = field(default_factory=dict)
    orders: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    def bind(self, node: exp.Expr, items: Sequence[str] = ()) -> Tree:
        """A copy of an expression with every column resolved.

        Args:
            node: the expression.
            items: names of the SELECT that the expression may use where the release has no such column; they become
                columns of `ITEM`, by their numbers.

        Raises:
            RefusedQueryError: a column that neither the release nor a joined table has.
        """
        bound = with_columns(node, lambda column: self._item(column, items) or self._place(column))
        self._check_collations(bound, node)
        self._check_boxes(bound, node)
        return bound

    def view(self) -> exp.Expr:
        """The released view, with exact text in the source's type and collation, for comparisons by the engine."""
        ref = self.released.view.ref
        texts = {
            field.published[0] if field.published else field.name: field
            for field in self.released.fields
            if self.is_exact(field)
        }
        trees = {
            c.name: self.collate(texts[c.name], column(c.name, VIEW)) if c.name in texts else column(c.name, VIEW)
            for c in self.released.view.columns
        }
        if all(isinstance(tree, exp.Column) for tree in trees.values()):
            return table_of(ref, VIEW)
        listed = (exp.alias_(tree, name, quoted=True) for name, tree in trees.items())
        return exp.Select().select(*listed).from_(table_of(ref, VIEW)).subquery(VIEW)

    def _check_collations(self, bound: Tree, node: exp.Expr) -> None:
        """Refuse expressions that depend on an unknown collation, and types of text with another equality."""
        if not self.engine.capabilities.collations:
            self._check_sent(bound, node)
            return
        for column_node in bound.find_all(exp.Column):
            field = self._field(column_node)
            if field is None or field.kind != "text":
                continue
            if not _TEXT.match(field.source_type):
                refuse(
                    self.text,
                    node,
                    f"column {field.name} ({field.source_type}): values of this type are equal though their texts "
                    "differ, and a release holds texts",
                )
            if field.collation is None and _goes_by_collation(column_node):
                self.check_collation(field, node)

    def _check_sent(self, bound: Tree, node: exp.Expr) -> None:
        """Refuse texts of PostgreSQL with another equality, which a database without it holds as plain texts."""
        if not self.engine.capabilities.hidden_collations:
            return
        for column_node in bound.find_all(exp.Column):
            field = self._field(column_node)
            above = column_node.parent
            if field is None or field.kind != "text" or isinstance(above, exp.Is) or (above and is_count(above)):
                continue
            if _OWN_EQUALITY.match(field.source_type) or (field.collation is not None and not field.deterministic):
                refuse(
                    self.text,
                    node,
                    f"column {field.name} ({field.source_type}): values of this type are equal in the source though "
                    "their texts differ, and this database compares texts; ask whether it is NULL",
                )

    def _check_boxes(self, bound: Tree, node: exp.Expr) -> None:
        """Refuse expressions that depend on an order or equality of enums or collations that published texts lack."""
        for column_node in (column_node for column_node in bound.find_all(exp.Column) if column_node.table == "_box"):
            box = self.box(column_node.name)
            reason = ""
            if box.field.kind == "enum" and box.type is None and is_ordered(column_node):
                reason = "the release holds this enum as text, without its order; cast it to text to compare texts"
            hidden = self.engine.capabilities.hidden_collations and not box.field.deterministic
            if hidden and not isinstance(column_node.parent, exp.Is):
                reason = (
                    "the source compares it by a collation, and the release holds other texts; ask whether it is NULL"
                )
            if reason:
                refuse(self.text, node, f"column {box.field.name}: {reason}")

    def check_collation(self, field: Field, node: exp.Expr) -> None:
        """Refuse an expression that depends on a text column's collation where the release does not know it.

        Raises:
            RefusedQueryError: see above.
        """
        if field.kind == "text" and field.collation is None and self.engine.capabilities.collations:
            refuse(
                self.text,
                node,
                f"column {field.name}: the release does not know the collation that it has in the source; run the "
                "release again",
            )

    def check_key(self, term: Tree) -> None:
        """Refuse to group by values of several types: DuckDB merges 1 and 1.0 under GROUP BY v, not under GROUP BY ALL.

        Raises:
            RefusedQueryError: see above.
        """
        for name in self._as_they_are(term, "VARIANT"):
            refuse(self.text, term, f"column {name} (VARIANT) is not grouped by: cast it to one type, as text")

    def check_sum(self, argument: Tree, node: exp.Expr) -> None:
        """Refuse to add up numbers that the engine multiplies as doubles.

        Raises:
            RefusedQueryError: see above.
        """
        for _ in self._as_they_are(argument, "BIGNUM"):
            refuse(self.text, node, "sums of BIGNUM are not answered: cast it to a decimal type or DOUBLE inside")

    def _as_they_are(self, tree: Tree, source_type: str) -> Iterator[str]:
        """The columns of a type that an expression reads and does not cast."""
        for node in tree.find_all(exp.Column):
            field = self._field(node)
            if field is not None and field.source_type == source_type and not is_converted(node, tree):
                yield field.name

    def _field(self, node: exp.Column) -> Field | None:
        """The released column that a bound column is."""
        if node.table == "_box":
            return self.box(node.name).field
        if node.table != VIEW:
            return None
        return next(
            (field for field in self.released.fields if (field.published or (field.name,))[0] == node.name), None
        )

    def exact_fields(self, bound: Tree) -> list[Field]:
        """The released columns that a bound expression reads."""
        fields = (self._field(node) for node in bound.find_all(exp.Column))
        return [field for field in fields if field is not None]

    def check_order(self, box: Box, node: exp.Expr) -> None:
        """Refuse an expression that depends on a text column's order where this database does not compare by bytes.

        Raises:
            RefusedQueryError: see above.
        """
        if box.field.kind != "text" or box.shape != "interval":
            return
        collations = self.engine.capabilities.collations
        if box.id not in self.orders:
            self.orders[box.id] = (
                in_bytes(self.engine, box.field.collation)
                if collations
                else compares_by_bytes(self.engine, box.parts["lo"], table_of(self.released.view.ref, VIEW))
            )
        if self.orders[box.id]:
            return
        refuse(
            self.text,
            node,
            f"column {box.field.name}: the release orders text by bytes, and the source by its collation, so that "
            f"bounds would not hold; {'ask with = or IN' if collations else 'ask by other columns'}",
        )

    def check_equality(self, box: Box, node: exp.Expr) -> None:
        """Refuse to compare text with a constant where equality goes by a collation other than that of bytes.

        Raises:
            RefusedQueryError: see above.
        """
        if not self.engine.capabilities.collations:
            self.check_order(box, node)

    def check_recoded(self, box: Box, node: exp.Expr) -> None:
        """Refuse an expression that reads values of a column that was rounded or coded before the release.

        Raises:
            RefusedQueryError: see above.
        """
        if box.field.recode is not None:
            refuse(
                self.text,
                node,
                f"column {box.field.name}: {_RECODED if box.field.recode.other is None else _OTHER}; compare the "
                "column itself with constants, as in count(*) FILTER (WHERE ...)",
            )

    def has(self, name: str) -> bool:
        """Whether a table of the query has a column of that name."""
        names = [field.name for field in self.released.fields]
        names += [column.name for _, relation in self.tables.values() for column in relation.columns]
        return name.lower() in [field_name.lower() for field_name in names]

    def _item(self, node: exp.Column, items: Sequence[str]) -> Tree | None:
        """An item of the SELECT that a name means: an alias that is no column of the release."""
        if not items or node.table or any(field.name.lower() == node.name.lower() for field in self.released.fields):
            return None
        numbers = [i for i, name in enumerate(items) if name.lower() == node.name.lower()]
        return item(numbers[0], node) if numbers else None

    def _place(self, node: exp.Column) -> Tree:
        """A column's tree, which still knows where the analyst wrote it."""
        placed = self._column(node).copy()
        placed.meta.update(node.this.meta)
        return placed

    def box(self, name: str) -> Box:
        """A box by id."""
        return next(box for box in self.boxes.values() if box.id == name)

    def is_floating(self, tree: Tree) -> bool:
        """Whether an exact expression may be infinite or no number: it reads floating point values, or makes some."""
        if is_floating(tree):
            return True
        floats = {(VIEW, name) for field in self.released.fields if field.kind == "float" for name in field.published}
        floats |= {(n, c.name) for n, relation in self.tables.values() for c in relation.columns if c.kind == "float"}
        return any((column_node.table, column_node.name) in floats for column_node in tree.find_all(exp.Column))

    def is_short(self, column: exp.Column) -> bool:
        """Whether an exact column of the release has whole numbers of 32 bits at most."""
        return column.table == VIEW and self.released.column(column.name).type.upper() in _SHORT

    def _column(self, node: exp.Column) -> Tree:
        if node.args.get("db"):
            refuse(self.text, node, "write columns as column or alias.column")
        own_names = (
            _match([field.name for field in self.released.fields], node)
            if node.table.lower() in ("", self.alias.lower())
            else []
        )
        joined = [
            (name, column_name)
            for alias, (name, relation) in self.tables.items()
            if node.table.lower() in ("", alias.lower())
            for column_name in _match([c.name for c in relation.columns], node)
        ]
        if own_names and node.name.lower() in self.using:
            joined = []
        if len(own_names) + len(joined) > 1:
            refuse(
                self.text,
                node,
                f"several columns are called {node.name}; write alias.{node.name}, or the exact name in quotes",
            )
        if joined:
            self._comparable(node, *joined[0])
            return column(joined[0][1], joined[0][0])
        if not own_names:
            names = ", ".join(field.name for field in self.released.fields)
            refuse(self.text, node, f"the release has no column {node.sql()}; it has: {names}")
        field = next(field for field in self.released.fields if field.name == own_names[0])
        if field.role == "pseudonym":
            refuse(
                self.text,
                node,
                f"{field.name} is a pseudonym: the view has tokens in place of its values, so that bounds would be of "
                "another column; join or count tokens in plain SQL over the view",
            )
        return self._write_field(field)

    def _comparable(self, node: exp.Column, table: str, name: str) -> None:
        """Refuse a joined column of a type with special operators.

        In this query they would be those of another type, or missing.
        """
        relations = dict(self.tables.values())
        for relation_column in relations[table].columns:
            if relation_column.name == name and relation_column.own_operators:
                refuse(
                    self.text,
                    node,
                    f"column {name} has type {relation_column.shown_type}, which was added to this database with "
                    "operators of its own; join a view that casts it, to text for example",
                )

    def _write_field(self, field: Field) -> Tree:
        if self.is_exact(field):
            return column(field.published[0] if field.published else field.name, VIEW)
        return self.boxes[field.name].value

    def is_exact(self, field: Field) -> bool:
        """Whether the release shows every row's own value of a column."""
        if self.released.form.facts.exact:
            return field.role != "sensitive"
        return field.role != "quasi"


def boxes_of(engine: Engine, released: ReaderRelease, alias: str, trees: Iterable[exp.Expr]) -> Mapping[str, Box]:
    """The boxes of the columns without exact values that some expressions name, by source column.

    Args:
        engine: the database.
        released: the release.
        alias: the query's name for the release.
        trees: expressions as they were parsed.
    """
    scope = Scope(engine, released, "", alias)
    open_ = [open_field.name for open_field in released.fields if not scope.is_exact(open_field)]
    boxes: dict[str, Box] = {}
    for node in (node for tree in trees for node in tree.find_all(exp.Column)):
        if node.table.lower() not in ("", alias.lower()):
            continue
        for open_field in (open_field for open_field in released.fields if open_field.name in _match(open_, node)):
            if open_field.name not in boxes:
                box = released.once(("box", open_field.name), partial(box_of, engine, released, open_field, ""))
                boxes[open_field.name] = replace(box, id=f"k{len(boxes) + 1}")
    return boxes


def item(number: int, node: exp.Expr) -> Tree:
    """An item of the SELECT by number, where another clause names it."""
    reference = column(str(number), ITEM)
    reference.meta.update(node.this.meta if isinstance(node, exp.Column) else node.meta)
    return reference


def _goes_by_collation(node: exp.Column) -> bool:
    """Whether a text is asked for more than the bytes, before an aggregate takes it."""
    above = node.parent
    while above is not None and not isinstance(above, exp.AggFunc | exp.Filter):
        if by_collation(above):
            return True
        above = above.parent
    return False


def boxes_in(tree: exp.Expr) -> list[str]:
    """The ids of the boxes that a bound expression reads values of."""
    return list(dict.fromkeys(node.name for node in tree.find_all(exp.Column) if node.table == "_box"))


def _match(names: Sequence[str], node: exp.Column) -> list[str]:
    """The columns that may be meant: the exact name in quotes, else all that differ in case alone."""
    if node.this.args.get("quoted") and node.name in names:
        return [node.name]
    return [name for name in names if name.lower() == node.name.lower()]
