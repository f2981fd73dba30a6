"""Histories of a source of few rows, and what lineages publish of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from tests.frozen.known import Shown, Source
from tests.frozen.model import InfeasibleError, Key, Lineage, Partition, Row, Version, lawful

K = L = 2


class History(NamedTuple):
    """The source at each version, and the keys that were erased before it."""

    sources: list[dict[Key, Row]]
    erased: list[frozenset[Key]]


def lineage(partition: Partition, rows: int = K, divide: Partition | None = None) -> Lineage:
    """A lineage that tries a cohort of so many rows, or after two versions."""
    return Lineage(K, L, rows, 2, partition, divide)


def versions(made: Lineage, history: History) -> list[Version | None]:
    """Run a history; None where the first version of the lineage was infeasible."""
    found: list[Version | None] = []
    for now, (source, erased) in enumerate(zip(*history, strict=True)):
        if erased:
            made.erase(erased)
        try:
            found.append(made.run(source, now))
        except InfeasibleError:
            found.append(None)
    return found


def published(made: Lineage, history: History) -> list[Shown]:
    """What the versions of a history show, by key; nothing where the first one fails."""
    found = versions(made, history)
    return [version.cells for version in found if version is not None] if found[0] is not None else []


def drawn(rng: np.random.Generator, values: int, *, most: int = 7, erasures: bool = False) -> History:
    """Three versions of few rows, which come, go, return and change; the first one is feasible."""
    n, columns = int(rng.integers(4, most + 1)), int(rng.integers(1, 3))
    first, code = 1, [0]
    while not lawful(code[:first], K, L):
        first, code = int(rng.integers(2, min(n, 5) + 1)), rng.integers(values, size=n).tolist()
    quasi = rng.integers(4, size=(n, columns)).tolist()
    present = [i < first for i in range(n)]
    history = History([], [])
    calm = float(rng.uniform(0.5, 0.9))
    for t in range(3):
        for i in range(n) if t else ():
            event = rng.uniform(calm - 1, calm)
            if event < (calm - 1) / 2 or (i >= first and not present[i] and event < calm - 0.3):
                present[i] = not present[i]
            elif event < (calm - 1) / 4:
                code[i] = (code[i] + int(rng.integers(1, values))) % values
            elif event < 0:
                quasi[i] = rng.integers(4, size=columns).tolist()
        history.sources.append({f"r{i}": Row(tuple(quasi[i]), code[i]) for i in range(n) if present[i]})
        wish = erasures and t > 0 and rng.random() < 0.5
        history.erased.append(frozenset({f"r{rng.integers(n)}"}) if wish else frozenset())
    return history


def every(keys: Sequence[Key], values: int, nights: int = 3) -> Iterator[History]:
    """All histories of these keys, whose quasi values are equal, but for the names of the values.

    A history whose first row has a value other than 0 is left out.
    """
    state = [None, *range(values)]
    lives = list(product(state, repeat=nights))
    for chosen in product(lives, repeat=len(keys)):
        sources = [
            {key: Row((0,), life[t]) for key, life in zip(keys, chosen, strict=True) if life[t] is not None}
            for t in range(nights)
        ]
        if any(row.value for row in list(sources[0].values())[:1]):
            continue
        yield History(sources, [frozenset()] * nights)


def quiet(sources: Sequence[Source]) -> History:
    """A history without erasures."""
    return History([dict(source) for source in sources], [frozenset()] * len(sources))
