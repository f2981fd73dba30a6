"""Systems of cells over patterns of persons: of each cell the persons and the rows are sums over patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.patterns import Patterns
from sqlanon.statistics.system import Atoms, System, Wholes

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


def over_patterns(system: System, persons: Longs, patterns: Patterns, *, rows: bool) -> System:
    """A system over patterns: of each cell the persons, and with ``rows`` the rows as well.

    Args:
        system: the cells over combinations, or over parts of them, which count rows.
        persons: int64[classes], the persons of each published cell.
        patterns: some patterns, which witnesses may change.
        rows: rows are published as well.

    Cost: for each pattern a scan of the cells that hold one of the combinations.
    """
    many = len(system)
    part, of, times = patterns.entries()
    holding = np.repeat(np.arange(many, dtype=np.int64), np.diff(system.at))
    order = np.argsort(system.member, kind="stable")
    starts = np.searchsorted(system.member[order], np.arange(len(system.atoms.count) + 1))
    lengths = np.diff(starts)[of]
    entry = np.repeat(np.arange(len(of)), lengths)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    classes = holding[order][starts[of[entry]] + within]
    keys, place = np.unique(classes * len(patterns.of) + part[entry], return_inverse=True)
    weights = np.zeros(len(keys), np.int64)
    np.add.at(weights, place.reshape(-1), times[entry])
    of_class, member = np.divmod(keys, len(patterns.of))
    ends = np.searchsorted(of_class, np.arange(many + 1))
    published = np.zeros(many, bool)
    published[system.listed] = True
    once = np.where(published[of_class], 1, weights)
    parts = system.wholes
    whole = Wholes(system, of, part, times) if parts is None else Wholes(parts.system, parts.of[of], part, times, of)
    atoms = Atoms((), patterns.persons, np.full(len(patterns.of), -1, np.int64))
    first = replace(
        system,
        atoms=atoms,
        at=ends,
        member=member,
        value=np.where(published, persons, system.value),
        wholes=whole,
        times=once,
        kin=patterns.kin,
    )
    return _with_rows(first, system, published, weights) if rows else first


def _with_rows(first: System, system: System, published: Flags, weights: Longs) -> System:
    """The same with the rows of each published cell, which have the same members."""
    many, cells = len(system), np.flatnonzero(published)
    twin = np.arange(many + len(cells))
    twin[cells] = many + np.arange(len(cells))
    twin[many:] = cells
    lengths = np.diff(first.at)
    inside = np.concatenate([np.arange(first.at[cell], first.at[cell + 1]) for cell in cells])
    return replace(
        first,
        at=np.concatenate([first.at, first.at[-1] + np.cumsum(lengths[cells])]),
        member=np.concatenate([first.member, first.member[inside]]),
        times=np.concatenate([first.times, weights[inside]]) if first.times is not None else None,
        value=np.concatenate([first.value, system.value[cells]]),
        small=np.concatenate([system.small, np.zeros(len(cells), bool)]),
        inner=np.concatenate([system.inner, np.zeros(len(cells), bool)]),
        least=np.concatenate([system.least, system.least[cells]]),
        weight=np.concatenate([system.weight, system.weight[cells]]),
        margin=np.concatenate([system.margin, system.margin[cells]]),
        height=np.concatenate([system.height, system.height[cells]]),
        fixed=np.concatenate([system.fixed, system.fixed[cells]]),
        twin=twin,
    )
