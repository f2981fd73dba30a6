"""Spread of the published parts of a column over the column's values, by the uniform assumption of every format.

For each column a table ``(part, code, share)``: the parts are the published cells (a range, a node, a set, a label,
a point, a star), the codes the source's values. `share` of a part's rows has that value: 1 / the number of *all* values
that the part may cover, so that a part's shares sum to less than 1 where the source does not hold all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.evaluate.subject import Subject
from sqlanon.formats import Format, Names
from sqlanon.formats.label_text import parse_label
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import tree_of


@dataclass(frozen=True, slots=True)
class _SpreadColumn:
    """A column: the domain, the published parts and where they are, and the scratch table of the distinct parts."""

    scratch: Scratch
    domain: Domain
    form: Format
    names: Names
    parts: TableRef
    alias: str
    at: Mapping[str, str]

    def table(self, step: str) -> TableRef:
        return self.scratch.table(f"{self.alias}_{step}")


def spread(
    scratch: Scratch, subject: Subject, domain: Domain, released: TableRef, number: int
) -> tuple[TableRef, TableRef | None]:
    """Make the table (part, code, share) of a column.

    Args:
        scratch: the run.
        subject: the release.
        domain: the column's values in the source.
        released: table with the column's part numbers ``p<number>`` and the published parts, ``v<number>_1`` ...
        number: which column of ``released`` it is.

    Returns:
        The table, and a table (part, low, high, size) where every part is a run of codes, of which each value has the
        same share, or two: NULL, which has half of the rows, and a run; None: the parts are sets. A step of an integer
        or a date and a leaf of a hierarchy is a value; so is a value of a declared order. For other types (floats,
        decimals, timestamps, text by the alphabet) and where any value is possible, the values are those that the
        source holds.

    Raises:
        PolicyError: the source does not hold the ends of a range any more: it has changed.

    Cost: a row for every part and value in it.
    """
    names = subject.names(domain.reading.name)
    alias = f"b{number}"
    alias_of = {name: f"v{number}_{place}" for place, name in enumerate(subject.published[domain.reading.name], 1)}
    parts = scratch.table(f"{alias}_parts")
    reading = _SpreadColumn(scratch, domain, subject.form, names, parts, alias, alias_of)
    mark, means = _find_markers(reading)
    scratch.execute(
        "datacube/parts",
        parts=reading.parts,
        released=released,
        number=number,
        names=[
            {"column": alias_of[column], "part": part}
            for part, column in (("value", names.value), ("lo", names.lo), ("hi", names.hi))
            if column
        ],
        mark=mark,
        means=means,
    )
    runs = _runs(reading)
    lost = scratch.fetch("datacube/unknown", runs=runs)[0][0]
    if lost:
        raise PolicyError(
            f"{subject.name}: the source does not hold {lost} of the values that are published of "
            f"{domain.reading.name}; it has changed since the release was made. Run the release again, then compare"
        )
    members = _members(reading) if _is_set(reading) else None
    table = reading.table("spread")
    scratch.execute("datacube/spread", spread=table, runs=runs, domain=domain.table, members=members)
    for finished in (reading.parts, *([members, runs] if members else [])):
        scratch.drop(finished)
    return table, None if members else runs


def _is_set(read: _SpreadColumn) -> bool:
    return read.domain.reading.treatment == "nominal" and not read.form.facts.single


def _find_markers(read: _SpreadColumn) -> tuple[str | None, str]:
    """Where a part says that it is NULL, or that any value is possible."""
    mark, means = read.form.mark(read.names)
    return read.at[mark] if mark else None, means


def _runs(read: _SpreadColumn) -> TableRef:
    """Table (part, low, high, size): the codes that a part reaches, in a run or two, and how many values it has."""
    reading, domain = read.domain.reading, read.domain
    tree = reading.treatment == "hierarchy"
    texts = order = None
    every = domain.codes
    if read.form.facts.single:
        shape = "value"
    elif tree:
        shape, texts = "node", _nodes(read)
    elif reading.treatment == "nominal":
        shape = "set"
    else:
        shape = "ends"
        if read.form.facts.text:
            shape, texts = "texts", _ends(read)
        if isinstance(reading.spec.ordered, tuple):
            order = _order(read, reading.spec.ordered)
            every = len(reading.spec.ordered) + domain.has_null
    table = read.table("runs")
    read.scratch.execute(
        "datacube/runs",
        runs=table,
        parts=read.parts,
        domain=domain.table,
        shape=shape,
        type=reading.value_type,
        steps=reading.column.kind in ("integer", "date") and not tree,
        order=order,
        texts=texts,
        nil=0 if domain.has_null else -1,
        top=domain.codes - 1,
        any=every,
    )
    return table


def _nodes(read: _SpreadColumn) -> TableRef:
    """Table (label, low, high, size) of a hierarchy. Where nodes share a label, it means the largest of them."""
    tree = tree_of(read.domain)
    write = read.form.write
    shift = int(read.domain.has_null)
    nodes: dict[str, tuple[int, int]] = {}
    for level in range(len(tree.node)):
        for leaf, label in enumerate(tree.label[level]):
            size, first = int(tree.leaves[level][leaf]), int(tree.node[level][leaf])
            if size > nodes.get(write(label), (0, 0))[0]:
                nodes[write(label)] = size, first
    rows = [(label, first + shift, first + shift + size - 1, size) for label, (size, first) in nodes.items()]
    return _load_table(read, "nodes", [("label", ""), ("low", "BIGINT"), ("high", "BIGINT"), ("size", "BIGINT")], rows)


def _order(read: _SpreadColumn, order: tuple[str, ...]) -> TableRef:
    return _load_table(read, "order", [("value", ""), ("rank", "INTEGER")], [(v, i) for i, v in enumerate(order)])


def _ends(read: _SpreadColumn) -> TableRef:
    """Table (label, low, high): ranges as labels show them."""
    rows = [(label, values[0], values[-1]) for label, what, values in _parse_labels(read) if what in ("value", "range")]
    return _load_table(read, "ends", [("label", ""), ("low", ""), ("high", "")], rows)


def _members(read: _SpreadColumn) -> TableRef:
    """Table (part, code, size) of sets."""
    texts = None
    if read.form.facts.text:
        rows = [
            (value, label)
            for label, what, values in _parse_labels(read)
            if what in ("value", "set")
            for value in values
        ]
        texts = _load_table(read, "listed", [("member", ""), ("label", "")], rows)
    table = read.table("members")
    read.scratch.execute("datacube/members", members=table, parts=read.parts, domain=read.domain.table, texts=texts)
    return table


def _parse_labels(read: _SpreadColumn) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every label of the column once, the kind, and the values."""
    statement = read.scratch.sql("verify/labels", released=read.parts, column="value")
    labels = [str(row[0]) for row in read.scratch.engine.fetch(statement, max_rows=50_000_000)]
    return [(label, *parse_label(label)) for label in labels]


def _load_table(
    read: _SpreadColumn, step: str, columns: list[tuple[str, str]], rows: Sequence[tuple[object, ...]]
) -> TableRef:
    """A scratch table; columns without a type are text that is compared by bytes."""
    table = read.table(step)
    text = read.scratch.engine.capabilities.text_type
    read.scratch.engine.load_rows(table, [(name, kind or text) for name, kind in columns], rows)
    return table
