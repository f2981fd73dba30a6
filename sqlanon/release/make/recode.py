"""Recode: from an assignment to one row of published columns a class, by SQL aggregation over classed rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.release.make.labels import quote, text_of
from sqlanon.release.make.names import Names, Published, layout
from sqlanon.spec import FormatSpec
from sqlanon.table.encode import Domain, Encoded
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import load_nodes
from sqlanon.table.wide import in_parts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Recoded:
    """Classes ready to publish.

    Attributes:
        boxes: scratch table (class, n, lo_, hi_, null_, ncp_, lm_ per code column; format anatomy: single values).
        released: scratch table (class, n, every published QI-derived column, place).
        names: published names per code column.
        columns: all published columns in order.
        classes, min_class, max_class: how many classes, and the smallest and largest.
        sensitive: columns of the table of sensitive values; only format anatomy has one.
    """

    boxes: TableRef
    released: TableRef
    names: dict[str, Names]
    columns: tuple[Published, ...]
    classes: int
    min_class: int
    max_class: int
    sensitive: tuple[Published, ...] = ()


def recode(
    scratch: Scratch, encoded: Encoded, classed: TableRef, form: FormatSpec, spans: TableRef | None = None
) -> Recoded:
    """Compute boxes and published columns of every class.

    Args:
        scratch: the run.
        encoded: the work table.
        classed: staged rows with their codes and class.
        form: how boxes are published.
        spans: boxes in codes, where the method knows them; None: they are aggregated here.
    """
    names, columns = layout(encoded.roles, encoded.quasi, form)
    if spans is None:
        spans = scratch.table("spans")
        scratch.execute(
            "recode/spans",
            spans=spans,
            classed=classed,
            columns=[domain.code for domain in encoded.quasi],
            sets=[domain.code for domain in encoded.quasi if domain.fits_bits],
        )
    parts = [_column(scratch, classed, spans, domain, names[domain.code], form) for domain in encoded.quasi]
    made = spans

    def box(table: TableRef, some: Sequence[dict[str, object]], first: bool) -> list[str]:
        scratch.execute("recode/boxes", boxes=table, spans=made, columns=some)
        return [*(["n"] if first else []), *(name for part in some for name in _box_columns(part))]

    boxes = in_parts(scratch, "boxes", "class", parts, box)
    published = [column.name for column in columns if column.source == "r"]
    keys, codes = _keys(encoded, names, published, form)

    def show(table: TableRef, some: Sequence[dict[str, object]], _: bool) -> list[str]:
        here = {part["code"] for part in some}
        ranks = [key for key in codes if key["code"] in here]
        scratch.execute("recode/shown", shown=table, boxes=boxes, format=form.kind, columns=some, codes=ranks)
        shown = [name for part in some for name in names[str(part["code"])].published()]
        return [*(key["name"] for key in ranks), *shown]

    shown = in_parts(scratch, "shown", "_sqlanon_class", parts, show)
    released = scratch.table("released")
    scratch.execute("recode/released", released=released, shown=shown, names=published, keys=keys)
    scratch.drop(shown)
    row = scratch.fetch("recode/sizes", boxes=boxes)[0]
    classes, smallest, largest = (int(str(cell)) for cell in row)
    return Recoded(boxes, released, names, columns, classes, smallest, largest)


def _box_columns(part: dict[str, object]) -> list[str]:
    """What recode/boxes makes of one column."""
    code = part["code"]
    own = [f"set_{code}"] if part["key"] == f"set_{code}" else []
    size = [] if part["kind"] == "ordered" else [f"size_{code}"]
    return [f"lo_{code}", f"hi_{code}", *own, f"null_{code}", *size, f"ncp_{code}", f"lm_{code}"]


def _column(
    scratch: Scratch,
    classed: TableRef,
    spans: TableRef,
    domain: Domain,
    names: Names,
    form: FormatSpec,
) -> dict[str, object]:
    """What the templates need to know of one column, its scratch tables made."""
    kind = {"ordered": "ordered", "nominal": "set", "hierarchy": "tree"}[
        domain.reading.treatment or "ordered"
    ]
    part: dict[str, object] = {
        "code": domain.code, "kind": kind, "domain": domain.table, "nulls": domain.has_null,
        "size": max(domain.size, 1), "names": names, "range": 0, "members": None, "found": None, "labels": None,
        "means": None, "middle": None, "key": f"set_{domain.code}" if domain.fits_bits else "class",
        "type": domain.reading.column.type if domain.reading.as_text else None,
    }  # fmt: skip
    labels = None
    if kind == "ordered":
        part["range"] = float(str(scratch.fetch("recode/range", domain=domain.table)[0][0]))
    if form.kind == "labels" and kind != "tree":
        part["labels"] = labels = _value_labels(scratch, domain)
    if kind == "set":
        part["members"] = members = scratch.table(f"{domain.code}_members")
        if domain.fits_bits:
            scratch.execute(
                "recode/sets",
                members=members,
                spans=spans,
                domain=domain.table,
                column=domain.code,
                labels=labels,
            )
        else:
            scratch.execute(
                "recode/members",
                members=members,
                domain=domain.table,
                column=domain.code,
                labels=labels,
                classed=classed,
            )
    elif kind == "tree":
        nodes = load_nodes(scratch, domain) if not _loaded(scratch, domain) else _loaded(scratch, domain)
        part["found"] = found = scratch.table(f"{domain.code}_found")
        scratch.execute(
            "recode/nodes", found=found, spans=spans, nodes=nodes, column=domain.code, nulls=domain.has_null
        )
        if form.kind == "labels":
            part["labels"] = _node_labels(scratch, domain, found)
    if form.kind == "points":
        part["middle"] = middle = scratch.table(f"{domain.code}_middle")
        scratch.execute(
            "recode/middle",
            middle=middle,
            domain=domain.table,
            column=domain.code,
            frequent=kind != "ordered",
            classed=classed,
        )
    if names.mean:
        part["means"] = _means(scratch, classed, domain)
    return part


def _keys(
    encoded: Encoded, names: dict[str, Names], published: list[str], form: FormatSpec
) -> tuple[dict[str, str | None], list[dict[str, str]]]:
    """Codes rank classes as their ranges do, and faster: per published name a key column, and what each key is."""
    keys: dict[str, str | None] = dict.fromkeys(published)
    codes: list[dict[str, str]] = []
    for domain in encoded.quasi if form.kind == "ranges" else ():
        own = names[domain.code]
        parts = {own.lo: f"lo_{domain.code}", own.hi: f"hi_{domain.code}"}
        if domain.fits_bits:
            parts = {own.value: f"set_{domain.code}"}
        for name, key in parts.items():
            if name is not None:
                keys[name] = f"_sqlanon_{key}"
                codes.append({"name": f"_sqlanon_{key}", "code": domain.code, "key": key})
    return keys, codes


def _loaded(scratch: Scratch, domain: Domain) -> TableRef | None:
    table = TableRef(None, f"_sqlanon_{scratch.run}_{domain.code}_nodes")
    return table if scratch.engine.exists(table) else None


def _value_labels(scratch: Scratch, domain: Domain) -> TableRef:
    statement = scratch.sql("recode/domain_values", domain=domain.table, zoned=domain.reading.zoned)
    rows = scratch.engine.fetch(statement, max_rows=50_000_000)
    table = scratch.table(f"{domain.code}_labels")
    text = scratch.engine.capabilities.text_type
    scratch.engine.load_rows(
        table, [("code", "INTEGER"), ("label", text)], ((code, quote(text_of(value))) for code, value in rows)
    )
    return table


def _node_labels(scratch: Scratch, domain: Domain, found: TableRef) -> TableRef:
    rows = scratch.engine.fetch(scratch.sql("recode/found_labels", found=found), max_rows=50_000_000)
    table = scratch.table(f"{domain.code}_labels")
    text = scratch.engine.capabilities.text_type
    columns = [("low", "INTEGER"), ("high", "INTEGER"), ("label", text)]
    scratch.engine.load_rows(table, columns, ((low, high, _node(str(label))) for low, high, label in rows))
    return table


def _node(label: str) -> str:
    """A node's label; a root that is called ``*`` stands for any value, as the label ``*`` does."""
    return label if label == "*" else quote(label)


def _mean(values: npt.NDArray[np.float64]) -> float:
    """The exact sum divided once; infinities and NaN as IEEE adds them, and no overflow on the way."""
    import numpy as np

    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return float(np.sum(values))
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(values / len(values))


def _means(scratch: Scratch, classed: TableRef, domain: Domain) -> TableRef:
    """Class means: sums of integers and decimals are exact in SQL; floats are summed exactly here (math.fsum)."""
    table = scratch.table(f"{domain.code}_means")
    if not domain.reading.as_float:
        scratch.execute(
            "recode/sums",
            means=table,
            classed=classed,
            columns=[{"alias": domain.reading.alias, "code": domain.code}],
        )
        return table
    import numpy as np

    classes, values, counts = scratch.engine.fetch_arrays(
        scratch.sql("recode/values", classed=classed, domain=domain.table, column=domain.code),
        ["int32", "float64", "int64"],
    )
    starts = np.flatnonzero(np.diff(classes, prepend=-1)) if len(classes) else np.zeros(0, dtype=np.int64)
    means = np.empty(len(starts), dtype=np.float64)
    bounds = np.append(starts, len(classes))
    for i in range(len(starts)):
        part = slice(bounds[i], bounds[i + 1])
        means[i] = _mean(np.repeat(values[part], counts[part].astype(np.int64)))
    scratch.engine.load_arrays(table, {"class": classes[starts], f"mean_{domain.code}": means})
    return table
