"""The staged snapshot: the columns read from the source, copied once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.column_spec import Hierarchy
from sqlanon.engines.base import Bind, Relation, Statement, TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.spec import ReleaseSpec
from sqlanon.table import pseudonyms
from sqlanon.table.reading import ENDS, CountedIdentifier, Reading, Roles
from sqlanon.table.recodes import find_limits
from sqlanon.table.scratch import Scratch

MANY_ROWS = 10_000
"""Least number of rows that a sequence numbers in less time than a window, with creation and drop."""


def refuse_overflow(scratch: Scratch, spec: ReleaseSpec, roles: Roles) -> None:
    """Look for values that a column's type cannot hold once they are rounded.

    Raises:
        PolicyError: there are some; how many, and of which column.

    Cost: a scan, if a column is rounded and has no end that bounds the values.
    """
    columns: list[dict[str, str | None]] = []
    binds: dict[str, Bind] = {}
    rounded: list[tuple[Reading, object]] = []
    for reading in roles.quasi:
        recode = reading.spec.recode
        low, high = find_limits(recode, reading.column) if recode else (None, None)
        if recode is None or (low is None and high is None):
            continue
        ends = {
            end: f"{reading.alias}_{end}" if limit is not None else None
            for end, limit in (("low", low), ("high", high))
        }
        binds |= {str(name): limit for name, limit in zip(ends.values(), (low, high), strict=True) if limit is not None}
        columns.append({"name": reading.name, "type": reading.column.type, **ends})
        rounded.append((reading, recode.round))
    if not columns:
        return
    row = scratch.fetch("table/overflow", binds, source=roles.relation.ref, columns=columns)[0]
    for (reading, step), n in zip(rounded, row, strict=True):
        if n:
            raise PolicyError(
                f"{spec.name}: {reading.name}: {n} values rounded to multiples of {step} do not fit into "
                f"{reading.column.shown_type}; set bottom or top, or cast the column to a wider type in a view of the "
                "source"
            )


def hash_parameters(relation: Relation, names: Sequence[str]) -> list[dict[str, object]]:
    """Columns of a link, as table/stage takes them.

    An enum's value has the hash of its place in the type, which is another value's when the type is made anew: its text
    is taken.
    """
    enums = {column.name for column in relation.columns if column.kind == "enum"}
    return [{"name": name, "listed": name in enums} for name in names]


def _with_leaves(scratch: Scratch, reading: Reading, step: str) -> dict[str, object]:
    """A column for table/stage, with a table of the hierarchy's listed values if other values become one of these."""
    recoded, hierarchy = reading.recoded, reading.spec.hierarchy
    if recoded is None or recoded["other"] is None:
        return reading.staged
    assert isinstance(hierarchy, Hierarchy)
    labels, leaves = (scratch.table(f"{step}_{reading.alias}_{name}") for name in ("labels", "leaves"))
    scratch.engine.load_rows(
        labels, [("label", scratch.engine.capabilities.text_type)], ((path[0],) for path in hierarchy.levels)
    )
    try:
        scratch.execute("table/leaves", leaves=leaves, labels=labels, type=reading.value_type)
    except DatabaseError as error:
        raise PolicyError(
            f"{hierarchy.shown}: its leaves, other among them, cannot be read as {reading.column.shown_type}, the type "
            f"of column {reading.name}"
        ) from error
    return reading.staged | {"recode": recoded | {"leaves": leaves}}


@dataclass(frozen=True, slots=True)
class StagedHashes:
    """The hashes that a stage has beside the columns: of the key, of persons, and pseudonyms.

    Attributes:
        secret: key of the hash of the key columns.
        key: columns that identify a row from version to version.
        persons: identifiers that are counted.
        owner: the persons with rows to recognize in later versions.
        tokens: the key of each pseudonym by name in lower case; None: they are not staged.
    """

    secret: str = field(default="", repr=False)
    key: Sequence[str] = ()
    persons: Sequence[CountedIdentifier] = ()
    owner: CountedIdentifier | None = None
    tokens: Mapping[str, bytes] | None = field(default=None, repr=False)


NO_HASHES = StagedHashes()


_PLACE = "_sqlanon_at"
"""The column of a row's part, and of the place there."""


def take_stage(
    scratch: Scratch,
    roles: Roles,
    link: Sequence[str],
    hashed: StagedHashes = NO_HASHES,
    *,
    dense: bool = False,
    rows: int = 0,
    step: str = "stage",
) -> TableRef:
    """Copy the columns that are read, once, into a scratch table: from here on the source is not looked at.

    Args:
        scratch: the run.
        roles: the columns to read.
        link: columns that are hashed to tie a released row to the source row inside the private schema, unless
            ``roles`` names some.
        hashed: the hashes that it has beside the columns.
        dense: the engine's own numbers of the source's rows are 0 to rows - 1; see `sqlanon.table.staged_enums`.
        rows: number of rows, as far as that is known.
        step: name of the table.
    """
    parts = scratch.engine.capabilities.numbers_parts
    stage = scratch.table(f"{step}_placed" if parts else step)
    sequence = scratch.engine.capabilities.sequences and rows >= MANY_ROWS
    numbers = scratch.name_table("numbers") if sequence else None
    binds, columns = _read_columns(scratch, roles, link, hashed, step)
    with scratch.together():
        if numbers:
            scratch.execute("table/numbers", numbers=numbers)
        scratch.execute("table/stage", binds, stage=stage, dense=dense, numbers=numbers, **columns)
        if numbers:
            scratch.execute("table/drop_numbers", numbers=numbers)
    return _number_rows(scratch, stage, step) if parts else stage


def staged_rows(
    scratch: Scratch, roles: Roles, link: Sequence[str], hashed: StagedHashes, also: Mapping[str, str]
) -> Statement:
    """The query of the rows that `take_stage` copies, without row ids; see there for the other arguments.

    ``also``: further columns of the source, by the names that they get.
    """
    binds, columns = _read_columns(scratch, roles, link, hashed, "stage")
    columns["also"] = [{"name": name, "alias": alias} for alias, name in also.items()]
    return scratch.sql("table/stage", binds, stage=None, dense=False, numbers=None, **columns)


def _read_columns(
    scratch: Scratch, roles: Roles, link: Sequence[str], hashed: StagedHashes, step: str
) -> tuple[dict[str, Bind], dict[str, object]]:
    """The bind values of table/stage, and the parameters that are columns."""
    columns = [_with_leaves(scratch, reading, step) for reading in roles.quasi + roles.sensitive + roles.insensitive]
    tokens: list[dict[str, str]] = []
    binds: dict[str, Bind] = {"secret": hashed.secret}
    token_keys = hashed.tokens or {}
    for reading in roles.pseudonyms if token_keys else ():
        tokens.append({"name": reading.name, "alias": reading.alias})
        inner, outer = pseudonyms.pad_key(token_keys[reading.name.lower()])
        binds |= {f"{reading.alias}_inner": inner, f"{reading.alias}_outer": outer}
    binds |= {
        f"{reading.alias}_{end}": getattr(reading.spec.recode, end)
        for reading in roles.quasi
        if reading.spec.recode is not None
        for end in ENDS
    }
    return binds, {
        "source": roles.relation.ref,
        "columns": columns,
        "also": [],
        "link": [] if roles.link else hash_parameters(roles.relation, link),
        "key": list(hashed.key),
        "persons": list(hashed.persons),
        "tokens": tokens,
        "owner": hashed.owner,
    }


def _number_rows(scratch: Scratch, placed: TableRef, step: str) -> TableRef:
    """The staged rows with their row ids, of a table in which each row has a part and a place there."""
    before = scratch.small(f"{step}_before")
    numbered = scratch.once(step, over=(placed, before))
    scratch.execute("table/rows_before", before=before, placed=placed)
    columns = [column.name for column in scratch.engine.look_up([placed]).columns(placed) if column.name != _PLACE]
    scratch.execute("table/numbered", stage=numbered, placed=placed, before=before, columns=columns)
    return numbered
