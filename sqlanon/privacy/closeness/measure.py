"""The earth mover's distance of classes to their table in the paper's form, for verification.

It uses no tree, and no code of the tally.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.privacy.counts import Counts

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

_CELLS = 1 << 22
"""Classes x values that are looked at together."""


def find_farthest(
    counts: Counts,
    limit: Fraction,
    order: Sequence[int] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    texts: Sequence[str | None] = (),
) -> tuple[Fraction, int]:
    """The largest distance, and how many classes are farther than ``limit``.

    Args:
        counts: the counts.
        limit: t.
        order: of ordered distance, the place of each value.
        levels: of hierarchical distance, the path of each value to the root.
        texts: the values.
    """
    import numpy as np

    whole, size = counts.whole, counts.rows
    total, height = int(whole.sum()), len(next(iter(levels.values()))) if levels else 0
    ends = np.append(counts.start, len(counts.n))
    worst, failing = Fraction(0), 0
    step = max(_CELLS // max(len(whole), 1), 1)
    exact = np.int64 if total * int(size.max()) * max(len(whole), height, 2) < 1 << 62 else object
    whole = whole.astype(exact)
    for first in range(0, len(size), step):
        past = min(first + step, len(size))
        begin, end = ends[first], ends[past]
        group = np.repeat(np.arange(past - first), np.diff(ends[first : past + 1]))
        dense = np.zeros((past - first, len(whole)), exact)
        dense[group, counts.value[begin:end]] = counts.n[begin:end]
        # Shares of the class less those of the table, times both numbers of rows.
        apart = dense * total - size[first:past, None].astype(exact) * whole[None]
        if order is not None:
            moved, unit = _ordered_distance(apart, order), max(len(whole) - 1, 1)
        elif levels is not None:
            moved, unit = _hierarchical(apart, levels, texts)
        else:
            moved, unit = np.where(apart > 0, apart, 0).sum(axis=1), 1
        most = limit.numerator * unit * total
        parts = (
            size[first:past].astype(exact) * (unit * total)
            if exact is object
            else size[first:past] * float(unit * total)
        )
        far = np.asarray(moved / parts, np.float64)
        for place in range(past - first) if past - first < 1 << 12 else np.flatnonzero(far > float(limit) * (1 - 1e-9)):
            failing += int(moved[place]) * limit.denominator > most * int(size[first + place])
        place = int(np.argmax(far if exact is object else moved / size[first:past]))
        worst = max(worst, Fraction(int(moved[place]), int(size[first + place]) * unit * total))
    return worst, failing


def _ordered_distance(apart: Longs, order: Sequence[int]) -> Longs:
    """Ordered distance, section 4: the sum over i of |r_1 + ... + r_i|, times m - 1."""
    import numpy as np

    by = np.argsort(np.array(order))
    moved: Longs = np.abs(np.cumsum(apart[:, by], axis=1)).sum(axis=1)
    return moved


def _hierarchical(
    apart: Longs, levels: Mapping[str, tuple[str, ...]], texts: Sequence[str | None]
) -> tuple[Longs, int]:
    """Hierarchical distance (section 4), times H.

    It is the sum over inner nodes of height(N) / H min(pos, neg) of the surplus and the lack of their children.
    """
    import numpy as np

    height = len(next(iter(levels.values()))) - 1
    paths: list[tuple[object, ...]] = [
        levels[text] if text is not None and text in levels else (*((i,),) * height, None)
        for i, text in enumerate(texts)
    ]
    moved = np.zeros(len(apart), apart.dtype)
    extra = {("leaf", i): apart[:, i] for i in range(len(paths))}
    above = {("leaf", i): path for i, path in enumerate(paths)}
    for level in range(1, height + 1):
        children: dict[object, list[object]] = {}
        for key, path in above.items():
            children.setdefault(path[level:] if level < height else "root", []).append(key)
        next_extra, next_above = {}, {}
        for node, below in children.items():
            parts = np.array([extra[key] for key in below])  # type: ignore[index]
            positive = np.where(parts > 0, parts, 0).sum(axis=0)
            negative = np.where(parts < 0, -parts, 0).sum(axis=0)
            moved += level * np.minimum(positive, negative)
            next_extra[level, node] = parts.sum(axis=0)
            next_above[level, node] = above[below[0]]  # type: ignore[index]
        extra, above = next_extra, next_above  # type: ignore[assignment]
    return moved, height
