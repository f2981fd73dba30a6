"""Checks that published cells cover the values of their rows, and no more.

They are independent of the recoding and trust only tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.engines.rows import read_integer
from sqlanon.formats.base import Format, RecodedClasses
from sqlanon.formats.column import KINDS
from sqlanon.formats.label_text import parse_label
from sqlanon.formats.layout import Names
from sqlanon.formats.levels import NOT_ASKED, CoverTightness
from sqlanon.sqltext import identifier, table_name
from sqlanon.table.tree import hierarchy_of
from sqlanon.table.wide_tables import FEW

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Claim:
    """A quasi column and the published columns, as the templates read them.

    Attributes:
        alias: the staged original; ``as_text`` if it is compared as text, ``type`` the type of cast texts.
        kind: ordered, set or tree.
        names: the published columns.
        claims: meaning of a released text: (leaf, label) of a hierarchy, (low, high, label) or (member, label) read
            back.
        ranks: (value, rank) of a declared order.
        said: the released texts of the column, each once, with a number; ``at`` the place among such columns.
        listed: the type of the originals, or a table of their values, if a set of them fits into bits: then the number
            of a text is the set that it has, and ``has`` asks it for the value of a row.
        by_row: the released array is asked for the value of every row, by ``has``.
        boolean: values are true and false, for which an engine may have no least value.
        bits: of a set that fits into bits, the aggregate over rows that has the set of their values.
    """

    alias: str
    kind: str
    names: Names
    as_text: bool
    type: str
    claims: TableRef | None = None
    ranks: TableRef | None = None
    said: TableRef | None = None
    at: int = 0
    listed: TableRef | None = None
    by_row: bool = False
    has: str | None = None
    boolean: bool = False
    bits: str | None = None


def count_covered(
    form: Format,
    template: str,
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    least: CoverTightness = NOT_ASKED,
    *,
    sets_as_bits: bool = False,
) -> tuple[int, int]:
    """Count the rows that reach the release, and the rows that their published values do not cover.

    Args:
        form: the format.
        template: the statement that counts, with the format's covering predicate.
        scratch: the run.
        classed: staged rows with their original values and class.
        recoded: the published values of every class.
        least: columns of which it is known that they publish exactly the values of each class are not asked again.
        sets_as_bits: sets of few values are asked for a value by their bits, see `claim_of`.

    A few columns at a time where each needs joins: planning them takes an engine more than linear time.
    """
    unbounded = [domain for domain in classed.encoded.quasi if domain.reading.name not in least.exact]
    if not unbounded and least.reached is not None:
        return least.reached, 0
    columns = [
        claim_of(
            form,
            scratch,
            domain,
            recoded.released,
            recoded.layout.names[domain.code],
            sets_as_bits=sets_as_bits,
        )
        for domain in unbounded
    ]
    contains = scratch.engine.capabilities.contains
    extents: list[tuple[object, ...]] = []
    for part, some in enumerate(_split_columns(columns, form)):
        with scratch.together():
            claimed, numbered = _number_claims(form, scratch, recoded, some, part)
            extents += scratch.fetch(
                template, classed=classed.table, claimed=claimed, columns=numbered, contains=contains
            )
    return min(read_integer(row[0]) for row in extents), max(read_integer(row[1]) for row in extents)


def _split_columns(columns: Sequence[Claim], form: Format) -> list[Sequence[Claim]]:
    """The columns in parts: of `FEW` where they need joins, else all of them."""
    joined = form.facts.text or any(column.kind != "ordered" or column.ranks for column in columns)
    size = FEW if joined else max(len(columns), 1)
    return [columns[start : start + size] for start in range(0, max(len(columns), 1), size)]


def _number_claims(
    form: Format, scratch: Scratch, recoded: RecodedClasses, columns: Sequence[Claim], part: int
) -> tuple[TableRef, list[Claim]]:
    """The released classes with a number for the text of each set or node, and a table of the numbers' meanings."""
    claim_tables: list[dict[str, object]] = []
    numbered = []
    for column in columns:
        if column.kind == "ordered" or form.facts.single:
            numbered.append(column)
            continue
        if column.by_row:
            value = f"CAST(s.{column.alias} AS VARCHAR)" if column.as_text else f"s.{column.alias}"
            sides = {"array": f"r.{identifier(column.names.value or '')}", "value": value}
            numbered.append(replace(column, has=scratch.engine.capabilities.contains % sides))
            continue
        number = len(claim_tables) + 1
        table = scratch.table(f"said{part}_{number}")
        claim_tables.append({"column": column.names.value, "table": table})
        claim_context: dict[str, Any] = {"said": table, "released": recoded.released, "column": column.names.value}
        if column.listed is None:
            scratch.execute("verify/said", **claim_context)
            numbered.append(replace(column, said=table, at=number))
        else:
            scratch.execute("verify/said_bits", listed=column.listed, as_text=column.as_text, **claim_context)
            sides = {"bits": f"r._sqlanon_said{number}", "value": f"s.{column.alias}"}
            numbered.append(replace(column, has=scratch.engine.capabilities.listed_bit % sides))
    if not claim_tables:
        return recoded.released, numbered
    names = [name for column in columns for name in column.names.list_columns()]
    other_names = [name for name in names if name not in {str(entry["column"]) for entry in claim_tables}]
    claimed = scratch.table(f"claimed{part}")
    scratch.execute("verify/claimed", claimed=claimed, released=recoded.released, kept=other_names, said=claim_tables)
    return claimed, numbered


def claim_of(
    form: Format,
    scratch: Scratch,
    domain: Domain,
    released: TableRef,
    names: Names,
    *,
    sets_as_bits: bool = False,
    of: str = "",
) -> Claim:
    """Published values of a column.

    Args:
        form: the format.
        scratch: the run.
        domain: the column.
        released: table with the published columns.
        names: names of the published columns there.
        sets_as_bits: sets of few values are asked for a value by their bits.
        of: the end of the names of the tables that are made.
    """
    reading = domain.reading
    kind = KINDS[reading.treatment or "ordered"]
    able = scratch.engine.capabilities
    text = able.text_type
    ranks = claims = None
    if not form.facts.single and isinstance(reading.spec.ordered, tuple):
        ranks = scratch.table(f"{domain.code}_order{of}")
        ranked = ((value, rank) for rank, value in enumerate(reading.spec.ordered))
        scratch.engine.load_rows(ranks, [("value", text), ("rank", "INTEGER")], ranked)
    if kind == "tree" and not form.facts.single:
        claims = scratch.table(f"{domain.code}_claims{of}")
        paths = {(path[0], form.write(node)) for path in hierarchy_of(domain).levels for node in path}
        scratch.engine.load_rows(claims, [("leaf", text), ("label", text)], sorted(paths))
    elif form.facts.text:
        claims = scratch.table(f"{domain.code}_claims{of}")
        rows = scratch.fetch("verify/labels", max_rows=50_000_000, released=released, column=names.value)
        labels = [str(row[0]) for row in rows]
        parsed = [(parse_label(label), label) for label in labels]
        if kind == "set":
            members = [
                (value, label) for (kind, values), label in parsed if kind in ("value", "set") for value in values
            ]
            scratch.engine.load_rows(claims, [("member", text), ("label", text)], members)
        else:
            ends = [(values[0], values[-1], label) for (kind, values), label in parsed if kind in ("value", "range")]
            scratch.engine.load_rows(claims, [("low", text), ("high", text), ("label", text)], ends)
    few = sets_as_bits and domain.fits_bits
    listed = None if reading.column.own_operators else domain.table if able.lists_values else reading.listed
    return Claim(
        reading.alias,
        kind,
        names,
        reading.as_text,
        reading.value_type,
        claims,
        ranks,
        listed=listed if few else None,
        by_row=few and able.arrays_by_row,
        boolean=reading.column.kind == "boolean",
    )


def match_values(
    form: Format,
    template: str,
    scratch: Scratch,
    domain: Domain,
    cells: TableRef,
    seen: TableRef,
    names: Names,
) -> TableRef:
    """Match values with the published cells of a column that cover them; see `Format.match_cells`."""
    claim = claim_of(form, scratch, domain, cells, names, of="_matched")
    pairs = scratch.table(f"{domain.code}_matched")
    scratch.execute(
        template,
        pairs=pairs,
        seen=seen,
        said=cells,
        kind=claim.kind,
        names=names,
        type=claim.type,
        claims=claim.claims,
        ranks=claim.ranks,
        contains=scratch.engine.capabilities.contains,
    )
    return pairs


def count_wider_than_least(
    form: Format,
    scratch: Scratch,
    quasi: Iterable[Domain],
    matched: TableRef,
    recoded: RecodedClasses,
    measure: Callable[[Sequence[Claim]], TableRef | None] | None = None,
) -> CoverTightness:
    """For each quasi column how many classes publish more than the least that covers their rows.

    Args:
        form: the format, which publishes ranges, sets and nodes.
        scratch: the run.
        quasi: the columns.
        matched: table (class, staged originals).
        recoded: the published values.
        measure: gives the table of the least and greatest values of columns by class, if there is one; else they are
            found here.

    Cost: the rows are grouped by class once for eight ordered columns and sets that fit into bits, and once for each
    other column.
    """
    wider: dict[str, int] = {}
    reached: int | None = None
    one_scan: list[tuple[str, Claim]] = []
    said_bits: list[dict[str, Any]] = []
    bits = scratch.engine.capabilities.listed_bits
    for domain in quasi:
        reading, names = domain.reading, recoded.layout.names[domain.code]
        claim = claim_of(form, scratch, domain, recoded.released, names, sets_as_bits=bool(bits), of="_least")
        if claim.kind == "ordered":
            one_scan.append((reading.name, claim))
            continue
        if claim.kind == "set" and claim.listed is not None and claim.claims is None:
            claim = replace(claim, said=scratch.table(f"{domain.code}_said_least"), bits=_bits_of_rows(bits, claim))
            said_bits.append(
                {"said": claim.said, "column": names.value, "listed": claim.listed, "as_text": claim.as_text}
            )
            one_scan.append((reading.name, claim))
            continue
        set_context: dict[str, Any] = {
            "matched": matched,
            "released": recoded.released,
            "alias": claim.alias,
            "null": names.null,
            "claims": claim.claims,
            "type": claim.type,
            "as_text": claim.as_text,
            "value": names.value,
        }
        if claim.kind == "set":
            rows = scratch.fetch("verify/least_set", **set_context)
        else:
            paths = scratch.table(f"{domain.code}_paths")
            text = scratch.engine.capabilities.text_type
            above = (
                (path[0], level, form.write(node))
                for path in hierarchy_of(domain).levels
                for level, node in enumerate(path)
            )
            scratch.engine.load_rows(paths, [("leaf", text), ("level", "INTEGER"), ("label", text)], above)
            rows = scratch.fetch("verify/least_node", **set_context, paths=paths, text=form.facts.text)
        wider[reading.name] = read_integer(rows[0][0])
    for start in range(0, len(one_scan), FEW):  # the rows are grouped once for several columns
        some = one_scan[start : start + FEW]
        columns = [column for _, column in some]
        plain = start == 0 and all(column.ranks is None and column.bits is None for column in columns)
        sums = measure(columns) if measure is not None and plain else None
        with scratch.together():
            while said_bits:
                scratch.execute("verify/said_bits", released=recoded.released, **said_bits.pop())
            row = scratch.fetch(
                "verify/least_values", matched=matched, released=recoded.released, columns=columns, sums=sums
            )[0]
        n, *wide = map(read_integer, row)
        reached = n if reached is None else min(reached, n)
        wider |= {name: rows_wider for (name, _), rows_wider in zip(some, wide, strict=True)}
    exact = (name for name, claim in one_scan if not wider[name] and claim.claims is None and claim.ranks is None)
    return CoverTightness(wider, frozenset(exact), reached)


def _bits_of_rows(pattern: str, claim: Claim) -> str:
    """The aggregate over rows that has the bits of a column's values; see `Capabilities.listed_bits`."""
    value = f"s.{claim.alias}"
    compared = f"CAST({value} AS VARCHAR)" if claim.as_text else value
    return pattern % {"value": value, "compared": compared, "listed": claim.listed and table_name(claim.listed)}
