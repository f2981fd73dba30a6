"""A certificate holds k matchings without a common edge.

The query's answer is compared with the definition, on certificates with one error.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sqlanon.release.verify.certificate import Certificate, check_matchings
from sqlanon.table.scratch import Scratch

Edges = list[tuple[int, int, int]]
"""Matching, row and box."""


def holds(edges: Edges, drawn: list[int], n: int, k: int) -> bool:
    """The definition.

    There are k bijections of n rows onto n boxes, no pair of row and box is in two of them, and every row is drawn
    once.
    """
    rows, boxes = {row for _, row, _ in edges}, {box for _, _, box in edges}
    bijections = all(
        len(own) == len({row for row, _ in own}) == len({box for _, box in own}) == n
        for t in range(k)
        for own in [[(row, box) for matching, row, box in edges if matching == t]]
    )
    different = len({(row, box) for _, row, box in edges}) == len(edges) == n * k
    return bijections and different and len(rows) == len(boxes) == n == len(drawn) == len(set(drawn))


def changed(edges: Edges, how: str, n: int, drawn: random.Random) -> Edges:
    at = drawn.randrange(len(edges))
    matching, row, box = edges[at]
    match how:
        case "matching":
            return [*edges[:at], (drawn.choice([-1, matching + 1, matching + 62, 400]), row, box), *edges[at + 1 :]]
        case "row":
            return [*edges[:at], (matching, drawn.choice([n, (row + 1) % n]), box), *edges[at + 1 :]]
        case "box":
            return [*edges[:at], (matching, row, drawn.choice([n, (box + 1) % n])), *edges[at + 1 :]]
        case "lacking":
            return [*edges[:at], *edges[at + 1 :]]
        case "twice":
            return [*edges, edges[at]]
        case "edge":  # a bijection still, two of whose edges another matching has
            t, other = edges[0][0], edges[-1][0]
            return [(one, i, b) for one, i, b in edges if one != other] + [
                (other, i, b) for one, i, b in edges if one == t
            ]
    return edges


@pytest.mark.cover
@pytest.mark.parametrize(
    "how", ["nothing", "matching", "row", "box", "lacking", "twice", "edge", "drawn", "drawn again"]
)
@pytest.mark.parametrize(("n", "k"), [(5, 3), (70, 62), (70, 63), (130, 126)])
def test_what_is_no_certificate_is_found(shared_db: Any, how: str, n: int, k: int) -> None:
    drawn = random.Random(f"{how}/{n}/{k}")
    shifts, names = drawn.sample(range(n), k), drawn.sample(range(n), n)
    edges = changed([(t, i, names[(i + shift) % n]) for t, shift in enumerate(shifts) for i in range(n)], how, n, drawn)
    rows = [i for i in range(n) if how != "drawn" or i] + [0] * (how == "drawn again")
    with Scratch(shared_db.engine) as scratch:
        kept = Certificate(scratch.table("kept_edges"), scratch.table("kept_drawn"))
        parts = np.array(edges, np.int32).T.copy()
        scratch.engine.load_arrays(kept.edges, dict(zip(("matching", "slot", "box"), parts, strict=True)))
        scratch.engine.load_arrays(kept.drawn, {"slot": np.array(rows, np.int32)})
        assert (check_matchings(scratch, kept, n, k) is None) == holds(edges, rows, n, k) == (how == "nothing")
