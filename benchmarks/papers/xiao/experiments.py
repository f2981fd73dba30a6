"""What every figure of the paper varies: the releases it needs, one `Point` each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import benchmarks.points
from benchmarks.papers.ghinita.contenders import Contender
from benchmarks.papers.ghinita.data import OCC, QUASI, Data
from examples.sources import SAL

L = 6
"""Where l is not varied; the paper's is lost in the text."""
TITLES = {
    "l": "stars and seconds by l (Figures 2 and 4)",
    "d": "stars and seconds by d (Figures 3 and 5), means over subsets of the columns",
    "n": "stars and seconds by N (Figure 6)",
    "kld-l": "KL-divergence by l (Figure 7)",
    "kld-d": "KL-divergence by d (Figure 8), means over subsets of the columns",
}


STARS = {"format": "suppressed"}
HILBERT = Contender("Hilbert", "hilbert", "o-", more=STARS)
TP = Contender("TP", "suppress:variant=tp", "x-", more=STARS)
TP_PLUS = Contender("TP+", "suppress:variant=tp,rest=hilbert", "s-", more=STARS)
CASCADE = Contender("cascade (ours)", "suppress:variant=cascade", "D:", more=STARS)
TDS = Contender("TDS", "tds:publish=cut", "^-", more={"format": "labels"})
"""It publishes nodes of hierarchies, and no stars: the same node wherever a value occurs, as the paper's does."""

STARRING = (HILBERT, TP, TP_PLUS, CASCADE)
COMPARED = (TP_PLUS, CASCADE, TDS)
MARKERS = {who.name: who.marker for who in (*STARRING, *COMPARED)}

CENSUS = (
    Data("occ", QUASI, "occupation", 100_000, (25_000, 50_000, 100_000), OCC),
    Data("sal", QUASI, "salary", 500_000, (100_000, 200_000, 300_000, 400_000, 500_000), SAL),
)
"""The paper's tables have 600,000 rows of the same census; all rows that are at hand."""


@dataclass(frozen=True, slots=True)
class Point(benchmarks.points.Point):
    """One release."""

    l: int  # noqa: E741 - the paper's symbol

    @property
    def divergence(self) -> bool:
        """Whether the KL-divergence is what is measured."""
        return self.experiment.startswith("kld")

    @property
    def key(self) -> tuple[object, ...]:
        """What its figures depend on."""
        return (self.data.name, self.rows, self.quasi, self.l, self.who.method, self.divergence)


@dataclass(frozen=True, slots=True)
class Scale:
    """The paper's values, or fewer; ``projections`` at most for every d, None for all subsets of the columns."""

    ls: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    ds: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
    census: tuple[Data, ...] = CENSUS
    projections: int | None = None
    seed: int = 1

    def quick(self) -> Scale:
        """Two points an experiment on small tables."""
        census = tuple(replace(data, rows=2_000, sizes=(1_000, 2_000)) for data in self.census)
        return replace(self, ls=(2, 6), ds=(2, 4), census=census, projections=1)

    def chosen(self, quasi: tuple[str, ...], d: int) -> list[tuple[str, ...]]:
        """The subsets of d columns, all or a seeded sample."""
        every = list(combinations(quasi, d))
        if self.projections is None or self.projections >= len(every):
            return every
        return sorted(random.Random(f"{self.seed} {d}").sample(every, self.projections))


def points(name: str, data: Data, scale: Scale) -> Iterator[Point]:
    """The releases of one experiment on one family of tables."""
    from sqlanon.declared import METHODS

    varied = name.removeprefix("kld-")
    everyone = COMPARED if name.startswith("kld") else STARRING
    base = Point(name, data, 0, data.rows, data.quasi, HILBERT, min(L, max(scale.ls)))
    found: list[Point] = []
    if varied == "l":
        found = [replace(base, x=l, l=l) for l in scale.ls]  # noqa: E741 - the paper's symbol
    elif varied == "n":
        found = [replace(base, x=rows, rows=rows) for rows in data.sizes]
    else:
        found = [replace(base, x=d, quasi=quasi) for d in scale.ds for quasi in scale.chosen(data.quasi, d)]
    for point in found:
        yield from (replace(point, who=who) for who in everyone if who.method.partition(":")[0] in METHODS)
