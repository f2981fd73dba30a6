"""Draws as the product documents them.

SplitMix64 (Steele, Lea, Flood 2014), the upper half of a word scaled, Fisher-Yates.
"""

from __future__ import annotations

from typing import Any

SEED = 7
"""The seed of every release that is compared with an oracle."""

WORD = 2**64


class Chance:
    """A generator in one seed's state."""

    def __init__(self, seed: int) -> None:
        self._state = seed % WORD

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % WORD
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        z ^= z >> 31
        return (z >> 32) * bound >> 32

    def shuffled(self, items: list[Any]) -> list[Any]:
        """The items in a random order: the last changes places with any, then the one before it ..."""
        out = list(items)
        for last in range(len(out) - 1, 0, -1):
            other = self.below(last + 1)
            out[last], out[other] = out[other], out[last]
        return out
