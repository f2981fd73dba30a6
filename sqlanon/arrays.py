"""Kinds of arrays, by the type of their numbers; imported for types alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
