"""The order of iDistance: the nearest of some centres, then the distance from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.methods.base import Context
from sqlanon.methods.onedim.axes import make_axes as axes_of
from sqlanon.methods.onedim.curves import Curve, Keys, Sample
from sqlanon.methods.shared.threads import spread
from sqlanon.papers.idistance.kernels import CENTRES, choose_sample_size, find_centres, find_offset, make_distance_keys

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs


class IDistance(Curve):
    """Nearest centre, then distance from it (Zhang et al. 2005; Ghinita et al. 2009, section 6).

    The sample is drawn along the table by QI codes, so that it does not depend on how rows are stored.
    """

    def __init__(self, centres: int = CENTRES) -> None:
        self.centres = centres

    def measure(self, context: Context, geometry: Geometry, sample: Sample) -> Keys:
        n = context.encoded.rows
        size = choose_sample_size(n, self.centres)
        picked = np.random.default_rng(context.seed).choice(n, size=size, replace=False)
        axes = [line.astype(np.int32) for line in axes_of(context, geometry)]
        centres = find_centres(_points(axes, sample(np.sort(picked))), self.centres)
        return _DistanceKeys(axes, centres)


@dataclass(frozen=True, slots=True)
class _DistanceKeys:
    axes: Sequence[Ints]
    centres: Ints
    exact: ClassVar[bool] = False

    @property
    def span(self) -> int:
        return len(self.centres) * find_offset(len(self.axes))

    def of(self, codes: Ints, threads: int, *, leading: bool = False) -> list[Longs]:
        keys, n = np.empty(codes.shape[1], np.int64), codes.shape[1]

        def some(start: int, to: int) -> None:
            make_distance_keys(_points(self.axes, codes[:, start:to]), self.centres, keys[start:to])

        spread(some, n, threads)
        return [keys]


def _points(axes: Sequence[Ints], codes: Ints) -> Ints:
    return np.ascontiguousarray(np.stack([table[column] for table, column in zip(axes, codes, strict=True)], axis=1))
