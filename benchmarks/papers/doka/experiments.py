"""The points of each figure of the paper, and of two relations that are expected of the solvers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.papers.doka.systems import BLOCKS, FLOW, GREEDY, HUNGARIAN, KC, MIP, NH, PASSED, REFINED, SORT, System

TITLES = {
    "6": "segments along the lexicographic order (Figure 6), by N",
    "7": "against the optimum on a few rows (Figure 7), by k",
    "7b": "processor seconds on a few rows (Figure 7b), by N",
    "8": "by k (Figure 8)",
    "9": "by columns d (Figure 9)",
    "10": "by N (Figure 10)",
    "excess": "loss above the optimum, 12 rows, k=3",
    "tree": "greedy solvers against tree with refine, k=10, by N",
}
"""Several values of k, or of N, that a figure has are its panels."""

SEGMENTS = {GREEDY.name: 250, SORT.name: 150, HUNGARIAN.name: 100}
"""The paper's partitions: as many rows as each system takes in about the same time."""

FEW = (KC, NH, FLOW, GREEDY, SORT, HUNGARIAN, PASSED, MIP)
MANY = (KC, NH, FLOW, GREEDY, SORT, HUNGARIAN, BLOCKS, REFINED)


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement, or as many as there are samples.

    Attributes:
        figure: a key of `TITLES`.
        data: a key of `benchmarks.papers.doka.data.SOURCES`.
        panel: what is the same in one picture.
        x: the varied number.
        rows, d, k: of the table, its columns, and k.
        who: the system.
        segment: rows of a part that is solved by itself; 0: all together.
        samples: random draws of the rows; 0: the first rows of the file.
    """

    figure: str
    data: str
    panel: str
    x: int
    rows: int
    d: int
    k: int
    who: System
    segment: int = 0
    samples: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """What its figures depend on."""
        return (self.data, self.rows, self.d, self.k, self.who.name, self.segment, self.samples)


@dataclass(frozen=True, slots=True)
class Scale:
    """What is varied how far; the paper's numbers, where they are not lost in our copy.

    Attributes:
        few, ks: rows and k of Figure 7, ``samples`` draws.
        seconds: rows of Figure 7b, at ``seconds_k``.
        sizes6, sizes10: rows of Figures 6 and 10.
        ks8, rows8: k of Figure 8, and its tables with the greatest k for each.
        ds, rows9, ks9: of Figure 9.
        excess: draws of 12 rows.
    """

    few: int = 14
    ks: tuple[int, ...] = (2, 3, 4, 5, 6, 7)
    samples: int = 100
    seconds: tuple[int, ...] = (10, 11, 12, 13, 14)
    seconds_k: int = 6
    sizes6: tuple[int, ...] = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
    ks6: tuple[int, ...] = (10, 30, 50)
    ks8: tuple[int, ...] = (10, 30, 50, 70, 100, 150)
    rows8: tuple[tuple[int, int], ...] = ((1_000, 150), (10_000, 150))
    ds: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)
    rows9: int = 10_000
    ks9: tuple[int, ...] = (30, 50)
    sizes10: tuple[int, ...] = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
    ks10: tuple[int, ...] = (15, 50)
    excess: int = 100
    sizes_tree: tuple[int, ...] = (1_000, 5_000)

    def reduced(self) -> Scale:
        """A few minutes of one processor."""
        return replace(
            self,
            samples=10,
            sizes6=(1_000, 2_000, 4_000, 8_000),
            ks8=(10, 50, 100),
            rows8=((1_000, 100), (4_000, 10)),
            ds=(2, 5, 8),
            rows9=1_000,
            ks9=(30,),
            sizes10=(1_000, 2_000, 4_000),
            excess=30,
        )

    def quick(self) -> Scale:
        """Seconds, for tests."""
        return replace(
            self,
            few=8,
            ks=(2, 3),
            samples=2,
            seconds=(6, 8),
            seconds_k=3,
            sizes6=(300, 600),
            ks6=(5,),
            ks8=(3, 6),
            rows8=((100, 6),),
            ds=(2, 8),
            rows9=100,
            ks9=(5,),
            sizes10=(100, 200),
            ks10=(5,),
            excess=2,
            sizes_tree=(100, 200),
        )


def points(figure: str, data: str, scale: Scale) -> Iterator[Point]:
    """The points of one figure on one table."""
    base = Point(figure, data, "", 0, 0, 8, 10, HUNGARIAN)
    if figure == "6":
        for k in scale.ks6:
            for n in scale.sizes6:
                for who in (NH, GREEDY, SORT, HUNGARIAN):
                    yield replace(base, panel=f"k={k}", x=n, rows=n, k=k, who=who, segment=SEGMENTS.get(who.name, 0))
    elif figure == "7":
        for k in scale.ks:
            for who in FEW:
                yield replace(base, panel=f"{scale.few} rows", x=k, rows=scale.few, k=k, who=who, samples=scale.samples)
    elif figure == "7b":
        for n in scale.seconds:
            for who in FEW:
                yield replace(
                    base,
                    panel=f"k={scale.seconds_k}",
                    x=n,
                    rows=n,
                    k=scale.seconds_k,
                    who=who,
                    samples=min(scale.samples, 2),
                )
    elif figure == "8":
        for n, most in scale.rows8:
            for k in (k for k in scale.ks8 if k <= most):
                yield from (replace(base, panel=f"{n} rows", x=k, rows=n, k=k, who=who) for who in MANY)
    elif figure == "9":
        for k in scale.ks9:
            for d in scale.ds:
                yield from (
                    replace(base, panel=f"k={k}", x=d, rows=scale.rows9, d=d, k=k, who=who)
                    for who in MANY
                    if who != FLOW
                )
    elif figure == "10":
        for k in scale.ks10:
            for n in scale.sizes10:
                yield from (replace(base, panel=f"k={k}", x=n, rows=n, k=k, who=who) for who in MANY if who != FLOW)
    elif figure == "excess":
        for who in (MIP, GREEDY, SORT, HUNGARIAN, PASSED, FLOW, NH, KC):
            yield replace(base, panel="k=3", x=12, rows=12, k=3, who=who, samples=scale.excess)
    else:
        for n in scale.sizes_tree:
            yield from (
                replace(base, panel="k=10", x=n, rows=n, who=who) for who in (GREEDY, SORT, HUNGARIAN, BLOCKS, REFINED)
            )
