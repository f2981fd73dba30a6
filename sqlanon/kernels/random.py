"""Random numbers inside kernels: SplitMix64 (Steele, Lea, Flood 2014), the same from one seed on every platform."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit


def seed_state(seed: int) -> npt.NDArray[np.uint64]:
    """The state of a generator, uint64[1]."""
    return np.array([seed & (2**64 - 1)], np.uint64)


@njit(nogil=True, cache=True)
def draw_below(state: npt.NDArray[np.uint64], bound: int) -> int:
    """A whole number from 0 to ``bound`` - 1; ``bound`` up to 2^32 (the bias is below 2^-32)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return np.int64((word >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32))


@njit(nogil=True, cache=True)
def shuffle(state: npt.NDArray[np.uint64], items: npt.NDArray[np.int64]) -> None:
    """Bring items into a random order, in place."""
    for i in range(len(items) - 1, 0, -1):
        j = draw_below(state, i + 1)
        items[i], items[j] = items[j], items[i]
