"""Domains and codes: every QI and SA value becomes a dense integer, in SQL, on the staged snapshot (design, section 3.4)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.spec import Hierarchy
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import Counted, Reading, Roles
from sqlanon.table.wide import few
from sqlanon.table.work import Work

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


MANY = 32
"""So many tables are counted by one statement."""
DENSE = 1 << 20
"""So wide is a range of integers at most whose codes are kept in an array."""


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
        code: the code column's name in the work table: c1.. quasi, a1.. sensitive, b1.. of persons.
        spread: of an ordered column, the range of its domain; None: not computed yet.
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
    spread: float | None = None

    @property
    def has_null(self) -> bool:
        """Whether code 0 means NULL."""
        return self.nulls > 0

    @property
    def fits_bits(self) -> bool:
        """Whether a set of its values fits into the bits of one integer: of a nominal column with few of them."""
        return self.reading.treatment == "nominal" and self.codes <= 62

    def is_dense(self, rows: int) -> bool:
        """Whether its values are integers in a range that is small beside so many rows."""
        whole = self.reading.column.kind == "integer" and self.reading.treatment == "ordered"
        return whole and self.spread is not None and self.spread < min(4 * rows, DENSE)

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
    """The encoded work table of one run: ``work`` holds rid and one code per column, ``stage`` the originals.

    Attributes:
        roles: the source's columns.
        stage: the table of the originals.
        coded: what makes the work table, or the table itself.
        rows: how many.
        quasi, sensitive: the columns of these roles.
        persons: the counted identifiers, where a requirement counts persons.
        numbers: row ids are below it, where they are some of a larger table's; 0: they are 0 to ``rows`` - 1.
    """

    roles: Roles
    stage: TableRef
    coded: Work | TableRef
    rows: int
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    persons: tuple[Domain, ...] = ()
    numbers: int = 0

    @property
    def past(self) -> int:
        """Row ids are below it."""
        return self.numbers or self.rows

    @property
    def work(self) -> TableRef:
        """The work table, which is made where there is none yet: see `Work.table`."""
        return self.coded.table() if isinstance(self.coded, Work) else self.coded

    def query(self, domains: Sequence[Domain], span: tuple[int, int] | None) -> Statement | None:
        """A query for codes in place of the work table; None: there is none, or no need of one. See `Work.query`."""
        return self.coded.query(domains, span) if isinstance(self.coded, Work) else None

    def drop_work(self) -> None:
        """Drop the work table, if there is one."""
        if isinstance(self.coded, Work):
            self.coded.drop()

    @property
    def counted(self) -> tuple[Domain, ...]:
        """The columns whose codes requirements count, in the order in which methods read them."""
        return self.sensitive + self.persons


def build_domains(
    scratch: Scratch, roles: Roles, stage: TableRef, persons: Sequence[Counted] = ()
) -> tuple[tuple[Domain, ...], tuple[Domain, ...], tuple[Domain, ...]]:
    """The domains of the quasi columns, of the sensitive columns, and of the numbers of ``persons``.

    Raises:
        PolicyError: a hierarchy or an order does not cover the column; the text counts the missing values.
    """
    readings = [(reading, f"c{i}") for i, reading in enumerate(roles.quasi, 1)]
    readings += [(reading, f"a{i}") for i, reading in enumerate(roles.sensitive, 1)]
    readings += [(one.reading, f"b{i}") for i, one in enumerate(persons, 1)]
    values = {code: scratch.table(f"{code}_values") for _, code in readings}
    tables = {code: scratch.table(f"{code}_domain") for _, code in readings}
    simple = [(reading, code) for reading, code in readings if not _given(reading)]
    with scratch.together():
        _count_values(scratch, stage, [(reading, values[code]) for reading, code in readings])
        for reading, code in simple:
            _seen_domain(scratch, reading, values[code], tables[code], code)
        ordered = {code for reading, code in simple if reading.treatment == "ordered"}
        asked = [(tables[code] if code in ordered else values[code], code in ordered) for _, code in readings]
        facts = list(_facts(scratch, asked))
    domains = []
    for (reading, code), (distinct, nulls, singles, top, spread) in zip(readings, facts, strict=True):
        size = distinct
        if reading.treatment == "hierarchy":
            assert reading.spec.hierarchy is not None
            size = _hierarchy_domain(
                scratch, reading, reading.spec.hierarchy, values[code], tables[code], code, nulls > 0
            )
        elif _given(reading):
            _given_domain(scratch, reading, values[code], tables[code], code)
        domains.append(
            Domain(
                reading, tables[code], size + (nulls > 0), size, nulls, distinct, singles, top, code, spread
            )
        )
    first, past = len(roles.quasi), len(roles.quasi) + len(roles.sensitive)
    return tuple(domains[:first]), tuple(domains[first:past]), tuple(domains[past:])


def _count_values(scratch: Scratch, stage: TableRef, wanted: Sequence[tuple[Reading, TableRef]]) -> None:
    """Make the frequency sets of the columns: in one scan for a few of them where that is faster, else one by one."""
    if not scratch.engine.capabilities.grouping_sets:
        for reading, values in wanted:
            scratch.execute(
                "table/values", values=values, stage=stage, column=reading.alias, as_float=reading.as_float, as_text=reading.as_text
            )  # fmt: skip
        return
    for at, some in enumerate(few(wanted)):
        sets = scratch.table(f"values_{at}")
        columns = [
            {"alias": reading.alias, "as_float": reading.as_float, "as_text": reading.as_text}
            for reading, _ in some
        ]
        scratch.execute("table/value_sets", sets=sets, stage=stage, columns=columns)
        for place, (_, values) in enumerate(some, 1):
            absent = (1 << len(some)) - 1 - (1 << (len(some) - place))
            scratch.execute("table/value_set", values=values, sets=sets, place=place, absent=absent)
        scratch.drop(sets)


def by_code(
    scratch: Scratch, name: str, domains: Sequence[Domain], dtype: str
) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.generic]]]:
    """A number of every code, of each domain: the codes, ascending, and the numbers.

    Args:
        scratch: the run.
        name: the template (``domains``: tables) that gives the place of the domain, a code and its number.
        domains: the columns.
        dtype: of the numbers, as `Engine.fetch_arrays` names it.
    """
    import numpy as np

    for at in range(0, len(domains), MANY):
        some = domains[at : at + MANY]
        made = scratch.sql(name, domains=[domain.table for domain in some])
        place, code, number = scratch.fetch_arrays(made, ["int32", "int32", dtype])
        ends = np.searchsorted(place, np.arange(1, len(some) + 2))
        for first, past in itertools.pairwise(ends):
            yield code[first:past].astype(np.int32, copy=False), number[first:past]


def spread_of(scratch: Scratch, domain: Domain) -> float:
    """The range of an ordered domain."""
    if domain.spread is not None:
        return domain.spread
    return float(str(scratch.fetch("recode/range", domain=domain.table)[0][0]))


def encode(
    scratch: Scratch,
    roles: Roles,
    stage: TableRef,
    quasi: tuple[Domain, ...],
    sensitive: tuple[Domain, ...],
    rows: int,
    persons: tuple[Domain, ...] = (),
) -> Encoded:
    """The staged rows with their domains; the work table is made now, or when somebody asks for it."""
    work = Work(scratch, stage, (*quasi, *sensitive, *persons), rows)
    if not scratch.engine.capabilities.codes_on_the_way:
        work.table()
    return Encoded(roles, stage, work, rows, quasi, sensitive, persons)


def attach_classes(
    scratch: Scratch, encoded: Encoded, assign: TableRef, extra: tuple[str, ...], secret: str, *, codes: Sequence[Domain],
    divided: bool = True, shared: TableRef | None = None, omitted: TableRef | None = None,
) -> TableRef:  # fmt: skip
    """Join the staged rows and their class, once; the stage, the work table and the assignment are dropped.

    Methods see codes alone, and divide rows of equal codes by their row ids, which follow the source. Such rows may
    differ in other published columns. Then their classes are assigned to them anew, in the order of a keyed hash: which row
    is in which class neither depends on the source's order nor reveals it.

    Args:
        scratch: the run.
        encoded: the work table.
        assign: table (rid, class).
        extra: further aliases of the stage to carry along.
        secret: what the hash is keyed with.
        codes: the quasi columns whose codes the classed rows have as well.
        divided: rows of equal codes may be in more than one class, or some of them in none.
        shared: a table (rid) that has all rows of which this is so, in whole groups of equal codes; None: any row may be one.
        omitted: a table to make of the rows that are not in ``assign`` and are left out, without codes; which of the rows of
            equal codes they are, the hash decides too. None: every row is in ``assign``.

    Cost: a join, two with codes; where equal rows are divided and have columns that are published as they are, also a grouping by
    codes (of those in ``shared``), and a hash and two sorts of the rows of equal codes that more than one class shares.
    """
    roles = encoded.roles
    if omitted is not None:
        completed = scratch.table("completed")
        scratch.execute("table/completed", completed=completed, rows=encoded.stage, assign=assign)
        assign = completed
    classed, tied = scratch.table("classed"), None
    with scratch.together():
        if divided and any(not _fixed_by_code(reading) for reading in roles.kept):
            tied = scratch.table("tied_rows")
            scratch.execute(
                "table/tied",
                {"secret": secret},
                tied=tied,
                stage=encoded.stage,
                work=encoded.work,
                assign=assign,
                shared=shared,
                codes=[domain.code for domain in encoded.quasi + encoded.counted],
                kept=[{"alias": reading.alias, "kind": reading.column.kind} for reading in roles.kept],
            )
        raw = [reading.alias for reading in roles.quasi + roles.kept] + list(extra)
        parts = [(classed, "all" if omitted is None else "assigned", [domain.code for domain in codes])]
        parts += [(omitted, "omitted", [])] if omitted is not None else []
        for table, kept, listed in parts:
            scratch.execute(
                "table/classed", classed=table, stage=encoded.stage, work=encoded.work if listed else encoded.stage, assign=assign, raw=raw, codes=listed,
                tied=tied, kept=kept, rows=encoded.rows,
            )  # fmt: skip
        for table in (encoded.stage, assign, *((tied,) if tied else ())):
            scratch.drop(table)
        encoded.drop_work()
    return classed


def _fixed_by_code(reading: Reading) -> bool:
    """Whether rows of equal codes publish the same value: of a sensitive column without equal values that look different."""
    exact = reading.column.kind in ("integer", "boolean", "date", "text", "enum")
    return exact and reading.spec.role == "sensitive"


def _given(reading: Reading) -> bool:
    """Whether the policy gives the column's values, or their order."""
    return reading.treatment == "hierarchy" or (
        reading.treatment == "ordered" and isinstance(reading.spec.ordered, tuple)
    )


def _facts(
    scratch: Scratch, tables: Sequence[tuple[TableRef, bool]]
) -> Iterator[tuple[int, int, int, int, float | None]]:
    """Of each column the distinct values, NULLs, single values, rows of the most frequent one, and the range of its domain.

    ``tables``: its frequency set, or its domain and that it is an ordered one.
    """
    for at in range(0, len(tables), MANY):
        some = [{"seen": seen, "ord": ordered} for seen, ordered in tables[at : at + MANY]]
        found = {_count(row[0]): row[1:] for row in scratch.fetch("table/facts", tables=some)}
        for place, (_, ordered) in enumerate(tables[at : at + MANY], 1):
            distinct, nulls, singles, top, spread = found.get(place, (0, 0, 0, 0, None))
            wide = float(str(spread or 0)) if ordered else None
            yield _count(distinct), _count(nulls), _count(singles), _count(top), wide


def _count(cell: object) -> int:
    return int(str(cell))


def _seen_domain(scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str) -> None:
    """A domain of the values that occur, in an order of their own."""
    if reading.treatment == "ordered":
        _ordered_domain(scratch, reading, values, table, code, None)
    else:
        scratch.execute("table/domain_nominal", domain=table, values=values)


def _given_domain(scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str) -> None:
    """A domain of the values that occur, in the policy's order."""
    order = reading.spec.ordered
    assert isinstance(order, tuple)
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
    with scratch.together():
        _ordered_domain(scratch, reading, values, table, code, ranks)


def _ordered_domain(
    scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str, ranks: TableRef | None
) -> None:
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
