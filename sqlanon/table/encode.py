"""Domains and codes: every QI and SA value becomes a dense integer, in SQL, on the staged snapshot (design, section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.spec import Hierarchy
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import Reading, Roles
from sqlanon.table.wide import in_parts


@dataclass(frozen=True, slots=True)
class Domain:
    """A column's values and their codes.

    Attributes:
        reading: the column.
        table: scratch table (code, value, n, pos, ord).
        codes: how many codes there are, NULL's included.
        size: |A|, values without NULL; leaves of the file for a hierarchy.
        nulls: rows that are NULL; if any, NULL is code 0.
        distinct: values present, without NULL.
        singles: rows whose value occurs once.
        top: rows of the most frequent value, NULL included.
        code: the code column's name in the work table: c1.. quasi, a1.. sensitive.
    """

    reading: Reading
    table: TableRef
    codes: int
    size: int
    nulls: int
    distinct: int
    singles: int
    top: int
    code: str

    @property
    def has_null(self) -> bool:
        """Whether code 0 means NULL."""
        return self.nulls > 0

    @property
    def fits_bits(self) -> bool:
        """Whether a set of its values fits into the bits of one integer: of a nominal column with few of them."""
        return self.reading.treatment == "nominal" and self.codes <= 62

    @property
    def code_type(self) -> str:
        """The narrow integer type of its codes."""
        return "SMALLINT" if self.codes <= 32767 else "INTEGER"

    @property
    def code_array(self) -> str:
        """The same as NumPy names it."""
        return "int16" if self.code_type == "SMALLINT" else "int32"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The encoded work table of one run: ``work`` holds rid, the staged originals, one code per quasi and sensitive column."""

    roles: Roles
    work: TableRef
    rows: int
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]


def build_domains(
    scratch: Scratch, roles: Roles, stage: TableRef
) -> tuple[tuple[Domain, ...], tuple[Domain, ...]]:
    """The domains of the quasi and of the sensitive columns.

    Raises:
        PolicyError: a hierarchy or an order does not cover the column; the text counts the missing values.
    """
    quasi = tuple(_domain(scratch, reading, stage, f"c{i}") for i, reading in enumerate(roles.quasi, 1))
    sensitive = tuple(
        _domain(scratch, reading, stage, f"a{i}") for i, reading in enumerate(roles.sensitive, 1)
    )
    return quasi, sensitive


def encode(
    scratch: Scratch,
    roles: Roles,
    stage: TableRef,
    quasi: tuple[Domain, ...],
    sensitive: tuple[Domain, ...],
    rows: int,
    extra: tuple[str, ...],
) -> Encoded:
    """Join the staged rows with their domains into the work table; the stage is dropped.

    ``extra`` names further aliases of the stage to carry along.
    """
    raw = [reading.alias for reading in roles.quasi + roles.kept] + list(extra)

    def code(table: TableRef, domains: Sequence[Domain], first: bool) -> list[str]:
        columns = [
            {
                "alias": domain.reading.alias,
                "domain": domain.table,
                "type": domain.code_type,
                "nulls": domain.has_null,
                "as_float": domain.reading.as_float,
                "as_text": domain.reading.as_text,
                "code": domain.code,
            }
            for domain in domains
        ]
        staged = [*raw, "link"] if first else []
        scratch.execute("table/work", work=table, stage=stage, raw=staged, columns=columns)
        return [*staged, *(domain.code for domain in domains)]

    work = in_parts(scratch, "work", "rid", quasi + sensitive, code)
    if scratch.fetch("table/count", source=work)[0][0] != rows:
        raise DatabaseError(
            "encoding lost or doubled rows; nothing was published. This is a defect of sqlanon"
        )
    scratch.drop(stage)
    return Encoded(roles, work, rows, quasi, sensitive)


def attach_classes(
    scratch: Scratch, encoded: Encoded, assign: TableRef, extra: tuple[str, ...], secret: str, *, unassigned: bool = False
) -> TableRef:  # fmt: skip
    """Join the staged rows, their codes and their class, once; the work table and the assignment are dropped.

    Methods see codes alone, and divide rows of equal codes by their row ids, which follow the source. Where such rows differ in
    what is published beside the codes, the classes that they have together are given to them in the order of a keyed hash
    instead: which row is in which class does not depend on the source's order, and shows nothing of it.

    Args:
        scratch: the run.
        encoded: the work table.
        assign: table (rid, class).
        extra: further aliases that the work table carries.
        secret: what the hash is keyed with.
        unassigned: rows that are not in ``assign`` are left out; which of the rows of equal codes they are, the hash decides too.

    Cost: a join; with columns that are published as they are also a grouping by codes, and a hash and two sorts of the
    rows of equal codes that more than one class shares.
    """
    roles = encoded.roles
    if unassigned:
        completed = scratch.table("completed")
        scratch.execute("table/completed", completed=completed, work=encoded.work, assign=assign)
        assign = completed
    classed, tied = scratch.table("classed"), None
    if any(not _fixed_by_code(reading) for reading in roles.kept):
        tied = scratch.table("tied_rows")
        scratch.execute(
            "table/tied",
            {"secret": secret},
            tied=tied,
            work=encoded.work,
            assign=assign,
            codes=[domain.code for domain in encoded.quasi + encoded.sensitive],
            kept=[reading.alias for reading in roles.kept],
        )
    scratch.execute(
        "table/classed",
        classed=classed,
        work=encoded.work,
        assign=assign,
        raw=[reading.alias for reading in roles.quasi + roles.kept] + list(extra),
        codes=[domain.code for domain in encoded.quasi],
        tied=tied,
        unassigned=unassigned,
    )
    for table in (encoded.work, assign, *((tied,) if tied else ())):
        scratch.drop(table)
    return classed


def _fixed_by_code(reading: Reading) -> bool:
    """Whether rows of equal codes publish the same value: of a sensitive column without equal values that look different."""
    exact = reading.column.kind in ("integer", "boolean", "date", "text", "enum")
    return exact and reading.spec.role == "sensitive"


def _domain(scratch: Scratch, reading: Reading, stage: TableRef, code: str) -> Domain:
    values = scratch.table(f"{code}_values")
    scratch.execute(
        "table/values",
        values=values,
        stage=stage,
        column=reading.alias,
        as_float=reading.as_float,
        as_text=reading.as_text,
    )
    distinct, nulls, singles, top = (_count(cell) for cell in scratch.fetch("table/facts", values=values)[0])
    table = scratch.table(f"{code}_domain")
    size = distinct
    if reading.treatment == "hierarchy":
        assert reading.spec.hierarchy is not None
        size = _hierarchy_domain(scratch, reading, reading.spec.hierarchy, values, table, code, nulls > 0)
    elif reading.treatment == "ordered":
        _ordered_domain(scratch, reading, values, table, code)
    else:
        scratch.execute("table/domain_nominal", domain=table, values=values)
    return Domain(reading, table, size + (nulls > 0), size, nulls, distinct, singles, top, code)


def _count(cell: object) -> int:
    return int(str(cell))


def _ordered_domain(scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str) -> None:
    ranks = None
    order = reading.spec.ordered
    if isinstance(order, tuple):
        ranks = scratch.table(f"{code}_ranks")
        scratch.engine.load_rows(
            ranks,
            [("value", scratch.engine.capabilities.text_type), ("rank", "INTEGER")],
            zip(order, range(len(order)), strict=False),
        )
        missing, _ = scratch.fetch("table/missing", values=values, domain=ranks)[0]
        if missing:
            raise PolicyError(
                f"column {reading.name}: {missing} of its values are not in the given order of {len(order)}; add them"
            )
    ordinals = scratch.table(f"{code}_ordinals")
    scratch.execute(
        "table/ordinals",
        ordinals=ordinals,
        values=values,
        kind=reading.column.kind,
        ranks=ranks,
        nanoseconds=reading.column.type == "TIMESTAMP_NS",
    )
    scratch.execute(
        "table/domain_ordered",
        domain=table,
        ordinals=ordinals,
        kind=reading.column.kind,
        by_ord=ranks is not None,
    )
    scratch.drop(ordinals)


def _hierarchy_domain(
    scratch: Scratch,
    reading: Reading,
    hierarchy: Hierarchy,
    values: TableRef,
    table: TableRef,
    code: str,
    nulls: bool,
) -> int:
    leaves = scratch.table(f"{code}_leaves")
    rows = ((i, level[0]) for i, level in enumerate(hierarchy.levels))
    scratch.engine.load_rows(
        leaves, [("leaf", "INTEGER"), ("label", scratch.engine.capabilities.text_type)], rows
    )
    try:
        scratch.execute(
            "table/domain_hierarchy",
            domain=table,
            leaves=leaves,
            values=values,
            type=reading.value_type,
            nulls=int(nulls),
        )
    except DatabaseError as error:
        raise PolicyError(
            f"hierarchy {hierarchy.name}: its leaves cannot be read as {reading.column.shown_type}, "
            f"the type of column {reading.name}"
        ) from error
    missing, doubled = scratch.fetch("table/missing", values=values, domain=table)[0]
    if missing or doubled:
        what = f"{missing} values of column {reading.name} are not among its leaves" if missing else (
            f"{doubled} values of column {reading.name} are written as more than one leaf"
        )  # fmt: skip
        raise PolicyError(f"hierarchy {hierarchy.name}: {what}; every value must be exactly one leaf")
    return len(hierarchy.levels)
