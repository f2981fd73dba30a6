"""Every way in which classes can hold the keys and show what the versions of a lineage show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

from tests.frozen.known import Known, Mark
from tests.frozen.model import Cell, Key, Row, Value, holds


class Spell(NamedTuple):
    """From which version to which a key is published, and in which class."""

    first: int
    last: int
    mark: Mark


def spells(key: Key, facts: Known, whole: bool) -> Iterator[Spell | None]:
    """When and in which class a key can be published, by what is known of the key alone."""
    nights = len(facts.seen)
    if facts.entered is None or not any(key in entered for entered in facts.entered):
        yield None
    for first in range(nights):
        present = key in facts.quasi[first] and not any(key in erased for erased in facts.erased[: first + 1])
        if not present or (facts.entered is not None and key not in facts.entered[first]):
            continue
        gone = next((t for t in range(first, nights) if key not in facts.quasi[t]), nights)
        ends = [gone - 1]
        if whole:  # with rows that are in the source only an erasure makes a class leave
            stays = [key in quasi and not erased for quasi, erased in zip(facts.quasi, facts.erased, strict=True)]
            ends = [t for t in range(first, nights) if t + 1 == nights or not stays[t + 1]]
        for mark in {mark for mark, _ in facts.seen[first]}:
            if all(low <= x <= high for x, (low, high) in zip(facts.quasi[first][key], mark[0], strict=True)):
                yield from (Spell(first, last, mark) for last in ends)


def allowed(placed: Mapping[Key, Spell], facts: Known, k: int) -> bool:
    """Whether classes of these keys have these boxes, are large enough, and leave when they must."""
    classes, groups = defaultdict(list), defaultdict(list)
    for key, spell in placed.items():
        classes[spell.first, spell.mark].append(facts.quasi[spell.first][key])
        groups[spell].append(key)
    for (_, (box, _)), points in classes.items():
        if tuple((min(column), max(column)) for column in zip(*points, strict=True)) != box:
            return False
    for spell, keys in groups.items():
        for t in range(spell.first, min(spell.last + 2, len(facts.seen))):
            erased = any(key in facts.erased[t] for key in keys)
            leaves = erased or not any(key in facts.quasi[t] for key in keys)
            if leaves != (t > spell.last):
                return False
        if len(keys) < k:
            return False
    return all(
        sum(spell.first <= t <= spell.last and key not in facts.quasi[t] for key, spell in placed.items()) == retained
        for t, retained in enumerate(facts.retained)
    )


def placements(facts: Known, k: int, whole: bool) -> Iterator[dict[Key, Spell]]:
    """Every way in which classes can hold the keys and show as many records as were shown."""
    sizes = [Counter[Mark]() for _ in facts.seen]
    for t, records in enumerate(facts.seen):
        for (mark, _), n in records.items():
            sizes[t][mark] += n
    choices = {key: list(spells(key, facts, whole)) for night in facts.quasi for key in night}
    keys = sorted(choices, key=lambda key: len(choices[key]))

    def extend(i: int, placed: dict[Key, Spell]) -> Iterator[dict[Key, Spell]]:
        if i == len(keys):
            if not any(size.total() for size in sizes) and (not whole or allowed(placed, facts, k)):
                yield dict(placed)
            return
        if max(size.total() for size in sizes) > len(keys) - i:
            return
        for spell in choices[keys[i]]:
            if spell is None:
                yield from extend(i + 1, placed)
                continue
            nights = range(spell.first, spell.last + 1)
            if all(sizes[t][spell.mark] for t in nights):
                for t in nights:
                    sizes[t][spell.mark] -= 1
                yield from extend(i + 1, {**placed, keys[i]: spell})
                for t in nights:
                    sizes[t][spell.mark] += 1

    yield from extend(0, {})


def valued(placed: Mapping[Key, Spell], facts: Known) -> Iterator[dict[Key, Value]]:
    """Every way to give the placed keys values so that the versions show the records that they show."""
    left = [Counter(records) for records in facts.seen]
    keys = list(placed)

    def extend(i: int, values: dict[Key, Value]) -> Iterator[dict[Key, Value]]:
        if i == len(keys):
            yield dict(values)
            return
        first, last, mark = placed[keys[i]]
        for value in [value for (other, value), n in left[first].items() if other == mark and n]:
            if all(left[t][mark, value] for t in range(first, last + 1)):
                for t in range(first, last + 1):
                    left[t][mark, value] -= 1
                yield from extend(i + 1, {**values, keys[i]: value})
                for t in range(first, last + 1):
                    left[t][mark, value] += 1

    yield from extend(0, {})


def chains(length: int, domain: Sequence[Value], fixed: Mapping[int, Value]) -> list[tuple[Value, ...]]:
    """The values that a person can have had one after another, where some are given."""
    return [
        values
        for values in product(*([fixed[i]] if i in fixed else domain for i in range(length)))
        if all(a != b for a, b in pairwise(values))
    ]


def changed(
    placed: Mapping[Key, Spell], values: Mapping[Key, Value], had: Mapping[Any, tuple[Value, ...]], facts: Known
) -> list[int]:
    """How many published keys the source has otherwise, by version."""
    numbers = [0] * len(facts.seen)
    for key, spell in placed.items():
        for t in range(spell.first, spell.last + 1):
            if key in facts.quasi[t]:
                who, i = facts.state[t][key]
                cell = Cell(spell.mark[0], values[key], 0, 0)
                numbers[t] += not holds(cell, Row(facts.quasi[t][key], had[who][i]))
    return numbers
