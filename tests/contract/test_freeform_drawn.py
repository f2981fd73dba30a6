"""Draws of boxes of their own by the secret: the first of equal rows, and the matching.

Many fixed secrets show that all choices are equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from sqlanon.methods.base import Assignment, Matches
from sqlanon.methods.freeform import walk
from sqlanon.methods.freeform.kernels.remix import remix
from sqlanon.methods.freeform.kernels.stream import stream
from sqlanon.methods.freeform.method import Freeform
from sqlanon.release.divide import own_boxes
from sqlanon.release.stages import work
from tests.contract.cases import QI, Case
from tests.contract.own_boxes import fetch, run
from tests.oracle.freeform import Box, posterior, published
from tests.oracle.requirements import Privacy


class Made(NamedTuple):
    """What one secret leads to.

    Attributes:
        slots: the place of every row, as the source numbers them.
        targets: the box of every row, matching by matching.
        drawn: the matching by which rows are published.
    """

    slots: list[int]
    targets: list[list[int]]
    drawn: int


class Enough(Exception):
    """All was seen."""


def by_secret(
    db: Any,
    case: Case,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    secrets: int,
    order: str = "tree",
    change: Callable[[Matches], Matches] = lambda matches: matches,
) -> list[Made]:
    """Draws of a case by each of so many secrets, other than the run's own.

    The graph is the method's as it is, or changed.
    """
    found: list[Made] = []
    draw, own = own_boxes.draw_boxes, "7" * 64

    def looked(context: Any, spec: Any, secret: str, matches: Any) -> Any:
        assert secret == own
        assert context.secret != own
        scratch, values = context.scratch, case.values(case.sensitive[0])
        (alias,) = (reading.alias for reading in context.encoded.roles.kept)
        row_of = {rid: values.index(value) for rid, value in fetch(scratch.engine, context.encoded.stage, "rid", alias)}
        for number in range(secrets):
            made = draw(context, spec, f"{number:064x}", change(matches))
            slots, targets = [0] * len(values), np.zeros((made.k, len(values)), int)
            edges = fetch(scratch.engine, made.edges, "rid", "slot", "matching", "box")
            for rid, slot, matching, box in edges:
                slots[row_of[rid]], targets[matching, row_of[rid]] = int(slot), box
            drawn = [0] * len(values)
            for rid, box in fetch(scratch.engine, made.table, "rid", "class"):
                drawn[row_of[rid]] = int(box)
            (t,) = np.flatnonzero((targets == drawn).all(axis=1))
            found.append(Made(slots, targets.tolist(), int(t)))
            for table in (made.slots, made.edges, made.table):
                scratch.drop(table)
        raise Enough

    with monkeypatch.context() as patch:
        patch.setattr(work, "secrets", SimpleNamespace(token_hex=lambda _: own))
        patch.setattr(own_boxes, "draw_boxes", looked)
        with pytest.raises(Enough):
            run(db, case, directory, name="drawn", method=f"freeform:passes=0,order={order}")
    return found


def unevenness(counts: Counter[Any], kinds: int) -> float:
    """Chi-square of what is seen of so many kinds that are equally likely."""
    assert len(counts) <= kinds
    expected = counts.total() / kinds
    return sum((counts[one] - expected) ** 2 / expected for one in counts) + expected * (kinds - len(counts))


@pytest.mark.thorough
def test_secrets_draw_every_edge_and_every_order_of_equal_rows_as_often(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds of chi-square, its 0.9999 quantiles.

    There are 2 degrees of freedom for the 3 boxes of a place, and 5 for the 6 orders of 3 rows.
    """
    xs = (4, 0, 4, 9, 4, 20, 26, 31)
    case = Case(
        "drawn",
        {"x": "INTEGER", "s": "INTEGER"},
        tuple((x, 7 * i % 8) for i, x in enumerate(xs)),
        {"x": QI()},
        ("s",),
        Privacy(k=3),
    )
    equal = [row for row, x in enumerate(xs) if x == 4]
    made = by_secret(shared_db, case, tmp_path, monkeypatch, 120)
    orders = Counter(tuple(np.argsort([one.slots[row] for row in equal]).tolist()) for one in made)
    assert unevenness(orders, 6) < 25.75
    boxes: dict[int, Counter[int]] = {}
    graphs = set()
    for one in made:
        for row, slot in enumerate(one.slots):
            boxes.setdefault(slot, Counter())[one.targets[one.drawn][row]] += 1
        at = np.argsort(one.slots)
        graphs.add(tuple(map(tuple, np.sort(np.array(one.targets)[:, at], axis=0).T.tolist())))
    (graph,) = graphs
    for slot, counts in boxes.items():
        assert set(counts) <= set(graph[slot])
        assert unevenness(counts, 3) < 18.43


def test_a_method_decides_nothing_but_the_graph(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither orders of rows, nor places of equal rows, nor numbers of boxes, nor first matchings decide it."""
    case = Case(
        "graph",
        {"x": "INTEGER", "s": "INTEGER"},
        tuple((i // 2, i) for i in range(12)),
        {"x": QI()},
        ("s",),
        Privacy(k=3),
    )
    rng = np.random.default_rng(4)

    def changed(matches: Matches) -> Matches:
        rid = matches.rid.reshape(-1, 2)[:, ::-1].ravel()  # each row has the place of its equal one
        pairs = rng.permutation(6)
        order = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()
        targets = rng.permutation(12).astype(np.int32)[matches.boxes[:, order]]
        remix(targets, 5, 5, stream(bytes(32)))
        return Matches(rid[order], targets)

    made = by_secret(shared_db, case, tmp_path, monkeypatch, 6)
    assert len({one.drawn for one in made}) > 1
    assert by_secret(shared_db, case, tmp_path, monkeypatch, 6, change=changed) == made


POINTS = [(0,), (0,), (4,), (9,)]
CROSSED = [[0, 1, 2, 3], [2, 3, 0, 1]]
"""Rows 0 and 1 are equal; the second matching exchanges 0 and 2, and 1 and 3."""
VALUES = (5, 3, 1, 0)


def by_private_values(_: Freeform, context: Any) -> Assignment:
    """A method that has equal rows in the order of their private values."""
    (alias,) = (reading.alias for reading in context.encoded.roles.kept)
    found = sorted(fetch(context.scratch.engine, context.encoded.stage, "q1", alias, "rid"))
    rid = np.array([rid for _, _, rid in found], np.int32)
    return Assignment(context.scratch.table("assign"), "kernel", matches=Matches(rid, np.array(CROSSED)))


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("hostile", [False, True])
def test_which_of_equal_rows_comes_first_gives_no_row_away(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, hostile: bool
) -> None:
    """All private values, by the product.

    Were equal rows in the order of their values, boxes that show 5, 3, 1, 0 would make row 2 certain.
    """
    monkeypatch.setattr(walk, "walk_blocks", lambda *_: np.array(CROSSED, np.int64))
    if hostile:
        monkeypatch.setattr(Freeform, "assign", by_private_values)
    reached: dict[tuple[object, ...], set[frozenset[tuple[tuple[Box, object], int]]]] = {}
    for private in permutations(VALUES):
        rows = tuple((x, s) for (x,), s in zip(POINTS, private, strict=True))
        case = Case("four", {"x": "INTEGER", "s": "INTEGER"}, rows, {"x": QI()}, ("s",), Privacy(k=2))
        reached[private] = {
            frozenset(published(POINTS, private, one.targets, one.drawn).items())
            for one in by_secret(shared_db, case, tmp_path, monkeypatch, 8, "lexicographic")
        }

    def publish(private: tuple[object, ...]) -> Iterator[Counter[tuple[Box, object]]]:
        """A table for each order of the two rows; which matching is drawn shows in none of them."""
        yield from (Counter(dict(seen)) for seen in reached[private])

    for private in permutations(VALUES):
        for seen in publish(private):
            for row in range(4):
                assert max(posterior(seen, row, VALUES, publish).values()) <= Fraction(1, 2)
    assert {len(seen) for seen in reached.values()} == {2}
