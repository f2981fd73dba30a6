"""The staged rows with their classes: the method's assignment by codes, joined with the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.engines.base import TableRef
from sqlanon.table.domain import Domain
from sqlanon.table.encode import EncodedTable
from sqlanon.table.reading import Reading, Roles
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class ClassedRows:
    """The staged rows of a run with their classes.

    Attributes:
        encoded: the columns, with their domains.
        table: the staged rows with their original values, the codes that are still read, and their class.
        links: the sum that its rows must have, where it is not made of the staged rows themselves; else None.
        in_order: the rows are in the order of their classes.
        ranks: of each column that is published as it is, the column with its codes and the number of their bits, where
            codes determine the values; else empty.
    """

    encoded: EncodedTable
    table: TableRef
    links: StagedLinks | None = None
    in_order: bool = False
    ranks: Mapping[str, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StagedLinks:
    """The sum of the hashes of the staged rows, with which classed rows are compared.

    Attributes:
        mark: number of rows, and the sum; see ``table/links``.
        linked: the columns that are hashed with row id and link.
        sums: name of the table of the same sums by class, which verification makes.
        summed: the columns of which that table has the least and greatest values; None: it is not made yet.
    """

    mark: tuple[str, ...]
    linked: tuple[str, ...]
    sums: TableRef
    summed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AssignedClasses:
    """A method's classes of the rows, and the form of the table that has them.

    Attributes:
        table: table (rid, class).
        divided: rows of equal codes may be in several classes, or some of them in none.
        shared: a table (rid) that has all rows for which that holds, in whole groups of equal codes; None: it may hold
            for any row.
        omitted: a table to make of the rows that are not in ``table`` and are left out, without codes; which of the
            rows of equal codes they are, the hash decides too. None: every row is in ``table``.
        listed: ``table`` is one row, the classes of all rows (see `Assignment.listed`).
        packed: ``table`` has the codes of the rows too (see `Assignment.packed`). Where their values are known by
            them, they are not joined.
    """

    table: TableRef
    divided: bool = True
    shared: TableRef | None = None
    omitted: TableRef | None = None
    listed: bool = False
    packed: bool = False


def attach_classes(
    scratch: Scratch,
    encoded: EncodedTable,
    assigned: AssignedClasses,
    extra: tuple[str, ...],
    secret: str,
    *,
    codes: Sequence[Domain],
) -> ClassedRows:
    """Join the staged rows and their class, once; the stage, the work table and the assignment are dropped.

    Methods see codes alone, and divide rows of equal codes by their row ids, which follow the source. Such rows may
    differ in other published columns. Then their classes are assigned to them anew, in the order of a keyed hash: which
    row is in which class neither depends on the source's order nor reveals it.

    Args:
        scratch: the run.
        encoded: the work table.
        assigned: the classes by codes.
        extra: further aliases of the stage to carry along.
        secret: key of the hash.
        codes: the quasi columns for which the classed rows have codes as well.

    Cost: a join, two with codes; a sort of many rows, where the engine's later statements save more time; where equal
    rows are divided and have columns that are published as they are, also a grouping by codes (of those in
    ``shared``), and a hash and two sorts of the rows of equal codes that more than one class shares.
    """
    roles = encoded.roles
    assign, listed, omitted = assigned.table, assigned.listed, assigned.omitted
    ties = assigned.divided and any(not is_fixed_by_code(reading) for reading in roles.kept)
    if assigned.packed and not ties and omitted is None and not extra and _decodable(encoded):
        return _decode_rows(scratch, encoded, assign, codes)
    if listed and (ties or omitted is not None):
        assign, listed = _by_row(scratch, assign), False
    if omitted is not None:
        completed = scratch.table("completed")
        scratch.execute("table/completed", completed=completed, rows=encoded.stage, assign=assign)
        assign = completed
    classed, tied = scratch.table("classed"), None
    with scratch.together():
        if ties:
            tied, shared = scratch.table("tied_rows"), assigned.shared
            work = encoded.work if codes or shared is None else encoded.work_among(shared)
            scratch.execute(
                "table/tied",
                {"secret": secret},
                tied=tied,
                stage=encoded.stage,
                work=work,
                assign=assign,
                shared=shared,
                codes=[domain.code for domain in encoded.quasi + encoded.counted],
                kept=[{"alias": reading.alias, "kind": reading.column.kind} for reading in roles.kept],
                link=roles.link,
            )
            if work != encoded.made:
                scratch.drop(work)
        raw = [reading.alias for reading in roles.quasi + roles.kept] + list(extra)
        in_order = MANY_ROWS <= encoded.rows <= scratch.engine.capabilities.ordered_rows
        parts = [(classed, "all" if omitted is None else "assigned", [domain.code for domain in codes])]
        parts += [(omitted, "omitted", [])] if omitted is not None else []
        if not codes:
            encoded.drop_work()  # before the largest table is made
        for table, rows_kept, codes_read in parts:
            scratch.execute(
                "table/classed",
                classed=table,
                stage=encoded.stage,
                work=encoded.work if codes_read else encoded.stage,
                assign=assign,
                raw=raw,
                codes=codes_read,
                tied=tied,
                kept=rows_kept,
                rows=encoded.rows,
                block=scratch.engine.capabilities.joined_rows,
                listed=listed,
                link=roles.link,
                in_order=in_order and rows_kept != "omitted",
            )
        for table in (encoded.stage, assign, *((tied,) if tied else ())):
            scratch.drop(table)
        if codes:
            encoded.drop_work()
    return ClassedRows(encoded, classed, in_order=in_order)


MANY_ROWS = 100_000
"""Rows below which a statement finds all classes in a processor's cache, whatever the order of the rows."""
MOST_VALUES = 1 << 17
"""Of a column with more values than these the rows are joined: the domain would be sent to every executor."""


def list_carried(encoded: EncodedTable) -> tuple[str, ...]:
    """Columns of the staged rows that a table of classes with the codes has to have, to be read without the stage.

    It is the link, unless that is the hash of columns that have codes; none where the staged rows are joined anyway.
    """
    return ("link",) if _decodable(encoded) and not _is_link_hash(encoded.roles) else ()


def _is_link_hash(roles: Roles) -> bool:
    """Whether the link is the hash of all staged columns, and no more."""
    return {alias for alias, _ in roles.linked} == {reading.alias for reading in roles.quasi + roles.kept}


def _decodable(encoded: EncodedTable) -> bool:
    """Whether codes determine the staged values.

    Equal values must look the same. A text of a hierarchy is a leaf of it; other values may be spelled there in
    another way.
    """
    roles = encoded.roles
    readings = roles.quasi + roles.kept
    listed = {domain.reading.alias for domain in encoded.quasi + encoded.sensitive if domain.codes <= MOST_VALUES}
    exact = ("integer", "boolean", "date", "timestamp", "text")
    return (
        not roles.link
        and {reading.alias for reading in readings} <= listed
        and all(
            reading.column.kind in exact
            and not reading.as_text
            and reading.column.collation is None
            and (reading.treatment != "hierarchy" or reading.column.kind == "text")
            for reading in readings
        )
    )


def _decode_rows(scratch: Scratch, encoded: EncodedTable, assign: TableRef, codes: Sequence[Domain]) -> ClassedRows:
    """The rows of `attach_classes` from their codes. The sum of the hashes will show that they are the staged rows.

    Row ids are hashed with them, so that each row is there once. Where the link is not the hash of the columns, it is
    hashed with them.
    """
    parts, classed = encoded.staged.parts, scratch.once("classed", over=(assign,))
    columns = [
        parts[domain.code] | {"alias": domain.reading.alias, "domain": domain.table}
        for domain in encoded.quasi + encoded.sensitive
    ]
    linked = encoded.roles.linked if _is_link_hash(encoded.roles) else ()
    scratch.execute(
        "table/decoded",
        classed=classed,
        assign=assign,
        columns=columns,
        codes=[parts[code] for code in dict.fromkeys(domain.code for domain in (*codes, *encoded.sensitive))],
        link=linked,
    )
    beside = () if linked else tuple(str(column["alias"]) for column in columns)
    mark = tuple(map(str, scratch.fetch("table/links", rows=encoded.stage, beside=beside)[0]))
    scratch.drop(encoded.stage)
    encoded.drop_work()
    ranks = {domain.reading.alias: (domain.code, max(domain.codes - 1, 1).bit_length()) for domain in encoded.sensitive}
    return ClassedRows(encoded, classed, StagedLinks(mark, beside, scratch.table("class_sums")), ranks=ranks)


def _by_row(scratch: Scratch, listed: TableRef) -> TableRef:
    """The same classes with a row for each row."""
    assign = scratch.table("assign_rows")
    scratch.execute("table/unlisted", assign=assign, listed=listed)
    scratch.drop(listed)
    return assign


def is_fixed_by_code(reading: Reading) -> bool:
    """Whether rows of equal codes publish the same value.

    For a sensitive column that holds if equal values never look different.
    """
    exact = reading.column.kind in ("integer", "boolean", "date", "text", "enum")
    return exact and reading.spec.role == "sensitive"
