"""Bounds of what a value weighs in a class of a release of rows, where the rows show it and persons have several rows.

In a class every person weighs one, split over the person's rows in it. A release of rows may promise that no value
weighs more than a part of the persons of a class (`l`). Where the value is a column of the counts and the rows show it,
patterns of persons have it, and the promise is a sum over patterns that is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.parts import LEFT_OUT, Parts
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

UNIT = 720_720
"""The weight of a person in integers: exact for persons of up to 16 rows in a class."""
Weighed = tuple[int, int, int]
"""The place of a counted column, from 1, and p and q: its weight times p is at most the persons times q."""


def weigh_rows(person: Longs, groups: Longs, times: Longs) -> tuple[Longs, Longs, Longs]:
    """The weights of the kinds of rows of each person, in integers that are rounded up.

    Args:
        person: int64[n], a person or a pattern.
        groups: int64[2, n], the class, and the kind.
        times: int64[n], how many rows.

    Returns:
        int64[m] the weights, int64[m] the persons, and int64[2, m] the class and the kind of each.
    """
    keys, place = np.unique(np.concatenate([person[np.newaxis], groups]), axis=1, return_inverse=True)
    rows = np.bincount(place.reshape(-1), times, keys.shape[1]).astype(np.int64)
    classes, of = np.unique(keys[:2], axis=1, return_inverse=True)
    inside = np.bincount(of.reshape(-1), rows, classes.shape[1]).astype(np.int64)[of.reshape(-1)]
    return -(-rows * UNIT // inside), keys[0], keys[1:]


def with_weights(system: System, parts: Parts, weights: Longs, persons: Mapping[int, int], limit: Weighed) -> System:
    """A system of patterns in which no value of a column weighs more than promised in a class.

    Args:
        system: the cells over the patterns; the first classes are those of the combinations.
        parts: the parts.
        weights: int64[parts], what the persons of the class weigh of the kind.
        persons: those of each class.
        limit: the column, and what is promised.
    """
    wholes, (column, p, q) = system.wholes, limit
    assert wholes is not None
    assert wholes.places is not None
    assert wholes.part is not None
    assert wholes.times is not None
    values = wholes.system.atoms.nodes[column - 1][0][parts.atom]
    class_kinds, kinds = np.unique(np.stack([parts.of, parts.kind, values, weights]), axis=1), parts.kind[wholes.places]
    value_of = dict(zip(class_kinds[1].tolist(), class_kinds[2].tolist(), strict=True))
    weight, pattern, of = weigh_rows(wholes.part, np.stack([parts.of[wholes.places], kinds]), wholes.times)
    inside: dict[int, dict[int, int]] = {}
    rows: dict[tuple[int, int], dict[int, int]] = {}
    for number, value in class_kinds[[0, 2]].T.tolist():
        if number != LEFT_OUT:
            rows.setdefault((number, value), {})
    for heavy, who, number, kind in zip(weight.tolist(), pattern.tolist(), *of.tolist(), strict=True):
        if number != LEFT_OUT:
            inside.setdefault(number, {})[who] = q * UNIT
            by_pattern = rows[number, value_of[kind]]
            by_pattern[who] = by_pattern.get(who, 0) - p * heavy
    total: dict[tuple[int, int], int] = {}
    for number, value, heavy in class_kinds[[0, 2, 3]].T.tolist():
        total[number, value] = total.get((number, value), 0) + heavy
    bounds: list[tuple[list[int], list[int], int]] = []
    for (number, value), by_pattern in rows.items():
        factors = {who: base + by_pattern.get(who, 0) for who, base in inside.get(number, {}).items()}
        members = sorted(who for who, factor in factors.items() if factor)
        slack = q * UNIT * persons[number] - p * total[number, value]
        if len(members) > 1 and min(factors.values()) < 0:
            times = [factors[who] for who in members]
            divisor = int(np.gcd.reduce([*times, slack]))
            bounds.append((members, [factor // divisor for factor in times], slack // divisor))
        elif len(members) == 1 and factors[members[0]] < 0:
            bounds.append((members, [1], 0))
    return _add_bounds(system, bounds)


def _add_bounds(system: System, bounds: Sequence[tuple[list[int], list[int], int]]) -> System:
    """A system with sums of patterns that are not negative; of one pattern alone nobody else has it."""
    many, none = len(bounds), np.zeros(len(bounds), np.int64)
    if not many:
        return system
    assert system.times is not None
    value = np.array([slack for _, _, slack in bounds], np.int64)
    single = np.array([len(members) == 1 for members, _, _ in bounds], bool)
    ends = np.cumsum([len(members) for members, _, _ in bounds], dtype=np.int64)
    return replace(
        system,
        at=np.concatenate([system.at, system.at[-1] + ends]),
        member=np.concatenate([system.member, *(np.array(members, np.int64) for members, _, _ in bounds)]),
        times=np.concatenate([system.times, *(np.array(times, np.int64) for _, times, _ in bounds)]),
        value=np.concatenate([system.value, value]),
        least=np.concatenate([system.least, none]),
        small=np.concatenate([system.small, np.zeros(many, bool)]),
        weight=np.concatenate([system.weight, np.zeros(many)]),
        margin=np.concatenate([system.margin, none]),
        height=np.concatenate([system.height, none]),
        fixed=np.concatenate([system.fixed, single]),
        inner=np.concatenate([system.inner, ~single]),
        floor=np.concatenate([system.floors(), np.minimum(value, 0)]),
        twin=None if system.twin is None else np.append(system.twin, len(system) + np.arange(many)),
    )
