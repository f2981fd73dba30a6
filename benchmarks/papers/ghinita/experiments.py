"""What every figure of the paper varies: the releases it needs, one `Point` each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import benchmarks.points
from benchmarks.papers.ghinita.contenders import (
    ANONYMOUS,
    CORRELATED,
    DIVERSE,
    DUAL,
    HILB_SAMPLE,
    TOPDOWN,
    TOPDOWN_ROWS,
    Contender,
)
from benchmarks.papers.ghinita.data import CENSUS, SYNTHETIC, Data

K, L, E, D_DUAL = 50, 10, 0.4, 3
SYNTHETIC_L = 5
"""Values of l: the SA of the synthetic data has 10 values of nearly equal frequency, which admit no l = 10.

The paper's l is lost.
"""
RANGES = "-ranges"
TITLES = {
    "k": "k-anonymity by k (Figure 22)",
    "n": "k-anonymity by N (Figure 23)",
    "d": "k-anonymity by d (Figure 24)",
    "l": "l-diversity by l (Figures 25 and 29 to 31)",
    "l-n": "l-diversity by N (Figures 26 and 29 to 31)",
    "l-d": "l-diversity by d (Figure 27)",
    "alpha": "l-diversity on correlated synthetic data (Figure 28)",
    "k-ranges": "k-anonymity by k, codes as numbers instead of taxonomies (not in the paper)",
    "l-ranges": "l-diversity by l, codes as numbers instead of taxonomies (not in the paper)",
    "e": "dual: PM by E, d=3 (Figure 32)",
    "e-d": "dual: PM by d (Figure 33)",
    "e-n": "dual: PM by N, d=3 (Figure 34)",
}


@dataclass(frozen=True, slots=True)
class Point(benchmarks.points.Point):
    """One release; exactly one of k, l and e is set."""

    k: int | None = None
    l: int | None = None  # noqa: E741 - the paper's symbol
    e: float | None = None
    alpha: float | None = None
    taxonomies: bool = True

    @property
    def key(self) -> tuple[object, ...]:
        """What its figures depend on."""
        asked = (self.k, self.l, self.e, self.alpha)
        return (self.data.name, self.rows, self.quasi, self.taxonomies, self.who.method, *asked)


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of Table III, or fewer for a quick look; ``projections`` at most for every d, None for all."""

    ks: tuple[int, ...] = (10, 20, 50, 100)
    ls: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    ds: tuple[int, ...] = (2, 3, 4, 5, 6, 7)
    es: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5, 0.6)
    alphas: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    census: tuple[Data, ...] = CENSUS
    synthetic: Data = SYNTHETIC
    projections: int | None = None
    seed: int = 1

    def quick(self) -> Scale:
        """Two points an experiment on small tables."""
        return replace(
            self,
            ks=(10, 50),
            ls=(4, 8),
            ds=(3, 7),
            es=(0.2, 0.6),
            alphas=(0.0, 0.4),
            projections=1,
            census=tuple(replace(data, rows=2_000, sizes=(1_000, 2_000)) for data in self.census),
            synthetic=replace(self.synthetic, rows=2_000),
        )

    def chosen(self, quasi: Sequence[str], d: int) -> list[tuple[str, ...]]:
        """The projections to d attributes, all or a seeded sample."""
        every = list(combinations(quasi, d))
        if self.projections is None or self.projections >= len(every):
            return every
        return sorted(random.Random(f"{self.seed} {d}").sample(every, self.projections))


def points(name: str, data: Data, scale: Scale) -> Iterator[Point]:
    """The releases of one experiment on one family of tables, the small and cheap ones first."""
    plain = name.removesuffix(RANGES)
    base = Point(name, data, 0, data.rows, data.quasi, DIVERSE[0], taxonomies=plain == name)
    kind, _, varied = plain.partition("-")
    everyone: Sequence[Contender]
    if kind in ("k", "n", "d"):
        base, everyone, varied = replace(base, k=K), ANONYMOUS, kind
    elif kind == "l":
        base, everyone, varied = replace(base, l=L), DIVERSE, varied or "l"
    elif kind == "alpha":
        base, everyone, varied = replace(base, l=SYNTHETIC_L), CORRELATED, "alpha"
    else:
        base, everyone, varied = replace(base, e=E), DUAL, varied or "e"
    for one in _varied(base, varied, scale):
        projected = data.quasi if base.e is None and varied != "d" else None
        d = D_DUAL if base.e is not None and varied != "d" else int(one.x)
        for quasi in [projected] if projected else scale.chosen(data.quasi, d):
            yield from _everyone(replace(one, quasi=quasi), everyone)


def _varied(base: Point, varied: str, scale: Scale) -> Iterator[Point]:
    if varied == "k":
        yield from (replace(base, x=k, k=k) for k in scale.ks)
    elif varied == "n":
        yield from (replace(base, x=rows, rows=rows) for rows in base.data.sizes)
    elif varied == "d":
        yield from (replace(base, x=d) for d in scale.ds)
    elif varied == "l":
        yield from (replace(base, x=l, l=l) for l in scale.ls)  # noqa: E741 - the paper's symbol
    elif varied == "alpha":
        yield from (replace(base, x=alpha, alpha=alpha) for alpha in scale.alphas)
    else:
        yield from (replace(base, x=e, e=e) for e in scale.es)


def _everyone(point: Point, everyone: Iterable[Contender]) -> Iterator[Point]:
    """The point for every contender; with k also TopDown, on at most its number of rows."""
    yield from (replace(point, who=who) for who in everyone)
    if point.k is not None:
        yield replace(point, who=TOPDOWN, rows=min(point.rows, TOPDOWN_ROWS))
        if point.rows > TOPDOWN_ROWS:
            yield replace(point, who=HILB_SAMPLE, rows=TOPDOWN_ROWS)
