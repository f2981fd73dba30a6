"""Sizes of the classes of a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from sqlanon.report.document import Block, Picture, Section, Text, make_table
from sqlanon.report.pictures import draw_bars
from sqlanon.results.figures import count, measure, share
from sqlanon.risk.sizes import Sizes

MOST = 24
"""Bars of the picture."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Classes of ``low`` to ``high`` rows: how many, and the rows in them."""

    low: int
    high: int
    classes: int
    rows: int

    @property
    def shown(self) -> str:
        """``10``, or ``10 to 12``."""
        return count(self.low) if self.low == self.high else f"{count(self.low)} to {count(self.high)}"


def bin_sizes(sizes: Sizes, most: int = MOST) -> list[Bin]:
    """Classes by size: each size by itself, or of many sizes ranges that grow with the size.

    Args:
        sizes: ascending.
        most: bins.
    """
    each = [
        Bin(int(size), int(size), int(classes), int(rows))
        for size, classes, rows in zip(sizes.size, sizes.classes, sizes.held, strict=True)
    ]
    if len(each) <= most:
        return each
    low, high = each[0].low, each[-1].high
    ends = [low]
    for place in range(1, most):
        ends.append(max(ends[-1] + 1, math.ceil(low * (high + 1) ** (place / most) / low ** (place / most))))
    ends = [*(end for end in ends if end <= high), high + 1]
    bins = []
    for start, end in pairwise(ends):
        within = [size_bin for size_bin in each if start <= size_bin.low < end]
        if within:
            bins.append(
                Bin(
                    start,
                    end - 1,
                    sum(size_bin.classes for size_bin in within),
                    sum(size_bin.rows for size_bin in within),
                )
            )
    return bins


def class_sizes_section(sizes: Sizes | None, why: str = "") -> Section:
    """Number of classes of each size; ``why``: the reason, where the release has none."""
    blocks: tuple[Block, ...] = (Text(why),)
    if sizes is not None and sizes.rows:
        bins = bin_sizes(sizes)
        rows = [
            (size_bin.shown, count(size_bin.classes), count(size_bin.rows), share(size_bin.rows, sizes.rows))
            for size_bin in bins
        ]
        smallest, largest = int(sizes.size[0]), int(sizes.size[-1])
        text = (
            f"{count(sizes.count)} classes of {count(smallest)} to {count(largest)} rows, "
            f"{measure(sizes.rows / sizes.count)} on average."
        )
        drawing = draw_bars([(size_bin.shown, size_bin.classes) for size_bin in bins], "rows of a class", "classes")
        figures = make_table("Classes by size", "rows of a class | >classes | >rows | >share of rows", rows)
        blocks = (Picture("Classes by size", text, drawing, figures),)
    elif sizes is not None:
        blocks = (Text("The release has no rows."),)
    return Section(
        "classes",
        "Sizes of classes",
        "A class is the set of rows that look alike in all columns that could identify somebody: a person is hidden "
        "among the others in it.",
        blocks,
        (
            ("rows of a class", "The smallest class decides: its rows are the least hidden. It has at least k rows."),
            (
                "classes far above k",
                "They lose more detail than the policy needs. Many of them mean that few people are like these.",
            ),
        ),
    )
