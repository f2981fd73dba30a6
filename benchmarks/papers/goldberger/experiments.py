"""The experiments: what each releases, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

from benchmarks.kept import Kept
from benchmarks.papers.goldberger.data import QUASI, ROWS, Adult
from benchmarks.papers.goldberger.learn import learned, parts

Line = dict[str, Any]
TITLES = {
    "k": "LM by k over several runs (Table 2)",
    "others": "LM and seconds of other methods by k (Figures 1 and 2)",
    "rows": "seconds by rows, k=50 (Figure 3)",
    "columns": "seconds by columns (Figure 4)",
    "l": "LM by l, k=50 (Figures 5 and 6)",
    "w": "mean entropy of classes by w (Table 3)",
    "learn": "held-out accuracy of a naive Bayes classifier, and errors of COUNT, k=50",
}
TABLE_2 = {10: 0.302, 20: 0.340, 30: 0.364, 40: 0.380, 50: 0.394, 60: 0.419, 100: 0.439}
"""The paper's averages."""
TABLE_3 = {50: (0.07, 0.14, 0.31, 0.51, 0.54), 75: (0.08, 0.14, 0.32, 0.51, 0.56), 100: (0.08, 0.15, 0.34, 0.54, 0.58)}
"""The paper's entropies for w of 0, 25, 50, 75 and 100 percent."""
WS = (0, 25, 50, 75, 100)
LEAST_L = 1.01
"""pmi takes l: so little that a class of 50 rows may have 49 of one value."""
SEARCH = "sequential + search 32"
SEARCHED, SEARCH_GOAL = 3, {50: 0.380}
"""Runs of Table 2 that are searched, and the LM that they shall reach at most, which is not the paper's."""
OTHERS = {
    "sequential": "sequential",
    SEARCH: "sequential",
    "tree": "tree",
    "mondrian (median)": "mondrian:cut=median",
    "hilbert": "hilbert",
    "k-member (the paper's wording)": "kmember:grow=centre",
    "k-member (Byun et al.)": "kmember",
    "mdav": "mdav",
    "agglomerative": "agglomerative",
}


@dataclass(frozen=True, slots=True)
class Scale:
    """Parameters of the experiments.

    They are k, the others' k, runs of Table 2 and the number of searched ones, rows, l by sensitive column, and k of
    Table 3.
    """

    ks: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 100)
    compared: tuple[int, ...] = (10, 50, 100)
    runs: int = 10
    searched: int = SEARCHED
    rows: int = ROWS
    incomes: tuple[float, ...] = (1, 1.1, 1.2, 1.25, 1.3)
    educations: tuple[float, ...] = (1, 1.5, 2, 2.5, 2.9)
    ws: tuple[int, ...] = (50, 75, 100)


def run(name: str, adult: Adult, scale: Scale, say: Callable[[Line], None], kept: Kept) -> list[Line]:
    """The figures of one experiment, measured or kept from before."""
    source, found = adult.part(min(scale.rows, adult.rows)), list[Line]()

    def add(who: str, x: float, source: str, method: str, k: int, **more: Any) -> None:
        key = (who, x, source, method, k, more)
        figures = kept.get(*key) or kept.add(adult.release(source, method, k, **more), *key)
        found.append({"who": who, "x": x, **figures})
        say(found[-1])

    # A first release loads the kernels.
    for method in ("sequential", "sequential:objective=mi"):
        adult.release(adult.part(500), method, 10)
    if name == "k":
        adult.release(adult.part(500), "sequential", 10, refine={"search": 32})
        for k in scale.ks:
            for seed in range(1, scale.runs + 1):
                add("sequential", k, source, "sequential", k, seed=seed)
            for seed in range(1, min(scale.runs, scale.searched) + 1):
                add(SEARCH, k, source, "sequential", k, seed=seed, refine={"search": 32})
    elif name == "others":
        for who, method in OTHERS.items():
            refine = {"refine": {"search": 32}} if "search" in who else {}
            adult.release(adult.part(500), method, 10, **refine)
            for k in scale.compared:
                add(who, k, source, method, k, **refine)
    elif name == "rows":
        for share in (8, 4, 2, 1):
            add(
                "sequential",
                min(scale.rows, adult.rows) // share,
                adult.part(min(scale.rows, adult.rows) // share),
                "sequential",
                50,
            )
    elif name == "columns":
        for k in (20, 50):
            for columns in (5, 8, 11, 14):
                add(f"k={k}", columns, source, "sequential", k, quasi=QUASI[:columns])
    elif name == "l":
        for l in scale.incomes:  # noqa: E741 - the paper's symbol
            add("income", l, source, "sequential", 50, l=l)
        others = tuple(column for column in QUASI if column != "education")
        for l in scale.educations:  # noqa: E741
            add("education", l, source, "sequential", 50, l=l, quasi=others, sensitive="education")
    elif name == "w":
        for k in scale.ws:
            for w in WS:
                add(f"k={k}", w, source, f"sequential:objective=mixed,w={w}", k, l=LEAST_L)
    else:
        train, test = parts(adult, min(scale.rows, adult.rows))
        for who, method, more in (
            ("the source", "", {}),
            ("loss", "sequential", {}),
            ("mi", "sequential:objective=mi", {}),
            ("pmi, l=1.01", "sequential:objective=pmi", {"l": LEAST_L}),
            ("tree", "tree", {}),
        ):
            one = adult.release(train, method, 50, **more) if method else {}
            found.append(
                {
                    "who": who,
                    "x": 50,
                    **one,
                    **learned(adult, train if not method else "release.goldberger", train, test),
                }
            )
            say(found[-1])
    return found


def verdicts(name: str, found: list[Line]) -> list[Line]:
    """What the paper says, and whether the figures agree; ``holds`` is None where they cannot be compared."""

    def of(who: str) -> dict[float, Line]:
        return {one["x"]: one for one in found if one["who"] == who}

    def verdict(claim: str, here: str, holds: bool | None) -> Line:
        return {"claim": claim, "here": here, "holds": holds}

    whole = all(one.get("rows", ROWS) == ROWS for one in found)
    if name == "k":
        lms: dict[float, list[float]] = {}
        searched: dict[float, list[float]] = {}
        for one in found:
            (searched if one["who"] == SEARCH else lms).setdefault(one["x"], []).append(one["lm"])
        return [
            *(
                verdict(
                    f"LM {TABLE_2[int(k)]} on the average at k={k:g}, within 3 %",
                    f"{fmean(own):.4f}",
                    fmean(own) <= 1.03 * TABLE_2[int(k)] if whole else None,
                )
                for k, own in lms.items()
            ),
            *(
                verdict(
                    f"(ours) with search LM {SEARCH_GOAL[int(k)]} on the average at k={k:g}",
                    f"{fmean(own):.4f}",
                    fmean(own) <= SEARCH_GOAL[int(k)] if whole else None,
                )
                for k, own in searched.items()
                if k in SEARCH_GOAL
            ),
            verdict(
                "runs differ little",
                f"at most {max(pstdev(own) / fmean(own) for own in lms.values()):.2%} of the mean (standard deviation)",
                all(pstdev(own) <= 0.03 * fmean(own) for own in lms.values()),
            ),
        ]
    if name == "others":
        own = of("sequential")

        def beaten(claim: str, who: str, most: float) -> Line:
            ratio = [own[x]["lm"] / one["lm"] for x, one in of(who).items()]
            return verdict(claim, ", ".join(f"{r:.3f}" for r in ratio) + " of its LM", all(r <= most for r in ratio))

        seconds = [one["processor_seconds"] for one in own.values()]
        return [
            beaten("sequential loses less than Mondrian", "mondrian (median)", 1),
            beaten("sequential loses less than the Hilbert curve", "hilbert", 1),
            beaten("k-member loses slightly more", "k-member (Byun et al.)", 1),
            beaten("agglomerative loses about the same (5 %)", "agglomerative", 1.05),
            verdict(
                "sequential takes less time with a larger k",
                ", ".join(f"{s:.1f} s" for s in seconds),
                all(a > b for a, b in pairwise(seconds)),
            ),
        ]
    if name == "rows":
        first, last = found[0], found[-1]
        times = last["processor_seconds"] / max(first["processor_seconds"], 1e-3)
        more = last["rows"] / first["rows"]
        return [
            verdict(
                "time grows with the square of the rows, about",
                f"{times:.0f} times for {more:.0f} times the rows",
                more**2 / 2 <= times <= 2 * more**2,
            )
        ]
    if name == "columns":
        return [
            verdict(
                f"time is roughly linear in the columns ({who})",
                f"{times[14] / times[5]:.1f} times for 2.8 times the columns",
                2.8 / 2 <= times[14] / times[5] <= 2 * 2.8,
            )
            for who in ("k=20", "k=50")
            for times in [{x: one["processor_seconds"] for x, one in of(who).items()}]
        ]
    if name == "l":
        return [
            verdict(
                f"LM rises with l ({who})", ", ".join(f"{x}" for x in lms), lms[0] == min(lms) and lms[-1] == max(lms)
            )
            for who in ("income", "education")
            for lms in [[round(one["lm"], 4) for one in of(who).values()]]
        ]
    if name == "w":
        return [
            verdict(
                f"the entropy rises with w at k={k}: {TABLE_3[k]}", ", ".join(f"{x}" for x in own), own == sorted(own)
            )
            for k in TABLE_3
            for own in [[round(one["entropy"], 3) for one in of(f"k={k}").values()]]
            if own
        ]
    accuracy = {one["who"]: one["accuracy"] for one in found}
    return [
        verdict(
            "conjecture: a release by PMI gives the more accurate classifier",
            ", ".join(f"{who} {value:.4f}" for who, value in accuracy.items()),
            accuracy["pmi, l=1.01"] >= max(accuracy["loss"], accuracy["mi"]),
        )
    ]
