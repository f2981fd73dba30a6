"""Input of an attack: the rows of the source and the boxes of the release, both in codes of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.formats import COUNT, GROUP
from sqlanon.release.audit.covered_codes import CoveredCodes, TooWideError, find_covered_codes
from sqlanon.release.catalog.refresh import link_columns_of
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.table.domain import Domain
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import encode
from sqlanon.table.stage import take_stage

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.evaluate.subject import Subject
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each group has each sensitive value.

    The columns are the group, the code of the value (negative if the source has no such value), and the number of rows.
    """

    group: Ints
    value: Ints
    times: Longs


@dataclass(frozen=True, slots=True)
class Material:
    """Source and release as integers.

    Attributes:
        quasi: the quasi columns; d of them.
        sensitive: the sensitive columns.
        tuples: int32[r, d], each combination of quasi codes of published victims once; ``victims`` int64[r] how many
            have it.
        values: per sensitive column int32[t] of all combinations of quasi and sensitive codes, ``of`` int32[t] the
            place in ``tuples``, ``times`` int64[t] how many published victims have it.
        published: how many published victims there are; ``times`` may be of a part of them
            (`sqlanon.attack.victim_sample`).
        left_out: victims that the version leaves out.
        unmatched: rows of the source that the version was not made of.
        cells: int32[d, b], of each box the numbers of the cells; ``members`` int64[b] the box's rows.
        covered: codes that each cell covers.
        counts: per sensitive column, how often each box has each value; in format anatomy each group.
        groups: in format anatomy: per group the rows, int64; else ``members``.
        shares: in format anatomy (box, group, rows), of each box how many rows are in which group; else None.
        stage: scratch table of the source with links, ``placed`` of (rid, class), ``work`` of codes.
        tied: whether the private tables say which rows were left out.
    """

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    tuples: Ints
    victims: Longs
    values: tuple[Ints, ...]
    of: Ints
    times: Longs
    published: int
    left_out: int
    unmatched: int
    cells: Ints
    members: Longs
    covered: CoveredCodes
    counts: tuple[Counts, ...]
    groups: Longs
    shares: tuple[Ints, Ints, Longs] | None
    stage: TableRef
    placed: TableRef
    work: TableRef
    tied: bool

    @property
    def drawn(self) -> int:
        """How many of the published victims are compared."""
        return int(self.times.sum())

    @property
    def shown(self) -> float:
        """The share of all victims that the version publishes."""
        return self.published / max(self.published + self.left_out, 1)


def read(scratch: Scratch, on: Subject) -> Material:
    """Take a snapshot of the source, and read the release.

    Raises:
        PolicyError: the source is empty, a hierarchy does not cover it any more, or published sets are too wide.

    Cost: a scan and a GROUP BY of the source and of the release, and a sort of each.
    """
    engine, entry = scratch.engine, on.entry
    assert entry is not None
    here = [column.name for column in on.roles.relation.columns]
    with engine.snapshot():
        stage = take_stage(scratch, on.roles, link_columns_of(entry, here))
    rows = scratch.count("table/count", source=stage)
    if not rows:
        raise PolicyError(f"attack {on.name}: its source {on.roles.relation.ref} has no rows")
    domains = build_domains(scratch, on.roles, stage)
    quasi, sensitive = domains.quasi, domains.sensitive
    encoded = encode(scratch, on.roles, stage, domains, rows)
    placed, tied = place(scratch, entry, stage, "placed")
    tuples, victims, values, of, times, left_out = _victims(scratch, placed, encoded.work, quasi, sensitive)
    cells, boxes, groups, counts, shares, covered = _fetch_release(scratch, on, quasi, sensitive)
    published = int(times.sum())
    return Material(
        quasi,
        sensitive,
        tuples,
        victims,
        values,
        of,
        times,
        published,
        left_out,
        rows - published - left_out,
        cells,
        boxes,
        covered,
        counts,
        groups,
        shares,
        stage,
        placed,
        encoded.work,
        tied,
    )


def place(scratch: Scratch, entry: Entry, stage: TableRef, name: str) -> tuple[TableRef, bool]:
    """The class of each row of the source in a version.

    It returns a scratch table (rid, place), and whether the classes come from the private tables.
    """
    linked = entry.placed
    placed, tied = scratch.table(name), scratch.engine.exists(linked)
    if tied:
        with guard_reading(scratch.engine, linked):
            scratch.execute("attack/placed", placed=placed, stage=stage, linked=linked, own=entry.edges)
    else:
        scratch.execute("attack/placed", placed=placed, stage=stage, linked=None, own=False)
    return placed, tied


def _victims(
    scratch: Scratch, placed: TableRef, work: TableRef, quasi: tuple[Domain, ...], sensitive: tuple[Domain, ...]
) -> tuple[Ints, Longs, tuple[Ints, ...], Ints, Longs, int]:
    names = [domain.code for domain in (*quasi, *sensitive)]
    query = scratch.sql("attack/victims", placed=placed, work=work, columns=names)
    *columns, published, times = scratch.fetch_arrays(query, [*["int32"] * (len(names) + 1), "int64"])
    left_out = int(times[published == 0].sum())
    codes = np.array(columns, np.int32).reshape(len(names), len(times))[:, published == 1]
    times = times[published == 1].astype(np.int64)
    first, of = _distinct(codes[: len(quasi)])
    victims = np.bincount(of, times, first.shape[1]).astype(np.int64)
    values = tuple(codes[len(quasi) + i] for i in range(len(sensitive)))
    return np.ascontiguousarray(first.T), victims, values, of, times, left_out


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """The different columns of a table of codes in order, and the place of each column among them."""
    if not codes.shape[1]:
        return codes, np.zeros(0, np.int32)
    order = np.lexsort(codes[::-1])
    ordered = codes[:, order]
    new = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    place = np.empty(len(order), np.int32)
    place[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[:, new]), place


def _fetch_release(
    scratch: Scratch, on: Subject, quasi: tuple[Domain, ...], sensitive: tuple[Domain, ...]
) -> tuple[Ints, Longs, Longs, tuple[Counts, ...], tuple[Ints, Ints, Longs] | None, CoveredCodes]:
    """Cells and rows of boxes, rows and sensitive values of groups, groups of boxes, and the covers of the cells."""
    names = {domain.code: on.names(domain.reading.name) for domain in quasi}
    shown = [{"code": domain.code, "names": names[domain.code].list_columns()} for domain in quasi]
    paired = on.counted is not None
    values = [] if paired else [domain.parameters for domain in sensitive]
    groups = [{"code": "g", "name": GROUP}] if paired else []
    grouped, cells = scratch.table("grouped"), scratch.table("cells")
    scratch.execute(
        "attack/grouped",
        grouped=grouped,
        target=on.view,
        names=[name for spelling in names.values() for name in spelling.list_columns()],
        values=[str(value["name"]) for value in values + groups],
    )
    scratch.execute("attack/cells", cells=cells, grouped=grouped, columns=shown, values=values, groups=groups)
    scratch.drop(grouped)
    columns = [domain.code for domain in quasi] + [str(value["code"]) for value in values + groups]
    query = scratch.sql("attack/boxes", cells=cells, columns=columns)
    *cell_codes, n = scratch.fetch_arrays(query, [*["int32"] * len(columns), "int64"])
    codes, times = np.array(cell_codes, np.int32).reshape(len(columns), len(n)), n.astype(np.int64)
    first, of = _distinct(codes[: len(quasi)])
    members = np.bincount(of, times, first.shape[1]).astype(np.int64)
    shares = None
    if paired:
        counts, sizes, numbers = _fetch_value_table(scratch, on, sensitive)
        listed = np.isin(codes[-1], numbers)
        shares = (of[listed], np.searchsorted(numbers, codes[-1][listed]).astype(np.int32), times[listed])
    else:
        counts = tuple(_sum_pairs(of, codes[len(quasi) + i], times) for i in range(len(sensitive)))
        sizes = members
    try:
        covered = find_covered_codes(scratch, on.form, quasi, names, cells)
    except TooWideError:
        raise PolicyError(
            f"attack {on.name}: the sets that it publishes have too many values; give columns of many values a "
            "hierarchy or an order"
        ) from None
    scratch.drop(cells)
    return first, members, sizes, counts, shares, covered


def _fetch_value_table(
    scratch: Scratch, on: Subject, sensitive: tuple[Domain, ...]
) -> tuple[tuple[Counts, ...], Longs, Ints]:
    """The second table of format anatomy: the values, the rows of each group, and the groups' numbers."""
    assert on.counted is not None
    (domain,) = sensitive
    query = scratch.sql("attack/counted", target=on.counted, group=GROUP, count=COUNT, value=domain.parameters)
    group, value, n = scratch.fetch_arrays(query, ["int32", "int32", "int64"])
    numbers, of = np.unique(group.astype(np.int32), return_inverse=True)
    pairs = _sum_pairs(of.astype(np.int32), value.astype(np.int32), n.astype(np.int64))
    return (pairs,), np.bincount(pairs.group, pairs.times).astype(np.int64), numbers


def _sum_pairs(group: Ints, value: Ints, times: Longs) -> Counts:
    """Each pair of group and value once."""
    pairs, of = _distinct(np.array([group, value], np.int32))
    return Counts(pairs[0], pairs[1], np.bincount(of, times, pairs.shape[1]).astype(np.int64))
