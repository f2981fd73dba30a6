"""The box of a quasi column: the same few parts for every reader, whatever the format of the release.

A box is the set of possible values of a row in that column: a closed interval, the leaves of a node, the members of a
set, or the values of a group. Its state describes its NULLs: ``none``, ``all``, ``some`` (any value or NULL), ``any``
(any value, no NULL), ``ends`` (NULL, or a value of the interval).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.engines.rows import count
from sqlanon.formats import Cell, Format
from sqlanon.formats.label_text import parse_label
from sqlanon.query.logic.number_line import Comparison, Piece, pieces_of
from sqlanon.query.refusal import RefusedQueryError
from sqlanon.query.release import Field, ReaderRelease
from sqlanon.query.sql.sqltree import Tree, column, sql, string, table_of
from sqlanon.spec import FormatSpec
from sqlanon.sqltext import literal, type_name
from sqlanon.table import rules

VIEW = "released"
"""Name of the view in the rewritten SQL."""
MOST_LABELS = 1_000_000
"""Different nodes of a rule that a column shows, at most."""

Shape = Literal["interval", "order", "set", "node", "group"]


@dataclass(frozen=True)
class Box:
    """A column that a row's box leaves open.

    Attributes:
        id: a short name for columns of the rewritten SQL.
        field: the source column.
        shape: interval (lo, hi); order (lo, hi of a declared list); set (members); node (of a hierarchy); group
            (anatomy).
        parts: by name, the trees over the view that give the box.
        state: a tree over the view that gives the state of NULL; None: ``none`` throughout.
        mean: the published mean of the class.
        point: the representative value that the format publishes in place of a box.
        valued: the parts are values of the source's type, not labels.
        beside: the state may be ``ends``.
        step: distance of neighbouring values; None: no such distance.
        values: the declared domain, in order.
        type: type of an enum in the enum's order, so that values compare as in the source.
        nodes: nodes of a hierarchy: label, first leaf, last leaf.
        beyond: labels of the nodes with rows that may have values that are not listed, any of them.
    """

    id: str
    field: Field
    shape: Shape
    parts: Mapping[str, Tree]
    state: Tree | None = None
    mean: Tree | None = None
    point: Tree | None = None
    valued: bool = False
    beside: bool = False
    step: Fraction | None = None
    values: tuple[str, ...] = ()
    type: exp.DataType | None = None
    nodes: tuple[tuple[str, int, int], ...] = dataclasses.field(default=(), repr=False)
    beyond: tuple[str, ...] = dataclasses.field(default=(), repr=False)

    @property
    def numeric(self) -> bool:
        """Whether the values can be added up."""
        return self.field.kind in ("integer", "float", "decimal")

    @property
    def attained(self) -> bool:
        """Whether the low end, the high end, and each member of the set are each the value of some row of the class."""
        return self.field.attained and self.shape != "node"

    def pieces(self, comparisons: Sequence[Comparison]) -> list[tuple[frozenset[int], Piece]]:
        """The runs of values that decide each of some comparisons alike: see `pieces_of`."""
        return pieces_of(comparisons, self.step, self.field.kind, self.field.source_type)

    @property
    def value(self) -> Tree:
        """The value of a row in predicates that were bound: any value that the row may have."""
        return column(self.id, "_box")


def box_of(engine: Engine, released: ReaderRelease, field: Field, name: str) -> Box:
    """The box of a quasi column, or of the sensitive column of format anatomy.

    Args:
        engine: the database.
        released: the release.
        field: the column.
        name: the box's id.
    """
    form = released.form
    if form.facts.paired:
        return _read(Box(name, field, "group", {}), form.cell(field, "group", VIEW))
    shape = _shape(field)
    facts: dict[str, Any] = {"step": _step(field), "values": _values(engine, released, field)}
    if shape == "interval" and facts["values"]:
        shape = "order"
    if field.kind == "enum" and field.treatment == "ordered":
        if form.facts.text and "order" not in field.declared:
            raise RefusedQueryError(
                f"column {field.name}: {form.facts.name} of an enum do not show its order; release it in format "
                f"{FormatSpec().kind}"
            )
        if "order" not in field.declared:
            shown = released.column(field.published[0]).type
            facts["type"] = exp.DataType.build(shown, dialect=engine.dialect, udt=True)
    if field.rule is not None and not form.facts.single:
        return _read(Box(name, field, shape, {}, **facts), _of_rule(engine, released, field))
    if shape == "node":
        facts["nodes"] = _leaves(field) if form.facts.single else _nodes(field, form)
    if form.facts.text and field.kind in ("text", "enum"):
        _check_quotes(engine, released, field)
    if field.recode is not None and field.recode.other is not None:
        leaf = field.declared["leaves"].index(field.recode.other)
        facts["beyond"] = tuple(label for label, low, high in facts["nodes"] if low <= leaf <= high)
    return _read(Box(name, field, shape, {}, **facts), form.cell(field, shape, VIEW))


def _read(box: Box, cell: Cell) -> Box:
    """The box with the parts of a published cell."""
    state, mean, point = (sql(text) if text else None for text in (cell.state, cell.mean, cell.point))
    parts = {part: sql(text) for part, text in cell.parts.items()}
    if "set" in parts and cell.valued and box.field.kind in ("text", "enum"):  # as the sets of other formats are
        parts["set"] = exp.cast(parts["set"], "TEXT[]")
    return replace(box, parts=parts, state=state, mean=mean, point=point, valued=cell.valued, beside=cell.beside)


def _check_quotes(engine: Engine, released: ReaderRelease, field: Field) -> None:
    """Labels that quote a value as JSON are not taken apart in SQL."""
    if field.treatment == "hierarchy":
        return
    quoted = exp.Like(this=column(field.published[0], VIEW), expression=string('%"%'))
    query = exp.Select().select(sql("COUNT(*)")).from_(table_of(released.view.ref, VIEW)).where(quoted)
    if count(engine, Statement("query/quoted", query.sql(dialect=engine.dialect))):
        raise RefusedQueryError(
            f"column {field.name}: {released.format} with values in quotes are not read; release it in format "
            f"{FormatSpec().kind} to ask for it"
        )


def _of_rule(engine: Engine, released: ReaderRelease, field: Field) -> Cell:
    """A cell of a node that a rule built, as the interval of the label; the root covers any value."""
    cell, form, rule = released.form.cell(field, "node", VIEW), released.form, field.rule
    assert rule is not None
    shown = released.once(("labels", field.name), lambda: _labels(engine, released, field))
    node, kind = cell.parts["node"], "TEXT" if field.kind == "text" else type_name(field.source_type)
    ends: dict[str, str] = {}
    for index, end in enumerate(("lo", "hi")):
        cases = ""
        for label in shown:
            raw = parse_label(label) if form.facts.text else ("value", (label,))
            plain = raw[1][0] if raw[0] == "value" else label
            means = rules.read_node(rule, plain, field.kind, _step(field))
            if means is not None or plain != label:
                value = literal((means or (plain, plain))[index])
                cases += f" WHEN {node} = {literal(label)} THEN CAST({value} AS {kind})"
        ends[end] = f"CASE WHEN {node} = '*' THEN NULL{cases} ELSE CAST({node} AS {kind}) END"
    state = cell.state or "'none'"
    return Cell(ends, f"CASE WHEN {state} = 'none' AND {node} = '*' THEN 'any' ELSE {state} END")


def _labels(engine: Engine, released: ReaderRelease, field: Field) -> list[str]:
    """The different labels that a column shows."""
    shown = column(field.published[0], VIEW)
    listed = (
        exp.Select()
        .select(shown)
        .distinct()
        .from_(table_of(released.view.ref, VIEW))
        .where(exp.Not(this=exp.Is(this=shown.copy(), expression=exp.null())))
    )
    rows = engine.fetch(Statement("query/labels", listed.sql(dialect=engine.dialect)), max_rows=MOST_LABELS)
    return sorted(str(row[0]) for row in rows)


def _shape(field: Field) -> Shape:
    if field.rule is not None:
        return "interval"
    shapes: dict[str, Shape] = {"ordered": "interval", "nominal": "set", "hierarchy": "node"}
    return shapes[field.treatment]


def _step(field: Field) -> Fraction | None:
    if field.kind in ("integer", "boolean", "date"):
        return Fraction(1)
    if field.kind == "timestamp":
        return None if field.source_type.upper() == "TIMESTAMP_NS" else Fraction(1)  # microseconds
    if field.kind == "decimal" and "," in field.source_type:
        scale = int(field.source_type.rsplit(",", 1)[1].strip(" )"))
        return Fraction(10) ** -scale
    return None


def _values(engine: Engine, released: ReaderRelease, field: Field) -> tuple[str, ...]:
    """The declared domain.

    It is a list of the policy, the leaves of a hierarchy, or the labels of an enum in the enum's order.
    """
    declared = field.declared
    if field.treatment == "hierarchy":
        return tuple(declared.get("leaves", ()))
    if "order" in declared:
        return tuple(declared["order"])
    if field.treatment == "ordered" and field.kind == "enum" and not released.form.facts.text:
        shown = next((c for c in released.view.columns if c.name == field.published[0]), None)
        if shown is not None and shown.kind == "enum":
            empty = exp.Select().select(column(shown.name, VIEW)).from_(table_of(released.view.ref, VIEW)).limit(0)
            listed = sql("SELECT CAST(UNNEST(ENUM_RANGE(:one)) AS TEXT) AS label", one=empty.subquery())
            rows = engine.fetch(Statement("query/labels", listed.sql(dialect=engine.dialect)))
            return tuple(str(row[0]) for row in rows)
    return ()


def _nodes(field: Field, form: Format) -> tuple[tuple[str, int, int], ...]:
    """Label, first and last leaf; labels that several nodes share mean the widest of them."""
    spans: dict[str, tuple[int, int]] = {}
    for _, first, leaves, label in field.declared["nodes"]:
        shown = form.write(label)
        low, high = spans.get(shown, (first, first + leaves - 1))
        spans[shown] = (min(low, first), max(high, first + leaves - 1))
    return tuple((label, low, high) for label, (low, high) in spans.items())


def _leaves(field: Field) -> tuple[tuple[str, int, int], ...]:
    """The leaves alone, for formats that publish values: an inner node may have the text of a leaf."""
    return tuple((leaf, i, i) for i, leaf in enumerate(field.declared["leaves"]))
