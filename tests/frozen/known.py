"""What readers of a lineage know: quasi values, when rows came, went and changed, what versions show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.frozen.model import Box, Cell, Key, Row, Value, holds

Mark = tuple[Box, int]
"""What records of a class have in common: the box, and the number of the class or 0."""
State = tuple[Any, int]
"""A person, and the number of its sensitive value among all it had one after another."""
Source = Mapping[Key, Row]
Shown = Mapping[Key, Cell]
Person = Callable[[Key], Any]


def itself(key: Key) -> Any:
    """A key is a person."""
    return key


@dataclass(frozen=True)
class Known:
    """What a reader knows and sees, a list by version."""

    quasi: list[dict[Key, tuple[float, ...]]]
    state: list[dict[Key, State]]
    seen: list[Counter[tuple[Mark, Value]]]
    retained: list[int]
    stale: list[int]
    entered: list[frozenset[Key]] | None
    """The keys of the cohorts that were published; None: any key of the source may be new in a version."""
    erased: list[frozenset[Key]]
    """The keys that were erased before the version."""


def seen(shown: Shown, *, numbers: bool) -> Counter[tuple[Mark, Value]]:
    """The records of a version."""
    return Counter(((cell.box, cell.number if numbers else 0), cell.value) for cell in shown.values())


def states(sources: Sequence[Source], person: Person) -> list[dict[Key, State]]:
    """Which sensitive value, by its number among those of the person, each key has in each version."""
    latest: dict[Any, tuple[int, Value]] = {}
    numbered: list[dict[Key, State]] = []
    for source in sources:
        for key, row in source.items():
            number, value = latest.get(person(key), (-1, None))
            latest[person(key)] = (number if number >= 0 and value == row.value else number + 1, row.value)
        numbered.append({key: (person(key), latest[person(key)][0]) for key in source})
    return numbered


def retained(source: Source, shown: Shown) -> int:
    """How many published keys the source no longer has."""
    return sum(key not in source for key in shown)


def stale(source: Source, shown: Shown) -> int:
    """How many published keys the source has otherwise."""
    return sum(key in source and not holds(cell, source[key]) for key, cell in shown.items())


def known(
    sources: Sequence[Source],
    shown: Sequence[Shown],
    *,
    numbers: bool = False,
    cohorts: bool = True,
    erased: Sequence[frozenset[Key]] | None = None,
    person: Person = itself,
) -> Known:
    """What the reader knows of a history: nothing else of the arguments reaches him."""
    both = list(zip(sources, shown, strict=True))
    pairs = zip([{}, *shown[:-1]], shown, strict=True)
    return Known(
        quasi=[{key: row.quasi for key, row in source.items()} for source in sources],
        state=states(sources, person),
        seen=[seen(night, numbers=numbers) for night in shown],
        retained=[retained(source, night) for source, night in both],
        stale=[stale(source, night) for source, night in both],
        entered=[frozenset(set(new) - set(old)) for old, new in pairs] if cohorts else None,
        erased=list(erased or [frozenset()] * len(shown)),
    )


def view(sources: Sequence[Source], shown: Sequence[Shown | None]) -> Any:
    """All that can be seen of the versions."""
    return tuple(
        None
        if night is None
        else (frozenset(seen(night, numbers=False).items()), retained(source, night), stale(source, night))
        for source, night in zip(sources, shown, strict=True)
    )
