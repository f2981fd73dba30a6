"""What is counted of witnesses is what the definition says, counted anew after every step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from sqlanon.statistics.served_ends import WitnessCounts


@pytest.mark.parametrize("seed", range(5))
def test_witnesses_are_dropped_where_every_end_is_served_without_them(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ends, witnesses, insiders = 6, 14, 3
    plain = draw.random((ends, witnesses)) < 0.6
    unseen = draw.random((witnesses, insiders)) < 0.8
    own = {(0, 1): draw.random(witnesses) < 0.5, (2, 0): np.ones(witnesses, bool)}
    served = WitnessCounts(plain, unseen, np.array(list(own.values())), np.array(list(own)))

    def holds(kept: npt.NDArray[np.bool_]) -> bool:
        for end in range(ends):
            if not plain[end, kept].any():
                return False
            for who in range(insiders):
                if not own.get((end, who), plain[end] & unseen[:, who])[kept].any():
                    return False
        return True

    kept = np.ones(witnesses, bool)
    dropped = 0
    for _ in range(40):
        some = np.flatnonzero(kept & (draw.random(witnesses) < 0.2))
        without = kept.copy()
        without[some] = False
        assert served.drop(some) == holds(without)
        if holds(without):
            kept, dropped = without, dropped + len(some)
    assert dropped
