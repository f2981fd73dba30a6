"""The domains of columns.

They are the values of each and their codes, in tables that SQL makes of the staged snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlanon.column_spec import Hierarchy, Rule
from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import number, read_integer
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.table.domain import Domain, Domains
from sqlanon.table.encode import MANY
from sqlanon.table.reading import CountedIdentifier, Reading, Roles
from sqlanon.table.rules import resolve_rule
from sqlanon.table.scratch import Scratch
from sqlanon.table.wide_tables import split_runs

_HUGE = ("HUGEINT", "UHUGEINT")
"""Integers with a range that is too wide for the arithmetic of positions as it is."""


def build_domains(
    scratch: Scratch,
    roles: Roles,
    stage: TableRef,
    persons: Sequence[CountedIdentifier] = (),
    beside: TableRef | None = None,
) -> Domains:
    """The domains of the quasi columns, of the sensitive columns, and of the numbers of ``persons``.

    Where a column's hierarchy is a rule, the reading of its domain has the tree that the rule makes of the values,
    those of a population in table ``beside`` included.

    Raises:
        PolicyError: a hierarchy or an order does not cover the column; the text counts the missing values.
    """
    readings = [(reading, f"c{i}") for i, reading in enumerate(roles.quasi, 1)]
    readings += [(reading, f"a{i}") for i, reading in enumerate(roles.sensitive, 1)]
    readings += [(person.reading, f"b{i}") for i, person in enumerate(persons, 1)]
    simple = [(reading, code) for reading, code in readings if not _has_values_given(reading)]
    ordered = {code for reading, code in simple if reading.treatment == "ordered"}
    at_once = {
        code
        for reading, code in simple
        if scratch.engine.capabilities.counts_in_domains and code in ordered and _is_integer(reading)
    }
    values = {code: scratch.small(f"{code}_values") for _, code in readings if code not in at_once}
    tables = {code: scratch.small(f"{code}_domain") for _, code in readings}
    with scratch.together():
        _count_values(scratch, stage, [(reading, values[code]) for reading, code in readings if code in values])
        for reading, code in simple:
            if code in at_once:
                _integer_domain(scratch, reading, stage, tables[code])
            else:
                _build_seen_domain(scratch, reading, values[code], tables[code], code)
        value_tables = [(tables[code] if code in ordered else values[code], code in ordered) for _, code in readings]
        facts = list(_facts(scratch, value_tables))
    domains = []
    for (source_reading, code), (distinct, nulls, singles, top, spread) in zip(readings, facts, strict=True):
        size, reading = distinct, source_reading
        if reading.treatment == "hierarchy":
            hierarchy = reading.spec.hierarchy
            if isinstance(hierarchy, Rule):
                values_seen = values[code] if beside is None else _of_both(scratch, reading, values[code], beside, code)
                hierarchy = resolve_rule(scratch, reading, hierarchy, values_seen)
                reading = replace(reading, spec=replace(reading.spec, hierarchy=hierarchy))
            assert isinstance(hierarchy, Hierarchy)
            size = _hierarchy_domain(scratch, reading, hierarchy, values[code], tables[code], code, nulls > 0)
        elif _has_values_given(reading):
            _build_given_domain(scratch, reading, values[code], tables[code], code)
        domains.append(
            Domain(reading, tables[code], size + (nulls > 0), size, nulls, distinct, singles, top, code, spread)
        )
    first, past = len(roles.quasi), len(roles.quasi) + len(roles.sensitive)
    return Domains(tuple(domains[:first]), tuple(domains[first:past]), tuple(domains[past:]))


def _of_both(scratch: Scratch, reading: Reading, values: TableRef, beside: TableRef, code: str) -> TableRef:
    """The values of a column and those of a population."""
    union_table = scratch.table(f"{code}_both")
    scratch.execute(
        "table/values_of_both",
        both=union_table,
        values=values,
        beside=beside,
        column=reading.alias,
        as_float=reading.as_float,
    )
    return union_table


def _count_values(scratch: Scratch, stage: TableRef, pairs: Sequence[tuple[Reading, TableRef]]) -> None:
    """Make the frequency sets of the columns: in one scan for a few of them where that is faster, else by column."""
    if not scratch.engine.capabilities.grouping_sets:
        for reading, values in pairs:
            scratch.execute(
                "table/values",
                values=values,
                stage=stage,
                column=reading.alias,
                as_float=reading.as_float,
                as_text=reading.as_text,
            )
        return
    for part, some in enumerate(split_runs(pairs)):
        sets = scratch.table(f"values_{part}")
        columns = [
            {"alias": reading.alias, "as_float": reading.as_float, "as_text": reading.as_text} for reading, _ in some
        ]
        scratch.execute("table/value_sets", sets=sets, stage=stage, columns=columns)
        for place, (_, values) in enumerate(some, 1):
            absent = (1 << len(some)) - 1 - (1 << (len(some) - place))
            scratch.execute("table/value_set", values=values, sets=sets, place=place, absent=absent)
        scratch.drop(sets)


def _has_values_given(reading: Reading) -> bool:
    """Whether the policy gives the column's values, or their order."""
    return reading.treatment == "hierarchy" or (
        reading.treatment == "ordered" and isinstance(reading.spec.ordered, tuple)
    )


def _facts(
    scratch: Scratch, tables: Sequence[tuple[TableRef, bool]]
) -> Iterator[tuple[int, int, int, int, float | None]]:
    """Counts and range of the domain of each column.

    They are the distinct values, NULLs, single values, rows of the most frequent value, and the range of the domain.

    ``tables``: the frequency set, or the domain and that it is ordered.
    """
    for start in range(0, len(tables), MANY):
        some = [{"seen": table, "ord": ordered} for table, ordered in tables[start : start + MANY]]
        facts = {_count(row[0]): row[1:] for row in scratch.fetch("table/facts", tables=some)}
        for place, (_, ordered) in enumerate(tables[start : start + MANY], 1):
            distinct, nulls, singles, top, spread = facts.get(place, (0, 0, 0, 0, None))
            wide = number(spread or 0) if ordered else None
            yield _count(distinct), _count(nulls), _count(singles), _count(top), wide


def _count(cell: object) -> int:
    return read_integer(cell)


def _is_integer(reading: Reading) -> bool:
    """Whether values are integers that are places on a line as they are."""
    return reading.column.kind == "integer" and reading.column.type not in _HUGE


def _build_seen_domain(scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str) -> None:
    """A domain of the values that occur, in an order of their own."""
    if reading.treatment == "ordered":
        _build_ordered_domain(scratch, reading, values, table, code, None)
    else:
        scratch.execute("table/domain_nominal", domain=table, values=values)


def _integer_domain(scratch: Scratch, reading: Reading, stage: TableRef, table: TableRef) -> None:
    """A domain of integers that are counted with it."""
    values_of = {"stage": stage, "column": reading.alias}
    scratch.execute(
        "table/domain_ordered", domain=table, ordinals=None, kind="integer", by_ord=False, whole=True, counted=values_of
    )


def _build_given_domain(scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str) -> None:
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
        _build_ordered_domain(scratch, reading, values, table, code, ranks)


def _build_ordered_domain(
    scratch: Scratch, reading: Reading, values: TableRef, table: TableRef, code: str, ranks: TableRef | None
) -> None:
    kind, type_of = reading.column.kind, reading.column.type
    whole = ranks is None and _is_integer(reading)
    ordinals = values if whole else scratch.small(f"{code}_ordinals")
    if not whole:
        scratch.execute(
            "table/ordinals",
            ordinals=ordinals,
            values=values,
            kind=kind,
            ranks=ranks,
            nanoseconds=type_of == "TIMESTAMP_NS",
        )
    scratch.execute(
        "table/domain_ordered",
        domain=table,
        ordinals=ordinals,
        kind=kind,
        by_ord=ranks is not None,
        whole=whole,
        counted=None,
    )
    if not whole:
        scratch.drop(ordinals)


def _hierarchy_domain(
    scratch: Scratch, reading: Reading, hierarchy: Hierarchy, values: TableRef, table: TableRef, code: str, nulls: bool
) -> int:
    leaves = scratch.table(f"{code}_leaves")
    rows = ((i, level[0]) for i, level in enumerate(hierarchy.levels))
    scratch.engine.load_rows(leaves, [("leaf", "INTEGER"), ("label", scratch.engine.capabilities.text_type)], rows)
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
            f"{hierarchy.shown}: its leaves cannot be read as {reading.column.shown_type}, "
            f"the type of column {reading.name}"
        ) from error
    missing, doubled = scratch.fetch("table/missing", values=values, domain=table)[0]
    if missing or doubled:
        problem = (
            f"{missing} values of column {reading.name} are not among its leaves"
            if missing
            else (f"{doubled} values of column {reading.name} are written as more than one leaf")
        )
        todo = "; add them, or name with other: what they count as" if missing else ""
        raise PolicyError(f"{hierarchy.shown}: {problem}; every value must be exactly one leaf{todo}")
    return len(hierarchy.levels)
