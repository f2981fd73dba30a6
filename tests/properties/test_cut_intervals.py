"""The set of cuts of least loss, without suppressed rows and with some, against all sets of tiny tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.papers.koptimize.kernels.cut_intervals import NEVER, search_intervals
from tests.properties.strategies import examples


def divisions(size: int) -> Iterator[tuple[int, ...]]:
    """First codes of the intervals of a column, in all ways."""
    for cuts in chain.from_iterable(combinations(range(1, size), n) for n in range(size)):
        yield (0, *cuts)


FULL = 10
"""What a suppressed row loses in each column; an interval is as wide as the squares of its ends differ, at most 9."""


def lose(
    table: list[tuple[int, ...]], sizes: list[int], chosen: list[tuple[int, ...]], k: int, most_gone: int, starred: bool
) -> int | None:
    """What a set loses, row by row. None: not lawful."""
    losses = dict[tuple[int, ...], list[int]]()
    for row in table:
        starts = tuple(max(start for start in own if start <= value) for own, value in zip(chosen, row, strict=True))
        lost = 0
        for start, own, size in zip(starts, chosen, sizes, strict=True):
            end = min([later for later in own if later > start], default=size) - 1
            lost += end * end - start * start
        losses.setdefault(starts, []).append(lost)
    gone = sum(len(lost) for lost in losses.values() if len(lost) < k)
    if gone > most_gone or (starred and 0 < gone < k):
        return None
    return gone * FULL * len(sizes) + sum(sum(lost) for lost in losses.values() if len(lost) >= k)


@examples(150)
@given(data=st.data(), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3), k=st.integers(1, 4))
def test_it_finds_the_least_of_all_sets(data: st.DataObject, sizes: list[int], k: int) -> None:
    sizes = sorted(sizes)
    value = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    table = data.draw(st.lists(value, min_size=k, max_size=14))
    most_gone = data.draw(st.sampled_from([0, 0, 1, 3, len(table)]))
    starred = most_gone > 0 and data.draw(st.booleans())
    lost = [
        lose(table, sizes, list(chosen), k, most_gone, starred)
        for chosen in product(*(divisions(size) for size in sizes))
    ]
    expected = min(one for one in lost if one is not None)
    counts = Counter(table)
    codes, rows = np.array(list(counts), np.int32).T.copy(), np.array(list(counts.values()), np.int64)
    squares = np.arange(max(sizes)) ** 2
    widths = np.broadcast_to(squares[None, :] - squares[:, None], (len(sizes), max(sizes), max(sizes))).copy()
    most = data.draw(st.sampled_from([10**9, 0, 50, 300]))
    known = data.draw(st.sampled_from([int(NEVER), expected, expected + 1]))
    cuts = np.zeros((len(sizes), max(sizes)), np.bool_)
    full, allowed = np.full(len(sizes), FULL), (k, most_gone, k if starred else 0)
    cost, bound, steps = search_intervals(codes, rows, np.array(sizes), widths, full, allowed, most, known, cuts)
    assert bound <= expected <= cost
    if most == 10**9 and (most_gone in (0, len(table)) and not starred):
        assert cost == bound == expected
        assert steps > 0
    assert (cost < known) == cuts.any()
    if cost < known:
        chosen = [tuple(int(code) for code in np.flatnonzero(own)) for own in cuts]
        assert lose(table, sizes, chosen, k, most_gone, starred) == cost
