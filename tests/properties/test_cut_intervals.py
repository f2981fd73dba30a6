"""The set of cuts of least loss without suppressed rows, against all sets of tiny tables."""

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


def lose(table: list[tuple[int, ...]], sizes: list[int], chosen: list[tuple[int, ...]], k: int) -> int | None:
    """What a set loses, row by row; an interval is as wide as the squares of its ends differ. None: not lawful."""
    total, classes = 0, Counter[tuple[int, ...]]()
    for row in table:
        starts = tuple(max(start for start in own if start <= value) for own, value in zip(chosen, row, strict=True))
        classes[starts] += 1
        for start, own, size in zip(starts, chosen, sizes, strict=True):
            end = min([later for later in own if later > start], default=size) - 1
            total += end * end - start * start
    return total if min(classes.values()) >= k else None


@examples(150)
@given(data=st.data(), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3), k=st.integers(1, 4))
def test_it_finds_the_least_of_all_sets(data: st.DataObject, sizes: list[int], k: int) -> None:
    sizes = sorted(sizes)
    value = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    table = data.draw(st.lists(value, min_size=k, max_size=14))
    lost = [lose(table, sizes, list(chosen), k) for chosen in product(*(divisions(size) for size in sizes))]
    expected = min(one for one in lost if one is not None)
    counts = Counter(table)
    codes, rows = np.array(list(counts), np.int32).T.copy(), np.array(list(counts.values()), np.int64)
    squares = np.arange(max(sizes)) ** 2
    widths = np.broadcast_to(squares[None, :] - squares[:, None], (len(sizes), max(sizes), max(sizes))).copy()
    most = data.draw(st.sampled_from([10**9, 0, 50, 300]))
    known = data.draw(st.sampled_from([int(NEVER), expected, expected + 1]))
    cuts = np.zeros((len(sizes), max(sizes)), np.bool_)
    cost, bound, steps = search_intervals(codes, rows, np.array(sizes), widths, k, most, known, cuts)
    assert bound <= expected <= cost
    if most == 10**9:
        assert cost == bound == expected
        assert steps > 0
    assert (cost < known) == cuts.any()
    if cost < known:
        chosen = [tuple(int(code) for code in np.flatnonzero(own)) for own in cuts]
        assert lose(table, sizes, chosen, k) == cost
