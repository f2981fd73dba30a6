"""Random numbers from a secret key: ChaCha20 (RFC 8439) as a counter-based stream.

The draw decides which row is published in which box, so that the stream must not be guessed from the release.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Words = npt.NDArray[np.uint32]

_KEY, _COUNTER, _NONCE, _BUFFER, _USED, _BYTES, _LEFT = 4, 12, 13, 16, 32, 33, 34
"""Begins of the parts of a state.

They are constants, key, counter, nonce; 16 words of output; the number of used words; bytes of a further word that is
used byte by byte; the number of bytes left.
"""

FEW = 64
"""Choices of so many things take a byte each."""


def stream(key: bytes, purpose: int = 0) -> Words:
    """A stream of its own for every key of 32 bytes and purpose from 0 to 2^32 - 1."""
    state = np.zeros(35, np.uint32)
    state[:_KEY] = np.frombuffer(b"expand 32-byte k", np.uint32)
    state[_KEY:_COUNTER] = np.frombuffer(key, np.uint32)
    state[_NONCE + 1] = purpose
    state[_USED] = 16
    return state


@njit(nogil=True, cache=True, inline="always")
def _rotate_left(word: np.uint32, by: int) -> np.uint32:
    return (word << np.uint32(by)) | (word >> np.uint32(32 - by))


@njit(nogil=True, cache=True)
def _quarter(x: Words, a: int, b: int, c: int, d: int) -> None:
    x[a] += x[b]
    x[d] = _rotate_left(x[d] ^ x[a], 16)
    x[c] += x[d]
    x[b] = _rotate_left(x[b] ^ x[c], 12)
    x[a] += x[b]
    x[d] = _rotate_left(x[d] ^ x[a], 8)
    x[c] += x[d]
    x[b] = _rotate_left(x[b] ^ x[c], 7)


@njit(nogil=True, cache=True)
def refill(state: Words) -> None:
    """Make the next 16 words."""
    x = state[:16].copy()
    for _ in range(10):
        for index in range(4):
            _quarter(x, index, index + 4, index + 8, index + 12)
        for index in range(4):
            _quarter(x, index, (index + 1) % 4 + 4, (index + 2) % 4 + 8, (index + 3) % 4 + 12)
    for index in range(16):
        state[_BUFFER + index] = x[index] + state[index]
    state[_COUNTER] += np.uint32(1)
    if state[_COUNTER] == 0:
        state[_NONCE] += np.uint32(1)
    state[_USED] = 0


@njit(nogil=True, cache=True)
def draw_word(state: Words) -> np.uint32:
    """The next word."""
    if state[_USED] >= 16:
        refill(state)
    byte = state[_BUFFER + np.int64(state[_USED])]
    state[_USED] += np.uint32(1)
    return byte


@njit(nogil=True, cache=True)
def draw_below(state: Words, bound: int) -> int:
    """A uniform whole number from 0 to ``bound`` - 1.

    ``bound`` is at most 2^31, so that the product with a word has 63 bits.
    """
    while True:
        product = np.int64(draw_word(state)) * bound
        low = product & 0xFFFFFFFF
        # Words below 2^32 modulo the bound would make small numbers likelier; to divide takes time, and is seldom
        # needed.
        if low >= bound or low >= (np.int64(1) << 32) % bound:
            return product >> 32


@njit(nogil=True, cache=True)
def draw_choice(state: Words, bound: int) -> int:
    """Like `draw_below`, but from a byte of the stream if ``bound`` is at most `FEW`.

    A random walk spends most of the time on the stream.
    """
    if bound > FEW:
        return draw_below(state, bound)
    while True:
        if state[_LEFT] == 0:
            state[_BYTES], state[_LEFT] = draw_word(state), 4
        product = np.int64(state[_BYTES] & np.uint32(0xFF)) * bound
        state[_BYTES] >>= np.uint32(8)
        state[_LEFT] -= np.uint32(1)
        low = product & 0xFF
        if low >= bound or low >= 256 % bound:
            return product >> 8
