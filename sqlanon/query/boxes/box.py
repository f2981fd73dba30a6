"""What the release shows of one quasi column, whatever the format: the same few parts for every reader of it.

A box is what a row may be in that column: a closed interval, the leaves of a node, the members of a set, or the values of
a group. Its state says of NULL: ``none``, ``all``, ``some`` (any value or NULL), ``any`` (any value, no NULL).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.query.refusal import Refused
from sqlanon.query.release import Field, Released
from sqlanon.query.rewrite.sqltree import Tree, column, sql, string, table_of

VIEW = "released"
"""What the view is called in the rewritten SQL."""

Shape = Literal["interval", "order", "set", "node", "group"]


@dataclass(frozen=True)
class Box:
    """One column that a row's box leaves open.

    Attributes:
        id: a short name for columns of the rewritten SQL.
        field: the source column.
        shape: interval (lo, hi); order (lo, hi of a declared list); set (members); node (of a hierarchy); group (anatomy).
        parts: by name, the trees over the view that tell the box.
        state: a tree over the view that says of NULL; None: ``none`` throughout.
        mean: the published mean of the class.
        point: the representative value that the format publishes in place of a box.
        valued: its parts are values of the source's type, not labels.
        step: distance of neighbouring values; None: no such distance.
        values: the declared domain, in order.
        type: of an enum in its own order, so that its values compare as in the source.
        nodes: of a hierarchy: label, first leaf, last leaf.
    """

    id: str
    field: Field
    shape: Shape
    parts: Mapping[str, Tree]
    state: Tree | None = None
    mean: Tree | None = None
    point: Tree | None = None
    valued: bool = False
    step: Fraction | None = None
    values: tuple[str, ...] = ()
    type: exp.DataType | None = None
    nodes: tuple[tuple[str, int, int], ...] = dataclasses.field(default=(), repr=False)

    @property
    def numeric(self) -> bool:
        """Whether its values can be added up."""
        return self.field.kind in ("integer", "float", "decimal")

    @property
    def value(self) -> Tree:
        """The value of a row in predicates that were bound: it stands for whatever the row may be."""
        return column(self.id, "_box")


def box_of(engine: Engine, released: Released, own: Field, name: str) -> Box:
    """The box of a quasi column, or of the sensitive column of format anatomy.

    Args:
        engine: the database.
        released: the release.
        own: the column.
        name: the box's id.
    """
    if released.format == "anatomy":
        assert released.group is not None
        return Box(name, own, "group", {"group": column(released.group, VIEW)})
    shape = _shape(own)
    facts: dict[str, Any] = {"step": _step(own), "values": _values(engine, released, own)}
    if shape == "interval" and facts["values"]:
        shape = "order"
    if own.kind == "enum" and own.treatment == "ordered":
        if released.format == "labels" and "order" not in own.declared:
            raise Refused(
                f"column {own.name}: labels of an enum do not tell its order; release it in format ranges"
            )
        if "order" not in own.declared:
            shown = released.column(own.published[0]).type
            facts["type"] = exp.DataType.build(shown, dialect=engine.dialect, udt=True)
    if shape == "node":
        facts["nodes"] = _NODES[released.format](own)
    if released.format == "labels" and own.kind in ("text", "enum"):
        _check_quotes(engine, released, own)
    parts, rest = _READERS[released.format](own, shape)
    return Box(name, own, shape, parts, **facts, **rest)


def _check_quotes(engine: Engine, released: Released, own: Field) -> None:
    """Labels that quote a value as JSON are not taken apart in SQL."""
    if own.treatment == "hierarchy":
        return
    quoted = exp.Like(this=column(own.published[0], VIEW), expression=string('%"%'))
    counted = exp.Select().select(sql("COUNT(*)")).from_(table_of(released.view.ref, VIEW)).where(quoted)
    if int(str(engine.fetch(Statement("query/quoted", counted.sql(dialect=engine.dialect)))[0][0])):
        raise Refused(
            f"column {own.name}: labels with values in quotes are not read; release it in format ranges to ask for it"
        )


def _shape(own: Field) -> Shape:
    shapes: dict[str, Shape] = {"ordered": "interval", "nominal": "set", "hierarchy": "node"}
    return shapes[own.treatment]


def _step(own: Field) -> Fraction | None:
    if own.kind in ("integer", "boolean", "date"):
        return Fraction(1)
    if own.kind == "timestamp":
        return None if own.source_type.upper() == "TIMESTAMP_NS" else Fraction(1)  # microseconds
    if own.kind == "decimal" and "," in own.source_type:
        scale = int(own.source_type.rsplit(",", 1)[1].strip(" )"))
        return Fraction(1, 10**scale)
    return None


def _values(engine: Engine, released: Released, own: Field) -> tuple[str, ...]:
    """The declared domain: a list of the policy's, the leaves of a hierarchy, or the labels of an enum in its own order."""
    declared = own.declared
    if own.treatment == "hierarchy":
        return tuple(declared["leaves"])
    if "order" in declared:
        return tuple(declared["order"])
    if own.treatment == "ordered" and own.kind == "enum" and released.format != "labels":
        shown = next((c for c in released.view.columns if c.name == own.published[0]), None)
        if shown is not None and shown.kind == "enum":
            one = (
                exp.Select()
                .select(column(shown.name, VIEW))
                .from_(table_of(released.view.ref, VIEW))
                .limit(0)
            )
            listed = sql("SELECT CAST(UNNEST(ENUM_RANGE(:one)) AS TEXT) AS label", one=one.subquery())
            rows = engine.fetch(Statement("query/labels", listed.sql(dialect=engine.dialect)))
            return tuple(str(row[0]) for row in rows)
    return ()


def _nodes(own: Field, *, quoted: bool) -> tuple[tuple[str, int, int], ...]:
    """Label, first and last leaf; labels that several nodes share mean the widest of them."""
    from sqlanon.release.make.labels import quote

    spans: dict[str, tuple[int, int]] = {}
    for _, first, leaves, label in own.declared["nodes"]:
        shown = quote(label) if quoted and label != "*" else label
        low, high = spans.get(shown, (first, first + leaves - 1))
        spans[shown] = (min(low, first), max(high, first + leaves - 1))
    return tuple((label, low, high) for label, (low, high) in spans.items())


def _leaves(own: Field) -> tuple[tuple[str, int, int], ...]:
    """The leaves alone, for formats that publish values: an inner node may have the text of a leaf."""
    return tuple((leaf, i, i) for i, leaf in enumerate(own.declared["leaves"]))


_NODES: dict[str, Callable[[Field], tuple[tuple[str, int, int], ...]]] = {
    "ranges": lambda own: _nodes(own, quoted=False), "labels": lambda own: _nodes(own, quoted=True),
    "suppressed": _leaves, "points": _leaves,
}  # fmt: skip

_Read = tuple[dict[str, Tree], dict[str, Any]]


def _ranges(own: Field, shape: Shape) -> _Read:
    names = {name.removeprefix(own.name): name for name in own.published}
    state = column(names["_null"], VIEW) if "_null" in names and len(own.published) > 1 else None
    rest: dict[str, Any] = {"state": state}
    if shape in ("interval", "order"):
        if "_mean" in names:
            rest["mean"] = column(names["_mean"], VIEW)
        return {"lo": column(names["_lo"], VIEW), "hi": column(names["_hi"], VIEW)}, rest
    return {"set" if shape == "set" else "node": column(own.published[0], VIEW)}, rest


def _suppressed(own: Field, shape: Shape) -> _Read:
    value = column(own.published[0], VIEW)
    if len(own.published) > 1:
        flag = column(own.published[1], VIEW)
        state = sql("CASE WHEN :f THEN 'some' WHEN :v IS NULL THEN 'all' ELSE 'none' END", f=flag, v=value)
    else:
        state = sql("CASE WHEN :v IS NULL THEN 'any' ELSE 'none' END", v=value)
    return _pointed(value, shape), {"state": state, "valued": True}


def _points(own: Field, shape: Shape) -> _Read:
    value = column(own.published[0], VIEW)
    return _pointed(value, shape), {"state": string("some"), "point": value, "valued": True}


def _pointed(value: Tree, shape: Shape) -> dict[str, Tree]:
    if shape in ("interval", "order"):
        return {"lo": value, "hi": value}
    if shape == "set":
        return {"set": sql("CASE WHEN :v IS NOT NULL THEN [:v] END", v=value)}
    return {"node": sql("CAST(:v AS TEXT)", v=value)}


def _labels(own: Field, shape: Shape) -> _Read:
    label = column(own.published[0], VIEW)
    state = sql("CASE WHEN :l = 'NULL' THEN 'all' WHEN :l = '*' THEN 'some' ELSE 'none' END", l=label)
    rest = {"state": state}
    if shape == "node":
        return {"node": sql("CASE WHEN :l IN ('NULL', '*') THEN NULL ELSE :l END", l=label)}, rest
    if shape == "set":
        inside = sql("SUBSTRING(:l, 2, LENGTH(:l) - 2)", l=label)
        inner = exp.StringToArray(this=inside, expression=string(", "))
        text = "CASE WHEN :l IN ('NULL', '*') THEN NULL WHEN LEFT(:l, 1) = '{' THEN :i ELSE [:l] END"
        return {"set": sql(text, l=label, i=inner)}, rest
    return {end: _end(label, own, end) for end in ("lo", "hi")}, rest


def _end(label: Tree, own: Field, end: str) -> Tree:
    """One end of ``[20, 29]``, or the value ``20``, in the source's type."""
    inner = sql("SUBSTRING(:l, 2, LENGTH(:l) - 2)", l=label)
    part = sql("SPLIT_PART(:i, ', ', :n)", i=inner, n=exp.Literal.number(1 if end == "lo" else 2))
    textual = own.kind in ("text", "enum")
    kind = exp.DataType.build("TEXT" if textual else own.source_type, dialect="duckdb")
    return sql(
        "CASE WHEN :l IN ('NULL', '*') THEN NULL WHEN LEFT(:l, 1) = '[' THEN :p ELSE :v END",
        l=label, p=exp.Cast(this=part, to=kind), v=exp.Cast(this=label.copy(), to=kind.copy()),
    )  # fmt: skip


_READERS = {"ranges": _ranges, "suppressed": _suppressed, "points": _points, "labels": _labels}
